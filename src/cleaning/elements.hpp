// The text of an element at its beginning and end, and the elements that end with it; lists and their markers.
#pragma once
#include "cleaning/page.hpp"

namespace dedup::cleaning {

inline int number_of(const Page& page, Attribute attribute, int otherwise) {
    constexpr Offset MOST_DIGITS = 9;
    const Points value = trimmed(page.attributes[attribute]);
    const bool is_negative = !value.empty() && value.front() == '-';
    const auto [number, stop] = References::number_at(value, is_negative, 10, MOST_DIGITS);
    if (stop == is_negative || stop < std::ssize(value)) return otherwise;
    return is_negative ? -static_cast<int>(number) : static_cast<int>(number);
}

inline Markers markers_of(Points type) {
    constexpr std::string_view TYPES = "1AaIi";  // in the order of the markers
    const bool is_known = type.size() == 1 && is_one_of(type[0], TYPES);
    return is_known ? static_cast<Markers>(TYPES.find(static_cast<char>(type[0]))) : Markers::decimal;
}

inline void open_list(Page& page, OpenElement& entry) {
    entry.list = page.top();
    entry.item = 0;
    entry.count = number_of(page, Attribute::start, 1);
    Markers markers = Markers::unmarked;
    if (entry.action == Action::ordered) {
        const int styled = page.attributes.style().markers;
        markers = styled != NONE ? static_cast<Markers>(styled) : markers_of(page.attributes[Attribute::type]);
    }
    entry.extra = static_cast<Offset>(markers);
}

inline std::string marker_of(int value, Markers kind) {
    constexpr std::pair<int, std::string_view> ROMAN[] = {
        {1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"},
        {5, "v"}, {4, "iv"}, {1, "i"}};
    constexpr int LETTERS = 26, LAST_ROMAN = 3999;
    std::string marker;
    if ((kind == Markers::upper || kind == Markers::lower) && value > 0) {  // A to Z, AA to ZZ and so on
        for (; value > 0; value = (value - 1) / LETTERS) marker.insert(0, 1, static_cast<char>('a' + (value - 1) % LETTERS));
    } else if ((kind == Markers::upper_roman || kind == Markers::lower_roman) && 0 < value && value <= LAST_ROMAN) {
        for (const auto& [worth, letters] : ROMAN) {
            for (; value >= worth; value -= worth) marker += letters;
        }
    } else {
        return std::to_string(value);
    }
    if (kind == Markers::upper || kind == Markers::upper_roman) {
        for (char& letter : marker) letter = static_cast<char>(letter - 'a' + 'A');
    }
    return marker;
}

// Writes the marker of a list's item between two marks, if it has one.
inline void open_item(Page& page, OpenElement& entry) {
    entry.item = page.top();
    OpenElement& list = page.stack[entry.list];
    const auto markers = static_cast<Markers>(list.extra);
    if (!entry.list || markers == Markers::unmarked || entry.code) return;
    const int value = number_of(page, Attribute::value, list.count);
    list.count = value + 1;
    entry.extra = 1;
    page.out.append(ITEM);
    page.out.append(marker_of(value, markers));
    page.out.append('.');
    page.out.append(BODY);
}

// Causes for the end of an element: the end of the text, the tag of another one, its own.
enum class Closed : std::uint8_t { by_end, by_other, by_itself };

class Elements {
public:
    explicit Elements(Page& page) : page_(page) {}

    // Writes the beginning of an element, which stays open unless its tag closes itself or is read with its content.
    void open(const Markup& tag) {
        const Element& element = page_.vocabulary.element(tag.number);
        const std::uint32_t roles = tag.roles;
        close_before(element.action);
        write_break(page_, roles, tag.number);
        if (roles & VOID) return write_void(page_, element.action);
        Action action = action_here(tag.key, element.action);
        if (Action::math < action && action < Action::annotation) begin_child(page_, page_.stack.back());
        const std::uint32_t classes = page_.attributes.class_flags();
        const Style style = page_.attributes.style();
        const bool is_invisible = is_hidden(action, roles, classes | style.spans);
        if (is_invisible && (action < Action::table || action > Action::table_cell)) action = Action::none;
        OpenElement& entry = push(tag.number, action, page_.start);
        entry.is_hidden = is_invisible;
        const bool is_early = Action::ordered <= action && action <= Action::table_cell;
        if (is_early) begin(entry);
        if (!entry.math && action != Action::table_row && !is_invisible)
            open_spans(entry, element, roles, classes & ONCE, style);
        if (is_invisible) {
            entry.cut = out_.size();
        } else if (write_formula(page_, Attribute::latex)) {
            entry.cut = out_.size();
            if (!is_early) entry.action = Action::none;
        } else if (action != Action::none && action != Action::span && !is_early) {
            begin(entry);
        } else if (classes & IS_BOX) {
            entry.extra = IS_BOX;
            entry.box = page_.top();
        } else if (classes & IS_PREVIEW || (classes & IS_TWIN && page_.formula_end == out_.size())) {
            entry.cut = out_.size();
        }
        if (tag.closes_itself || tag.content_end) close_down_to(page_.top(), Closed::by_itself);
    }

    // Closes the element that a closing tag belongs to, if any, and all within it.
    void close(int number) {
        const OpenElement& top = page_.stack.back();
        const Action action = page_.action_of(number);
        int k = page_.nearest[number], limit = top.barrier;
        if (action == Action::table || action == Action::template_ || action == Action::object || action == Action::drawing) {
            limit = top.hard_barrier;
        } else if (Action::section <= action && action <= Action::table_cell) {
            if (action == Action::table_row) k = std::max(k, top.row);
            limit = std::max(top.table, top.hard_barrier);
        } else if (action == Action::list_item) {
            limit = std::max(top.list, top.barrier);
        }
        if (k > 0 && k >= limit) close_down_to(k, Closed::by_itself);
    }

    // Closes all elements from the top down to number `k` of the stack.
    void close_down_to(int k, Closed how) {
        while (page_.top() >= k) {
            end(page_.top() == k ? how : std::min(how, Closed::by_other));
            const OpenElement& entry = page_.stack.back();
            if (entry.number >= 0) page_.nearest[entry.number] = entry.previous;
            page_.stack.pop_back();
        }
    }

private:
    OpenElement& push(int number, Action action, Offset origin) {
        page_.stack.push_back(page_.stack.back());
        OpenElement& entry = page_.stack.back();
        entry.number = number;
        if (number != NONE) {
            entry.previous = page_.nearest[number];
            page_.nearest[number] = page_.top();
        }
        if (entry.spans_open & IS_LINED) entry.spans_around |= IS_UNDERLINE;
        entry.spans_around |= entry.spans_open & ONCE;
        entry.spans_open = 0;
        entry.action = action;
        entry.origin = origin;
        entry.begin = out_.size();
        entry.cut = NONE;
        entry.count = entry.extra = 0;
        return entry;
    }

    // The action of an element within the open ones: parts of formulas have none outside of one.
    Action action_here(std::uint64_t key, Action action) {
        const OpenElement& around = page_.stack.back();
        if (action == Action::drawing && around.drawing) return Action::none;  // else nested ones are read again and again
        const bool is_math = action == Action::math && !around.math && page_.scanner.is_closed(key, page_.stop);
        const bool is_part = action > Action::math && around.math;
        return action < Action::math || is_math || is_part ? action : Action::none;
    }

    static bool is_reading(Action action) { return action == Action::reading || action == Action::reading_mark; }

    // Closes the item, row, cell or reading that an opening tag ends.
    void close_before(Action action) {
        const OpenElement& top = page_.stack.back();
        int k = 0;
        if (action == Action::list_item) k = top.item;
        else if (action == Action::table_row || action == Action::section) k = top.row;
        else if (action == Action::table_cell) k = top.cell;
        else if (is_reading(action) && is_reading(top.action)) k = page_.top();
        if (k && k >= top.hard_barrier) close_down_to(k, Closed::by_other);
        const OpenElement& around = page_.stack.back();
        if (action == Action::table_cell && (!around.row || around.row < around.hard_barrier) && !around.code)
            begin_row(push(NONE, Action::table_row, 0));
    }

    // Writes the beginning of the element on top, and notes it as the nearest of its kind.
    void begin(OpenElement& entry) {
        const Action action = entry.action;
        entry.begin = out_.size();
        if (action == Action::math) {
            entry.math = page_.top();
            out_.append(FORMULA);
        } else if (action > Action::math) {
            if (action == Action::annotation) entry.extra = holds(page_.attributes[Attribute::encoding], "tex");
            begin_part(page_, entry);
        } else if (action == Action::lines || action == Action::code_line) {
            if (entry.code) return;
            entry.code = page_.top();
            out_.append(action == Action::lines ? FENCE : CODE);
        } else if (action == Action::ordered || action == Action::unordered) open_list(page_, entry);
        else if (action == Action::list_item) open_item(page_, entry);
        else if (action == Action::select) out_.append(BLANK);
        else if (action == Action::reading) out_.append(RUBY);
        else if (Action::table <= action && action <= Action::table_cell) begin_table(entry);
        else begin_medium(entry);
    }

    // Writes a medium in place of the element's content, if it is one.
    void begin_medium(OpenElement& entry) {
        const Action action = entry.action;
        if (action == Action::audio || action == Action::video) {
            entry.medium = page_.top();
            const Attribute attribute = address_of(page_);
            entry.extra = attribute != NO_ATTRIBUTE;
            write_medium(page_, action == Action::audio ? AUDIO : VIDEO, attribute);
        } else if (action == Action::canvas) {
            write_medium(page_, IMAGE, NO_ATTRIBUTE);
        } else {
            if (action == Action::object || action == Action::drawing || action == Action::template_)
                entry.barrier = entry.hard_barrier = page_.top();
            if (action == Action::drawing) entry.drawing = page_.top();
            const bool has_data = action == Action::object && page_.attributes.has(Attribute::data);
            if (has_data) write_medium(page_, IMAGE, Attribute::data);
            if (!has_data && action != Action::template_) return;
        }
        entry.cut = out_.size();
    }

    void begin_table(OpenElement& entry) {
        if (entry.code) {
            entry.action = Action::none;
        } else if (entry.action == Action::table) {
            entry.barrier = entry.table = page_.top();
            entry.row = entry.cell = 0;
        } else if (entry.action == Action::table_row) {
            begin_row(entry);
        } else if (entry.action == Action::table_cell) {
            entry.barrier = entry.cell = page_.top();
            entry.list = entry.item = 0;
            out_.append(CELL);
        }
    }

    void begin_row(OpenElement& entry) {
        entry.row = page_.top();
        entry.cell = 0;
        out_.append(ROW);
    }

    // Opens the spans of an element, of its class, which are passed, and of its style.
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
        if (spans & IS_LINED) out_.append(LINED + END);
    }

    void end(Closed how) {
        const int top = page_.top();
        OpenElement& entry = page_.stack.back();
        const Action action = entry.action;
        const bool is_boxed = action == Action::math || (entry.extra == IS_BOX && entry.box == top);
        if (entry.is_hidden) {
            if (how == Closed::by_itself) drop_hidden(entry);
        } else if (entry.cut >= 0 && (how == Closed::by_itself || (how == Closed::by_other && is_boxed))) {
            out_.cut(entry.cut);
        }
        if (action >= Action::math) {
            end_of_formula(entry, how);
        } else if (action == Action::drawing) {
            if (how == Closed::by_itself && entry.cut < 0) {
                out_.cut(entry.begin);
                write_drawing(page_, page_.text().subspan(entry.origin, page_.stop - entry.origin));
            }
        } else if (action == Action::lines || action == Action::code_line) {
            if (entry.code == top) end_of_code(entry, how);
        } else if (action == Action::table_row) {
            out_.append(ROW_END);
        } else if (action == Action::reading) {
            out_.append(RUBY + END);
        } else if (action == Action::reading_mark && how != Closed::by_end) {
            out_.cut(entry.begin);
        } else if (action == Action::list_item && entry.extra) {
            close_spans(entry.spans_open);
            out_.append(ITEM + END);
            return;
        }
        if (entry.extra == IS_BOX && entry.box == top) {
            page_.box_begin = entry.begin;
            page_.box_end = out_.size();
        }
        close_spans(entry.spans_open);
    }

    // Whether an element is invisible. flags: of its class and its style. A script may show elements with an id.
    bool is_hidden(Action action, std::uint32_t roles, std::uint32_t flags) const {
        const bool may_be = Action::area < action && action < Action::math && action != Action::template_;
        const Attributes& attributes = page_.attributes;
        if (!page_.hides || attributes.has(Attribute::id) || !(may_be || action == Action::none)) return false;
        if (flags & IS_SHRUNK && !(roles & BREAKS)) return true;
        return flags & IS_HIDDEN || attributes.has(Attribute::hidden);
    }

    // Drops an invisible text, unless it has a medium or is long: a page shows such later on.
    void drop_hidden(const OpenElement& entry) {
        constexpr std::size_t MOST = 200;
        const Points hidden = out_.from(entry.cut);
        if (entry.cut < 0 || hidden.size() > MOST || std::ranges::any_of(hidden, is_medium)) return;
        page_.has_hidden |= !hidden.empty();
        out_.cut(entry.cut);
    }

    // Writes the end of code; only code of several lines that is closed is fenced.
    void end_of_code(const OpenElement& entry, Closed how) {
        const Points code = trimmed(out_.from(entry.begin + 1), [](std::uint32_t point) {
            return point >= BEYOND ? !is_shown(point) : is_space(point);
        });
        const auto is_break = [](std::uint32_t point) { return point == FRESH || characters().kind(point) == Kind::line; };
        const bool is_fenced = how != Closed::by_end && (entry.action == Action::lines || std::ranges::any_of(code, is_break));
        out_[entry.begin] = is_fenced ? FENCE : CODE;
        out_.append(is_fenced ? FENCE_END : CODE_END);
    }

    void end_of_formula(OpenElement& entry, Closed how) {
        if (entry.action == Action::annotation) {
            OpenElement& root = page_.stack[entry.math];
            const bool is_formula = entry.extra && root.cut < 0 && page_.is_nonblank(out_.from(entry.begin));
            if (is_formula) move_to(root, entry, root.begin + 1, entry.math);
            else if (how != Closed::by_end) out_.cut(entry.begin);
        } else if (entry.action == Action::note) {
            if (how != Closed::by_end) out_.cut(entry.begin);
        } else if (entry.action != Action::math) {
            end_part(page_, entry);
        } else if (!page_.is_nonblank(out_.from(entry.begin))) {
            out_.cut(entry.begin);
        } else {
            out_.append(FORMULA_END);
            OpenElement& box = page_.stack[entry.box];
            if (entry.box && box.cut < 0) move_to(box, entry, box.begin, entry.box);
            page_.formula_end = out_.size();
        }
    }

    // Makes the text of the top element the only one of an element around it, number `k`.
    void move_to(OpenElement& around, const OpenElement& entry, Offset to, int k) {
        out_.move_back(out_.from(entry.begin), to);
        around.cut = out_.size();
        page_.silence(k + 1, page_.top());
    }

    Page& page_;
    Writer& out_ = page_.out;
};

}  // namespace dedup::cleaning
