// Sixteen characters at a time: which of them are one of some ASCII characters, or lie between two. With SSE2, as
// x86-64 has it, else in loops.
#pragma once
#include <algorithm>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dedup::cleaning {

// Which of sixteen characters something holds for.
class Lanes {
public:
#if defined(__SSE2__)
    explicit Lanes(__m128i bytes) : bytes_(bytes) {}
    Lanes operator|(Lanes other) const { return Lanes(_mm_or_si128(bytes_, other.bytes_)); }
    unsigned bits() const { return static_cast<unsigned>(_mm_movemask_epi8(bytes_)); }

private:
    __m128i bytes_;
#else
    explicit Lanes(unsigned bits) : bits_(bits) {}
    Lanes operator|(Lanes other) const { return Lanes(bits_ | other.bits_); }
    unsigned bits() const { return bits_; }

private:
    unsigned bits_;
#endif
};

// The characters as bytes, those beyond 0xFE as 0xFF; numbers from 2**31 on, which are none, as 0.
class Block {
public:
    static constexpr int SIZE = 16;

#if defined(__SSE2__)
    explicit Block(const std::uint32_t* points)
        : bytes_(_mm_packus_epi16(_mm_packs_epi32(read(points), read(points + 4)),
                                  _mm_packs_epi32(read(points + 8), read(points + 12)))) {}

    // Which of sixteen characters lie between two; numbers from 2**31 on do not.
    static Lanes between(const std::uint32_t* points, std::uint32_t first, std::uint32_t last) {
        const __m128i below = _mm_set1_epi32(static_cast<int>(first) - 1);
        const __m128i above = _mm_set1_epi32(static_cast<int>(last) + 1);
        const auto are = [&](int at) {
            return _mm_and_si128(_mm_cmpgt_epi32(read(points + at), below), _mm_cmplt_epi32(read(points + at), above));
        };
        return Lanes(_mm_packs_epi16(_mm_packs_epi32(are(0), are(4)), _mm_packs_epi32(are(8), are(12))));
    }

    Lanes equal(char letter) const { return Lanes(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(letter))); }
    Lanes between(char first, char last) const { return Lanes(between(bytes_, first, last)); }
    Lanes beyond_ascii() const { return Lanes(bytes_); }
    Lanes letters() const { return Lanes(between(_mm_or_si128(bytes_, _mm_set1_epi8('a' - 'A')), 'a', 'z')); }

    // The first eight, capitals as small letters, the first one in the lowest byte.
    std::uint64_t first_eight() const {
        const __m128i difference = _mm_and_si128(between(bytes_, 'A', 'Z'), _mm_set1_epi8('a' - 'A'));
        std::uint64_t word;
        _mm_storel_epi64(reinterpret_cast<__m128i*>(&word), _mm_or_si128(bytes_, difference));
        return word;
    }

private:
    static __m128i between(__m128i bytes, char first, char last) {
        const __m128i distance = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
        return _mm_cmpeq_epi8(_mm_min_epu8(distance, _mm_set1_epi8(static_cast<char>(last - first))), distance);
    }
    static __m128i read(const std::uint32_t* points) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(points));
    }
    __m128i bytes_;
#else
    explicit Block(const std::uint32_t* points) : points_(points) {}

    static Lanes between(const std::uint32_t* points, std::uint32_t first, std::uint32_t last) {
        unsigned bits = 0;
        for (int i = 0; i < SIZE; i++) bits |= static_cast<unsigned>(points[i] - first <= last - first) << i;
        return Lanes(bits);
    }
    Lanes equal(char letter) const { return between(letter, letter); }
    Lanes between(char first, char last) const {
        return between(points_, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last));
    }
    Lanes beyond_ascii() const { return between(points_, 0x80, ~std::uint32_t{0}); }
    Lanes letters() const { return between('a', 'z') | between('A', 'Z'); }
    std::uint64_t first_eight() const {
        std::uint64_t word = 0;
        for (int i = 0; i < 8; i++) {
            const bool is_capital = points_[i] - 'A' <= 'Z' - 'A';
            word |= std::uint64_t{std::min(points_[i], 0xFFu) + (is_capital ? 'a' - 'A' : 0)} << 8 * i;
        }
        return word;
    }

private:
    const std::uint32_t* points_;
#endif
};

}  // namespace dedup::cleaning
