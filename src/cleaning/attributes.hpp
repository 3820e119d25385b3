// Attributes of a tag, and what class and style say.
#pragma once
#include <array>

#include "cleaning/vocabulary.hpp"

namespace dedup::cleaning {

// Behind `=` and white space: before attribute value state; NONE without a value.
inline Place behind_equals(Points text, Place at, const Characters& characters) {
    at = characters.skip(text, at, SPACE);
    if (at >= std::ssize(text) || text[at] != '=') return NONE;
    at = characters.skip(text, at + 1, SPACE);
    return at < std::ssize(text) ? at : NONE;
}

// Where a value begins and ends, and the place behind its quote, NONE without a value.
struct ValuePlace {
    Place first = NONE, stop = NONE, after = NONE;
};

// The value of the name that ends at `at`: after attribute name state and on.
inline ValuePlace read_value(Points text, Place at, const Characters& characters) {
    at = behind_equals(text, at, characters);
    if (at == NONE || text[at] == '=' || text[at] == '`') return {};
    const Place end = std::ssize(text);
    const bool escaped = text[at] == '\\' && at + 1 < end && (text[at + 1] == '"' || text[at + 1] == '\'');
    at += escaped;  // \"...\", out of a program's string
    const std::uint32_t quote = text[at];
    Place stop = at;
    if (quote == '"' || quote == '\'') {  // attribute value (double-quoted), (single-quoted) state
        stop = find(text, at + 1, static_cast<char>(quote));
        if (stop == end) return {};
        return {at + 1, stop - (escaped && text[stop - 1] == '\\'), stop + 1};
    }
    while (stop < end && !characters.is(text[stop], ENDS)) stop++;  // attribute value (unquoted) state
    return stop > at ? ValuePlace{at, stop, stop} : ValuePlace{};
}

// What a style attribute says: spans as bits, the same of its border, and the markers of a list.
struct Style {
    std::uint32_t spans = 0, border = 0;
    int markers = NONE;
};

// A known attribute, and where its value stands.
struct AttributePlace {
    int number;
    Place first, stop;
};

// The known attributes of one tag after the other.
class Attributes {
public:
    Attributes(const Characters& characters, const Vocabulary& vocabulary)
        : characters_(characters), vocabulary_(vocabulary) {}

    // Notes the values of a tag. The first of equal names counts, as in a browser.
    void take(Points text, std::span<const AttributePlace> places) {
        found_ = 0;
        for (const auto& [number, first, stop] : places) note(number, text.subspan(first, stop - first));
    }

    // ... of an image, or of one whose attributes are untidy; what is no attribute is passed over.
    void search(Points tag) {
        found_ = 0;
        for (Place at = 0; at < std::ssize(tag);) {
            if (!characters_.is(tag[at], STARTS)) {
                at++;
                continue;
            }
            const Place begin = at;
            at = characters_.skip(tag, at + 1, GOES_ON);
            const int number = vocabulary_.meaning(Naming::attribute, tag.subspan(begin, at - begin));
            const ValuePlace place = read_value(tag, at, characters_);
            if (place.after != NONE) {
                const Points value = tag.subspan(place.first, place.stop - place.first);
                if (number != NONE) note(number, value);
                else if (is_path(value)) note(static_cast<int>(Attribute::other), value);
                at = place.after;
            } else if (number == static_cast<int>(Attribute::hidden)) {
                note(number, Points());
            }
        }
    }

    bool has(Attribute name) const { return found_ >> static_cast<int>(name) & 1; }

    // The value as it stands in the text; nothing without the attribute.
    Points operator[](Attribute name) const { return has(name) ? values_[static_cast<int>(name)] : Points(); }

    // Whether there is a value that holds a word, in capitals or not.
    bool holds(Attribute name, std::string_view word) const { return holds_word((*this)[name], word); }

    // Whether the address that an attribute holds is a data: URI.
    bool is_data(Attribute name) const { return starts_with((*this)[name], "data:"); }

    // What the words of the class stand for, as bits.
    std::uint32_t class_flags() const {
        const Points value = (*this)[Attribute::class_];
        std::uint32_t flags = 0;
        for (Place at = 0; at < std::ssize(value); at++) {
            const Place begin = at;
            while (at < std::ssize(value) && !characters_.is(value[at], SPACE)) at++;
            if (at == begin) continue;
            const int meaning = vocabulary_.meaning(Naming::class_word, value.subspan(begin, at - begin));
            if (meaning != NONE) flags |= meaning;
        }
        return flags;
    }

    Style style() const {
        const Points value = (*this)[Attribute::style];
        Style said;
        for (Place at = 0; at < std::ssize(value); at++) {
            const Place begin = at;
            Place colon = NONE;
            for (; at < std::ssize(value) && value[at] != ';'; at++) {
                if (value[at] == ':' && colon == NONE) colon = at;
            }
            if (colon == NONE) continue;
            const Points name = characters_.trimmed(value.subspan(begin, colon - begin));
            const int number = vocabulary_.meaning(Naming::property, name);
            if (number == NONE) continue;
            const auto property = static_cast<Property>(number);
            const auto [flags, last] = meaning_of(property, value.subspan(colon + 1, at - colon - 1));
            if (property == Property::listing) {
                if (last != NONE) said.markers = last;
            } else {
                (property == Property::border ? said.border : said.spans) |= flags;
            }
        }
        return said;
    }

private:
    // Whether a value is an address with a file's name or a query.
    bool is_path(Points value) const {
        Place slash = NONE;
        for (Place at = 0; at < std::ssize(value); at++) {
            if (value[at] == '(' || characters_.is(value[at], ENDS)) return false;
            if (value[at] == '/') slash = at;
        }
        return slash != NONE && find(value, slash, '.', '?') < std::ssize(value);
    }

    void note(int number, Points value) {
        const auto name = Attribute{static_cast<std::uint8_t>(number)};
        // it may only say that an image is loaded late, or how
        if (has(name) || (name == Attribute::late && find(value, 0, '/', '.') == std::ssize(value))) return;
        found_ |= 1u << number;
        values_[number] = value;
    }

    // What the words of a property's value mean, as bits, and what the last one means.
    struct Meaning {
        std::uint32_t flags = 0;
        int last = NONE;
    };
    Meaning meaning_of(Property property, Points value) const {
        Meaning all;
        bool is_first = true;
        for (Place at = 0; at < std::ssize(value);) {
            const Place begin = at;
            while (at < std::ssize(value) && (value[at] == '-' || value[at] == '.' || characters_.is(value[at], ALNUM)))
                at++;
            if (at == begin) {
                at++;
                continue;
            }
            int meaning = vocabulary_.meaning(word_of(property), value.subspan(begin, at - begin));
            if (property == Property::emphasis && is_first)  // any word but `none`
                meaning = meaning == NONE ? static_cast<int>(IS_DOTS) : 0;
            if (meaning != NONE) all = {all.flags | static_cast<std::uint32_t>(meaning), meaning};
            is_first = false;
        }
        return all;
    }

    const Characters& characters_;
    const Vocabulary& vocabulary_;
    std::array<Points, ATTRIBUTES> values_;
    std::uint32_t found_ = 0;
};

}  // namespace dedup::cleaning
