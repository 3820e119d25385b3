// What words and characters are to each other, in tables that Python makes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash.hpp"
#include "judgment/token.hpp"

namespace dedup::judgment {

// Groups of keys: two keys are related if they share a group. Keys ascend; one that is in several groups is repeated.
struct Groups {
    std::span<const std::uint64_t> keys;
    std::span<const std::uint32_t> groups;

    std::span<const std::uint32_t> of(std::uint64_t key) const {
        const auto [first, last] = std::equal_range(keys.begin(), keys.end(), key);
        return groups.subspan(first - keys.begin(), last - first);
    }
    bool share(std::uint64_t one, std::uint64_t other) const {
        const auto a = of(one), b = of(other);
        return std::ranges::find_first_of(a, b) != a.end();
    }
};

// Digests of words that are written in another way as well, ascending.
struct Spellings {
    enum Use : std::uint8_t { BEHIND_NUMBER = 1, SYMBOL = 2 };  // a unit behind a number; the symbol of one
    std::span<const std::uint64_t> keys;
    std::span<const std::uint8_t> uses;
    TextColumn texts;  // how each is written plainly, empty: as it is
    std::size_t longest_unit = 0;
    Points unit_starts;  // what units behind a number begin with, ascending

    // Its number, or how many there are.
    std::size_t find(Points word) const {
        const std::uint64_t key = digest(word);
        const auto at = std::lower_bound(keys.begin(), keys.end(), key);
        return at != keys.end() && *at == key ? at - keys.begin() : keys.size();
    }
    bool is(Points word, Use use) const {
        const std::size_t k = find(word);
        return k < keys.size() && uses[k] & use;
    }
};

struct Relations {
    Groups opposites;  // words by their digests
    Groups alike;      // characters that look or sound alike
    Spellings spellings;
};

// Appends a text with its numerals in digits, and units behind them as symbols.
void write_plainly(Points text, const Spellings& spellings, Buffer& to);

// Appends digests of the numbers in such a text, and sorts them.
void find_numbers(Points plain, std::vector<std::uint64_t>& to);

}  // namespace dedup::judgment
