// The texts of kept documents and of a batch, and pairs of them.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>

#include "decision/turns.hpp"
#include "index/index.hpp"

namespace dedup {

// Texts of some of many: `rows` ascending.
struct FoundTexts {
    std::vector<std::int64_t> rows;
    StringBuffer texts;
};

class KeptTexts {
public:
    // Returns the texts of documents by their `_id` fields; those that are gone are left out.
    using Fetch = std::function<FoundTexts(StringBuffer ids)>;

    // judge: reads texts, or null where they are not compared.
    // memory: bytes of texts that are held, a quarter as many read.
    KeptTexts(const Index& index, const judgment::Judge* judge, std::size_t memory)
        : index_(index), judge_(judge), memory_(memory) {}

    // Begins the next batch; fetch: valid while it is decided; stored: how many batches the target holds. The oldest texts
    // are forgotten first, but none that the target does not hold yet.
    void begin_batch(const Fetch& fetch, std::int64_t stored) {
        fetch_ = &fetch;
        std::size_t held = 0;
        for (const Batch& batch : batches_) held += batch.texts.data.size();
        for (; held > memory_ && batches_.front().batch <= stored; batches_.pop_front())
            held -= batches_.front().texts.data.size();
        begun_++;
    }

    // Begins the next part of a batch; forgets texts that were read long ago, or take too much memory.
    void begin_part() {
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

    // Holds texts of the batch that are kept, numbered from `first` on.
    void add(std::size_t first, StringBuffer texts) {
        if (texts.size() > 0) batches_.push_back({first, std::move(texts), begun_});
    }

    // The texts of some documents, each once, ascending by number; `rows` of the result are their numbers.
    FoundTexts get(std::vector<std::int64_t> numbers) const {
        std::ranges::sort(numbers);
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
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

    // Reads the texts of some documents, each once.
    void read(std::vector<std::int64_t> numbers) {
        std::erase_if(numbers, [&](std::int64_t number) { return read_.contains(number); });
        for (const std::int64_t number : numbers) read_[number] = std::nullopt;
        FoundTexts found = get(std::move(numbers));
        if (found.rows.empty()) return;
        const auto texts = judge_ ? judge_->read(found.texts.view()) : nullptr;
        for (std::size_t row = 0; row < found.rows.size(); row++) read_[found.rows[row]] = judgment::TextRef{texts.get(), row};
        blocks_.push_back({part_, found.texts.data.size(), texts, std::move(found.rows)});
    }

    // A text that was read in this part; none if it is gone. Without a judge it only says that it is there.
    std::optional<judgment::TextRef> find(std::int64_t number) const {
        const auto found = read_.find(number);
        return found == read_.end() ? std::nullopt : found->second;
    }

private:
    static constexpr std::int64_t MOST_PARTS = 16;  // of batches for which texts stay read

    struct Batch {
        std::size_t first;  // number
        StringBuffer texts;
        std::int64_t batch;  // counted from 1
    };
    // Texts that were read together.
    struct Block {
        std::int64_t part;
        std::size_t characters;
        std::shared_ptr<judgment::ReadTexts> texts;
        std::vector<std::int64_t> numbers;
    };

    const Index& index_;
    const judgment::Judge* judge_;
    const std::size_t memory_;
    const Fetch* fetch_ = nullptr;
    std::deque<Batch> batches_;
    std::deque<Block> blocks_;
    std::unordered_map<std::int64_t, std::optional<judgment::TextRef>> read_;  // by number; none: gone, as far as this part asked
    std::int64_t begun_ = 0, part_ = 0;
};

using Differences = std::vector<judgment::NamedDifference>;

// A text of a part by its row, and another document by its number, see Part.
struct PairOf {
    std::size_t row;
    std::int64_t number;
};

// The texts of a batch, read when they are first needed.
struct BatchTexts {
    Strings texts;
    std::shared_ptr<judgment::ReadTexts> read;
};

// The texts of a part of a batch and those of kept documents, compared in pairs.
class PairTexts {
public:
    // judge: null if texts are not compared; then all pairs are joined.
    // names: whether differences of pairs are named.
    PairTexts(KeptTexts& kept, const judgment::Judge* judge, bool names, std::size_t threads, double& seconds,
              BatchTexts& batch, const Part& part)
        : kept_(kept), judge_(judge), names_(names), threads_(threads), seconds_(seconds), batch_(batch), part_(part) {}

    // The verdicts of pairs; state `gone` if the text of a kept document is.
    std::vector<judgment::Verdict> judge(std::span<const PairOf> pairs) {
        return of_each(pairs, judgment::Verdict{.state = judgment::State::gone}, [&](const auto& there) { return judge(there); });
    }
    std::vector<judgment::Verdict> judge(std::span<const judgment::Pair> pairs) const {
        std::vector<judgment::Verdict> verdicts(pairs.size());
        const Timer timer(seconds_);
        if (judge_ != nullptr) judge_->judge(pairs, threads_, verdicts);
        else
            for (judgment::Verdict& verdict : verdicts) verdict = {.similarity = 1, .state = judgment::State::joined};
        return verdicts;
    }
    // How alike pairs are, NaN if a text is gone.
    std::vector<double> measure(std::span<const PairOf> pairs) {
        return of_each(pairs, static_cast<double>(NAN), [&](const std::vector<judgment::Pair>& there) {
            std::vector<judgment::Verdict> known(there.size(), {.similarity = 1});
            const Timer timer(seconds_);
            if (judge_ != nullptr) judge_->measure(there, threads_, known);
            std::vector<double> values;
            std::ranges::transform(known, std::back_inserter(values), &judgment::Verdict::similarity);
            return values;
        });
    }
    std::vector<Differences> differences(std::span<const PairOf> pairs) {
        if (!names_) return std::vector<Differences>(pairs.size());
        return of_each(pairs, Differences{}, [&](const std::vector<judgment::Pair>& there) {
            const Timer timer(seconds_);
            return judge_->differences(there, threads_);
        });
    }

    judgment::TextRef own(std::size_t row) {
        if (judge_ != nullptr && !batch_.read) batch_.read = judge_->read(batch_.texts);
        return {batch_.read.get(), part_.first + row};
    }

private:
    // What `take` returns of the pairs whose texts are there; `otherwise` for the others.
    template <class T>
    std::vector<T> of_each(std::span<const PairOf> pairs, const T& otherwise, auto take) {
        std::vector<std::int64_t> kept;
        for (const PairOf& pair : pairs) {
            if (!part_.is_here(pair.number)) kept.push_back(pair.number);
        }
        kept_.read(std::move(kept));
        std::vector<judgment::Pair> there;
        std::vector<std::size_t> at;
        for (std::size_t i = 0; i < pairs.size(); i++) {
            const std::int64_t number = pairs[i].number;
            const std::optional<judgment::TextRef> other = part_.is_here(number) ? own(part_.row_of(number)) : kept_.find(number);
            if (!other) continue;
            there.push_back({own(pairs[i].row), *other});
            at.push_back(i);
        }
        std::vector<T> found = take(there), all(pairs.size(), otherwise);
        for (std::size_t i = 0; i < at.size(); i++) all[at[i]] = std::move(found[i]);
        return all;
    }

    KeptTexts& kept_;
    const judgment::Judge* judge_;
    const bool names_;
    const std::size_t threads_;
    double& seconds_;
    BatchTexts& batch_;
    const Part& part_;
};

}  // namespace dedup
