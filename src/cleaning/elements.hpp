// What is written where an element begins and ends, and which elements end with it; lists and their markers.
#pragma once
#include "cleaning/page.hpp"

namespace dedup::cleaning {

inline int number_of(const Page& page, Attribute attribute, int otherwise) {
    constexpr std::size_t MOST_DIGITS = 9;
    Points value = characters().trimmed(page.attributes[attribute]);
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

inline Markers markers_of(Points type) {
    constexpr std::string_view TYPES = "1AaIi";  // in the order of the markers
    const std::size_t found = type.size() == 1 && type[0] < 0x80 ? TYPES.find(static_cast<char>(type[0])) : TYPES.npos;
    return found == TYPES.npos ? Markers::decimal : static_cast<Markers>(found);
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

inline void write_marker(Writer& out, int value, Markers kind) {
    constexpr std::pair<int, std::string_view> ROMAN[] = {
        {1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"},
        {5, "v"}, {4, "iv"}, {1, "i"}};
    constexpr int LETTERS = 26, LAST_ROMAN = 3999;
    std::string marker;
    if ((kind == Markers::upper || kind == Markers::lower) && value > 0) {  // A to Z, AA to ZZ and so on
        for (; value > 0; value = (value - 1) / LETTERS)
            marker.insert(marker.begin(), static_cast<char>('a' + (value - 1) % LETTERS));
    } else if ((kind == Markers::upper_roman || kind == Markers::lower_roman) && 0 < value && value <= LAST_ROMAN) {
        for (const auto& [worth, letters] : ROMAN) {
            for (; value >= worth; value -= worth) marker += letters;
        }
    } else {
        marker = std::to_string(value);
    }
    const bool is_large = kind == Markers::upper || kind == Markers::upper_roman;
    for (const char letter : marker) out.append(static_cast<std::uint32_t>(is_large && letter >= 'a' ? letter - 'a' + 'A' : letter));
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

// What closes an element: the end of the text, the tag of another one, its own.
enum class Closed : std::uint8_t { by_end, by_other, by_itself };

class Elements {
public:
    explicit Elements(Page& page) : page_(page) {}

    // Writes what an opening tag leaves; what it opens stays open unless it closes itself.
    void open(int number, std::uint32_t roles, bool closes_itself) {
        const Element& element = page_.vocabulary.element(number);
        close_before(element.action);
        write_break(page_, roles, number);
        if (roles & VOID) return write_void(page_, element.action);
        Action action = action_here(number, element.action);
        if (Action::math < action && action < Action::annotation) begin_child(page_, page_.stack.back());
        const std::uint32_t classes = page_.attributes.class_flags();
        const Style style = page_.attributes.has(Attribute::style) ? page_.attributes.style() : Style();
        const bool hidden = is_hidden(action, roles, classes | style.spans);
        if (hidden && (action < Action::table || action > Action::table_cell)) action = Action::none;
        OpenElement& entry = push(number, action, page_.start);
        entry.hidden = hidden;
        const bool early = Action::ordered <= action && action <= Action::table_cell;
        if (early) begin(entry);
        if (!entry.math && action != Action::table_row && !hidden)
            open_spans(entry, element, roles, classes & ONCE, style);
        if (hidden) {
            entry.cut = out_.size();
        } else if (write_formula(page_, Attribute::latex)) {
            entry.cut = out_.size();
            if (!early) entry.action = Action::none;
        } else if (action != Action::none && action != Action::span && !early) {
            begin(entry);
        } else if (classes & IS_BOX) {
            entry.extra = IS_BOX;
            entry.box = page_.top();
        } else if (classes & IS_PREVIEW || (classes & IS_TWIN && page_.formula_end == out_.size())) {
            entry.cut = out_.size();
        }
        if (closes_itself) close_down_to(page_.top(), Closed::by_itself);
    }

    // Closes the element that a closing tag means, and all within it; none if none is meant.
    void close(int number) {
        const OpenElement& top = page_.stack.back();
        const Action action = page_.action_of(number);
        int k = page_.nearest[number], limit = top.barrier;
        if (action == Action::table || action == Action::template_ || action == Action::object ||
            action == Action::drawing) {
            limit = top.hard_barrier;
        } else if (action == Action::table_cell || action == Action::section || action == Action::table_row) {
            if (action == Action::table_row) k = std::max(k, top.row);
            limit = std::max(top.table, top.hard_barrier);
        } else if (action == Action::list_item) {
            limit = std::max(top.list, top.barrier);
        }
        if (k > 0 && k >= limit) close_down_to(k, Closed::by_itself);
    }

    // Closes all elements from the top down to the one at this place of the stack.
    void close_down_to(int k, Closed how) {
        while (page_.top() >= k) {
            end(page_.top() == k ? how : std::min(how, Closed::by_other));
            const OpenElement& entry = page_.stack.back();
            if (entry.number >= 0) page_.nearest[entry.number] = entry.previous;
            page_.stack.pop_back();
        }
    }

private:
    OpenElement& push(int number, Action action, Place origin) {
        page_.stack.push_back(page_.stack.back());
        OpenElement& entry = page_.stack.back();
        entry.number = number;
        if (number != NONE) {
            entry.previous = page_.nearest[number];
            page_.nearest[number] = page_.top();
        }
        std::uint32_t around = entry.spans_open;
        if (around & IS_LINED) around |= IS_UNDERLINE;
        entry.spans_around |= around & ONCE;
        entry.spans_open = 0;
        entry.action = action;
        entry.origin = origin;
        entry.place = out_.size();
        entry.cut = NONE;
        entry.count = 0;
        entry.extra = 0;
        return entry;
    }

    // What an element does where it stands: parts of formulas do nothing outside of one.
    Action action_here(int number, Action action) {
        const OpenElement& around = page_.stack.back();
        if (action == Action::drawing && around.drawing) return Action::none;  // else each within others is read again
        if (action == Action::math) {
            return around.math || !page_.scanner.is_closed(number, page_.stop) ? Action::none : action;
        }
        return action > Action::math && !around.math ? Action::none : action;
    }

    static bool is_reading(Action action) { return action == Action::reading || action == Action::reading_mark; }

    // Closes what an opening tag ends: the item, row, cell or reading before it.
    void close_before(Action action) {
        const OpenElement& top = page_.stack.back();
        int k = 0;
        if (action == Action::list_item) {
            k = top.item;
        } else if (action == Action::table_row || action == Action::section) {
            k = top.row;
        } else if (action == Action::table_cell) {
            k = top.cell;
        } else if (is_reading(action) && is_reading(top.action)) {
            k = page_.top();
        }
        if (k && k >= top.hard_barrier) close_down_to(k, Closed::by_other);
        const OpenElement& around = page_.stack.back();
        if (action == Action::table_cell && (!around.row || around.row < around.hard_barrier) && !around.code)
            begin_row(push(NONE, Action::table_row, 0));
    }

    // Writes what stands at the beginning of the element on top, and notes what it is for others.
    void begin(OpenElement& entry) {
        const Action action = entry.action;
        entry.place = out_.size();
        if (action == Action::math) {
            entry.math = page_.top();
            out_.append(FORMULA);
        } else if (action > Action::math) {
            if (action == Action::annotation) entry.extra = page_.attributes.holds(Attribute::encoding, "tex");
            begin_part(page_, entry);
        } else if (action == Action::ordered || action == Action::unordered) {
            open_list(page_, entry);
        } else if (action == Action::select) {
            out_.append(BLANK);
        } else if (action == Action::lines || action == Action::code_line) {
            if (entry.code) return;
            entry.code = page_.top();
            out_.append(action == Action::lines ? FENCE : CODE);
        } else if (action == Action::reading) {
            out_.append(RUBY);
        } else if (action == Action::list_item) {
            open_item(page_, entry);
        } else if (Action::table <= action && action <= Action::table_cell) {
            begin_table(entry);
        } else {
            begin_medium(entry);
        }
    }

    // Writes an image or its like in place of what stands in the element, if it is one.
    void begin_medium(OpenElement& entry) {
        const int top = page_.top();
        if (entry.action == Action::hears || entry.action == Action::sees) {
            entry.medium = top;
            const Attribute attribute = address_of(page_);
            entry.extra = attribute != NO_ATTRIBUTE;
            write_medium(page_, entry.action == Action::hears ? AUDIO : VIDEO, attribute);
            entry.cut = out_.size();
        } else if (entry.action == Action::canvas) {
            write_medium(page_, IMAGE, NO_ATTRIBUTE);
            entry.cut = out_.size();
        } else if (entry.action == Action::drawing) {
            entry.barrier = entry.hard_barrier = entry.drawing = top;
        } else if (entry.action == Action::template_) {
            entry.barrier = entry.hard_barrier = top;
            entry.cut = out_.size();
        } else if (entry.action == Action::object) {
            entry.barrier = entry.hard_barrier = top;
            if (!page_.attributes.has(Attribute::data)) return;
            write_medium(page_, IMAGE, Attribute::data);
            entry.cut = out_.size();
        }
    }

    void begin_table(OpenElement& entry) {
        const int top = page_.top();
        if (entry.code) {
            entry.action = Action::none;
        } else if (entry.action == Action::table) {
            entry.barrier = entry.table = top;
            entry.row = entry.cell = 0;
        } else if (entry.action == Action::table_row) {
            begin_row(entry);
        } else if (entry.action == Action::table_cell) {
            entry.barrier = entry.cell = top;
            entry.list = entry.item = 0;
            out_.append(CELL);
        }
    }

    void begin_row(OpenElement& entry) {
        entry.row = page_.top();
        entry.cell = 0;
        out_.append(ROW);
    }

    // Opens the spans that an element, its class (given) and its style stand for.
    void open_spans(OpenElement& entry, const Element& element, std::uint32_t roles, std::uint32_t spans,
                    const Style& style) {
        spans |= element.spans;
        if (!(roles & LINK)) {
            spans |= style.spans & (element.action == Action::span ? ONCE | IS_SUP | IS_SUB : ONCE);
            if (!(roles & BREAKS)) spans |= style.border;
        }
        if (spans & IS_SUP) spans &= ~std::uint32_t{IS_SUB};
        spans &= ~entry.spans_around;
        if (roles & BREAKS && spans & IS_UNDERLINE) spans ^= IS_UNDERLINE | IS_LINED;
        entry.spans_open = spans;
        if (spans & (IS_BOLD | IS_ITALIC)) page_.is_heavy = true;
        if (spans & IS_LINED) out_.append(LINED);
        for (std::uint32_t k = 0; k < SPANS; k++) {
            if (spans >> k & 1) out_.append(UNDERLINE + k);
        }
    }

    void close_spans(std::uint32_t spans) {
        if (!spans) return;
        for (std::uint32_t k = SPANS; k-- > 0;) {
            if (spans >> k & 1) out_.append(UNDERLINE + k + END);
        }
        if (spans & IS_LINED) out_.append(LINED_END);
    }

    // Writes what stands at the end of the element on top.
    void end(Closed how) {
        const int top = page_.top();
        OpenElement& entry = page_.stack.back();
        const Action action = entry.action;
        const bool boxed = action == Action::math || (entry.extra == IS_BOX && entry.box == top);
        if (entry.hidden) {
            if (how == Closed::by_itself) take_hidden_back(entry);
        } else if (entry.cut >= 0 && (how == Closed::by_itself || (how == Closed::by_other && boxed))) {
            out_.cut(entry.cut);
        }
        if (action >= Action::math) {
            end_of_formula(entry, how);
        } else if (action == Action::drawing) {
            if (how == Closed::by_itself && entry.cut < 0) {
                out_.cut(entry.place);
                write_drawing(page_, page_.text().subspan(entry.origin, page_.stop - entry.origin));
            }
        } else if (action == Action::lines || action == Action::code_line) {
            if (entry.code == top) end_of_code(entry, how);
        } else if (action == Action::table_row) {
            out_.append(ROW_END);
        } else if (action == Action::reading) {
            out_.append(RUBY_END);
        } else if (action == Action::reading_mark && how != Closed::by_end) {
            out_.cut(entry.place);
        } else if (action == Action::list_item && entry.extra) {
            close_spans(entry.spans_open);
            out_.append(ITEM_END);
            return;
        }
        if (entry.extra == IS_BOX && entry.box == top) {
            page_.box_start = entry.place;
            page_.box_end = out_.size();
        }
        close_spans(entry.spans_open);
    }

    // Whether nobody sees an element, which is no medium and no part of a formula. flags: of its class and its style.
    // What has an id is there for a script to show.
    bool is_hidden(Action action, std::uint32_t roles, std::uint32_t flags) const {
        const bool may_be = Action::area < action && action < Action::math && action != Action::template_;
        const Attributes& attributes = page_.attributes;
        if (!page_.hides || attributes.has(Attribute::id) || !(may_be || action == Action::none)) return false;
        if (flags & IS_SHRUNK && !(roles & BREAKS)) return true;
        return flags & IS_HIDDEN || attributes.has(Attribute::hidden);
    }

    // Takes back what nobody sees, but no image, and nothing long: a page shows such later on.
    void take_hidden_back(const OpenElement& entry) {
        constexpr std::size_t MOST = 200;
        const Points hidden = out_.from(entry.cut);
        if (entry.cut < 0 || hidden.size() > MOST || std::ranges::any_of(hidden, is_medium)) return;
        page_.has_hidden |= !hidden.empty();
        out_.cut(entry.cut);
    }

    bool is_space(std::uint32_t point) const {
        return point >= BEYOND ? !is_shown(point) : characters().is(point, SPACE);
    }

    // Writes the end of code; only code of several lines that is closed stands in a fence.
    void end_of_code(const OpenElement& entry, Closed how) {
        bool lines = entry.action == Action::lines;
        if (!lines) {
            Points code = out_.from(entry.place + 1);
            while (!code.empty() && is_space(code.front())) code = code.subspan(1);
            while (!code.empty() && is_space(code.back())) code = code.first(code.size() - 1);
            lines = std::any_of(code.begin(), code.end(), [&](std::uint32_t point) {
                return point == FRESH || characters().is(point, LINE);
            });
        }
        if (how == Closed::by_end) lines = false;
        out_[entry.place] = lines ? FENCE : CODE;
        out_.append(lines ? FENCE_END : CODE_END);
    }

    void end_of_formula(OpenElement& entry, Closed how) {
        if (entry.action == Action::annotation) {
            OpenElement& root = page_.stack[entry.math];
            if (entry.extra && root.cut < 0 && page_.is_nonblank(out_.from(entry.place))) {
                take_as_formula(root, entry, root.place + 1, entry.math);
            } else if (how != Closed::by_end) {
                out_.cut(entry.place);
            }
        } else if (entry.action == Action::note) {
            if (how != Closed::by_end) out_.cut(entry.place);
        } else if (entry.action != Action::math) {
            end_part(page_, entry);
        } else if (!page_.is_nonblank(out_.from(entry.place))) {
            out_.cut(entry.place);
        } else {
            out_.append(FORMULA_END);
            OpenElement& box = page_.stack[entry.box];
            if (entry.box && box.cut < 0) take_as_formula(box, entry, box.place, entry.box);
            page_.formula_end = out_.size();
        }
    }

    // Puts what stands in an element in place of all else that stands in one around it, number `k`.
    void take_as_formula(OpenElement& around, const OpenElement& entry, Place to, int k) {
        out_.take_back(entry.place, out_.size(), to);
        around.cut = out_.size();
        page_.silence(k + 1, page_.top());
    }

    Page& page_;
    Writer& out_ = page_.out;
};

}  // namespace dedup::cleaning
