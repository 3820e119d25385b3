#include "index/candidates.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

namespace dedup {
namespace {

constexpr std::size_t COLUMNS = 32;
constexpr std::size_t AHEAD = 12;  // places

}  // namespace

void unite(const Candidates& one, const Candidates& other, const Measures& earlier, const Measures& own,
           std::size_t row, std::int64_t least, std::int64_t first, Candidates& to) {
    std::size_t x = one.offsets[row], y = other.offsets[row];
    const std::size_t stop = one.offsets[row + 1], other_stop = other.offsets[row + 1];
    const std::uint64_t value = own.values[row];
    const auto own_bits = own.bits_of(row);
    // inlined, or gcc drops the calls, as of functions without effect
    const auto fetch = [&](const Candidates& from, std::size_t place) __attribute__((always_inline)) {
        if (place >= from.numbers.size()) return;
        __builtin_prefetch(&earlier.values[from.numbers[place]]);
        if (own.words > 0) __builtin_prefetch(&earlier.bits[from.numbers[place] * own.words]);
    };
    while (x < stop || y < other_stop) {
        const bool take = y >= other_stop || (x < stop && one.numbers[x] <= other.numbers[y]);
        const bool take_other = x >= stop || (y < other_stop && other.numbers[y] <= one.numbers[x]);
        std::int64_t number = 0;
        std::uint32_t columns = 0;
        if (take) {
            fetch(one, x + AHEAD);
            number = one.numbers[x];
            columns = one.columns[x++];
        }
        if (take_other) {
            fetch(other, y + AHEAD);
            number = other.numbers[y];
            columns |= other.columns[y++];
        }
        int agreement = 0;
        for (std::size_t word = 0; word < own.words; word++)
            agreement += std::popcount(~(own_bits[word] ^ earlier.bits[number * own.words + word]));
        if (own.words > 0 && agreement < least) continue;
        to.add(first + number, columns);
        to.values.push_back(earlier.values[number]);
        to.distances.push_back(static_cast<std::uint8_t>(std::popcount(value ^ earlier.values[number])));
        to.agreements.push_back(static_cast<std::uint8_t>(agreement));
    }
}

Found found_together(std::span<const Candidates> parts, std::span<const std::int64_t> least, std::int64_t most_equal,
                     std::int64_t most_same) {
    struct Place {
        std::int64_t number;
        const Candidates* part;
        std::size_t at;
    };
    Found found;
    found.twins.resize(least.size());
    std::vector<Place> places;
    std::unordered_map<std::uint64_t, std::int64_t> same;  // of how many candidates each value is the fingerprint
    for (std::size_t row = 0; row < least.size(); row++) {
        places.clear();
        for (const Candidates& part : parts) {
            for (std::size_t i = part.offsets[row]; i < static_cast<std::size_t>(part.offsets[row + 1]); i++)
                places.push_back({part.numbers[i], &part, i});
        }
        const auto by_number = [](const Place& a, const Place& b) { return a.number < b.number; };
        if (!std::is_sorted(places.begin(), places.end(), by_number))
            std::stable_sort(places.begin(), places.end(), by_number);
        std::array<std::int64_t, COLUMNS> counts{};
        same.clear();
        for (const auto& [number, part, at] : places) {
            std::uint32_t keys = 0, near = part->columns[at] & BY_SIMHASH;
            for (std::uint32_t left = part->columns[at] & ~BY_SIMHASH; left != 0; left &= left - 1) {
                const int column = std::countr_zero(left);
                if (counts[column] >= most_equal) continue;
                counts[column]++;
                keys |= std::uint32_t{1} << column;
            }
            if (near != 0 && ++same[part->values[at]] > most_same) near = 0;
            if (near != 0 && part->distances[at] == 0) found.twins[row]++;
            if ((keys | near) != 0 && part->agreements[at] >= least[row]) found.candidates.add(*part, at, keys | near);
            if (keys != 0) found.held.add(number, keys);
        }
        found.candidates.end_text();
        found.held.end_text();
    }
    return found;
}

}  // namespace dedup
