// The layout of a text with marks: white space folded, spans written, rows and lines of code arranged.
#pragma once
#include "cleaning/vocabulary.hpp"

namespace dedup::cleaning {

constexpr Offset SHORTEST_FENCE = 3, LONGEST_FENCE = 255;  // backticks of a line that fences code

// Writes white space of code unchanged, without blank lines before the code.
struct CodeSpace {
    Offset begin = 0, lead = 0;  // of the code; the end of the white space that it begins with

    void write(std::uint32_t point, Kind kind, Writer& out) {
        const bool leads = out.size() == lead;
        if (leads && kind == Kind::line) out.cut(begin);
        else out.append(point == '\r' ? '\n' : point);
        if (leads) lead = out.size();
    }
};

// Whether a row may not replace a line break by a space: one of the text; one that a fence needs and the text lacks.
enum class Hard : std::uint8_t { no, yes, implied };

struct White {
    std::uint32_t blank = 0;  // a space, a line break, 0 for none
    Hard hard = Hard::no;
};

// The text around a span, by mark from UNDERLINE on; an item has its marker, a row nothing, fenced code its own lines.
struct Around {
    std::string_view before, behind;
};
constexpr Around AROUND[] = {
    {"[", "]{.underline}"}, {"[", "]{.dots}"}, {"[", "]{.bold}"}, {"[", "]{.italic}"}, {"^{", "}"}, {"_{", "}"},
    {"(", ")"}, {"$", "$"}, {}, {}, {}, {"[", "]{.underline}"},
};

struct OpenSpan {
    std::uint32_t kind = 0;          // its mark
    Offset begin = 0, inside = NONE;  // of it and of its content, NONE until something of it is written
    Offset words_before = 0, images_before = 0;
    White before;
    Offset marker = 0;  // of an item, in the text
    int cells = 0, separators_due = 0;
    Offset breaks_before = 0;  // of a row
};

// Features that keep a text from being laid out at once, as bits: markup, fenced code, style rules anywhere and at the start.
enum Feature : unsigned { MARKUP = 1, FENCES = 2, RULES = 4, RULES_AT_START = 8 };

// Lays out one text.
class Layout {
public:
    // is_heavy: bold and italic are written.
    Layout(Points text, bool is_heavy, Writer& out) : text_(text), is_heavy_(is_heavy), out_(out) {}

    // Writes the text, up to a feature that is searched and may be there; returns its bits, 0 at the end of the text.
    unsigned lay_out(unsigned searched) {
        const Offset size = std::ssize(text_);
        searched_ = searched;
        for (Offset j = 0; j < size;) {
            if (!white_.blank && !pending_) j = characters().copy_plain(text_, j, out_, words_);
            if (j == size) break;
            const std::uint32_t point = text_[j];
            if (point >= BEYOND) {
                j = fence_ ? mark_in_fence(j) : mark(j);
                continue;
            }
            j++;
            const Kind kind = characters().kind(point);
            if (kind == Kind::invisible) continue;
            if (is_blank(kind)) {
                if (fence_) {
                    code_.write(point, kind, out_);
                } else if (white_.blank != '\n') {
                    white_.blank = kind == Kind::line ? '\n' : ' ';
                } else if (kind == Kind::line && white_.hard == Hard::implied) {
                    white_.hard = Hard::yes;
                }
                continue;
            }
            if (white_.blank || pending_) flush();
            out_.append(point);
            words_ += point != '_';
            if (kind == Kind::plain) continue;
            if (const unsigned found = feature(kind, j)) return found;
        }
        while (depth()) close();
        return 0;
    }

private:
    // The features that may begin or end with the character written last, before `j`: three backticks at the beginning of a line;
    // for style rules `@`, or a colon between braces; at the start, the first inmost pair of braces decides.
    unsigned feature(Kind kind, Offset j) {
        const bool is_free = !protected_ && !fence_;
        const std::uint32_t next = j < std::ssize(text_) ? text_[j] : 0;
        const unsigned rules = searched_ & (RULES | RULES_AT_START);
        switch (kind) {
            case Kind::markup: return characters().is(next, LETTER) || is_one_of(next, "/!?#") ? searched_ & MARKUP : 0;
            case Kind::backtick: return begins_fence() ? searched_ & FENCES : 0;
            case Kind::opening: opened_ = is_free, colon_ = false; return 0;
            case Kind::colon: colon_ = true; return 0;
            case Kind::at_sign: return is_free && is_one_of(next, "mskicn-") ? rules & (out_.size() == 1 ? rules : RULES) : 0;
            default: {  // closing
                const bool is_closed = std::exchange(opened_, false);
                if (is_closed) searched_ &= ~unsigned{RULES_AT_START};
                return is_closed && colon_ && is_free ? rules : 0;
            }
        }
    }

    bool begins_fence() const {
        const Offset at = out_.size() - SHORTEST_FENCE;
        return at >= 0 && out_[at] == '`' && out_[at + 1] == '`' && (at == 0 || out_[at - 1] == '\n');
    }

    // Obeys a mark; returns the offset behind it.
    Offset mark(Offset j) {
        const std::uint32_t mark = text_[j];
        const std::uint32_t opening = mark >= UNDERLINE + END && mark <= LINED + END ? mark - END : mark;
        if ((opening == BOLD || opening == ITALIC) && !is_heavy_) return j + 1;
        switch (mark) {
            case IMAGE: case AUDIO: case VIDEO: return write_medium(j);
            case FRESH: white_ = {'\n', white_.hard == Hard::yes ? Hard::yes : Hard::no}; break;
            case BLANK: put_blank(); break;
            case CODE: protected_++; break;
            case CODE_END: protected_--; break;
            case CELL: begin_cell(); break;
            case ROW_END: close_row(); break;
            case FENCE: open_fence(j + 1); break;
            default:
                if (UNDERLINE <= mark && mark <= LINED) return open(j);
                if (opening != mark && stack_.back().kind == opening) {
                    protected_ -= mark == FORMULA_END;
                    close();
                } else if (mark >= ACCENTS && mark - ACCENTS < std::size(ACCENTS_OF_LATEX)) {
                    const std::string_view command = ACCENTS_OF_LATEX[mark - ACCENTS].command;
                    flush();
                    out_.append(command);
                    words_ += std::ssize(command);
                }
        }
        return j + 1;
    }

    Offset mark_in_fence(Offset j) {
        const std::uint32_t mark = text_[j];
        if (mark == FENCE_END) {
            close_fence();
        } else if (mark == FRESH) {
            if (out_.size() == code_.lead || characters().kind(out_[out_.size() - 1]) != Kind::line)
                code_.write('\n', Kind::line, out_);
        } else if (mark != FENCE && mark != ROW && mark != CELL && mark != ROW_END && mark != CODE && mark != CODE_END) {
            white_.blank = 0;
            j = this->mark(j);
            white_.blank = 0;
            return j;
        }
        return j + 1;
    }

    // Writes an image or another medium; returns the offset behind it.
    Offset write_medium(Offset j) {
        constexpr std::string_view OPENINGS[] = {"![](", "![audio](", "![video]("};
        flush();
        out_.append(OPENINGS[text_[j] - IMAGE]);
        for (j++; j < std::ssize(text_) && text_[j] != ADDRESS_END; j++) out_.append(text_[j]);
        images_++;
        out_.append(')');
        return j + 1;
    }

    // The number of backticks for a fence around the code that begins here, 0 for none.
    Offset fence_length(Offset j) const {
        Offset run = 0, longest = 0;
        bool blank = true;
        for (; j < std::ssize(text_) && text_[j] != FENCE_END; j++) {
            const std::uint32_t point = text_[j];
            if (point >= BEYOND) {
                blank = blank && !is_shown(point);
                continue;
            }
            const Kind kind = characters().kind(point);
            if (kind == Kind::invisible) continue;
            run = point == '`' ? run + 1 : 0;
            longest = std::max(longest, run);
            blank = blank && is_blank(kind);
        }
        return blank || longest >= LONGEST_FENCE ? 0 : std::max(SHORTEST_FENCE, longest + 1);
    }

    void open_fence(Offset j) {
        fence_ = fence_length(j);
        if (!fence_) return;
        write_openings();
        if (out_.size() && out_[out_.size() - 1] != '\n') out_.append('\n');
        white_ = {};
        out_.append(std::string(fence_, '`'));
        out_.append('\n');
        code_.begin = code_.lead = out_.size();
        words_++;
    }

    // Writes the last line of a fence, without white space before it.
    void close_fence() {
        trim(out_, code_.begin);
        out_.append('\n');
        out_.append(std::string(fence_, '`'));
        fence_ = 0;
        fenced_end_ = out_.size();
        white_ = {'\n', Hard::implied};
    }

    // Opens the span of a mark; returns the offset behind the mark and the marker of an item.
    Offset open(Offset j) {
        const bool is_row = text_[j] == ROW;
        rows_ += is_row;
        protected_ += text_[j] == FORMULA;
        if (is_row) white_ = {'\n', Hard::yes};
        stack_.push_back({.kind = text_[j], .begin = out_.size(), .before = white_, .marker = j + 1,
                          .breaks_before = std::ssize(breaks_)});
        if (!is_row && !pending_) pending_ = depth();
        if (text_[j] == ITEM) {
            while (j < std::ssize(text_) && text_[j] != BODY) j++;
        }
        return j + 1;
    }

    void close() {
        const OpenSpan entry = stack_.back();
        if (entry.kind == ROW) return close_row();
        pop();
        if (entry.inside == NONE) {
            if (entry.kind == UNDERLINE || entry.kind == FORMULA) white_ = entry.before;
            if (entry.kind == UNDERLINE) put_blank();
            return;
        }
        if (entry.kind == ITEM) return;
        if (out_.size() == fenced_end_) {
            out_.append('\n');
            if (white_.hard == Hard::implied) white_.blank = 0;
            white_.hard = Hard::no;
        }
        if (is_bracket(entry.kind) && words_ == entry.words_before) return drop_bracket(entry);
        const bool is_script = entry.kind == SUP || entry.kind == SUB;
        if (is_script && out_.size() - entry.inside == 1)  // no braces around one character
            return out_.move_back(out_.from(entry.inside), entry.inside - 1);
        if (entry.kind == FORMULA) white_ = {};
        out_.append(AROUND[entry.kind - UNDERLINE].behind);
    }

    void begin_cell() {
        OpenSpan& entry = stack_.back();
        if (entry.kind != ROW) return;
        if (++entry.cells == 1) return;
        entry.separators_due++;
        white_ = {};
        if (!pending_) pending_ = depth();
    }

    // Ends the row on top: line breaks within several cells become spaces.
    void close_row() {
        OpenSpan& entry = stack_.back();
        if (entry.kind != ROW) return;
        if (out_.size() > entry.begin && entry.separators_due) write_separators(entry, 0);
        if (entry.cells > 1) {
            for (Offset k = entry.breaks_before; k < std::ssize(breaks_); k++) out_[breaks_[k]] = ' ';
            breaks_.resize(std::min(entry.breaks_before, std::ssize(breaks_)));
        }
        rows_--;
        if (!rows_) breaks_.clear();
        pop();
        white_ = {'\n', Hard::yes};
    }

    void put_blank() {
        flush();
        out_.append("____");
    }

    void flush() {
        write_openings();
        write_white(white_);
        white_ = {};
    }

    int depth() const { return static_cast<int>(stack_.size()) - 1; }

    static bool is_bracket(std::uint32_t kind) { return (UNDERLINE <= kind && kind <= ITALIC) || kind == LINED; }

    void pop() {
        stack_.pop_back();
        if (pending_ > depth()) pending_ = 0;
    }

    // Writes white space, unless the text begins here; notes a line break of a row.
    void write_white(White before) {
        if (!before.blank || out_.size() == 0) return;
        if (before.blank == '\n' && rows_ && before.hard == Hard::no) breaks_.push_back(out_.size());
        out_.append(before.blank);
    }

    void write_openings() {
        if (!pending_) return;
        const Offset begin = out_.size(), breaks = std::ssize(breaks_);
        White before = white_before();
        for (int k = pending_; k <= depth(); k++) {
            OpenSpan& entry = stack_[k];
            if (entry.kind == ROW) {
                if (entry.begin == begin) entry.begin = out_.size();
                if (entry.separators_due) {
                    write_separators(entry, before.blank);
                    before.blank = ' ';
                }
            } else if (entry.inside == NONE) {
                write_white(before);
                write_opening(entry);
                before.blank = entry.kind == ITEM ? ' ' : 0;
            }
            before.hard = Hard::no;
        }
        for (int k = pending_; k <= depth(); k++) stack_[k].breaks_before += std::ssize(breaks_) - breaks;
        pending_ = 0;
        white_ = before;
    }

    // The white space before the first opening: that before its mark or, for brackets, also behind it.
    White white_before() const {
        for (int k = pending_; k <= depth(); k++) {
            const OpenSpan& entry = stack_[k];
            const bool is_due = entry.kind == ROW ? entry.separators_due > 0 : entry.inside == NONE;
            if (!is_due || is_bracket(entry.kind)) continue;
            return entry.kind == RUBY ? White{} : entry.before;
        }
        return white_;
    }

    void write_opening(OpenSpan& entry) {
        entry.begin = out_.size();
        entry.words_before = words_;
        entry.images_before = images_;
        if (entry.kind == ITEM) {
            for (Offset j = entry.marker; j < std::ssize(text_) && text_[j] != BODY; j++) out_.append(text_[j]);
        }
        out_.append(AROUND[entry.kind - UNDERLINE].before);
        words_ += !is_bracket(entry.kind);
        entry.inside = out_.size();
    }

    void write_separators(OpenSpan& entry, std::uint32_t blank) {
        for (int k = 0; k < entry.separators_due; k++) {
            const bool is_first = k == 0 && out_.size() == entry.begin, is_behind_fence = out_.size() == fenced_end_ && fenced_end_;
            write_white({is_first ? blank : is_behind_fence ? '\n' : std::uint32_t{' '}, Hard::yes});
            out_.append('|');
        }
        entry.separators_due = 0;
        words_++;
    }

    // Drops a bracket around no words; an underline around nothing becomes a blank.
    void drop_bracket(const OpenSpan& entry) {
        const bool is_blank = images_ == entry.images_before && entry.kind == UNDERLINE;
        if (is_blank) {
            out_.cut(entry.begin);
            out_.append("____");
        } else {
            out_.move_back(out_.from(entry.begin + 1), entry.begin);
        }
        Offset k = std::ssize(breaks_);
        while (k > 0 && breaks_[k - 1] > entry.begin) breaks_[--k]--;
        if (is_blank) breaks_.resize(k);
        if (fenced_end_ > entry.begin) fenced_end_--;
    }

    const Points text_;
    const bool is_heavy_;
    Writer& out_;
    unsigned searched_ = 0;                    // features
    std::vector<OpenSpan> stack_{OpenSpan()};  // the first is the text itself
    std::vector<Offset> breaks_;               // line breaks in open rows
    White white_;                              // before the next character
    bool opened_ = false, colon_ = false;      // whether a brace is open that may be a style rule's; `:` behind it
    Offset words_ = 0, images_ = 0;            // written: characters but underscores, and images
    Offset fence_ = 0;                         // backticks around the code that is written, 0 outside
    CodeSpace code_;                           // its white space
    Offset fenced_end_ = 0;                    // of the last fenced code
    int pending_ = 0;                          // the lowest span not yet written, 0 for none
    int rows_ = 0;                             // open ones
    int protected_ = 0;                        // depth in formulas and code, which style rules do not touch
};

}  // namespace dedup::cleaning
