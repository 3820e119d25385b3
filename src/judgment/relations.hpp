// What words and characters are to each other, as tables of Python's.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash.hpp"
#include "core/text.hpp"

namespace dedup::judgment {

// The groups that something is in; two are related that share one. Keys ascend, one of several groups is repeated.
struct Groups {
    std::span<const std::uint64_t> keys;
    std::span<const std::uint32_t> groups;

    std::span<const std::uint32_t> of(std::uint64_t key) const {
        const auto [first, last] = std::equal_range(keys.begin(), keys.end(), key);
        return groups.subspan(first - keys.begin(), last - first);
    }
    bool share(std::uint64_t one, std::uint64_t other) const {
        const auto a = of(one), b = of(other);
        return std::any_of(a.begin(), a.end(), [&](std::uint32_t group) { return std::find(b.begin(), b.end(), group) != b.end(); });
    }
};

// Digests of words that are written in another way as well, ascending.
struct Spellings {
    enum Use : std::uint8_t { BEHIND_NUMBER = 1, SYMBOL = 2 };  // a unit behind a number; the symbol of one
    std::span<const std::uint64_t> keys;
    std::span<const std::uint8_t> uses;
    TextColumn texts;  // how each is written plainly, empty: as it is
    std::size_t longest_unit = 0;

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
void write_plainly(Points text, const Spellings& spellings, std::vector<std::uint32_t>& to);

// Appends digests of the numbers in such a text, and sorts them.
void find_numbers(Points plain, std::vector<std::uint64_t>& to);

}  // namespace dedup::judgment
