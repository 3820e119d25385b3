#include "index/look_up.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "index/key_index.hpp"

namespace dedup {

BatchVisibility::BatchVisibility(Limits limits, Candidates&& held, Candidates&& pairs, std::vector<std::int64_t>&& twins,
                                 std::vector<std::int32_t>&& same, std::vector<std::uint8_t>&& is_short)
    : limits_(limits),
      held_(std::move(held)),
      pairs_(std::move(pairs)),
      twins_(std::move(twins)),
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
    std::int64_t found = held_.offsets[row + 1] - held_.offsets[row];
    for (std::int64_t i = pairs_.offsets[row]; i < pairs_.offsets[row + 1]; i++) found += before(i) != 0;
    if (found < limits_.equal) return every;
    std::array<std::int64_t, MOST_COLUMNS> counts{};
    const auto count = [&](std::uint32_t columns) {
        for (; columns != 0; columns &= columns - 1) counts[std::countr_zero(columns)]++;
    };
    for (std::int64_t i = held_.offsets[row]; i < held_.offsets[row + 1]; i++) count(held_.columns[i]);
    for (std::int64_t i = pairs_.offsets[row]; i < pairs_.offsets[row + 1]; i++) count(before(i));
    std::uint32_t stored = 0;
    for (std::size_t c = 0; c < limits_.columns; c++) stored |= std::uint32_t{counts[c] < limits_.equal} << c;
    return stored;
}

}  // namespace dedup
