// A cache line of a bucket, in both indexes.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dedup {

struct alignas(64) Chunk {
    static constexpr std::size_t ENTRIES = 10;

    std::uint32_t next;              // chunk of the same bucket, 0: none
    std::uint32_t entries[ENTRIES];  // texts by number + 1, 0: free; free ones lie behind the others
    std::uint16_t checks[ENTRIES];   // sixteen more bits of what each is found by

    bool is_full() const { return entries[ENTRIES - 1] != 0; }
    // How many entries are taken: the place of the first free one.
    std::size_t count() const {
#if defined(__SSE2__)
        const auto* words = reinterpret_cast<const __m128i*>(this);
        const auto is_zero = [&](int i) { return _mm_cmpeq_epi32(_mm_load_si128(words + i), _mm_setzero_si128()); };
        const __m128i low = _mm_packs_epi32(is_zero(0), is_zero(1)), high = _mm_packs_epi32(is_zero(2), is_zero(3));
        const auto zeros = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
        return static_cast<std::size_t>(std::countr_zero(zeros >> 1 | 1u << ENTRIES));  // behind `next`
#else
        std::size_t count = 0;
        for (const std::uint32_t entry : entries) count += entry != 0;
        return count;
#endif
    }
    void put(std::size_t place, std::uint32_t entry, std::uint16_t check) {
        entries[place] = entry;
        checks[place] = check;
    }
};
static_assert(sizeof(Chunk) == 64);

// As 16 lanes the second half of a chunk is six words of entries, then the ten check bits.
constexpr std::size_t CHUNK_HALF = 32;
constexpr int FIRST_CHECK = 6;
static_assert(sizeof(Chunk) == CHUNK_HALF + 2 * (FIRST_CHECK + Chunk::ENTRIES));

// A bit for each entry with these check bits, of free entries, too: their check bits are 0.
inline std::uint32_t equal_checks(const Chunk& chunk, std::uint16_t check) {
#if defined(__SSE2__)
    const auto* half = reinterpret_cast<const __m128i*>(reinterpret_cast<const std::byte*>(&chunk) + CHUNK_HALF);
    const __m128i all = _mm_set1_epi16(static_cast<short>(check));
    const __m128i low = _mm_cmpeq_epi16(_mm_load_si128(half), all),
                  high = _mm_cmpeq_epi16(_mm_load_si128(half + 1), all);
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) >> FIRST_CHECK;
#else
    std::uint32_t equal = 0;
    for (std::size_t i = 0; i < Chunk::ENTRIES; i++) equal |= std::uint32_t{chunk.checks[i] == check} << i;
    return equal;
#endif
}

}  // namespace dedup
