// MathML written as text: what stands before, between and behind the children of its elements.
#pragma once
#include "cleaning/page.hpp"

namespace dedup::cleaning {

// The first character of a value that is no white space, 0 for none.
inline std::uint32_t first_of(Page& page, Attribute attribute, std::uint32_t otherwise) {
    if (!page.attributes.has(attribute)) return otherwise;
    const Points value = page.characters.trimmed(page.decoded(attribute));
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
inline int accent_of(const Page& page, Points script) {
    std::uint32_t only = 0;
    for (const std::uint32_t point : script) {
        if (point == SUB || point == SUP) return NONE;
        if (point >= BEYOND || page.characters.is(point, SPACE)) continue;
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
    const Place end = out.size(), index = end - middle;
    if (middle < place || middle > end || end - place > MOST) return;
    std::uint32_t* const first = out.data() + place;
    std::rotate(first, out.data() + middle, out.data() + end);
    constexpr std::string_view BEFORE = "\\sqrt[", BETWEEN = "]{";
    out.append(BEFORE);  // makes room
    out.append(BETWEEN);
    std::copy_backward(first + index, first + (end - place), out.data() + out.size());
    std::copy_backward(first, first + index, first + index + BEFORE.size());
    std::copy(BEFORE.begin(), BEFORE.end(), first);
    std::copy(BETWEEN.begin(), BETWEEN.end(), first + BEFORE.size() + index);
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
            const int command = accent_of(page, out.from(entry.extra + 1));
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

}  // namespace dedup::cleaning
