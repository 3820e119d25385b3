// White space folded but for fenced code.
//
// A fence opens with a line that begins with three backticks or more and holds no other, and closes with a line
// of as many and nothing else. One that does not close is no fence.
#pragma once
#include <array>

#include "cleaning/white_space.hpp"

namespace dedup::cleaning {

class Fences {
public:
    explicit Fences(const Characters& characters) : characters_(characters) {}

    void fold(Points text, Writer& out) {
        note_last_lines(text);
        for (Place j = 0; j < std::ssize(text);) {
            Place stop = line_end(text, j);
            const Place fence = ticks_of(text.subspan(j, stop - j)).count;
            write_line(text.subspan(j, stop - j), out);
            const bool is_fenced = fence > 0 && last_[fence] > j;
            j = stop + 1;
            if (!is_fenced) continue;
            const Place first = j;
            Place last = j;
            for (Ticks ticks{0, false}; !ticks.alone || ticks.count != fence; j = stop + 1) {
                last = j;
                stop = line_end(text, j);
                ticks = ticks_of(text.subspan(j, stop - j));
            }
            write_code(text.subspan(first, last - first), out);
            write_line(text.subspan(last, stop - last), out);
        }
    }

private:
    // Notes where the last line of each number of backticks and nothing else begins.
    void note_last_lines(Points text) {
        last_.fill(NONE);
        for (Place j = 0; j < std::ssize(text);) {
            const Place stop = line_end(text, j);
            const Ticks ticks = ticks_of(text.subspan(j, stop - j));
            if (ticks.alone) last_[ticks.count] = j;
            j = stop + 1;
        }
    }

    Place line_end(Points text, Place j) const {
        while (j < std::ssize(text) && characters_.kind(text[j]) != Kind::line) j++;
        return j;
    }

    // How many backticks a line begins with that may be a fence, 0 for none, and whether it is all.
    struct Ticks {
        Place count;
        bool alone;
    };
    Ticks ticks_of(Points line) const {
        enum { before, within, behind, other } state = before;
        Place count = 0;
        for (const std::uint32_t point : line) {
            const Kind kind = characters_.kind(point);
            if (kind == Kind::invisible) continue;
            if (point == '`') {
                if (state > within) return {0, false};
                count++;
                state = within;
            } else if (kind != Kind::space) {
                state = other;
            } else if (state == within) {
                state = behind;
            }
            if (state == other && count == 0) return {0, false};
        }
        if (count < SHORTEST_FENCE || count > LONGEST_FENCE) return {0, false};
        return {count, state < other};
    }

    // Writes a line with its white space folded, on a line of its own.
    void write_line(Points line, Writer& out) const {
        std::uint32_t blank = '\n';
        for (const std::uint32_t point : line) {
            const Kind kind = characters_.kind(point);
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
    void write_code(Points code, Writer& out) const {
        const Place begin = out.size();
        out.append('\n');
        Place lead = out.size();  // how far there is nothing but white space
        for (Place k = 0; k < std::ssize(code); k++) {
            std::uint32_t point = code[k];
            const Kind kind = characters_.kind(point);
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
        while (out.size() > begin && is_blank(characters_.kind(out[out.size() - 1]))) out.cut(out.size() - 1);
    }

    const Characters& characters_;
    std::array<Place, LONGEST_FENCE + 1> last_;
};

}  // namespace dedup::cleaning
