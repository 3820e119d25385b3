// A page that is read: its text, its open elements, and the text with marks that it becomes; formulas, images, blanks and
// line breaks as they are written to it.
#pragma once
#include "cleaning/tags.hpp"

namespace dedup::cleaning {

// Millions may be open, so places take 32 bits: no text has more characters.
struct OpenElement {
    using Place = std::int32_t;

    int number = NONE;  // NONE for a row of a table that no tag opened
    int previous = 0;   // the open one of that name before it
    Action action = Action::none;
    std::uint32_t spans_open = 0, spans_around = 0;
    Place place = 0;   // where its text begins
    Place cut = NONE;  // to where a closing tag takes back what came since, NONE for nothing
    Place origin = 0;  // where its tag begins
    std::uint32_t separator = 0;  // of its children, 0 for none
    int count = 0;                // its children, or the number of the next item
    bool hidden = false;          // whether nobody sees what stands in it
    // What its action needs: whether an annotation is TeX, a medium has its address, an item has a marker, it
    // is the box of a formula; a list's markers; the end of a fence; where the second child begins.
    Place extra = 0;
    // The nearest open element of each of these kinds, itself included, 0 without one.
    int list = 0, item = 0, table = 0, row = 0, cell = 0, math = 0, box = 0, medium = 0, code = 0, drawing = 0;
    int barrier = 0, hard_barrier = 0;  // what closing tags do not reach beyond
};

class Page {
public:
    explicit Page(const Vocabulary& vocabulary)
        : vocabulary(vocabulary), references(vocabulary), attributes(vocabulary), scanner(vocabulary, attributes), nearest(vocabulary.elements()) {}

    // Begins a text; tells whether CDATA marks were dropped from it.
    bool begin(Points raw) {
        out = Writer(room);
        stack.assign(1, OpenElement());
        formula_end = box_start = box_end = NONE;
        is_heavy = has_hidden = false;
        return scanner.take_without_marks(raw);
    }

    Points text() const { return scanner.text(); }
    int top() const { return static_cast<int>(stack.size()) - 1; }  // of the stack; 0 is the text itself
    Action action_of(int number) const { return vocabulary.element(number).action; }

    unsigned copy(Points from, unsigned how) { return references.copy(from, how, out); }

    // The value of an attribute, as a parser reads it; overwritten by the next one.
    Points decoded(Attribute name) {
        const Points value = attributes[name];
        Writer to(value_.get(value.size()));
        references.copy(value, DECODES | PARSES, to);
        return to.from(0);
    }

    // Whether there is an image, a blank or a character that is no white space.
    bool is_nonblank(Points written) const {
        return std::any_of(written.begin(), written.end(), [&](std::uint32_t point) {
            return point >= BEYOND ? point == BLANK || is_medium(point) : !characters().is(point, SPACE);
        });
    }

    // Lets open elements write nothing at their ends: what they wrote is taken back.
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
    std::span<std::uint32_t> room;           // that is written to, for each text set before
    Writer out;
    std::vector<OpenElement> stack;          // the first is the text itself
    std::vector<int> nearest;                // by element: the open one nearest to the top, 0 without one
    Place start = 0, stop = 0;               // of the tag that is read
    Place formula_end = NONE;                // where the last formula ended
    Place box_start = NONE, box_end = NONE;  // where the last box of one began and ended
    bool is_heavy = false;                   // whether anything is bold or italic
    bool has_hidden = false;                 // whether anything was taken back since nobody sees it
    bool hides = true;                       // whether what nobody sees goes

private:
    PointBuffer value_;
};

// Without the delimiters that a formula brings along: $, \( \), \[ \].
inline Points without_delimiters(Points formula) {
    formula = characters().trimmed(formula);
    while (formula.size() >= 2 && formula.front() == '$' && formula.back() == '$') {
        if (formula.size() > 2 && formula[formula.size() - 2] == '\\') break;
        formula = characters().trimmed(formula.subspan(1, formula.size() - 2));
    }
    const std::size_t size = formula.size();
    if (size >= 4 && formula[0] == '\\' && formula[size - 2] == '\\') {
        const std::uint32_t opens = formula[1], closes = formula[size - 1];
        if ((opens == '(' && closes == ')') || (opens == '[' && closes == ']'))
            return characters().trimmed(formula.subspan(2, size - 4));
    }
    return formula;
}

// Writes a text as a formula; nothing, and false, if there is nothing but white space.
inline bool write_formula(Page& page, Points text, unsigned how) {
    Writer& out = page.out;
    const Place begin = out.size();
    out.append(FORMULA);
    page.copy(text, how);
    const Points formula = without_delimiters(out.from(begin + 1));
    if (formula.empty()) {
        out.cut(begin);
        return false;
    }
    const Place first = formula.data() - out.data();
    out.take_back(first, first + std::ssize(formula), begin + 1);
    out.append(FORMULA_END);
    return true;
}

inline bool write_formula(Page& page, Attribute attribute) {
    return page.attributes.has(attribute) && write_formula(page, page.attributes[attribute], DECODES | PARSES);
}

// Whether a value holds a word of formulas; `tex` only as a word of its own: `text` is none.
inline bool names_formula(Points value) {
    constexpr std::string_view WORDS[] = {"math", "latex", "equation", "formula"};
    const auto is_alnum = [&](Place at) { return 0 <= at && at < std::ssize(value) && characters().is(value[at], ALNUM); };
    if (holds_any(value, WORDS)) return true;
    for (Place k = 0; k < std::ssize(value); k++) {
        if (starts_with(value.subspan(k), "tex") && !is_alnum(k - 1) && !is_alnum(k + 3)) return true;
    }
    return false;
}

inline bool is_wordy(Points alt) {
    constexpr std::uint32_t FIRST_EASTERN = 0x2E80;
    constexpr int LONGEST_SYMBOL = 3;
    int letters = 0;
    for (const std::uint32_t point : alt) {
        letters = characters().is(point, LETTER) ? letters + 1 : 0;
        if (letters > LONGEST_SYMBOL || point >= FIRST_EASTERN) return true;
    }
    return false;
}

inline bool alt_is_formula(Page& page) {
    if (!page.attributes.has(Attribute::alt)) return false;
    const Points alt = page.decoded(Attribute::alt);
    for (std::size_t k = 0; k < alt.size(); k++) {
        if (alt[k] == '^' || alt[k] == '$') return true;
        if (k + 1 == alt.size()) break;
        if (alt[k] == '_' && alt[k + 1] == '{') return true;
        const bool is_path = k > 0 && alt[k - 1] == ':';
        if (alt[k] == '\\' && !is_path && characters().is(alt[k + 1], LETTER)) return true;
    }
    const Attributes& attributes = page.attributes;
    return !is_wordy(alt) && (names_formula(attributes[Attribute::class_]) ||
                              (!attributes.is_data(Attribute::src) && names_formula(attributes[Attribute::src])));
}

// The first character of a value that is no white space, 0 for none.
inline std::uint32_t first_of(Page& page, Attribute attribute, std::uint32_t otherwise) {
    if (!page.attributes.has(attribute)) return otherwise;
    const Points value = characters().trimmed(page.decoded(attribute));
    return value.empty() ? 0 : value.front();
}

// Writes what stands before the children of an element.
inline void begin_part(Page& page, OpenElement& entry) {
    Writer& out = page.out;
    if (entry.action == Action::fraction) {
        out.append("\\frac{");
    } else if (entry.action == Action::root) {
        out.append("\\sqrt{");
    } else if (entry.action == Action::over) {  // may become an accent
        out.append(NO_MARK);
    } else if (entry.action == Action::fenced) {
        entry.separator = first_of(page, Attribute::separators, ',');
        entry.extra = first_of(page, Attribute::close, ')');
        const std::uint32_t first = first_of(page, Attribute::open, '(');
        if (first) out.append(first);
    }
}

inline bool has_both(Action action) { return action == Action::both || action == Action::under_over; }

// The mark of the script that child `count`, or one after it, is; 0 for none.
inline std::uint32_t script(Action action, int count) {
    if (action == Action::power || action == Action::over || (has_both(action) && count > 2)) return SUP;
    return action == Action::index || action == Action::under || has_both(action) ? std::uint32_t{SUB} : 0;
}

// Writes what stands before the next child of an element.
inline void begin_child(Page& page, OpenElement& entry) {
    Writer& out = page.out;
    const Action action = entry.action;
    entry.count++;
    if (entry.count < 2) return;
    if (action == Action::matrix) {
        out.append(" \\\\ ");
    } else if (action == Action::matrix_row) {
        out.append(" & ");
    } else if (action == Action::fenced) {
        if (entry.separator) out.append(entry.separator);
    } else if (entry.count == 2) {
        if (action == Action::fraction) {
            out.append("}{");
            return;
        }
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
        if (point >= BEYOND || characters().is(point, SPACE)) continue;
        if (only) return NONE;
        only = point;
    }
    for (int command = 0; command < std::ssize(ACCENTS_OF_LATEX); command++) {
        if (ACCENTS_OF_LATEX[command].characters.find(only) != std::u32string_view::npos) return command;
    }
    return NONE;
}

// Writes the index of a root, its second child, before what it is the root of.
inline void write_indexed_root(Writer& out, Place place, Place middle) {
    constexpr Place MOST = 4096;  // so that roots within roots take linear time
    if (middle < place || middle > out.size() || out.size() - place > MOST) return;
    const Points all = out.from(place);
    const std::vector<std::uint32_t> held(all.begin(), all.end());
    const Points root = Points(held).first(middle - place), index = Points(held).subspan(middle - place);
    out.cut(place);
    out.append("\\sqrt[");
    out.append(index);
    out.append("]{");
    out.append(root);
    out.append('}');
}

// Writes what stands behind the children of an element.
inline void end_part(Page& page, OpenElement& entry) {
    Writer& out = page.out;
    const Action action = entry.action;
    if (action == Action::fraction || action == Action::root) {
        out.append(action == Action::fraction && entry.count < 2 ? "}{}" : "}");
    } else if (action == Action::fenced) {
        if (entry.extra) out.append(static_cast<std::uint32_t>(entry.extra));
    } else if (entry.count >= 2) {
        if (action == Action::indexed_root) {
            write_indexed_root(out, entry.place, entry.extra);
            return;
        }
        if (action == Action::over) {
            const int command = accent_of(out.from(entry.extra + 1));
            if (command != NONE) {
                out[entry.place] = ACCENTS + static_cast<std::uint32_t>(command);
                out.cut(entry.extra);
                out.append('}');
                return;
            }
        }
        if (const std::uint32_t mark = script(action, entry.count)) out.append(mark + END);
    }
}

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
inline bool is_encoded(std::uint32_t point) {
    if (point <= ' ' || (0x7F <= point && point <= 0xA0)) return true;
    if (point < 0x7F) return std::string_view("()<>\"\\`{}").find(static_cast<char>(point)) != std::string_view::npos;
    return point == ZERO_WIDTH_SPACE || point == BYTE_ORDER_MARK || characters().is(point, SPACE);
}

inline void write_hex(Writer& out, std::uint64_t value, int count, std::string_view digits) {
    while (count-- > 0) out.append(digits.substr(value >> 4 * count & 15, 1));
}

inline void write_encoded(Writer& out, std::uint32_t point) {
    std::uint8_t bytes[MOST_UTF8_BYTES];
    const std::size_t count = write_utf8(point, bytes);
    for (std::size_t i = 0; i < count; i++) {
        out.append('%');
        write_hex(out, bytes[i], 2, "0123456789ABCDEF");
    }
}

// Writes an address, of a set of them the first.
inline void write_address(Page& page, Attribute attribute) {
    Points address = characters().trimmed(page.decoded(attribute));
    if (attribute == Attribute::srcset) {
        const auto is_space = [](std::uint32_t point) { return characters().is(point, SPACE); };
        address = address.first(std::ranges::find_if(address, is_space) - address.begin());
        while (!address.empty() && address.back() == ',') address = address.first(address.size() - 1);
    }
    for (const std::uint32_t point : address) {
        if (point == '\t' || point == '\n' || point == '\r') continue;
        if (is_encoded(point)) write_encoded(page.out, point);
        else page.out.append(point);
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
inline bool is_placeholder(Points address) {
    constexpr std::string_view WORDS[] = {"loading", "loader", "lazy", "blank", "none", "grey", "gray", "space", "1x1",
                                          "pixel", "placeholder", "default", "empty", "transparent", "wait"};
    if (starts_with(address, "data:")) return true;
    while (find(address, 0, '/') < std::ssize(address)) address = address.subspan(find(address, 0, '/') + 1);
    const bool is_short = address.empty() || (find(address, 0, '.') <= 1 && characters().is(address[0], LETTER));
    return is_short || holds_any(address, WORDS);
}

// The attribute that holds the address of an image, NO_ATTRIBUTE if none does. A page that loads its images late
// has a placeholder in `src`.
inline Attribute address_of(const Page& page) {
    constexpr std::array ALL{Attribute::late, Attribute::src, Attribute::srcset};
    constexpr std::array LATE{Attribute::late, Attribute::other, Attribute::srcset, Attribute::src};
    const Attributes& attributes = page.attributes;
    const bool late = is_placeholder(attributes[Attribute::src]);
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
        if (type == IMAGE_BUTTON) return write_medium(page, IMAGE, address_of(page));
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
        if (characters().is(point, SPACE)) {
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
    write_hex(out, hash, 16, "0123456789abcdef");
    out.append(ADDRESS_END);
}

}  // namespace dedup::cleaning
