// How alike two texts are, 0 to 1, without their white space.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/hash.hpp"
#include "core/text.hpp"

namespace dedup::judgment {

using Grams = HashTable<bool>;

// The distinct 3-grams of a text; one of one or two characters is its only gram. Three code points make 63 bits: no
// hash, no collision, and none is 0.
inline void find_grams(Points text, Grams& grams) {
    constexpr unsigned POINT_BITS = 21;
    constexpr std::uint64_t GRAM = (std::uint64_t{1} << 3 * POINT_BITS) - 1;
    std::uint64_t gram = 0;
    std::size_t length = 0;
    grams.reset(text.size());
    for (const std::uint32_t point : text) {
        if (is_white_space(point)) continue;
        gram = (gram << POINT_BITS | (point + 1)) & GRAM;
        if (++length >= 3) grams[gram].value = true;
    }
    if (length == 1 || length == 2) grams[gram].value = true;
}

// The grams that both have, of those that either has; 1 of two texts without any.
inline double jaccard(const Grams& a, const Grams& b) {
    const Grams &few = a.size() < b.size() ? a : b, &many = a.size() < b.size() ? b : a;
    std::size_t common = 0;
    few.each([&](std::uint64_t gram, bool) { common += many.find(gram); });
    const std::size_t either = a.size() + b.size() - common;
    return either ? static_cast<double>(common) / static_cast<double>(either) : 1;
}

// The least similarity of two texts that are the same, by the characters of the longer one. threshold: of texts that are
// not short. A character that is dropped from inside a text takes three of its G grams and adds two: of G + 2 in all G - 3
// are common. Below FULL that is less than 0.8, so less is asked for; with fewer than LEAST grams a character may be half
// of the meaning.
inline double required_similarity(double threshold, std::size_t length) {
    constexpr double FULL = 27, LEAST = 12;
    const auto common = [](double grams) { return (grams - 3) / (grams + 2); };
    const double grams = static_cast<double>(length) - 2;
    return grams < LEAST ? threshold : threshold * (common(std::min(grams, FULL)) / common(FULL));
}

}  // namespace dedup::judgment
