// UTF-8 (RFC 3629) written and read. A lone surrogate, which only texts of our own have, takes three bytes.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/text.hpp"

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

// Writes eight bytes as points.
inline void widen(const std::uint8_t* from, std::uint32_t* to) {
    for (std::size_t i = 0; i < ASCII_BLOCK; i++) to[i] = from[i];
}

constexpr std::size_t MOST_UTF8_BYTES = 4;  // of a code point

// Writes one code point; returns how many bytes it takes.
inline std::size_t write_utf8(std::uint32_t point, std::uint8_t* to) {
    if (point < 0x80) {
        to[0] = static_cast<std::uint8_t>(point);
        return 1;
    }
    const std::size_t size = 2 + (point >= 0x800) + (point >= PLANE);
    for (std::size_t i = size - 1; i > 0; i--, point >>= 6) to[i] = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
    to[0] = static_cast<std::uint8_t>(0xF00 >> size | point);  // as many ones as bytes, then a zero
    return size;
}

// Counted in blocks, so that the processor adds many narrow numbers at a time.
inline std::size_t utf8_length(Points points) {
    constexpr std::size_t BLOCK = 128;
    std::size_t length = 0;
    while (!points.empty()) {
        const Points block = points.first(std::min(BLOCK, points.size()));
        std::uint32_t some = 0;
        for (const std::uint32_t point : block) some += 1 + (point >> 7 != 0) + (point >> 11 != 0) + (point >> 16 != 0);
        length += some;
        points = points.subspan(block.size());
    }
    return length;
}

// Writes all of them; returns how many bytes they take. `to` holds as many.
inline std::size_t encode_utf8(Points points, std::uint8_t* to) {
    const std::uint32_t *from = points.data(), *const stop = from + points.size();
    std::uint8_t* at = to;
    while (stop - from > static_cast<std::ptrdiff_t>(ASCII_BLOCK)) {
        std::uint32_t ones = 0;
        for (std::size_t i = 0; i < ASCII_BLOCK; i++) ones |= from[i];
        if (ones < 0x80) {
            for (std::size_t i = 0; i < ASCII_BLOCK; i++) at[i] = static_cast<std::uint8_t>(from[i]);
            from += ASCII_BLOCK, at += ASCII_BLOCK;
            continue;
        }
        for (std::size_t i = 0; i < ASCII_BLOCK; i++, from++) {
            if (0x800 <= *from && *from < PLANE) {
                // the fourth byte is written over: a further point takes one
                const std::uint32_t word = 0x8080E0 | *from >> 12 | (*from << 2 & 0x3F00) | (*from & 0x3F) << 16;
                std::memcpy(at, &word, sizeof word);
                at += 3;
            } else {
                at += write_utf8(*from, at);
            }
        }
    }
    for (; from < stop; from++) at += write_utf8(*from, at);
    return static_cast<std::size_t>(at - to);
}

// Whether a code point below PLANE takes three bytes.
template <bool SURROGATES>
bool is_of_three(std::uint32_t point) {
    return 0x800 <= point && (SURROGATES || point - 0xD800 >= 0x800);
}

// Reads one character, of two bytes or more, as Python takes it: shortest forms. Returns how many bytes it takes, 0
// where it is none.
template <bool SURROGATES>
std::size_t read_utf8(std::span<const std::uint8_t> bytes, std::uint32_t& point) {
    const std::uint32_t lead = bytes[0];
    const std::size_t size = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead <= 0xF4 ? 4 : 0;
    if (size == 0 || bytes.size() < size) return 0;
    point = lead & 0x7F >> size;
    for (std::size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return 0;
        point = point << 6 | (bytes[i] & 0x3F);
    }
    return size == 2 || (size == 3 ? is_of_three<SURROGATES>(point) : point - PLANE < 0x100000) ? size : 0;
}

constexpr std::ptrdiff_t NOT_UTF8 = -1;

// How many characters there are, NOT_UTF8 for bytes that are none. WRITES: `to` holds as many and ASCII_BLOCK more,
// which are written, too; then surrogates pass.
template <bool WRITES>
std::ptrdiff_t read_all_utf8(std::span<const std::uint8_t> bytes, [[maybe_unused]] std::uint32_t* to) {
    const std::uint8_t *from = bytes.data(), *const stop = from + bytes.size();
    std::ptrdiff_t further = 0;  // bytes that begin no character
    const auto take = [&](std::uint32_t point) {
        if constexpr (WRITES) *to++ = point;
    };
    while (from < stop) {
        if (stop - from >= static_cast<std::ptrdiff_t>(ASCII_BLOCK)) {
            const std::size_t count = count_ascii(from);
            if constexpr (WRITES) widen(from, to), to += count;
            from += count;
            if (count == ASCII_BLOCK) continue;
        }
        for (; stop - from >= 4; from += 3, further += 2) {  // what Chinese is made of
            const auto word = read_word<std::uint32_t>(from);
            if ((word & 0xC0C0F0) != 0x8080E0) break;
            const std::uint32_t point = (word & 0x0F) << 12 | (word >> 2 & 0xFC0) | (word >> 16 & 0x3F);
            if (!is_of_three<WRITES>(point)) return NOT_UTF8;
            take(point);
        }
        std::uint32_t point = *from;
        const std::size_t size = point < 0x80 ? 1 : read_utf8<WRITES>({from, stop}, point);
        if (size == 0) return NOT_UTF8;
        take(point);
        from += size;
        further += static_cast<std::ptrdiff_t>(size) - 1;
    }
    return std::ssize(bytes) - further;
}

inline std::ptrdiff_t characters_of_utf8(std::span<const std::uint8_t> bytes) {
    return read_all_utf8<false>(bytes, nullptr);
}

inline bool is_utf8(std::span<const std::uint8_t> bytes) { return characters_of_utf8(bytes) != NOT_UTF8; }

// Writes the code points of `bytes`, and up to ASCII_BLOCK without meaning; returns how many there are.
inline std::ptrdiff_t decode_utf8(std::span<const std::uint8_t> bytes, std::uint32_t* to) {
    return read_all_utf8<true>(bytes, to);
}

}  // namespace dedup
