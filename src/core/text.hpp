// Texts as they come from Python: code points of many texts, one after the other.
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dedup {

using Points = std::span<const std::uint32_t>;

// n texts: text i is points[offsets[i]:offsets[i + 1]].
struct TextColumn {
    Points points;
    std::span<const std::int64_t> offsets;

    std::size_t size() const { return offsets.size() - 1; }
    Points operator[](std::size_t i) const {
        return points.subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
};

// Room for characters that is not filled with zeros: what is not written costs nothing.
class Room {
public:
    // Room of a size; what it held may be lost.
    std::span<std::uint32_t> get(std::size_t size) {
        if (size > size_) {
            size_ = size + size / 4;  // a little more, for the next ones
            points_.reset();
            points_ = std::make_unique_for_overwrite<std::uint32_t[]>(size_);
        }
        return {points_.get(), size};
    }

private:
    std::unique_ptr<std::uint32_t[]> points_;
    std::size_t size_ = 0;
};

constexpr std::uint32_t PLANE = 0x10000;    // end of Unicode's basic plane
constexpr std::uint32_t BEYOND = 0x110000;  // the first number that is no character

// As `str.isspace` says.
inline bool is_white_space(std::uint32_t point) {
    if (point < 0x80) return point == 0x20 || (0x09 <= point && point <= 0x0D) || (0x1C <= point && point <= 0x1F);
    return point == 0x85 || point == 0xA0 || point == 0x1680 || (0x2000 <= point && point <= 0x200A) ||
           point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

// As `str.splitlines` says, but for the separators of files, groups and records.
inline bool ends_paragraph(std::uint32_t point) {
    return (0x0A <= point && point <= 0x0D) || point == 0x85 || point == 0x2028 || point == 0x2029;
}

// As `str.splitlines` says.
inline bool ends_line(std::uint32_t point) { return ends_paragraph(point) || (0x1C <= point && point <= 0x1E); }

// What Python knows of characters, so that both say the same.

// As `str.isalnum` says.
inline bool is_alphanumeric(std::uint32_t point) { return Py_UNICODE_ISALNUM(point); }

// What each character of the basic plane becomes where width and case do not count: the full-width forms of ASCII (Unicode
// block FF00) become narrow, and capitals small where that is one character.
inline const std::vector<std::uint16_t>& folded_characters() {
    static const std::vector<std::uint16_t> table = [] {
        constexpr std::uint32_t FULL_FIRST = 0xFF01, FULL_LAST = 0xFF5E, FULL_OFFSET = 0xFEE0, DOTTED_I = 0x130;
        std::vector<std::uint16_t> folded(PLANE);
        for (std::uint32_t point = 0; point < PLANE; point++) {
            const bool is_full = FULL_FIRST <= point && point <= FULL_LAST;
            const std::uint32_t plain = is_full ? point - FULL_OFFSET : point == 0x3000 ? ' ' : point;
            folded[point] = static_cast<std::uint16_t>(plain == DOTTED_I ? plain : Py_UNICODE_TOLOWER(plain));
        }
        return folded;
    }();
    return table;
}

}  // namespace dedup
