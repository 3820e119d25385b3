// Spans of a text that mean something together: blanks, underlines, scripts, rows of tables.
//
// An opening is written with the first character of its content: so an empty span leaves nothing, and white
// space moves outside.
#pragma once
#include "cleaning/writer.hpp"

namespace dedup::cleaning {

// Whether no row may take a line break: of the text itself; one that a fence needs, the text does not hold it.
enum class Hard : std::uint8_t { no, yes, implied };

struct White {
    std::uint32_t blank = 0;  // a space, a line break, 0 for none
    Hard hard = Hard::no;
};

struct OpenSpan {
    std::uint32_t kind = 0;            // its mark
    Place begin = 0, inside = NONE;    // where it and its content begin, NONE while nothing of it is written
    Place words_before = 0, images_before = 0;
    White before;
    Place marker = 0;  // of an item: where it stands in the text
    int cells = 0, separators_due = 0;
    Place breaks_before = 0;  // of a row
};

class Spans {
public:
    void begin(Points text, Writer out) {
        text_ = text;
        this->out = out;
        stack_.assign(1, OpenSpan());
        breaks_.clear();
        white = {};
        words = images = fenced_end = 0;
        pending_ = rows_ = 0;
    }

    std::uint32_t top() const { return stack_.back().kind; }  // 0 where none is open
    bool is_pending() const { return pending_ != 0; }

    // Opens the span with its mark here.
    void open(Place j) {
        OpenSpan entry;
        entry.kind = text_[j];
        entry.begin = out.size();
        entry.words_before = words;
        entry.images_before = images;
        entry.before = white;
        entry.marker = j + 1;
        entry.breaks_before = std::ssize(breaks_);
        if (entry.kind == ROW) {
            entry.before = white = {'\n', Hard::yes};
            rows_++;
        }
        stack_.push_back(entry);
        if (entry.kind != ROW && !pending_) pending_ = depth();
    }

    // Ends the span on top.
    void close() {
        const OpenSpan entry = stack_.back();
        if (entry.kind == ROW) return close_row();
        pop();
        if (entry.inside == NONE) {
            if (entry.kind == UNDERLINE || entry.kind == FORMULA) white = entry.before;
            if (entry.kind == UNDERLINE) put_blank();
            return;
        }
        if (entry.kind == ITEM) return;
        if (out.size() == fenced_end) {
            out.append('\n');
            if (white.hard == Hard::implied) white.blank = 0;
            white.hard = Hard::no;
        }
        if (is_bracket(entry.kind)) {
            close_bracket(entry);
        } else if (entry.kind == SUP || entry.kind == SUB) {
            if (out.size() - entry.inside == 1) {  // no braces around one character
                out.take_back(entry.inside, out.size(), entry.inside - 1);
            } else {
                out.append('}');
            }
        } else {
            if (entry.kind == FORMULA) white = {};
            out.append(entry.kind == RUBY ? ')' : '$');
        }
    }

    void close_all() {
        while (depth()) close();
    }

    // Begins a cell of the row on top.
    void begin_cell() {
        OpenSpan& entry = stack_.back();
        if (entry.kind != ROW) return;
        entry.cells++;
        if (entry.cells == 1) return;
        entry.separators_due++;
        white = {};
        if (!pending_) pending_ = depth();
    }

    // Ends the row on top: line breaks within cells that share it become spaces.
    void close_row() {
        OpenSpan& entry = stack_.back();
        if (entry.kind != ROW) return;
        if (out.size() > entry.begin && entry.separators_due) write_separators(entry, 0);
        if (entry.cells > 1) {
            for (Place k = entry.breaks_before; k < std::ssize(breaks_); k++) out[breaks_[k]] = ' ';
            if (entry.breaks_before < std::ssize(breaks_)) breaks_.resize(entry.breaks_before);
        }
        rows_--;
        if (!rows_) breaks_.clear();
        pop();
        white = {'\n', Hard::yes};
    }

    // Writes a character and what has to stand before it.
    void put(std::uint32_t point) {
        flush();
        words += point != '_';
        out.append(point);
    }

    // Writes a blank to fill in.
    void put_blank() {
        for (int k = 0; k < 4; k++) put('_');
    }

    // Writes the white space and the openings that come before the next character.
    void flush() {
        write_openings();
        write_white(white);
        white = {};
    }

    // ... which begins a line.
    void flush_line() {
        write_openings();
        if (out.size() && out[out.size() - 1] != '\n') out.append('\n');
        white = {};
    }

    Writer out;
    White white;                   // that comes before the next character
    Place words = 0, images = 0;   // written: characters but underscores, and images
    Place fenced_end = 0;          // where the fence of code ended

private:
    int depth() const { return static_cast<int>(stack_.size()) - 1; }

    static bool is_bracket(std::uint32_t kind) { return (UNDERLINE <= kind && kind <= ITALIC) || kind == LINED; }

    void pop() {
        stack_.pop_back();
        if (pending_ > depth()) pending_ = 0;
    }

    // Writes white space, unless the text begins here; notes a line break of a row.
    void write_white(White before) {
        if (!before.blank || out.size() == 0) return;
        if (before.blank == '\n' && rows_ && before.hard == Hard::no) breaks_.push_back(out.size());
        out.append(before.blank);
    }

    void write_openings() {
        if (!pending_) return;
        const Place begin = out.size(), breaks = std::ssize(breaks_);
        const White first = white_before();
        White before = first;
        for (int k = pending_; k <= depth(); k++) {
            OpenSpan& entry = stack_[k];
            if (entry.kind == ROW) {
                if (entry.begin == begin) entry.begin = out.size();
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
        white = before;
    }

    // The white space before the first opening: what came before or, for brackets, in it.
    White white_before() const {
        for (int k = pending_; k <= depth(); k++) {
            const OpenSpan& entry = stack_[k];
            const bool is_due = entry.kind == ROW ? entry.separators_due > 0 : entry.inside == NONE;
            if (!is_due || is_bracket(entry.kind)) continue;
            return entry.kind == RUBY ? White{} : entry.before;
        }
        return white;
    }

    void write_opening(OpenSpan& entry) {
        entry.begin = out.size();
        entry.words_before = words;
        entry.images_before = images;
        if (entry.kind == ITEM) {
            for (Place j = entry.marker; j < std::ssize(text_) && text_[j] != BODY; j++) out.append(text_[j]);
        } else if (entry.kind == SUP || entry.kind == SUB) {
            out.append(entry.kind == SUP ? "^{" : "_{");
        } else if (is_bracket(entry.kind)) {
            out.append('[');
        } else {
            out.append(entry.kind == RUBY ? '(' : '$');
        }
        words += !is_bracket(entry.kind);
        entry.inside = out.size();
    }

    // Writes the bars before a cell.
    void write_separators(OpenSpan& entry, std::uint32_t blank) {
        for (int k = 0; k < entry.separators_due; k++) {
            std::uint32_t before = ' ';
            if (k == 0 && out.size() == entry.begin) {
                before = blank;
            } else if (out.size() == fenced_end && out.size()) {
                before = '\n';
            }
            write_white({before, Hard::yes});
            out.append('|');
        }
        entry.separators_due = 0;
        words++;
    }

    // Ends what stands in brackets; where it holds no words they go.
    void close_bracket(const OpenSpan& entry) {
        constexpr std::string_view ENDS[] = {"]{.underline}", "]{.dots}", "]{.bold}", "]{.italic}"};
        if (words != entry.words_before) return out.append(ENDS[entry.kind == LINED ? 0 : entry.kind - UNDERLINE]);
        const bool is_blank = images == entry.images_before && entry.kind == UNDERLINE;
        if (is_blank) {
            out.cut(entry.begin);
            out.append("____");
        } else {
            out.take_back(entry.begin + 1, out.size(), entry.begin);
        }
        Place k = std::ssize(breaks_);
        while (k > 0 && breaks_[k - 1] > entry.begin) breaks_[--k]--;
        if (is_blank) breaks_.resize(k);
        if (fenced_end > entry.begin) fenced_end--;
    }

    Points text_;
    std::vector<OpenSpan> stack_;  // the first is the text itself
    std::vector<Place> breaks_;    // line breaks in open rows
    int pending_ = 0;              // the lowest span not yet written, 0 for none
    int rows_ = 0;                 // open ones
};

}  // namespace dedup::cleaning
