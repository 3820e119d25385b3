// What words and characters are to each other, in tables that Python makes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/hash.hpp"
#include "judgment/token.hpp"

namespace dedup::judgment {

// Groups of keys: two keys are related if they share a group.
class Groups {
public:
    // Keys ascend; one that is in several groups is repeated.
    Groups(std::span<const std::uint64_t> keys, std::vector<std::uint32_t> groups) : groups_(std::move(groups)) {
        ranges_.reset(keys.size());
        for (std::size_t i = 0; i < keys.size(); i++) {
            const auto [range, is_new] = ranges_[key_of(keys[i])];
            range = range_of(is_new ? i : range.begin, i + 1);
        }
    }
    std::span<const std::uint32_t> of(std::uint64_t key) const { return ranges_.find(key_of(key)).of(groups_); }
    bool share(std::uint64_t one, std::uint64_t other) const {
        const auto a = of(one), b = of(other);
        return std::ranges::find_first_of(a, b) != a.end();
    }

private:
    std::vector<std::uint32_t> groups_;
    HashTable<Range> ranges_;
};

// Words that are written in another way as well.
struct Spellings {
    enum Use : std::uint8_t { BEHIND_NUMBER = 1, SYMBOL = 2 };  // a unit behind a number; the symbol of one
    struct Spelling {
        std::uint8_t uses = 0;
        Points text;  // how it is written plainly, empty: as it is
    };
    OwnTexts texts;
    HashTable<Spelling> words;  // by digest
    std::size_t longest_unit = 0;
    Buffer unit_starts;  // what units behind a number begin with, ascending

    Spelling find(Points word) const { return words.find(key_of(digest(word))); }
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
