// Text with marks laid out: white space folded, spans written, rows and lines of code arranged.
#pragma once
#include "cleaning/spans.hpp"
#include "cleaning/vocabulary.hpp"
#include "cleaning/white_space.hpp"

namespace dedup::cleaning {

class Layout {
public:
    explicit Layout(const Characters& characters) : characters_(characters) {}

    // Writes a text with marks, bold and italic if `heavy`; false if `rules`, and style rules may stand in it.
    bool lay_out(Points text, bool rules, bool heavy, Writer& out) {
        begin(text, heavy, out);
        const bool done = rules ? write<true>() : write<false>();
        if (done) spans_.close_all();
        out = spans_.out;
        return done;
    }

private:
    void begin(Points text, bool heavy, const Writer& out) {
        text_ = text;
        spans_.begin(text, out);
        is_heavy_ = heavy;
        opened_ = colon_ = false;
        protected_ = 0;
        fence_ = fence_begin_ = lead_ = 0;
    }

    template <bool RULES>
    bool write() {
        const Place size = std::ssize(text_);
        Writer& out = spans_.out;
        for (Place j = 0; j < size;) {
            j = write_plain(j);
            if (j == size) break;
            const std::uint32_t point = text_[j];
            if (point >= BEYOND) {
                j = fence_ ? mark_in_fence(j) : mark(j);
                continue;
            }
            j++;
            const Kind kind = characters_.kind(point);
            if (kind == Kind::invisible) continue;
            if (is_blank(kind)) {
                if (fence_) {
                    space_in_fence(point, kind);
                } else if (spans_.white.blank != '\n') {
                    spans_.white.blank = kind == Kind::line ? '\n' : ' ';
                } else if (kind == Kind::line && spans_.white.hard == Hard::implied) {
                    spans_.white.hard = Hard::yes;
                }
                continue;
            }
            if (spans_.white.blank || spans_.is_pending()) spans_.flush();
            out.append(point);
            spans_.words += point != '_';
            if (kind != Kind::plain && may_end_rule(kind, j) && RULES) return false;
        }
        return true;
    }

    // Writes plain characters, unless white space or a span has to be written first.
    Place write_plain(Place j) {
        if (spans_.white.blank || spans_.is_pending()) return j;
        Writer& out = spans_.out;
        std::uint32_t* to = out.data() + out.size();
        j = characters_.copy_plain(text_, j, to, spans_.words);
        out.cut(to - out.data());
        return j;
    }

    // Whether a style rule may end, or be, here.
    bool may_end_rule(Kind kind, Place j) {
        const bool is_free = !protected_ && !fence_;
        switch (kind) {
            case Kind::markup:
            case Kind::backtick:
                return false;
            case Kind::opening:
                opened_ = is_free;
                colon_ = false;
                return false;
            case Kind::colon:
                colon_ = true;
                return false;
            case Kind::closing:
                return std::exchange(opened_, false) && colon_ && is_free;
            default:
                return is_free && may_be_at_rule(text_, j);
        }
    }

    // Does what a mark says; returns where to go on reading.
    Place mark(Place j) {
        const std::uint32_t mark = text_[j];
        if (is_medium(mark)) return write_medium(j);
        const std::uint32_t opening = mark >= UNDERLINE + END && mark <= LINED_END ? mark - END : mark;
        if ((opening == BOLD || opening == ITALIC) && !is_heavy_) return j + 1;
        if (mark == FRESH) {
            spans_.white = {'\n', spans_.white.hard == Hard::yes ? Hard::yes : Hard::no};
        } else if (mark == BLANK) {
            spans_.put_blank();
        } else if (mark == CODE) {
            protected_++;
        } else if (mark == CODE_END) {
            protected_--;
        } else if (mark == CELL) {
            spans_.begin_cell();
        } else if (mark == ROW_END) {
            spans_.close_row();
        } else if (mark == FENCE) {
            open_fence(j + 1);
        } else if (UNDERLINE <= mark && mark <= LINED) {
            protected_ += mark == FORMULA;
            spans_.open(j);
            if (mark == ITEM) {
                while (j < std::ssize(text_) && text_[j] != BODY) j++;
            }
        } else if (opening != mark) {
            if (spans_.top() != opening) return j + 1;
            protected_ -= mark == FORMULA_END;
            spans_.close();
        } else if (mark >= ACCENTS && mark - ACCENTS < std::size(ACCENTS_OF_LATEX)) {
            write_command(ACCENTS_OF_LATEX[mark - ACCENTS].command);
        }
        return j + 1;
    }

    static bool means_nothing_in_fence(std::uint32_t mark) {
        return mark == FENCE || mark == ROW || mark == CELL || mark == ROW_END || mark == CODE || mark == CODE_END;
    }

    Place mark_in_fence(Place j) {
        const std::uint32_t mark = text_[j];
        Writer& out = spans_.out;
        if (mark == FENCE_END) {
            close_fence();
        } else if (mark == FRESH) {
            if (out.size() == lead_ || characters_.kind(out[out.size() - 1]) != Kind::line)
                space_in_fence('\n', Kind::line);
        } else if (!means_nothing_in_fence(mark)) {
            spans_.white.blank = 0;
            j = this->mark(j);
            spans_.white.blank = 0;
            return j;
        }
        return j + 1;
    }

    // Writes an image or another medium; returns where to go on reading.
    Place write_medium(Place j) {
        constexpr std::string_view OPENINGS[] = {"![](", "![audio](", "![video]("};
        spans_.flush();
        Writer& out = spans_.out;
        out.append(OPENINGS[text_[j] - IMAGE]);
        for (j++; j < std::ssize(text_) && text_[j] != ADDRESS_END; j++) out.append(text_[j]);
        spans_.images++;
        out.append(')');
        return j + 1;
    }

    void write_command(std::string_view command) {
        spans_.put('\\');
        for (const char letter : command) spans_.put(static_cast<std::uint32_t>(letter));
        spans_.put('{');
    }

    // Writes white space as it is; blank lines before the code go.
    void space_in_fence(std::uint32_t point, Kind kind) {
        Writer& out = spans_.out;
        const bool leads = out.size() == lead_;
        if (leads && kind == Kind::line) {
            out.cut(fence_begin_);
        } else {
            out.append(point == '\r' ? '\n' : point);
        }
        if (leads) lead_ = out.size();
    }

    // How many backticks fence the code that begins here, 0 for none.
    Place fence_length(Place j) const {
        Place run = 0, longest = 0;
        bool blank = true;
        for (; j < std::ssize(text_) && text_[j] != FENCE_END; j++) {
            const std::uint32_t point = text_[j];
            if (point >= BEYOND) {
                blank = blank && !is_shown(point);
                continue;
            }
            const Kind kind = characters_.kind(point);
            if (kind == Kind::invisible) continue;
            run = point == '`' ? run + 1 : 0;
            longest = std::max(longest, run);
            blank = blank && is_blank(kind);
        }
        return blank || longest >= LONGEST_FENCE ? 0 : std::max(SHORTEST_FENCE, longest + 1);
    }

    void write_ticks() {
        for (Place k = 0; k < fence_; k++) spans_.out.append('`');
    }

    // Writes the line that begins the code that begins here, unless it is to have no fence.
    void open_fence(Place j) {
        fence_ = fence_length(j);
        if (!fence_) return;
        spans_.flush_line();
        write_ticks();
        spans_.out.append('\n');
        fence_begin_ = lead_ = spans_.out.size();
        spans_.words++;
    }

    // Writes the line that ends code; white space before it goes.
    void close_fence() {
        Writer& out = spans_.out;
        while (out.size() > fence_begin_ && is_blank(characters_.kind(out[out.size() - 1]))) out.cut(out.size() - 1);
        out.append('\n');
        write_ticks();
        fence_ = 0;
        spans_.fenced_end = out.size();
        spans_.white = {'\n', Hard::implied};
    }

    const Characters& characters_;
    Points text_;
    Spans spans_;
    bool is_heavy_ = false;
    bool opened_ = false, colon_ = false;  // whether a brace is open that may be a style rule's; `:` behind it
    int protected_ = 0;                    // how deep in what no style rule touches
    Place fence_ = 0;                      // backticks around the code that is written, 0 outside
    Place fence_begin_ = 0, lead_ = 0;     // where code begins, how far there is nothing but white space
};

}  // namespace dedup::cleaning
