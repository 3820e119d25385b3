// Stable 64-bit hashes of words and texts: the same on every machine and in every process.
#pragma once
#include <cstdint>
#include <vector>

#include "core/utf8.hpp"

#define XXH_INLINE_ALL
#include "third_party/xxhash.h"

namespace dedup {

// Hashes a word that is not empty; `buffer` is room that is used again.
inline std::uint64_t hash_word(Points word, std::vector<std::uint8_t>& buffer) {
    if (buffer.size() < MOST_UTF8_BYTES * word.size()) buffer.resize(MOST_UTF8_BYTES * word.size());
    return XXH64(buffer.data(), encode_utf8(word, buffer.data()), 0);
}

// xxh3 of a text's UTF-32-LE, independent of `hash_word`.
inline std::uint64_t digest(Points text) { return XXH3_64bits(text.data(), text.size_bytes()); }

// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

constexpr std::uint64_t GOLDEN = 0x9E3779B97F4A7C15;  // 2**64 by the golden ratio, odd

}  // namespace dedup
