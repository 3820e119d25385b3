// Words as a trie in flat arrays: the first character by a direct table, then the children of each node side by side.
//
// Nodes are numbered from 0, all first characters before the others. Each has a slot: an entry, and the character that
// leads to it. The children of a node lie in buckets of eight slots, in one bucket as many as there are; so a step
// looks at one cache line of characters, and at an entry only where it leads somewhere. Only characters of the basic
// plane lead anywhere: jieba segments no others.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/text.hpp"

namespace dedup {

constexpr std::size_t BUCKET = 8;
constexpr double NO_WORD = -std::numeric_limits<double>::infinity();  // in place of a log probability

class Trie {
public:
    static constexpr std::int32_t ABSENT = -1;
    static constexpr std::uint32_t ONE_BUCKET = 16;        // its shift, see Entry
    static constexpr std::uint16_t NO_CHARACTER = 0xFFFF;  // of a slot that is free; no word holds it

    // A node: what it stands for, and where its children are. Fields share words, so that four fit into a cache line.
    struct Entry {
        double probability;       // the logarithm for a word of the dictionary, else NO_WORD
        std::int32_t node : 24;   // ABSENT in a slot that is free
        std::uint32_t shift : 8;  // of a character's hash, which makes it the number of a bucket, times BUCKET
        std::uint32_t slot : 24;  // of the first child
        std::uint32_t used : 8;   // a bit for each slot of a bucket that may be in use, 0 without children

        std::size_t bucket_of(std::uint32_t point) const {
            return slot + ((point * 0x9E37u & 0xFFFF) >> shift & ~(BUCKET - 1));
        }
    };
    static_assert(sizeof(Entry) == 16);

    // first: slots, PLANE; characters, entries: by slot, and of the former a bucket more.
    Trie() = default;
    Trie(std::span<const std::int32_t> first, std::span<const std::uint16_t> characters, std::span<const Entry> entries)
        : first_(first), characters_(characters), entries_(entries) {}

    // Slots, or ABSENT.
    std::int32_t first(std::uint32_t point) const { return first_[point]; }
    std::int32_t child(std::int32_t slot, std::uint32_t point) const {
        const Entry& entry = (*this)[slot];
        const std::size_t bucket = entry.bucket_of(point);
        const unsigned equal = equal_in(&characters_[bucket], static_cast<std::uint16_t>(point)) & entry.used;
        return equal ? static_cast<std::int32_t>(bucket) + std::countr_zero(equal) : ABSENT;
    }

    const Entry& operator[](std::int32_t slot) const { return entries_[static_cast<std::size_t>(slot)]; }

private:
    // A bit for each of a bucket's characters.
    static unsigned equal_in(const std::uint16_t* characters, std::uint16_t point) {
#if defined(__SSE2__)
        const __m128i bucket = _mm_loadu_si128(reinterpret_cast<const __m128i*>(characters));
        const __m128i equal = _mm_cmpeq_epi16(bucket, _mm_set1_epi16(static_cast<short>(point)));
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(equal, equal))) & 0xFF;
#else
        unsigned equal = 0;
        for (unsigned k = 0; k < BUCKET; k++) equal |= unsigned{characters[k] == point} << k;
        return equal;
#endif
    }

    std::span<const std::int32_t> first_;
    std::span<const std::uint16_t> characters_;
    std::span<const Entry> entries_;
};

}  // namespace dedup
