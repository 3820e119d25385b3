// Attributes of a tag, what class and style say, and character references (HTML standard, 13.2.5.72 and on), which count
// only with a semicolon, and within bounds of length.
#pragma once
#include "cleaning/vocabulary.hpp"

namespace dedup::cleaning {

// Behind `=` and white space: before attribute value state; NONE without a value.
inline Place behind_equals(Points text, Place at) {
    at = characters().skip(text, at, SPACE);
    if (at >= std::ssize(text) || text[at] != '=') return NONE;
    at = characters().skip(text, at + 1, SPACE);
    return at < std::ssize(text) ? at : NONE;
}

// Where a value begins and ends, and the place behind its quote, NONE without a value.
struct ValuePlace {
    Place first = NONE, stop = NONE, after = NONE;
};

// The value of the name that ends at `at`: after attribute name state and on.
inline ValuePlace read_value(Points text, Place at) {
    at = behind_equals(text, at);
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
    while (stop < end && !characters().is(text[stop], ENDS)) stop++;  // attribute value (unquoted) state
    return stop > at ? ValuePlace{at, stop, stop} : ValuePlace{};
}

// Whether a value is an address with a file's name or a query.
inline bool is_path(Points value) {
    Place slash = NONE;
    for (Place at = 0; at < std::ssize(value); at++) {
        if (value[at] == '(' || characters().is(value[at], ENDS)) return false;
        if (value[at] == '/') slash = at;
    }
    return slash != NONE && find(value, slash, '.', '?') < std::ssize(value);
}

// What a style attribute says: spans as bits, the same of its border, and the markers of a list.
struct Style {
    std::uint32_t spans = 0, border = 0;
    int markers = NONE;
};

// The known attributes of one tag after the other.
class Attributes {
public:
    explicit Attributes(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

    void clear() { found_ = 0; }

    // Notes a value of a tag. The first of equal names counts, as in a browser.
    void note(int number, Points value) {
        const auto name = Attribute{static_cast<std::uint8_t>(number)};
        // it may only say that an image is loaded late, or how
        if (has(name) || (name == Attribute::late && find(value, 0, '/', '.') == std::ssize(value))) return;
        found_ |= 1u << number;
        values_[number] = value;
    }

    bool has(Attribute name) const { return found_ >> static_cast<int>(name) & 1; }

    // The value as it stands in the text; nothing without the attribute.
    Points operator[](Attribute name) const { return has(name) ? values_[static_cast<int>(name)] : Points(); }

    bool holds(Attribute name, std::string_view word) const { return holds_word((*this)[name], word); }

    bool is_data(Attribute name) const { return starts_with((*this)[name], "data:"); }

    std::uint32_t class_flags() const {
        const Points value = (*this)[Attribute::class_];
        std::uint32_t flags = 0;
        for (Place at = 0; at < std::ssize(value); at++) {
            const Place begin = at;
            while (at < std::ssize(value) && !characters().is(value[at], SPACE)) at++;
            if (at == begin) continue;
            const int meaning = vocabulary_.meaning(Naming::class_word, value.subspan(begin, at - begin));
            if (meaning != NONE) flags |= meaning;
        }
        return flags;
    }

    Style style() const {
        const Points value = (*this)[Attribute::style];
        Style said;
        for (const auto part : std::views::split(value, std::uint32_t{';'})) {
            const Points declaration(part.begin(), part.end());
            const auto colon = std::ranges::find(declaration, std::uint32_t{':'});
            if (colon == declaration.end()) continue;
            const int number = vocabulary_.meaning(Naming::property, characters().trimmed({declaration.begin(), colon}));
            if (number == NONE) continue;
            const auto property = static_cast<Property>(number);
            const auto [flags, last] = meaning_of(property, {colon + 1, declaration.end()});
            if (property == Property::listing) {
                if (last != NONE) said.markers = last;
            } else {
                (property == Property::border ? said.border : said.spans) |= flags;
            }
        }
        return said;
    }

private:
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
            while (at < std::ssize(value) && (value[at] == '-' || value[at] == '.' || characters().is(value[at], ALNUM)))
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

    const Vocabulary& vocabulary_;
    std::array<Points, ATTRIBUTES> values_;
    std::uint32_t found_ = 0;
};

struct Reference {
    Place end = NONE;  // behind its `;`, NONE for no reference
    std::uint32_t first = 0, second = 0;
};

// How text is copied, as bits: with references decoded; NUL, CR, CR LF and surrogates as a parser reads them; what was
// escaped once more, &amp;nbsp; and \n, decoded.
enum How : unsigned { DECODES = 1, PARSES = 2, TWICE = 4 };

// What a text holds, as bits: tags; references; an opening brace that is written as a reference; what was escaped once
// more.
enum Holds : unsigned { TAGS = 1, REFERENCES = 2, BRACES = 4, DOUBLED = 8 };

class References {
public:
    explicit References(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

    // The reference with its `&` before `start`.
    Reference read(Points text, Place start) const {
        if (start < std::ssize(text) && text[start] == '#') return numeric(text, start + 1);
        // named character reference state
        Place j = start;
        while (j < std::ssize(text) && j - start <= MOST_LETTERS && characters().is(text[j], ALNUM)) j++;
        if (j == std::ssize(text) || text[j] != ';') return {};
        const auto [first, second] = vocabulary_.reference(text.subspan(start, j - start));
        return first ? Reference{j + 1, first, second} : Reference{};
    }

    // Appends a text; returns what references it holds.
    unsigned copy(Points text, unsigned how, Writer& out) const {
        unsigned holds = 0;
        const Place size = std::ssize(text);
        for (Place j = 0; j < size;) {
            const Place kept = j;
            j = find_where(text, j, [](const std::uint32_t* points) {  // whatever may come out otherwise than it stands
                const Block block(points);
                const Lanes surrogates = Block::between(points, FIRST_SURROGATE, LAST_SURROGATE);
                return bits_of(block.equal('&') | block.equal('\\') | block.equal(0) | block.equal('\r') | surrogates);
            });
            out.append(text.subspan(kept, j - kept));
            if (j == size) break;
            std::uint32_t point = text[j++];
            if (point == '&' && how & DECODES) {
                Reference found = read(text, j);
                if (found.end != NONE) {
                    holds |= REFERENCES;
                    while (how & TWICE && found.first == '&') {
                        const Reference inner = read(text, found.end);
                        if (inner.end == NONE) break;
                        holds |= DOUBLED;
                        found = inner;
                    }
                    if (found.first == '{') holds |= BRACES;
                    j = found.end;
                    point = found.first;
                    if (found.second) {
                        out.append(point);
                        point = found.second;
                    }
                }
            } else if (point == '\\') {
                if (how & TWICE && is_line_break(text, j)) {
                    holds |= DOUBLED;
                    point = '\n';
                    j++;
                }
            } else if (how & PARSES) {
                if (point == 0) continue;
                if (point == '\r') {
                    if (j < size && text[j] == '\n') continue;
                    point = '\n';
                } else if (is_surrogate(point)) {
                    point = REPLACEMENT;
                }
            }
            out.append(point);
        }
        return holds;
    }

    // Whether the `n` behind a backslash is a line break in a program's string: a label, Chinese, another one or the
    // end follows. No command of LaTeX goes on so.
    bool is_line_break(Points text, Place j) const {
        constexpr std::uint32_t EASTERN = 0x2E80;
        const auto at = [&](Place k) { return k < std::ssize(text) ? text[k] : EASTERN; };
        if (at(j) != 'n' || std::ssize(text) == 2) return false;  // alone: `<td>\n</td>`
        const std::uint32_t next = at(j + 1), after = at(j + 2);
        return next >= EASTERN || (next == '\\' && after == 'n') ||
               (characters().is(next, ALNUM) && (after == '.' || after == ')' || after == U'、' || after == U'．'));
    }

    // The character of four hexadecimal digits, 0 if there are none.
    static std::uint32_t hex(Points text, Place j) {
        std::uint32_t value = 0;
        for (const Place end = j + 4; j < end; j++) {
            if (j >= std::ssize(text) || digit(text[j]) == NO_DIGIT) return 0;
            value = value * 16 + digit(text[j]);
        }
        return value;
    }

private:
    static constexpr Place MOST_DIGITS = 7, MOST_HEX_DIGITS = 6, MOST_LETTERS = 32;
    static constexpr std::uint32_t REPLACEMENT = 0xFFFD, LAST_POINT = 0x10FFFF, NO_DIGIT = 16;
    // What the numbers of control characters stand for (numeric character reference end state).
    static constexpr std::uint32_t FIRST_CONTROL = 0x80, LAST_CONTROL = 0x9F;
    static constexpr std::array<std::uint16_t, 32> CONTROLS = {
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

    static constexpr std::uint32_t FIRST_SURROGATE = 0xD800, LAST_SURROGATE = 0xDFFF;

    static bool is_surrogate(std::uint32_t point) { return FIRST_SURROGATE <= point && point <= LAST_SURROGATE; }

    static std::uint32_t digit(std::uint32_t point) {
        if ('0' <= point && point <= '9') return point - '0';
        const std::uint32_t small = point | ('a' - 'A');
        return 'a' <= small && small <= 'f' ? small - 'a' + 10 : NO_DIGIT;
    }

    // numeric character reference state and on; `j` is behind `#`
    static Reference numeric(Points text, Place j) {
        std::uint32_t base = 10, value = 0;
        Place most = MOST_DIGITS;
        if (j < std::ssize(text) && (text[j] | ('a' - 'A')) == 'x') {
            base = 16;
            most = MOST_HEX_DIGITS;
            j++;
        }
        const Place first = j;
        for (; j < std::ssize(text) && j - first <= most && digit(text[j]) < base; j++)
            value = value * base + digit(text[j]);
        if (j == first || j - first > most || j == std::ssize(text) || text[j] != ';') return {};
        return {j + 1, character(value), 0};
    }

    // numeric character reference end state
    static std::uint32_t character(std::uint32_t value) {
        if (FIRST_CONTROL <= value && value <= LAST_CONTROL) return CONTROLS[value - FIRST_CONTROL];
        return value == 0 || value > LAST_POINT || is_surrogate(value) ? REPLACEMENT : value;
    }

    const Vocabulary& vocabulary_;
};

}  // namespace dedup::cleaning
