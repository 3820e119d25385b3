// White space folded but for fenced code.
#pragma once
#include <array>

#include "cleaning/characters.hpp"

namespace dedup::cleaning {

constexpr Place SHORTEST_FENCE = 3, LONGEST_FENCE = 255;  // backticks of a line that fences code

// How many backticks a line begins with that may be a fence, 0 for none, and whether it is all.
struct Ticks {
    Place count = 0;
    bool alone = false;
};

inline Ticks ticks_of(Points line) {
    enum { before, within, behind, other } state = before;
    Place count = 0;
    for (const std::uint32_t point : line) {
        const Kind kind = characters().kind(point);
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
        const Kind kind = characters().kind(point);
        if (kind == Kind::space) {
            if (!blank) blank = ' ';
        } else if (kind != Kind::invisible) {
            if (blank && out.size()) out.append(blank);
            blank = 0;
            out.append(point);
        }
    }
}

// White space of code, as it stands; blank lines before the code go.
struct CodeSpace {
    Place begin = 0, lead = 0;  // where code begins, how far there is nothing but white space

    void write(std::uint32_t point, Kind kind, Writer& out) {
        const bool leads = out.size() == lead;
        if (leads && kind == Kind::line) out.cut(begin);
        else out.append(point == '\r' ? '\n' : point);
        if (leads) lead = out.size();
    }
};

// Writes code as it stands, without the blank lines around it.
inline void write_code(Points code, Writer& out) {
    const Place begin = out.size();
    out.append('\n');
    CodeSpace space{out.size(), out.size()};
    for (Place k = 0; k < std::ssize(code); k++) {
        const Kind kind = characters().kind(code[k]);
        if (kind == Kind::invisible || (code[k] == '\r' && k + 1 < std::ssize(code) && code[k + 1] == '\n')) continue;
        if (is_blank(kind)) space.write(code[k], kind, out);
        else out.append(code[k]);
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
        Place stop = j;
        while (stop < std::ssize(text) && characters().kind(text[stop]) != Kind::line) stop++;
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
