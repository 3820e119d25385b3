// White space folded but for fenced code, and what keeps a text from being folded at once.
#pragma once
#include <array>

#include "cleaning/characters.hpp"

namespace dedup::cleaning {

constexpr Place SHORTEST_FENCE = 3, LONGEST_FENCE = 255;  // backticks of a line that fences code

// What is looked for, as bits: markup, fenced code, style rules at the start. What was seen: an opening brace,
// a colon behind it.
enum Look : unsigned { MARKUP = 1 << 0, FENCES = 1 << 1, RULES_AT_START = 1 << 2, OPENED = 1 << 3, COLON = 1 << 4 };

// What folding makes of a text: nothing; a folded one; or what keeps it from being folded at once.
enum class Folded : std::uint8_t { stays, clean, needs_markup, needs_fences, needs_rules };

// What keeps a text from being folded at once, `clean` for nothing; notes in `looks` what was seen. `j`: behind what was
// written last. A fence is three backticks that begin a line. A style rule or a group of such begins with `@`, or a colon
// stands between its braces, the first that hold no others.
inline Folded look(Points text, Place j, Kind kind, unsigned& looks, const Writer& out) {
    const auto begins_fence = [&](Place at) {
        if (at < SHORTEST_FENCE || (at > SHORTEST_FENCE && out[at - SHORTEST_FENCE - 1] != '\n')) return false;
        return out[at - 2] == '`' && out[at - 3] == '`';
    };
    bool needed = false;
    switch (kind) {
        case Kind::markup: return looks & MARKUP && j < std::ssize(text) && may_begin_markup(text[j]) ? Folded::needs_markup : Folded::clean;
        case Kind::backtick: return looks & FENCES && begins_fence(out.size()) ? Folded::needs_fences : Folded::clean;
        case Kind::opening: looks = (looks & ~COLON) | OPENED; break;
        case Kind::colon: looks |= COLON; break;
        case Kind::at_sign: needed = looks & RULES_AT_START && out.size() == 1 && may_be_at_rule(text, j); break;
        default:  // closing
            needed = looks & OPENED && looks & COLON && looks & RULES_AT_START;
            if (looks & OPENED) looks &= ~(RULES_AT_START | OPENED);
    }
    return needed ? Folded::needs_rules : Folded::clean;
}

// Writes a text with its white space folded. Marks are passed over.
inline Folded fold_white_space(Points text, unsigned looks, Writer& out) {
    const Place size = std::ssize(text);
    bool replaced = false;
    // Passes white space, and what vanishes within it; returns what becomes of it.
    const auto skip_blanks = [&](Place& j) {
        std::uint32_t blank = ' ';
        for (; j < size; j++) {
            const std::uint32_t point = text[j];
            const Kind kind = CHARACTERS.kind(point);
            if (is_blank(kind)) {
                const std::uint32_t alone = kind == Kind::line ? '\n' : ' ';
                replaced |= point != alone;
                if (kind == Kind::line) blank = alone;
            } else if (kind != Kind::invisible && point < BEYOND) {
                break;
            }
        }
        return blank;
    };
    for (Place j = 0, words = 0;;) {
        j = CHARACTERS.copy_plain(text, j, out, words);
        if (j == size) break;
        const std::uint32_t point = text[j];
        const Kind kind = CHARACTERS.kind(point);
        if (is_blank(kind)) {
            const std::uint32_t blank = skip_blanks(j);
            if (out.size() && j < size) out.append(blank);
            continue;
        }
        j++;
        if (kind == Kind::invisible || point >= BEYOND) continue;
        out.append(point);
        const Folded need = look(text, j, kind, looks, out);
        if (need == Folded::clean) continue;
        out.cut(0);
        return looks & MARKUP ? Folded::needs_markup : need;
    }
    return out.size() == size && !replaced ? Folded::stays : Folded::clean;
}

inline Place line_end(Points text, Place j) {
    while (j < std::ssize(text) && CHARACTERS.kind(text[j]) != Kind::line) j++;
    return j;
}

// How many backticks a line begins with that may be a fence, 0 for none, and whether it is all.
struct Ticks {
    Place count = 0;
    bool alone = false;
};

inline Ticks ticks_of(Points line) {
    enum { before, within, behind, other } state = before;
    Place count = 0;
    for (const std::uint32_t point : line) {
        const Kind kind = CHARACTERS.kind(point);
        if (kind == Kind::invisible) continue;
        if (point == '`') {
            if (state > within) return {};
            count++;
            state = within;
        } else if (kind != Kind::space) {
            state = other;
        } else if (state == within) {
            state = behind;
        }
        if (state == other && count == 0) return {};
    }
    if (count < SHORTEST_FENCE || count > LONGEST_FENCE) return {};
    return {count, state < other};
}

// Writes a line with its white space folded, on a line of its own.
inline void write_line(Points line, Writer& out) {
    std::uint32_t blank = '\n';
    for (const std::uint32_t point : line) {
        const Kind kind = CHARACTERS.kind(point);
        if (kind == Kind::space) {
            if (!blank) blank = ' ';
        } else if (kind != Kind::invisible) {
            if (blank && out.size()) out.append(blank);
            blank = 0;
            out.append(point);
        }
    }
}

// Writes code as it stands, without the blank lines around it.
inline void write_code(Points code, Writer& out) {
    const Place begin = out.size();
    out.append('\n');
    Place lead = out.size();  // how far there is nothing but white space
    for (Place k = 0; k < std::ssize(code); k++) {
        std::uint32_t point = code[k];
        const Kind kind = CHARACTERS.kind(point);
        if (kind == Kind::invisible) continue;
        if (kind == Kind::line && out.size() == lead) {
            lead = begin + 1;
            out.cut(lead);
            continue;
        }
        if (point == '\r') {
            if (k + 1 < std::ssize(code) && code[k + 1] == '\n') continue;
            point = '\n';
        }
        if (out.size() == lead && kind == Kind::space) lead++;
        out.append(point);
    }
    trim(out, begin);
}

// Folds white space but for fenced code: a fence opens with a line that begins with three backticks or more and holds no
// other, and closes with a line of as many and nothing else. One that does not close is no fence.
inline void fold_fenced(Points text, Writer& out) {
    struct Line {
        Points text;
        Ticks ticks;
        Place next;
    };
    const auto line_at = [&](Place j) {
        const Place stop = line_end(text, j);
        const Points line = text.subspan(j, stop - j);
        return Line{line, ticks_of(line), stop + 1};
    };
    std::array<Place, LONGEST_FENCE + 1> last;  // where the last line of each number of backticks and nothing else begins
    last.fill(NONE);
    for (Place j = 0; j < std::ssize(text);) {
        const Line line = line_at(j);
        if (line.ticks.alone) last[line.ticks.count] = j;
        j = line.next;
    }
    for (Place j = 0; j < std::ssize(text);) {
        const Line opening = line_at(j);
        write_line(opening.text, out);
        const Place fence = opening.ticks.count;
        const bool is_fenced = fence > 0 && last[fence] > j;
        j = opening.next;
        if (!is_fenced) continue;
        const Place first = j;
        Line line = line_at(j);
        for (; !line.ticks.alone || line.ticks.count != fence; line = line_at(j)) j = line.next;
        write_code(text.subspan(first, j - first), out);
        write_line(line.text, out);
        j = line.next;
    }
}

}  // namespace dedup::cleaning
