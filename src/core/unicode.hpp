// What Python knows of characters, so that both say the same.
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

#include "core/text.hpp"

namespace dedup {

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
