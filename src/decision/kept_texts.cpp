#include "decision/kept_texts.hpp"

#include <algorithm>

namespace dedup {
namespace {

constexpr std::int64_t MOST_PARTS = 16;  // of batches for which texts stay read

}  // namespace

void KeptTexts::begin_batch(const Fetch& fetch, std::int64_t stored) {
    fetch_ = &fetch;
    std::size_t held = 0;
    for (const Batch& batch : batches_) held += batch.texts.data.size();
    for (; held > memory_ && batches_.front().batch <= stored; batches_.pop_front())
        held -= batches_.front().texts.data.size();
    begun_++;
}

void KeptTexts::begin_part() {
    part_++;
    std::erase_if(read_, [](const auto& one) { return !one.second; });
    std::size_t held = 0;
    for (const Block& block : blocks_) held += block.characters;
    while (!blocks_.empty() && (held > memory_ / 4 || blocks_.front().part <= part_ - MOST_PARTS)) {
        held -= blocks_.front().characters;
        for (const std::int64_t number : blocks_.front().numbers) read_.erase(number);
        blocks_.pop_front();
    }
}

void KeptTexts::add(std::size_t first, StringBuffer texts) {
    if (texts.size() > 0) batches_.push_back({first, std::move(texts), begun_});
}

FoundTexts KeptTexts::get(std::span<const std::int64_t> numbers) const {
    struct Source {
        const StringBuffer* texts;
        std::size_t row;
    };
    std::vector<Source> sources(numbers.size(), {nullptr, 0});
    StringBuffer ids;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < numbers.size(); i++) {
        const auto number = static_cast<std::size_t>(numbers[i]);
        const auto after = std::ranges::upper_bound(batches_, number, {}, &Batch::first);
        if (after != batches_.begin() && number - std::prev(after)->first < std::prev(after)->texts.size()) {
            sources[i] = {&std::prev(after)->texts, number - std::prev(after)->first};
        } else {
            asked.push_back(i);
            ids.add(bytes_of(index_.id_of(number)));
        }
    }
    FoundTexts fetched;
    if (!asked.empty()) fetched = (*fetch_)(std::move(ids));
    for (std::size_t k = 0; k < fetched.rows.size(); k++)
        sources[asked[static_cast<std::size_t>(fetched.rows[k])]] = {&fetched.texts, k};
    FoundTexts found;
    for (std::size_t i = 0; i < numbers.size(); i++) {
        if (sources[i].texts == nullptr) continue;
        found.rows.push_back(numbers[i]);
        found.texts.add((*sources[i].texts)[sources[i].row]);
    }
    return found;
}

void KeptTexts::read(std::vector<std::int64_t> numbers) {
    std::erase_if(numbers, [&](std::int64_t number) { return read_.contains(number); });
    if (numbers.empty()) return;
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const std::int64_t number : numbers) read_[number] = std::nullopt;
    FoundTexts found = get(numbers);
    if (found.rows.empty()) return;
    const auto texts = judge_ ? judge_->read(found.texts.view()) : nullptr;
    for (std::size_t row = 0; row < found.rows.size(); row++) read_[found.rows[row]] = judgment::TextRef{texts.get(), row};
    blocks_.push_back({part_, found.texts.data.size(), texts, std::move(found.rows)});
}

std::optional<judgment::TextRef> KeptTexts::find(std::int64_t number) const {
    const auto found = read_.find(number);
    return found == read_.end() ? std::nullopt : found->second;
}

}  // namespace dedup
