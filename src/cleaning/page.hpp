// A page that is read: its text, its open elements and its text with marks; writes formulas, images, blanks, line breaks.
#pragma once
#include <functional>

#include "cleaning/tags.hpp"

namespace dedup::cleaning {

// Millions may be open, so offsets take 32 bits: no text has more characters.
struct OpenElement {
    using Offset = std::int32_t;

    int number = NONE;  // NONE for a row of a table without a tag
    int previous = 0;   // the open one of that name before it
    Action action = Action::none;
    std::uint32_t spans_open = 0, spans_around = 0;
    Offset begin = 0;   // of its text
    Offset cut = NONE;  // a closing tag drops the text from here on, NONE for none
    Offset origin = 0;  // of its tag in the page
    std::uint32_t separator = 0;  // of its children, 0 for none
    int count = 0;                // its children, or the number of the next item
    bool is_hidden = false;
    // By action: whether an annotation is TeX, a medium has its address, an item has a marker, it is the box of a formula; the
    // markers of a list; the end of a fence; the offset of the second child.
    Offset extra = 0;
    // The nearest open element of each of these kinds, itself included, 0 without one.
    int list = 0, item = 0, table = 0, row = 0, cell = 0, math = 0, box = 0, medium = 0, code = 0, drawing = 0;
    int barrier = 0, hard_barrier = 0;  // closing tags do not reach elements below
};

class Page {
public:
    explicit Page(const Vocabulary& vocabulary)
        : vocabulary(vocabulary), references(vocabulary), attributes(vocabulary), scanner(vocabulary, attributes), nearest(vocabulary.elements()) {}

    // Begins a text; returns whether CDATA marks were dropped from it.
    bool begin(Points raw) {
        out = Writer(out_.get(capacity_for(raw.size())));
        stack.assign(1, OpenElement());
        formula_end = box_begin = box_end = NONE;
        is_heavy = has_hidden = false;
        return scanner.take(raw);
    }

    Points text() const { return scanner.text(); }
    int top() const { return static_cast<int>(stack.size()) - 1; }  // of the stack; 0 is the text itself
    Action action_of(int number) const { return vocabulary.element(number).action; }

    unsigned copy(Points from, unsigned how) { return references.copy(from, how, out); }

    // The value of an attribute, as a parser reads it; valid until the next one.
    Points decoded(Attribute name) {
        const Points value = attributes[name];
        Writer to(value_.get(value.size()));
        references.copy(value, DECODES | PARSES, to);
        return to.from(0);
    }

    // Whether there is a medium, a blank or a character other than white space.
    bool is_nonblank(Points written) const {
        return std::ranges::any_of(written, [](std::uint32_t point) {
            return point >= BEYOND ? point == BLANK || is_medium(point) : !is_space(point);
        });
    }

    // Lets open elements write nothing at their ends, after their text was dropped.
    void silence(int first, int stop) {
        for (int k = first; k < stop; k++) {
            OpenElement& entry = stack[k];
            entry.spans_open = 0;
            entry.extra = 0;
            entry.action = entry.action >= Action::fraction ? Action::group : Action::none;
            entry.cut = NONE;
        }
    }

    const Vocabulary& vocabulary;
    References references;
    Attributes attributes;  // of the tag that is read
    TagScanner scanner;
    Writer out;
    std::vector<OpenElement> stack;          // the first is the text itself
    std::vector<int> nearest;                // by element: the open one nearest to the top, 0 without one
    Offset start = 0, stop = 0;              // of the tag that is read
    Offset formula_end = NONE;               // of the last formula
    Offset box_begin = NONE, box_end = NONE;  // of the last box of a formula
    bool is_heavy = false;                   // whether anything is bold or italic
    bool has_hidden = false;                 // whether an invisible text was dropped
    bool hides = true;                       // whether invisible texts are dropped

private:
    PointBuffer out_, value_;
};

// A formula without the delimiters that it brings along: $, \( \), \[ \].
inline Points without_delimiters(Points formula) {
    formula = trimmed(formula);
    while (formula.size() >= 2 && formula.front() == '$' && formula.back() == '$') {
        if (formula.size() > 2 && formula[formula.size() - 2] == '\\') break;
        formula = trimmed(formula.subspan(1, formula.size() - 2));
    }
    const std::size_t size = formula.size();
    if (size < 4 || formula[0] != '\\' || formula[size - 2] != '\\') return formula;
    const std::uint32_t opens = formula[1], closes = formula[size - 1];
    const bool is_pair = (opens == '(' && closes == ')') || (opens == '[' && closes == ']');
    return is_pair ? trimmed(formula.subspan(2, size - 4)) : formula;
}

// Writes a text as a formula; nothing, and false, for white space.
inline bool write_formula(Page& page, Points text, unsigned how) {
    Writer& out = page.out;
    const Offset begin = out.size();
    out.append(FORMULA);
    page.copy(text, how);
    const Points formula = without_delimiters(out.from(begin + 1));
    if (formula.empty()) {
        out.cut(begin);
        return false;
    }
    out.move_back(formula, begin + 1);
    out.append(FORMULA_END);
    return true;
}

inline bool write_formula(Page& page, Attribute attribute) {
    return page.attributes.has(attribute) && write_formula(page, page.attributes[attribute], DECODES | PARSES);
}

// Whether a value holds a word of formulas; `tex` only as a word of its own, unlike `text`.
inline bool names_formula(Points value) {
    constexpr std::string_view WORDS[] = {"math", "latex", "equation", "formula"};
    bool is_named = holds_any(value, WORDS);
    each_run(value, [](std::uint32_t point) { return characters().is(point, ALNUM); },
             [&](Points word) { is_named |= word.size() == 3 && starts_with(word, "tex"); });
    return is_named;
}

// Whether an alternative text is of words, not of symbols.
inline bool is_wordy(Points alt) {
    constexpr std::uint32_t FIRST_EASTERN = 0x2E80;
    constexpr int LONGEST_SYMBOL = 3;
    bool is_long = false;
    each_run(alt, [](std::uint32_t point) { return characters().is(point, LETTER); },
             [&](Points word) { is_long |= word.size() > LONGEST_SYMBOL; });
    return is_long || std::ranges::any_of(alt, [](std::uint32_t point) { return point >= FIRST_EASTERN; });
}

inline bool alt_is_formula(Page& page) {
    if (!page.attributes.has(Attribute::alt)) return false;
    const Points alt = page.decoded(Attribute::alt);
    for (std::size_t k = 0; k < alt.size(); k++) {
        if (alt[k] == '^' || alt[k] == '$') return true;
        if (k + 1 == alt.size()) break;
        const bool is_path = k > 0 && alt[k - 1] == ':';
        if (alt[k] == '_' ? alt[k + 1] == '{' : alt[k] == '\\' && !is_path && characters().is(alt[k + 1], LETTER)) return true;
    }
    const Attributes& attributes = page.attributes;
    return !is_wordy(alt) && (names_formula(attributes[Attribute::class_]) ||
                              (!attributes.is_data(Attribute::src) && names_formula(attributes[Attribute::src])));
}

// The first character of a value that is no white space, 0 for none.
inline std::uint32_t first_of(Page& page, Attribute attribute, std::uint32_t otherwise) {
    if (!page.attributes.has(attribute)) return otherwise;
    const Points value = trimmed(page.decoded(attribute));
    return value.empty() ? 0 : value.front();
}

// Writes the text before the children of a part of a formula.
inline void begin_part(Page& page, OpenElement& entry) {
    if (entry.action == Action::fraction) page.out.append("\\frac{");
    if (entry.action == Action::root) page.out.append("\\sqrt{");
    if (entry.action == Action::over) page.out.append(NO_MARK);  // may become an accent
    if (entry.action == Action::fenced) {
        entry.separator = first_of(page, Attribute::separators, ',');
        entry.extra = first_of(page, Attribute::close, ')');
        if (const std::uint32_t first = first_of(page, Attribute::open, '(')) page.out.append(first);
    }
}

inline bool has_both(Action action) { return action == Action::both || action == Action::under_over; }

// The mark of the script that child `count`, or one after it, is; 0 for none.
inline std::uint32_t script(Action action, int count) {
    if (action == Action::power || action == Action::over || (has_both(action) && count > 2)) return SUP;
    return action == Action::index || action == Action::under || has_both(action) ? std::uint32_t{SUB} : 0;
}

inline void begin_child(Page& page, OpenElement& entry) {
    Writer& out = page.out;
    const Action action = entry.action;
    if (++entry.count < 2) return;
    if (action == Action::matrix) out.append(" \\\\ ");
    if (action == Action::matrix_row) out.append(" & ");
    if (action == Action::fenced && entry.separator) out.append(entry.separator);
    if (entry.count == 2) {
        if (action == Action::fraction) out.append("}{");
        if (action == Action::indexed_root || action == Action::over) entry.extra = out.size();
        if (const std::uint32_t mark = script(action, entry.count)) out.append(mark);
    } else if (entry.count == 3 && has_both(action)) {
        out.append(SUB + END);
        out.append(SUP);
    }
}

// The number of the command for a script of one character, NONE if it is none.
inline int accent_of(Points script) {
    std::uint32_t only = 0;
    for (const std::uint32_t point : script) {
        if (point == SUB || point == SUP) return NONE;
        if (point >= BEYOND || is_space(point)) continue;
        if (only) return NONE;
        only = point;
    }
    for (int command = 0; command < std::ssize(ACCENTS_OF_LATEX); command++) {
        if (ACCENTS_OF_LATEX[command].characters.find(only) != std::u32string_view::npos) return command;
    }
    return NONE;
}

// Writes the index of a root, its second child, before its first.
inline void write_indexed_root(Writer& out, Offset begin, Offset middle) {
    constexpr Offset MOST = 4096;  // so that roots within roots take linear time
    if (middle < begin || middle > out.size() || out.size() - begin > MOST) return;
    const Points all = out.from(begin);
    const std::vector<std::uint32_t> held(all.begin(), all.end());
    out.cut(begin);
    out.append("\\sqrt[");
    out.append(Points(held).subspan(middle - begin));
    out.append("]{");
    out.append(Points(held).first(middle - begin));
    out.append('}');
}

// Writes the text behind the children.
inline void end_part(Page& page, OpenElement& entry) {
    Writer& out = page.out;
    const Action action = entry.action;
    if (action == Action::fraction || action == Action::root) {
        out.append(action == Action::fraction && entry.count < 2 ? "}{}" : "}");
    } else if (action == Action::fenced) {
        if (entry.extra) out.append(static_cast<std::uint32_t>(entry.extra));
    } else if (entry.count >= 2) {
        if (action == Action::indexed_root) return write_indexed_root(out, entry.begin, entry.extra);
        const int command = action == Action::over ? accent_of(out.from(entry.extra + 1)) : static_cast<int>(NONE);
        if (command != NONE) {
            out[entry.begin] = ACCENTS + static_cast<std::uint32_t>(command);
            out.cut(entry.extra);
            out.append('}');
        } else if (const std::uint32_t mark = script(action, entry.count)) {
            out.append(mark + END);
        }
    }
}

// Writes the line break that a tag of this element leaves, if any.
inline void write_break(Page& page, std::uint32_t roles, int number) {
    if (!(roles & BREAKS)) return;
    const OpenElement& entry = page.stack.back();
    const Action action = page.action_of(number);
    if (action >= Action::math && entry.math) return;
    if ((action == Action::table_row || action == Action::table_cell) && !entry.code) return;
    page.out.append(entry.code && action != Action::line_break ? std::uint32_t{FRESH} : '\n');
}

// Whether a character of an address is percent-encoded, so that a second cleaning leaves the address alone.
inline bool is_encoded(std::uint32_t point) {
    return point <= ' ' || (0x7F <= point && point <= 0xA0) || is_one_of(point, "()<>\"\\`{}") || is_space(point) ||
           point == ZERO_WIDTH_SPACE || point == BYTE_ORDER_MARK;
}

// Writes `count` hexadecimal digits.
inline void write_hex(Writer& out, std::uint64_t value, int count, std::string_view digits) {
    while (count-- > 0) out.append(digits.substr(value >> 4 * count & 15, 1));
}

// Writes an address, the first one of a set.
inline void write_address(Page& page, Attribute attribute) {
    Points address = trimmed(page.decoded(attribute));
    if (attribute == Attribute::srcset) {
        address = address.first(std::ranges::find_if(address, is_space) - address.begin());
        while (!address.empty() && address.back() == ',') address = address.first(address.size() - 1);
    }
    for (const std::uint32_t point : address) {
        if (point == '\t' || point == '\n' || point == '\r') continue;
        if (!is_encoded(point)) {
            page.out.append(point);
            continue;
        }
        std::uint8_t bytes[MOST_UTF8_BYTES];
        for (const std::uint8_t byte : std::span(bytes, write_utf8(point, bytes))) {
            page.out.append('%');
            write_hex(page.out, byte, 2, "0123456789ABCDEF");
        }
    }
}

constexpr Attribute NO_ATTRIBUTE{ATTRIBUTES};

// Writes an image, or another medium, with the address in an attribute.
inline void write_medium(Page& page, Mark kind, Attribute attribute) {
    page.out.append(kind);
    if (attribute != NO_ATTRIBUTE) write_address(page, attribute);
    page.out.append(ADDRESS_END);
}

// Whether an address is only shown until an image is loaded: data:, pic_loading.gif, t.png.
inline bool is_placeholder(Points address) {
    constexpr std::string_view WORDS[] = {"loading", "loader", "lazy", "blank", "none", "grey", "gray", "space", "1x1",
                                          "pixel", "placeholder", "default", "empty", "transparent", "wait"};
    if (starts_with(address, "data:")) return true;
    while (find(address, 0, '/') < std::ssize(address)) address = address.subspan(find(address, 0, '/') + 1);
    const bool is_short = address.empty() || (find(address, 0, '.') <= 1 && characters().is(address[0], LETTER));
    return is_short || holds_any(address, WORDS);
}

// The attribute with the address of an image, NO_ATTRIBUTE without one. If images are loaded late, `src` is a placeholder.
inline Attribute address_of(const Page& page) {
    constexpr Attribute ORDER[] = {Attribute::late, Attribute::src, Attribute::srcset};
    constexpr Attribute LATE[] = {Attribute::late, Attribute::other, Attribute::srcset, Attribute::src};
    const Attributes& attributes = page.attributes;
    const bool is_late = is_placeholder(attributes[Attribute::src]);
    Attribute chosen = NO_ATTRIBUTE;
    for (const Attribute one : is_late ? std::span<const Attribute>(LATE) : ORDER) {
        if (attributes[one].empty()) continue;
        if (!attributes.is_data(one)) return one;
        if (chosen == NO_ATTRIBUTE) chosen = one;
    }
    return chosen;
}

// Writes a blank for a field of text, an image for a button that is one.
inline void write_field(Page& page) {
    const bool has_type = page.attributes.has(Attribute::type);
    const int type = page.vocabulary.meaning(Naming::field_type, page.attributes[Attribute::type]);
    if (has_type && type == IMAGE_BUTTON) write_medium(page, IMAGE, address_of(page));
    else if (!has_type || type == NONE) page.out.append(BLANK);
}

inline void write_picture(Page& page) {
    Attribute attribute = address_of(page);
    for (const Attribute link : {Attribute::href, Attribute::xlink_href}) {
        if (attribute == NO_ATTRIBUTE && page.attributes.has(link)) attribute = link;
    }
    write_medium(page, IMAGE, attribute);
}

// Gives the medium around a `source` its address, in place of the text written in it.
inline void write_source(Page& page) {
    const int around = page.stack.back().medium;
    const Attribute attribute = address_of(page);
    OpenElement& medium = page.stack[around];
    if (!around || attribute == NO_ATTRIBUTE || medium.extra) return;
    page.silence(around + 1, page.top() + 1);
    page.out.cut(medium.begin);
    write_medium(page, medium.action == Action::audio ? AUDIO : VIDEO, attribute);
    medium.extra = 1;
    medium.cut = page.out.size();
}

inline void write_void(Page& page, Action action) {
    if (write_formula(page, Attribute::latex)) return;
    if (action == Action::field) write_field(page);
    else if (action == Action::source) write_source(page);
    else if (action == Action::picture && !(alt_is_formula(page) && write_formula(page, Attribute::alt))) write_picture(page);
}

// Writes a drawing as an image whose address is a hash of its markup, white space folded: FNV-1a of 64 bits over UTF-8.
inline void write_drawing(Page& page, Points markup) {
    std::uint64_t hash = 0xCBF29CE484222325;
    const auto add = [&](std::uint32_t point) {
        std::uint8_t bytes[MOST_UTF8_BYTES];
        for (const std::uint8_t byte : std::span(bytes, write_utf8(point, bytes))) hash = (hash ^ byte) * 0x100000001B3;
    };
    bool is_gap = false;
    for (const std::uint32_t point : markup) {
        if (is_space(point)) {
            is_gap = true;
            continue;
        }
        if (std::exchange(is_gap, false)) add(' ');
        add(point);
    }
    page.out.append(IMAGE);
    page.out.append("svg:");
    write_hex(page.out, hash, 16, "0123456789abcdef");
    page.out.append(ADDRESS_END);
}

}  // namespace dedup::cleaning
