// Lists: what kind of markers their items have, where they start to count, and the markers themselves.
#pragma once
#include "cleaning/page.hpp"

namespace dedup::cleaning {

// The whole number of an attribute.
inline int number_of(const Page& page, Attribute attribute, int otherwise) {
    constexpr std::size_t MOST_DIGITS = 9;
    Points value = page.characters.trimmed(page.attributes[attribute]);
    const bool negative = !value.empty() && value.front() == '-';
    if (negative) value = value.subspan(1);
    if (value.empty() || value.size() > MOST_DIGITS) return otherwise;
    int number = 0;
    for (const std::uint32_t point : value) {
        if (point < '0' || point > '9') return otherwise;
        number = 10 * number + static_cast<int>(point - '0');
    }
    return negative ? -number : number;
}

// The markers that the attribute `type` says.
inline Markers markers_of(Points type) {
    constexpr std::string_view TYPES = "1AaIi";  // in the order of the markers
    if (type.size() != 1) return Markers::decimal;
    for (std::size_t k = 0; k < TYPES.size(); k++) {
        if (type[0] == static_cast<std::uint32_t>(TYPES[k])) return static_cast<Markers>(k);
    }
    return Markers::decimal;
}

inline void open_list(Page& page, OpenElement& entry) {
    entry.list = page.top();
    entry.item = 0;
    entry.count = number_of(page, Attribute::start, 1);
    Markers markers = Markers::unmarked;
    if (entry.action == Action::ordered) {
        markers = markers_of(page.attributes[Attribute::type]);
        const int styled = page.attributes.style().markers;
        if (styled != NONE) markers = static_cast<Markers>(styled);
    }
    entry.extra = static_cast<Place>(markers);
}

inline void write_digits(Writer& out, int value, int count, int base, std::uint32_t zero) {
    const Place begin = out.size();
    out.cut(begin + count);
    for (int k = count - 1; k >= 0; k--) {
        out[begin + k] = zero + static_cast<std::uint32_t>(value % base);
        value /= base;
    }
}

// Writes a Roman number: a letter before a greater one is taken off it.
inline void write_roman(Writer& out, int value, bool is_small) {
    constexpr std::string_view CAPITAL = "MDCLXVI", SMALL = "mdclxvi";
    constexpr int VALUES[] = {1000, 500, 100, 50, 10, 5, 1};
    const std::string_view letters = is_small ? SMALL : CAPITAL;
    for (std::size_t k = 0; k < letters.size(); k++) {
        for (; value >= VALUES[k]; value -= VALUES[k]) out.append(letters.substr(k, 1));
        const std::size_t before = k + 2 - k % 2;
        if (before < letters.size() && value >= VALUES[k] - VALUES[before]) {
            out.append(letters.substr(before, 1));
            out.append(letters.substr(k, 1));
            value -= VALUES[k] - VALUES[before];
        }
    }
}

inline void write_marker(Writer& out, int value, Markers kind) {
    constexpr int LETTERS = 26, LAST_ROMAN = 3999;
    if ((kind == Markers::upper || kind == Markers::lower) && value > 0) {
        int count = 1;
        std::int64_t rest = value, room = LETTERS;
        for (; rest > room; room *= LETTERS, count++) rest -= room;  // A to Z, AA to ZZ and so on
        return write_digits(out, static_cast<int>(rest - 1), count, LETTERS, kind == Markers::upper ? 'A' : 'a');
    }
    if ((kind == Markers::upper_roman || kind == Markers::lower_roman) && 0 < value && value <= LAST_ROMAN)
        return write_roman(out, value, kind == Markers::lower_roman);
    if (value < 0) {
        out.append('-');
        value = -value;
    }
    int count = 1;
    for (int rest = value; rest >= 10; rest /= 10) count++;
    write_digits(out, value, count, 10, '0');
}

// Writes the marker of a list's item between two marks, if it has one.
inline void open_item(Page& page, OpenElement& entry) {
    entry.item = page.top();
    OpenElement& around = page.stack[entry.list];
    const auto markers = static_cast<Markers>(around.extra);
    if (!entry.list || markers == Markers::unmarked || entry.code) return;
    const int value = number_of(page, Attribute::value, around.count);
    around.count = value + 1;
    entry.extra = 1;
    Writer& out = page.out;
    out.append(ITEM);
    write_marker(out, value, markers);
    out.append('.');
    out.append(BODY);
}

}  // namespace dedup::cleaning
