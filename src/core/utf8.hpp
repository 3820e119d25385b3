// UTF-8 (RFC 3629) written and read; surrogates are written as three bytes, and refused when read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/text.hpp"

namespace dedup {

constexpr std::size_t MOST_UTF8_BYTES = 4;  // of a code point

// Writes one code point; returns how many bytes it takes.
inline std::size_t write_utf8(std::uint32_t point, std::uint8_t* to) {
    if (point < 0x80) {
        to[0] = static_cast<std::uint8_t>(point);
        return 1;
    }
    if (point < 0x800) {
        to[0] = static_cast<std::uint8_t>(0xC0 | point >> 6);
        to[1] = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < PLANE) {
        to[0] = static_cast<std::uint8_t>(0xE0 | point >> 12);
        to[1] = static_cast<std::uint8_t>(0x80 | (point >> 6 & 0x3F));
        to[2] = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
        return 3;
    }
    to[0] = static_cast<std::uint8_t>(0xF0 | point >> 18);
    to[1] = static_cast<std::uint8_t>(0x80 | (point >> 12 & 0x3F));
    to[2] = static_cast<std::uint8_t>(0x80 | (point >> 6 & 0x3F));
    to[3] = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
    return 4;
}

inline std::size_t utf8_length(Points points) {
    std::size_t bytes = points.size();
    for (const std::uint32_t point : points) bytes += (point >= 0x80) + (point >= 0x800) + (point >= PLANE);
    return bytes;
}

// Writes all of them; returns how many bytes they take. `to` holds MOST_UTF8_BYTES for each.
inline std::size_t encode_utf8(Points points, std::uint8_t* to) {
    std::uint8_t* at = to;
    for (const std::uint32_t point : points) at += write_utf8(point, at);
    return static_cast<std::size_t>(at - to);
}

// How many characters there would be, each begun by one byte that is no further byte.
inline std::size_t count_characters(std::span<const std::uint8_t> bytes) {
    std::size_t count = 0;
    for (const std::uint8_t byte : bytes) count += (byte & 0xC0) != 0x80;
    return count;
}

// Calls `take` with each code point; false at the first byte that is not UTF-8 as Python takes it: shortest
// forms, no surrogates.
template <class Take>
bool read_utf8(std::span<const std::uint8_t> bytes, Take take) {
    constexpr std::uint32_t NO_FURTHER_BYTE = 0x80000000;
    const std::size_t size = bytes.size();
    const auto low = [&](std::size_t i) {  // six bits of a further byte
        const std::uint32_t bits = bytes[i] ^ 0x80u;
        return bits < 0x40 ? bits : NO_FURTHER_BYTE;
    };
    for (std::size_t at = 0; at < size;) {
        const std::uint32_t lead = bytes[at];
        if (lead < 0x80) {
            take(lead);
            at += 1;
        } else if (0xE0 <= lead && lead < 0xF0 && at + 2 < size) {  // first what Chinese is made of
            const std::uint32_t second = low(at + 1), third = low(at + 2);
            const std::uint32_t point = (lead & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F);
            if ((second | third) & NO_FURTHER_BYTE || point < 0x800 || point - 0xD800 < 0x800) return false;
            take(point);
            at += 3;
        } else if (0xC2 <= lead && lead < 0xE0 && at + 1 < size) {
            const std::uint32_t second = low(at + 1);
            if (second & NO_FURTHER_BYTE) return false;
            take((lead & 0x1F) << 6 | second);
            at += 2;
        } else if (0xF0 <= lead && lead <= 0xF4 && at + 3 < size) {
            const std::uint32_t second = low(at + 1), third = low(at + 2), fourth = low(at + 3);
            const std::uint32_t point = (lead & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F);
            if ((second | third | fourth) & NO_FURTHER_BYTE || point - 0x10000 >= 0x100000) return false;
            take(point);
            at += 4;
        } else {
            return false;
        }
    }
    return true;
}

inline bool is_utf8(std::span<const std::uint8_t> bytes) {
    return read_utf8(bytes, [](std::uint32_t) {});
}

// Writes the code points of `bytes`, count_characters of them.
inline bool decode_utf8(std::span<const std::uint8_t> bytes, std::uint32_t* to) {
    return read_utf8(bytes, [&](std::uint32_t point) { *to++ = point; });
}

}  // namespace dedup
