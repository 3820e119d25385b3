#include "index/look_up.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "index/hamming.hpp"
#include "index/key_index.hpp"
#include "index/candidates.hpp"

namespace dedup {

BatchVisibility::BatchVisibility(Limits limits, const CandidateView& held, Candidates&& pairs,
                                 std::span<const std::int64_t> twins, std::vector<std::int32_t>&& same,
                                 std::vector<std::uint8_t>&& is_short)
    : limits_(limits),
      held_offsets_(held.offsets.begin(), held.offsets.end()),
      held_(held.columns.begin(), held.columns.end()),
      pairs_(std::move(pairs)),
      twins_(twins.begin(), twins.end()),
      same_(std::move(same)),
      short_(std::move(is_short)),
      kept_(same_.size()),
      stored_(same_.size()),
      visible_(same_.size()),
      here_(same_.size()) {}

void BatchVisibility::begin() {
    std::fill(kept_.begin(), kept_.end(), std::uint8_t{0});
    std::fill(stored_.begin(), stored_.end(), 0u);
    std::fill(visible_.begin(), visible_.end(), 0u);
    std::fill(here_.begin(), here_.end(), 0);
}

void BatchVisibility::keep(std::size_t row) {
    kept_[row] = 1;
    visible_[row] = stored_[row] = columns_held(row);
    std::int64_t& here = here_[same_[row]];
    if (short_[row] || twins_[row] + here >= limits_.same) return;
    here++;
    visible_[row] |= BY_SIMHASH;
}

void BatchVisibility::store_columns(std::span<const std::uint8_t> kept) {
    for (std::size_t row = 0; row < kept.size(); row++) {
        if (kept[row] && !kept_[row]) stored_[row] = columns_held(row);
    }
}

std::size_t BatchVisibility::count_unseen() const {
    std::size_t count = 0;
    for (std::size_t row = 0; row < kept_.size(); row++)
        count += kept_[row] && !short_[row] && !(visible_[row] & BY_SIMHASH);
    return count;
}

// Those with fewer texts than the limit.
std::uint32_t BatchVisibility::columns_held(std::size_t row) const {
    const auto every = static_cast<std::uint32_t>((std::uint64_t{1} << limits_.columns) - 1);
    const auto before = [&](std::int64_t place) { return pairs_.columns[place] & stored_[pairs_.numbers[place]]; };
    std::int64_t found = held_offsets_[row + 1] - held_offsets_[row];
    for (std::int64_t i = pairs_.offsets[row]; i < pairs_.offsets[row + 1]; i++) found += before(i) != 0;
    if (found < limits_.equal) return every;
    std::array<std::int64_t, MOST_COLUMNS> counts{};
    const auto count = [&](std::uint32_t columns) {
        for (; columns != 0; columns &= columns - 1) counts[std::countr_zero(columns)]++;
    };
    for (std::int64_t i = held_offsets_[row]; i < held_offsets_[row + 1]; i++) count(held_[i]);
    for (std::int64_t i = pairs_.offsets[row]; i < pairs_.offsets[row + 1]; i++) count(before(i));
    std::uint32_t stored = 0;
    for (std::size_t c = 0; c < limits_.columns; c++) stored |= std::uint32_t{counts[c] < limits_.equal} << c;
    return stored;
}

LookUp look_up_among(const CandidateView& found, const CandidateView& held, std::span<const std::int64_t> twins,
                     const BatchRows& batch, Limits limits, std::int64_t count, int distance, std::size_t threads) {
    const Prints& texts = batch.texts;
    const Measures own{texts.values(), texts.bits, batch.words};
    const std::size_t n = texts.size();
    Candidates within = Candidates::none(n), pairs = Candidates::none(n);
    if (distance >= 0) within = pairs_within(texts.rows, distance, threads);
    if (!texts.keys.empty()) pairs = pairs_sharing(texts.keys, n, texts.columns, threads);

    std::vector<std::uint8_t> alone(n, 1);
    const auto meet = [&](std::size_t row, std::int64_t other) { alone[row] = alone[other] = 0; };
    std::vector<std::int32_t> same(n);  // the first row with this fingerprint
    FormerRows(n).find([&](std::size_t i) { return texts.rows[i].value; }, same);
    for (std::size_t row = 0; row < n; row++) {
        if (same[row] == NO_ROW) {
            same[row] = static_cast<std::int32_t>(row);
        } else {
            meet(row, same[row]);
            same[row] = same[same[row]];
        }
    }
    Candidates all;
    std::vector<std::uint8_t> is_short(n);
    for (std::size_t row = 0; row < n; row++) {
        is_short[row] = texts.rows[row].is_short;
        for (const Candidates* each : {&within, &pairs}) {
            for (std::int64_t i = each->offsets[row]; i < each->offsets[row + 1]; i++) meet(row, each->numbers[i]);
        }
        for (std::int64_t i = found.offsets[row]; i < found.offsets[row + 1]; i++) all.add(found, i, found.columns[i]);
        unite(within, pairs, own, own, row, batch.least[row], count, all);
        all.end_text();
        if (all.offsets[row + 1] > all.offsets[row]) alone[row] = 0;
    }
    return {std::move(all),
            BatchVisibility(limits, held, std::move(pairs), twins, std::move(same),
                            std::move(is_short)),
            std::move(alone),
            distance};
}

}  // namespace dedup
