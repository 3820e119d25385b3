// Attributes of a tag, the meaning of class and style, and character references (HTML standard, 13.2.5.72 and on), which
// count only with a semicolon, and up to a number of digits.
#pragma once
#include "cleaning/vocabulary.hpp"

namespace dedup::cleaning {

// The offset behind `=` and white space: before attribute value state; NONE without a value.
inline Offset behind_equals(Points text, Offset at) {
    at = characters().skip(text, at, SPACE);
    if (at >= std::ssize(text) || text[at] != '=') return NONE;
    at = characters().skip(text, at + 1, SPACE);
    return at < std::ssize(text) ? at : NONE;
}

// The offsets of a value and the one behind its quote, NONE without a value.
struct ValueRange {
    Offset first = NONE, stop = NONE, after = NONE;
};

// The value of the name that ends at `at`: after attribute name state and on.
inline ValueRange read_value(Points text, Offset at) {
    at = behind_equals(text, at);
    if (at == NONE || text[at] == '=' || text[at] == '`') return {};
    const Offset end = std::ssize(text);
    const bool escaped = text[at] == '\\' && at + 1 < end && is_one_of(text[at + 1], "\"'");
    at += escaped;  // \"...\", out of a program's string
    const std::uint32_t quote = text[at];
    Offset stop = at;
    if (quote == '"' || quote == '\'') {  // attribute value (double-quoted), (single-quoted) state
        stop = find(text, at + 1, static_cast<char>(quote));
        if (stop == end) return {};
        return {at + 1, stop - (escaped && text[stop - 1] == '\\'), stop + 1};
    }
    while (stop < end && !characters().is(text[stop], ENDS)) stop++;  // attribute value (unquoted) state
    return stop > at ? ValueRange{at, stop, stop} : ValueRange{};
}

// Whether a value is an address with the name of a file or a query.
inline bool is_path(Points value) {
    Offset slash = NONE;
    for (Offset at = 0; at < std::ssize(value); at++) {
        if (value[at] == '(' || characters().is(value[at], ENDS)) return false;
        if (value[at] == '/') slash = at;
    }
    return slash != NONE && find(value, slash, '.', '?') < std::ssize(value);
}

// Calls take(run) for each longest run of characters for which a test holds.
void each_run(Points text, auto test, auto take) {
    for (auto at = text.begin(); at != text.end();) {
        const auto first = std::find_if(at, text.end(), test);
        at = std::find_if_not(first, text.end(), test);
        if (first != at) take(Points(first, at));
    }
}

// The meaning of a style attribute: spans, also of its border, as bits, and the markers of a list.
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

    // The value as it is written in the text; empty without the attribute.
    Points operator[](Attribute name) const { return has(name) ? values_[static_cast<int>(name)] : Points(); }

    bool is_data(Attribute name) const { return starts_with((*this)[name], "data:"); }

    std::uint32_t class_flags() const {
        std::uint32_t flags = 0;
        each_run((*this)[Attribute::class_], std::not_fn(is_space), [&](Points word) {
            const int meaning = vocabulary_.meaning(Naming::class_word, word);
            if (meaning != NONE) flags |= meaning;
        });
        return flags;
    }

    Style style() const {
        Style style;
        for (const auto part : std::views::split((*this)[Attribute::style], std::uint32_t{';'})) {
            const Points declaration(part.begin(), part.end());
            const auto colon = std::ranges::find(declaration, std::uint32_t{':'});
            if (colon == declaration.end()) continue;
            const int number = vocabulary_.meaning(Naming::property, trimmed({declaration.begin(), colon}));
            if (number != NONE) add_words(Property{static_cast<std::uint8_t>(number)}, {colon + 1, declaration.end()}, style);
        }
        return style;
    }

private:
    void add_words(Property property, Points value, Style& style) const {
        bool is_first = true;
        const auto in_word = [](std::uint32_t point) { return point == '-' || point == '.' || characters().is(point, ALNUM); };
        each_run(value, in_word, [&](Points word) {
            int meaning = vocabulary_.meaning(word_of(property), word);
            if (property == Property::emphasis && is_first)  // any word but `none`
                meaning = meaning == NONE ? static_cast<int>(IS_DOTS) : 0;
            is_first = false;
            if (meaning == NONE) return;
            if (property == Property::listing) style.markers = meaning;
            else (property == Property::border ? style.border : style.spans) |= meaning;
        });
    }

    const Vocabulary& vocabulary_;
    std::array<Points, ATTRIBUTES> values_;
    std::uint32_t found_ = 0;
};

struct Reference {
    Offset end = NONE;  // behind its `;`, NONE for no reference
    std::uint32_t first = 0, second = 0;
};

// Ways to copy text, as bits: references decoded; NUL, CR and surrogates as a parser reads them; &amp;nbsp; and \n decoded, too.
enum How : unsigned { DECODES = 1, PARSES = 2, TWICE = 4 };

// Contents of a text, as bits: tags; references; an opening brace written as a reference; double escapes.
enum Holds : unsigned { TAGS = 1, REFERENCES = 2, BRACES = 4, DOUBLED = 8 };

class References {
public:
    explicit References(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

    // The reference with its `&` before `start`.
    Reference read(Points text, Offset start) const {
        if (start < std::ssize(text) && text[start] == '#') return numeric(text, start + 1);
        const Offset stop = characters().skip(text, start, ALNUM);  // named character reference state
        if (stop == std::ssize(text) || text[stop] != ';') return {};
        const auto [first, second] = vocabulary_.reference(text.subspan(start, stop - start));
        return first ? Reference{stop + 1, first, second} : Reference{};
    }

    // Appends a text; returns the references it holds, as `Holds`.
    unsigned copy(Points text, unsigned how, Writer& out) const {
        unsigned holds = 0;
        const Offset size = std::ssize(text);
        for (Offset j = 0; j < size;) {
            const Offset kept = j;
            j = find_where(text, j, [](const std::uint32_t* points) {  // the characters that may change
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
                    if (found.second) out.append(std::exchange(point, found.second));
                }
            } else if (point == '\\' && how & TWICE && is_line_break(text, j)) {
                holds |= DOUBLED;
                point = '\n';
                j++;
            } else if (how & PARSES) {
                if (point == 0 || (point == '\r' && j < size && text[j] == '\n')) continue;
                if (point == '\r') point = '\n';
                else if (is_surrogate(point)) point = REPLACEMENT;
            }
            out.append(point);
        }
        return holds;
    }

    // The character of four hexadecimal digits, 0 without them.
    static std::uint32_t hex(Points text, Offset at) {
        const auto [value, stop] = number_at(text, at, 16, 4);
        return stop == at + 4 ? value : 0;
    }

    // The value of up to `most` digits, and the offset behind them.
    static std::pair<std::uint32_t, Offset> number_at(Points text, Offset at, std::uint32_t base, Offset most) {
        std::uint32_t value = 0;
        for (; most > 0 && at < std::ssize(text) && digit(text[at]) < base; at++, most--) value = value * base + digit(text[at]);
        return {value, at};
    }

private:
    static constexpr std::uint32_t REPLACEMENT = 0xFFFD, LAST_POINT = 0x10FFFF, NO_DIGIT = 16;
    // Characters that the numbers of control characters mean (numeric character reference end state).
    static constexpr std::uint32_t FIRST_CONTROL = 0x80, LAST_CONTROL = 0x9F;
    static constexpr std::array<std::uint16_t, 32> CONTROLS = {
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

    static constexpr std::uint32_t FIRST_SURROGATE = 0xD800, LAST_SURROGATE = 0xDFFF;
    static bool is_surrogate(std::uint32_t point) { return FIRST_SURROGATE <= point && point <= LAST_SURROGATE; }

    // Whether the `n` behind a backslash is a line break in a program's string: a label, Chinese, another one or the end of
    // the text follows. No command of LaTeX goes on so.
    bool is_line_break(Points text, Offset j) const {
        constexpr std::uint32_t EASTERN = 0x2E80;
        const auto at = [&](Offset k) { return k < std::ssize(text) ? text[k] : EASTERN; };
        if (at(j) != 'n' || std::ssize(text) == 2) return false;  // alone: `<td>\n</td>`
        const std::uint32_t next = at(j + 1), after = at(j + 2);
        return next >= EASTERN || (next == '\\' && after == 'n') ||
               (characters().is(next, ALNUM) && (after == '.' || after == ')' || after == U'、' || after == U'．'));
    }

    static std::uint32_t digit(std::uint32_t point) {
        if ('0' <= point && point <= '9') return point - '0';
        const std::uint32_t small = point | ('a' - 'A');
        return 'a' <= small && small <= 'f' ? small - 'a' + 10 : NO_DIGIT;
    }

    // numeric character reference state and on; `at` is behind `#`
    static Reference numeric(Points text, Offset at) {
        constexpr Offset MOST_DIGITS = 7, MOST_HEX_DIGITS = 6;
        const bool is_hex = at < std::ssize(text) && (text[at] | ('a' - 'A')) == 'x';
        at += is_hex;
        const auto [value, stop] = is_hex ? number_at(text, at, 16, MOST_HEX_DIGITS) : number_at(text, at, 10, MOST_DIGITS);
        if (stop == at || stop == std::ssize(text) || text[stop] != ';') return {};
        // numeric character reference end state
        if (FIRST_CONTROL <= value && value <= LAST_CONTROL) return {stop + 1, CONTROLS[value - FIRST_CONTROL]};
        return {stop + 1, value == 0 || value > LAST_POINT || is_surrogate(value) ? REPLACEMENT : value};
    }

    const Vocabulary& vocabulary_;
};

}  // namespace dedup::cleaning
