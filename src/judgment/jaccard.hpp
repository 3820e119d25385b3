// How alike two texts are, 0 to 1, without their white space.
#pragma once
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/text.hpp"

namespace dedup::judgment {

// The distinct 3-grams of a text, ascending. Three code points make 63 bits: no hash, no collision.
// A text of one or two characters is its only gram.
inline void find_grams(Points text, std::vector<std::uint64_t>& grams) {
    constexpr unsigned POINT_BITS = 21;
    constexpr std::uint64_t GRAM = (std::uint64_t{1} << 3 * POINT_BITS) - 1;
    std::uint64_t gram = 0;
    std::size_t length = 0;
    grams.clear();
    for (const std::uint32_t point : text) {
        if (is_white_space(point)) continue;
        gram = (gram << POINT_BITS | (point + 1)) & GRAM;
        if (++length >= 3) grams.push_back(gram);
    }
    if (length == 1 || length == 2) grams.push_back(gram);
    std::sort(grams.begin(), grams.end());
    grams.erase(std::unique(grams.begin(), grams.end()), grams.end());
}

// How many values both have, of two that ascend. Of a long one few are looked at where the other is short.
template <class T>
std::size_t count_common(const std::vector<T>& a, const std::vector<T>& b) {
    constexpr std::size_t MUCH_LONGER = 32;
    const auto& [few, many] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
    std::size_t common = 0;
    if (few.size() < many.size() / MUCH_LONGER) {
        auto at = many.begin();
        for (const T value : few) {
            at = std::lower_bound(at, many.end(), value);
            if (at == many.end()) break;
            if (*at == value) {
                at++;
                common++;
            }
        }
        return common;
    }
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const bool left = a[i] <= b[j], right = b[j] <= a[i];
        common += left && right;
        i += left;
        j += right;
    }
    return common;
}

// The grams that both have, of those that either has; 1 of two texts without any.
inline double jaccard(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    const std::size_t common = count_common(a, b);
    const std::size_t either = a.size() + b.size() - common;
    return either ? static_cast<double>(common) / static_cast<double>(either) : 1;
}

}  // namespace dedup::judgment
