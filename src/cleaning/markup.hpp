// Markup read once and turned into marks for what it says.
#pragma once
#include "cleaning/elements.hpp"

namespace dedup::cleaning {

class MarkupReader {
public:
    MarkupReader(const Characters& characters, const Vocabulary& vocabulary)
        : page_(characters, vocabulary), elements_(page_) {}

    // Takes room to write to, for texts of which that is what becomes at most.
    void write_to(std::span<std::uint32_t> room) { page_.room = room; }

    // Reads a text; returns what it holds. Where that is neither tag nor reference, `marked` is of no use.
    unsigned read(Points raw) {
        unsigned holds = read(raw, TWICE, true);
        const bool is_escape = holds & DOUBLED && speaks_of_escapes(marked());
        const bool is_lost = page_.has_hidden && !page_.is_nonblank(marked());
        if (is_escape || is_lost) holds = read(raw, is_escape ? 0u : TWICE, !is_lost);
        return holds;
    }

    // Reads a text whose markup was escaped once more as a whole, `&lt;p&gt;...&lt;/p&gt;` or `\u003cp\u003e...`; false
    // if it is none: the tag of a block begins it, no `<` and `>` stands in it, and it does not speak of such.
    bool read_escaped(Points raw) {
        const Points text = page_.characters.trimmed(raw);
        if (text.empty() || (text[0] != '&' && text[0] != '\\')) return false;
        if (find(text, 0, '<', '>') < std::ssize(text)) return false;
        unescaped_.resize(text.size() + BEHIND);
        Writer out(unescaped_);
        if (text[0] == '&') {
            page_.references.copy(text, DECODES | (starts_with(text, "&amp;") ? TWICE : 0), out);
        } else {
            unescape_string(text, out);
        }
        const Points left = out.from(0);
        if (left.size() < 3 || left.front() != '<' || left.back() != '>') return false;
        page_.scanner.take(left);
        const Markup first = page_.scanner.read(0);
        if (!first.is_tag || first.closes || first.roles & DROPS || !(first.roles & BREAKS)) return false;
        read(left);
        return page_.is_nonblank(marked()) && !speaks_of_escapes(marked());
    }

    Points marked() const { return page_.out.from(0); }
    bool is_heavy() const { return page_.is_heavy; }  // whether anything is bold or italic

private:
    static bool speaks_of_escapes(Points text) {
        return holds_any(text, {U"标签", U"标记", U"实体", U"转义", U"换行", U"字符", U"代码", U"HTML", U"html"});
    }

    // Writes a program's string as what it stands for, but for its line breaks.
    static void unescape_string(Points text, Writer& out) {
        for (Place j = 0; j < std::ssize(text); j++) {
            const std::uint32_t next = text[j] == '\\' && j + 1 < std::ssize(text) ? text[j + 1] : 0;
            const bool stands = next == '"' || next == '/';
            const std::uint32_t point = next == 'u' ? References::hex(text, j + 2) : stands ? next : 0;
            out.append(point ? point : text[j]);
            if (point) j += next == 'u' ? 5 : 1;
        }
    }

    // hides: whether what nobody sees goes; twice: TWICE, or 0.
    unsigned read(Points raw, unsigned twice, bool hides) {
        unsigned holds = 0;
        page_.hides = hides;
        if (page_.begin(raw)) holds |= TAGS;
        const Points text = page_.text();
        unsigned how = DECODES | PARSES | twice;
        Place kept = 0;
        for (Place j = find(text, 0, '<'); j + 1 < std::ssize(text); j = find(text, j, '<')) {
            const Markup found = page_.scanner.read(j);
            if (found.stop == NONE) {
                j++;
                continue;
            }
            holds |= TAGS | copy_between(kept, j, how);
            page_.start = j;
            page_.stop = found.stop;
            if (found.is_tag) read_tag(found);
            kept = j = found.stop;
        }
        if (!holds) how = DECODES;  // what a parser makes of characters counts for markup alone
        holds |= copy_between(kept, std::ssize(text), how);
        elements_.close_down_to(1, Closed::by_end);
        return holds;
    }

    // Writes the text between two tags; white space between the parts of a formula is none.
    unsigned copy_between(Place start, Place stop, unsigned how) {
        const OpenElement& entry = page_.stack.back();
        Points between = page_.text().subspan(start, stop - start);
        const Action action = entry.action;
        if (entry.math && action != Action::math_text && action != Action::annotation && action != Action::note)
            between = page_.characters.trimmed(between);
        return page_.copy(between, entry.math || entry.code ? how & ~TWICE : how);
    }

    // Writes what a tag leaves: the ends of elements, a line break, the beginning of its own.
    void read_tag(const Markup& found) {
        const int number = found.number;
        if (found.closes) {
            if (number != NONE) elements_.close(number);
            return write_break(page_, found.roles, number);
        }
        const Place inside = found.hidden ? found.shown : page_.stop;
        const Action action = number == NONE ? Action::none : page_.action_of(number);
        if (found.is_untidy || (Action::picture <= action && action <= Action::field)) {
            page_.attributes.search(page_.text().subspan(page_.start + 1, inside - page_.start - 1));
        } else {
            page_.attributes.take(page_.text(), page_.scanner.values());
        }
        const Points content = page_.text().subspan(found.shown, found.hidden - found.shown);
        if (found.hidden && found.roles & DROPS) return read_script(found, content);
        if (number == NONE) {
            write_formula(page_, Attribute::latex);
            return;
        }
        elements_.open(number, found.roles, found.closes_itself || found.hidden);
        if (found.hidden && found.roles & SHOWS) {
            const Place begin = page_.out.size();
            page_.copy(content, found.roles & RAW ? PARSES : DECODES | PARSES);
            if (page_.action_of(number) == Action::area && !page_.is_nonblank(page_.out.from(begin))) {
                page_.out.cut(begin);
                page_.out.append(BLANK);
            }
            page_.out.append('\n');
        }
    }

    // Writes the formula of a script in TeX.
    void read_script(const Markup& found, Points content) {
        if (!page_.attributes.holds(Attribute::type, "math/tex")) return write_break(page_, found.roles, found.number);
        // the box before it shows the same formula
        if (page_.box_end == page_.out.size()) page_.out.cut(page_.box_start);
        write_formula(page_, content, PARSES);
    }

    Page page_;
    Elements elements_;
    std::vector<std::uint32_t> unescaped_;
};

}  // namespace dedup::cleaning
