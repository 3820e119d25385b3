#include "index/bands.hpp"

#include <algorithm>

namespace dedup {
namespace {

constexpr std::size_t AT_ONCE = 2048;  // rows looked up: their matches wait to be sorted
constexpr std::size_t MOST_ROOM = std::size_t{1} << 32;

// The keys of a column, one behind the other.
void gather(std::span<const std::uint32_t> rows, std::size_t column, std::size_t columns,
            std::vector<std::uint32_t>& keys) {
    keys.resize(rows.size() / columns);
    for (std::size_t row = 0; row < keys.size(); row++) keys[row] = rows[row * columns + column];
}

}  // namespace

std::size_t BandIndex::room() const {
    std::size_t least = MOST_ROOM;
    for (const Column& column : columns_) {
        const auto* growing = std::get_if<GrowingColumn>(&column);
        least = std::min(least, growing ? growing->room(size_) : 0);
    }
    return least;
}

void BandIndex::search(std::span<const std::uint32_t> keys, Candidates& found) const {
    const std::size_t columns = columns_.size();
    Matches matches;
    std::vector<std::uint32_t> own;
    for (std::size_t start = 0; start < keys.size(); start += AT_ONCE * columns) {
        const auto rows = keys.subspan(start, std::min(AT_ONCE * columns, keys.size() - start));
        for (std::size_t c = 0; c < columns; c++) {
            gather(rows, c, columns, own);
            const auto add = [&](std::size_t row, std::uint64_t number) { matches.add(row, number, c); };
            std::visit([&](const auto& one) { one.search(own, add); }, columns_[c]);
        }
        matches.enter(rows.size() / columns, size_, found);
    }
}

void BandIndex::insert(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> stored,
                       std::size_t most_equal, std::span<std::int64_t> dropped) {
    std::vector<std::uint32_t> own;
    for (std::size_t c = 0; c < columns_.size(); c++) {
        gather(keys, c, columns_.size(), own);
        const auto is_stored = [&](std::size_t row) { return (stored[row] >> c & 1) != 0; };
        dropped[c] += std::get<GrowingColumn>(columns_[c]).insert(own, is_stored, most_equal, size_);
    }
    size_ += stored.size();
}

bool pack(std::span<const BandIndex* const> sources, std::size_t column, PackedForm form,
          std::span<std::uint32_t> starts, std::span<std::uint64_t> words) {
    const std::uint64_t address_mask = ones(form.address_bits);
    const std::uint64_t width = static_cast<std::uint64_t>(form.width());
    bool is_sound = true;
    for (const BandIndex* source : sources) {
        source->each(column, [&](std::uint32_t key, std::uint64_t number) {
            starts[(key & address_mask) + 1]++;
            is_sound &= number < source->size();
        });
    }
    for (std::size_t i = 1; i < starts.size(); i++) starts[i] += starts[i - 1];
    if (!is_sound || words.size() != form.words(starts.back())) return false;
    std::uint64_t first = 0;
    for (const BandIndex* source : sources) {
        source->each(column, [&](std::uint32_t key, std::uint64_t number) {
            const std::uint64_t entry = std::uint64_t{key} >> form.address_bits << form.number_bits | (first + number);
            const std::uint64_t bit = starts[key & address_mask]++ * width;
            words[bit / 64] |= entry << bit % 64;
            words[bit / 64 + 1] |= entry >> 1 >> (63 - bit % 64);
        });
        first += source->size();
    }
    for (std::size_t i = starts.size() - 1; i > 0; i--) starts[i] = starts[i - 1];  // each is the next one's by now
    starts[0] = 0;
    return true;
}

}  // namespace dedup
