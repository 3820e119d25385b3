#include "index/lanes.hpp"

#include <bit>

#include "core/processor.hpp"
#include "index/chunk.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dedup {
namespace {

void scan_plain(const Chunk* pool, std::span<Walk> walks) {
    for (Walk& walk : walks) {
        const Chunk& chunk = pool[walk.chunk];
        std::uint32_t near = 0;
        for (std::size_t i = 0; i < Chunk::ENTRIES; i++) {
            const auto difference = static_cast<std::uint16_t>(chunk.checks[i] ^ walk.check);
            near |= std::uint32_t{std::popcount(difference) <= walk.limit} << i;
        }
        walk.near = near;
        walk.next = chunk.next;
    }
}

std::size_t count_plain(std::span<const std::uint64_t> values, std::uint64_t one, int distance) {
    std::size_t count = 0;
    for (const std::uint64_t value : values) count += std::popcount(value ^ one) <= distance;
    return count;
}

#if defined(__x86_64__)

// Bits by nibble: Muła, Kurz, Lemire, "Faster population counts using AVX2 instructions", 2018.
[[gnu::target("avx2")]] inline __m256i bits_of_bytes(__m256i x) {
    const __m256i of_nibble = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                               0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    const __m256i low = _mm256_shuffle_epi8(of_nibble, _mm256_and_si256(x, nibble));
    const __m256i high = _mm256_shuffle_epi8(of_nibble, _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble));
    return _mm256_add_epi8(low, high);
}

[[gnu::target("avx2")]] inline __m256i second_half(const Chunk& chunk) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(reinterpret_cast<const std::byte*>(&chunk) + CHUNK_HALF));
}

[[gnu::target("avx2")]] void scan_avx2(const Chunk* pool, std::span<Walk> walks) {
    for (Walk& walk : walks) {
        const Chunk& chunk = pool[walk.chunk];
        const __m256i difference = _mm256_xor_si256(second_half(chunk), _mm256_set1_epi16(static_cast<short>(walk.check)));
        const __m256i bits = _mm256_maddubs_epi16(bits_of_bytes(difference), _mm256_set1_epi8(1));
        const __m256i near = _mm256_cmpgt_epi16(_mm256_set1_epi16(static_cast<short>(walk.limit + 1)), bits);
        // packing stays within each half of the register
        const auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_packs_epi16(near, _mm256_setzero_si256())));
        walk.near = ((mask & 0xFF) | (mask >> 8 & 0xFF00)) >> FIRST_CHECK;
        walk.next = chunk.next;
    }
}

[[gnu::target("avx2,popcnt")]] std::size_t count_avx2(std::span<const std::uint64_t> values, std::uint64_t one, int distance) {
    const __m256i all = _mm256_set1_epi64x(static_cast<long long>(one)), most = _mm256_set1_epi64x(distance + 1);
    __m256i counts = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&values[i]));
        const __m256i bits = _mm256_sad_epu8(bits_of_bytes(_mm256_xor_si256(x, all)), _mm256_setzero_si256());
        counts = _mm256_sub_epi64(counts, _mm256_cmpgt_epi64(most, bits));  // true is -1
    }
    std::size_t count = 0;
    for (; i < values.size(); i++) count += std::popcount(values[i] ^ one) <= distance;
    alignas(32) std::uint64_t parts[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(parts), counts);
    return count + parts[0] + parts[1] + parts[2] + parts[3];
}

[[gnu::target("avx2,avx512f,avx512bw,avx512vl,avx512bitalg")]] void scan_avx512(const Chunk* pool, std::span<Walk> walks) {
    for (Walk& walk : walks) {
        const Chunk& chunk = pool[walk.chunk];
        const __m256i difference = _mm256_xor_si256(second_half(chunk), _mm256_set1_epi16(static_cast<short>(walk.check)));
        const __m256i limit = _mm256_set1_epi16(static_cast<short>(walk.limit));
        walk.near = std::uint32_t{_mm256_cmple_epu16_mask(_mm256_popcnt_epi16(difference), limit)} >> FIRST_CHECK;
        walk.next = chunk.next;
    }
}

[[gnu::target("avx512f,avx512vpopcntdq,popcnt")]] std::size_t count_avx512(std::span<const std::uint64_t> values, std::uint64_t one, int distance) {
    const __m512i all = _mm512_set1_epi64(static_cast<long long>(one)), most = _mm512_set1_epi64(distance);
    std::size_t count = 0, i = 0;
    for (; i + 8 <= values.size(); i += 8) {
        const __m512i bits = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(&values[i]), all));
        count += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(_mm512_cmple_epu64_mask(bits, most))));
    }
    for (; i < values.size(); i++) count += std::popcount(values[i] ^ one) <= distance;
    return count;
}

#endif

}  // namespace

Lanes lanes() {
#if defined(__x86_64__)
    switch (processor()) {
        case Processor::plain: break;
        case Processor::wide: return {scan_avx2, count_avx2};
        case Processor::widest: return {scan_avx512, count_avx512};
    }
#endif
    return {scan_plain, count_plain};
}

}  // namespace dedup
