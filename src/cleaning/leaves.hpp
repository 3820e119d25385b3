// What single tags write: images, blanks, line breaks.
#pragma once
#include "cleaning/formulas.hpp"
#include "core/utf8.hpp"

namespace dedup::cleaning {

// Writes the line break that a tag of this element leaves, if it does.
inline void write_break(Page& page, std::uint32_t roles, int number) {
    if (!(roles & BREAKS)) return;
    const OpenElement& entry = page.stack.back();
    const Action action = page.action_of(number);
    if (action >= Action::math && entry.math) return;
    if ((action == Action::table_row || action == Action::table_cell) && !entry.code) return;
    page.out.append(entry.code && action != Action::line_break ? std::uint32_t{FRESH} : '\n');
}

// Whether a character of an address is percent-encoded, so that a second cleaning leaves the address alone.
inline bool is_encoded(std::uint32_t point, const Characters& characters) {
    if (point <= ' ' || (0x7F <= point && point <= 0xA0)) return true;
    if (point < 0x7F) return std::string_view("()<>\"\\`{}").find(static_cast<char>(point)) != std::string_view::npos;
    return point == ZERO_WIDTH_SPACE || point == BYTE_ORDER_MARK || characters.is(point, SPACE);
}

inline void write_encoded(Writer& out, std::uint32_t point) {
    std::uint8_t bytes[MOST_UTF8_BYTES];
    const std::size_t count = write_utf8(point, bytes);
    for (std::size_t i = 0; i < count; i++) {
        constexpr std::string_view DIGITS = "0123456789ABCDEF";
        out.append('%');
        out.append(static_cast<std::uint32_t>(DIGITS[bytes[i] >> 4]));
        out.append(static_cast<std::uint32_t>(DIGITS[bytes[i] & 15]));
    }
}

// Writes an address, of a set of them the first.
inline void write_address(Page& page, Attribute attribute) {
    Points address = page.characters.trimmed(page.decoded(attribute));
    if (attribute == Attribute::srcset) {
        const Place stop = std::find_if(address.begin(), address.end(),
                                        [&](std::uint32_t point) { return page.characters.is(point, SPACE); }) -
                           address.begin();
        address = address.first(stop);
        while (!address.empty() && address.back() == ',') address = address.first(address.size() - 1);
    }
    for (const std::uint32_t point : address) {
        if (point == '\t' || point == '\n' || point == '\r') continue;
        if (is_encoded(point, page.characters)) {
            write_encoded(page.out, point);
        } else {
            page.out.append(point);
        }
    }
}

constexpr Attribute NO_ATTRIBUTE{ATTRIBUTES};

// Writes an image, or another medium, with the address that an attribute holds.
inline void write_medium(Page& page, Mark kind, Attribute attribute) {
    page.out.append(kind);
    if (attribute != NO_ATTRIBUTE) write_address(page, attribute);
    page.out.append(ADDRESS_END);
}

// Whether nothing is at an address but what stands there until an image is loaded: data:, pic_loading.gif, t.png.
inline bool is_placeholder(Points address, const Characters& characters) {
    constexpr std::string_view WORDS[] = {"loading", "loader", "lazy", "blank", "none", "grey", "gray", "space", "1x1",
                                          "pixel", "placeholder", "default", "empty", "transparent", "wait"};
    if (starts_with(address, "data:")) return true;
    while (find(address, 0, '/') < std::ssize(address)) address = address.subspan(find(address, 0, '/') + 1);
    const bool is_short = address.empty() || (find(address, 0, '.') <= 1 && characters.is(address[0], LETTER));
    return is_short || std::ranges::any_of(WORDS, [&](std::string_view word) { return holds_word(address, word); });
}

// The attribute that holds the address of an image, NO_ATTRIBUTE if none does. A page that loads its images late
// has a placeholder in `src`.
inline Attribute address_of(const Page& page) {
    constexpr std::array ALL{Attribute::late, Attribute::src, Attribute::srcset};
    constexpr std::array LATE{Attribute::late, Attribute::other, Attribute::srcset, Attribute::src};
    const Attributes& attributes = page.attributes;
    const bool late = is_placeholder(attributes[Attribute::src], page.characters);
    Attribute chosen = NO_ATTRIBUTE;
    for (const Attribute one : late ? std::span<const Attribute>(LATE) : ALL) {
        if (attributes[one].empty()) continue;
        if (!attributes.is_data(one)) return one;
        if (chosen == NO_ATTRIBUTE) chosen = one;
    }
    return chosen;
}

// Writes a blank for a field that takes text, an image for a button that is one.
inline void write_field(Page& page) {
    if (page.attributes.has(Attribute::type)) {
        const int type = page.vocabulary.meaning(Naming::field_type, page.attributes[Attribute::type]);
        if (type == static_cast<int>(FieldType::image_button))
            return write_medium(page, IMAGE, address_of(page));
        if (type != NONE) return;
    }
    page.out.append(BLANK);
}

inline void write_picture(Page& page) {
    Attribute attribute = address_of(page);
    for (const Attribute other : {Attribute::href, Attribute::xlink_href}) {
        if (attribute == NO_ATTRIBUTE && page.attributes.has(other)) attribute = other;
    }
    write_medium(page, IMAGE, attribute);
}

// Gives the medium around a `source` its address, in place of what was written in it.
inline void write_source(Page& page) {
    const int around = page.stack.back().medium;
    const Attribute attribute = address_of(page);
    if (!around || attribute == NO_ATTRIBUTE || page.stack[around].extra) return;
    OpenElement& medium = page.stack[around];
    page.silence(around + 1, page.top() + 1);
    page.out.cut(medium.place);
    write_medium(page, medium.action == Action::hears ? AUDIO : VIDEO, attribute);
    medium.extra = 1;
    medium.cut = page.out.size();
}

// Writes what an element without content leaves.
inline void write_void(Page& page, Action action) {
    if (write_formula(page, Attribute::latex)) return;
    if (action == Action::picture) {
        if (!alt_is_formula(page) || !write_formula(page, Attribute::alt)) write_picture(page);
    } else if (action == Action::field) {
        write_field(page);
    } else if (action == Action::source) {
        write_source(page);
    }
}

// Writes a drawing as an image with a hash of its markup, white space folded, as address: FNV-1a of 64 bits
// over UTF-8.
inline void write_drawing(Page& page, Points markup) {
    constexpr std::uint64_t BASIS = 0xCBF29CE484222325, PRIME = 0x100000001B3;
    std::uint64_t hash = BASIS;
    bool space = false;
    for (const std::uint32_t point : markup) {
        if (page.characters.is(point, SPACE)) {
            space = true;
            continue;
        }
        if (space) hash = (hash ^ ' ') * PRIME;
        space = false;
        std::uint8_t bytes[MOST_UTF8_BYTES];
        const std::size_t count = write_utf8(point, bytes);
        for (std::size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * PRIME;
    }
    Writer& out = page.out;
    out.append(IMAGE);
    out.append("svg:");
    constexpr std::string_view DIGITS = "0123456789abcdef";
    for (int shift = 60; shift >= 0; shift -= 4) out.append(static_cast<std::uint32_t>(DIGITS[hash >> shift & 15]));
    out.append(ADDRESS_END);
}

}  // namespace dedup::cleaning
