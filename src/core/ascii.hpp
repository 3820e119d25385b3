// Runs of ASCII in UTF-8 and in code points, eight characters at a time.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dedup {

constexpr std::size_t ASCII_BLOCK = 8;

template <class T>
T read_word(const std::uint8_t* from) {
    static_assert(std::endian::native == std::endian::little);
    T word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// How many of eight bytes come before the first that is not ASCII.
inline std::size_t count_ascii(const std::uint8_t* from) {
    return static_cast<std::size_t>(std::countr_zero(read_word<std::uint64_t>(from) & 0x8080808080808080)) / 8;
}

// Whether 32 bytes are ASCII.
inline bool are_ascii(const std::uint8_t* from) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < 4; i++) all |= read_word<std::uint64_t>(from + i * ASCII_BLOCK);
    return (all & 0x8080808080808080) == 0;
}

// Writes eight bytes as points.
inline void widen(const std::uint8_t* from, std::uint32_t* to) {
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    const __m128i shorts = _mm_unpacklo_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), zero);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi16(shorts, zero));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 4), _mm_unpackhi_epi16(shorts, zero));
#else
    for (std::size_t i = 0; i < ASCII_BLOCK; i++) to[i] = from[i];
#endif
}

inline bool are_ascii(const std::uint32_t* points) {
    std::uint32_t ones = 0;
    for (std::size_t i = 0; i < ASCII_BLOCK; i++) ones |= points[i];
    return ones < 0x80;
}

// Writes eight points of ASCII as bytes.
inline void narrow(const std::uint32_t* from, std::uint8_t* to) {
#if defined(__SSE2__)
    const auto read = [&](std::size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)); };
    const __m128i shorts = _mm_packs_epi32(read(0), read(4));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(shorts, shorts));
#else
    for (std::size_t i = 0; i < ASCII_BLOCK; i++) to[i] = static_cast<std::uint8_t>(from[i]);
#endif
}

}  // namespace dedup
