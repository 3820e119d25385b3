#include "index/packed.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace dedup {
namespace {

static_assert(std::endian::native == std::endian::little, "entries are read as bytes of words");

constexpr std::size_t STARTS_AHEAD = 4, ENTRIES_AHEAD = 2;  // rows
constexpr std::uint64_t NUMBER_MASK = 0xFFFFFFFF;           // of an item

// An entry by its first bit, and what follows it.
inline std::uint64_t entry_at(const std::uint64_t* words, std::uint64_t bit) {
    std::uint64_t entry;
    std::memcpy(&entry, reinterpret_cast<const std::byte*>(words) + bit / 8, sizeof entry);
    return entry >> bit % 8;
}

inline std::uint64_t ones(int bits) {
    return (std::uint64_t{1} << bits) - 1;
}

}  // namespace

PackedColumns::PackedColumns(std::span<const std::uint32_t> starts, std::span<const std::uint64_t> words,
                             PackedForm form, std::size_t columns, std::size_t size)
    : starts_(starts), words_(words), begin_(1), form_(form), columns_(columns), size_(size) {
    for (std::size_t c = 0; c < columns; c++) begin_.push_back(begin_.back() + form.words(starts_of(c).back()));
}

bool PackedColumns::is_sound() const {
    if (begin_.back() != words_.size()) return false;
    for (std::size_t c = 0; c < columns_; c++) {
        if (!std::is_sorted(starts_of(c).begin(), starts_of(c).end())) return false;
    }
    return true;
}

void PackedColumns::collect(std::span<const std::uint32_t> row, Matches& matches) const {
    const std::uint64_t width = static_cast<std::uint64_t>(form_.width()), entry_mask = ones(form_.width());
    for (std::size_t c = 0; c < columns_; c++) {
        const std::uint32_t* start = starts_of(c).data() + (row[c] & ones(form_.address_bits));
        const std::uint64_t rest = std::uint64_t{row[c]} >> form_.address_bits << form_.number_bits;
        const std::uint64_t* words = words_.data() + begin_[c];
        matches.reserve(start[1] - start[0]);
        std::uint64_t bit = std::uint64_t{start[0]} * width;
        const std::uint64_t end = std::uint64_t{start[1]} * width;
        for (; bit < end; bit += width) {
            const std::uint64_t number = (entry_at(words, bit) & entry_mask) ^ rest;
            if (number < size_) matches.add(number, c);  // and so the rest of the key is the same
        }
    }
}

void PackedColumns::search(std::span<const std::uint32_t> keys, Candidates& found) const {
    const std::size_t n = keys.size() / columns_;
    const auto row_of = [&](std::size_t i) { return keys.subspan(i * columns_, columns_); };
    Matches matches;
    for (std::size_t i = 0; i < n; i++) {
        if (i + STARTS_AHEAD < n) fetch_starts(row_of(i + STARTS_AHEAD));
        if (i + ENTRIES_AHEAD < n) fetch_entries(row_of(i + ENTRIES_AHEAD));
        collect(row_of(i), matches);
        matches.enter(size_, found);
    }
}

void PackedColumns::collect_column(std::size_t column, std::span<std::uint64_t> items) const {
    const auto starts = starts_of(column);
    const std::uint64_t* words = words_.data() + begin_[column];
    const std::uint64_t entry_mask = ones(form_.width()), number_mask = ones(form_.number_bits);
    for (std::size_t address = 0; address < form_.addresses(); address++) {
        for (std::uint64_t place = starts[address]; place < starts[address + 1]; place++) {
            const std::uint64_t entry = entry_at(words, place * form_.width()) & entry_mask;
            const std::uint64_t key = entry >> form_.number_bits << form_.address_bits | address;
            items[place] = key << 32 | (entry & number_mask);
        }
    }
}

void PackedColumns::pack(std::span<const std::uint64_t> items, PackedForm form, std::span<std::uint32_t> starts,
                         std::span<std::uint64_t> words) {
    const std::uint64_t address_mask = ones(form.address_bits);
    const std::uint64_t width = static_cast<std::uint64_t>(form.width());
    std::fill(starts.begin(), starts.end(), 0u);
    std::fill(words.begin(), words.end(), std::uint64_t{0});
    for (const std::uint64_t item : items) starts[(item >> 32 & address_mask) + 1]++;
    for (std::size_t i = 1; i < starts.size(); i++) starts[i] += starts[i - 1];
    for (const std::uint64_t item : items) {
        const std::uint64_t key = item >> 32;
        const std::uint64_t entry = key >> form.address_bits << form.number_bits | (item & NUMBER_MASK);
        const std::uint64_t bit = starts[key & address_mask]++ * width;
        words[bit / 64] |= entry << bit % 64;
        words[bit / 64 + 1] |= entry >> 1 >> (63 - bit % 64);
    }
    for (std::size_t i = starts.size() - 1; i > 0; i--) starts[i] = starts[i - 1];  // each is the next one's by now
    starts[0] = 0;
}

}  // namespace dedup
