// The cleaning of a text: markup is read once and becomes marks, white space is folded, last lines are cut off at markers.
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include "cleaning/elements.hpp"
#include "cleaning/layout.hpp"
#include "core/bind.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

using namespace cleaning;

// The number of backticks of a fence at the beginning of a line, 0 for none, and whether the line ends with them.
struct Ticks {
    Offset count = 0;
    bool alone = true;
};

Ticks ticks_of(Points line) {
    Ticks ticks;
    bool in_run = true;
    for (const std::uint32_t point : line) {
        const Kind kind = characters().kind(point);
        if (kind == Kind::invisible) continue;
        const bool is_tick = point == '`', is_text = !is_tick && kind != Kind::space;
        if ((is_tick && !in_run) || (is_text && ticks.count == 0)) return {};
        ticks.count += is_tick;
        ticks.alone &= !is_text;
        in_run &= is_tick || ticks.count == 0;
    }
    return SHORTEST_FENCE <= ticks.count && ticks.count <= LONGEST_FENCE ? ticks : Ticks{};
}

// Writes a line with its white space folded, on a line of its own.
void write_line(Points line, Writer& out) {
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

// Writes code unchanged, without the blank lines around it.
void write_code(Points code, Writer& out) {
    const Offset begin = out.size();
    out.append('\n');
    CodeSpace space{out.size(), out.size()};
    for (Offset k = 0; k < std::ssize(code); k++) {
        const Kind kind = characters().kind(code[k]);
        if (kind == Kind::invisible || (code[k] == '\r' && k + 1 < std::ssize(code) && code[k + 1] == '\n')) continue;
        if (is_blank(kind)) space.write(code[k], kind, out);
        else out.append(code[k]);
    }
    trim(out, begin);
}

// Folds white space but for fenced code: a fence opens with a line that begins with three backticks or more and holds no
// others, and closes with a line of as many alone. One that does not close is no fence.
void fold_fenced(Points text, Writer& out) {
    struct Line {
        Points text;
        Ticks ticks;
    };
    const auto ends = [](std::uint32_t point) { return characters().kind(point) == Kind::line; };
    std::vector<Line> lines;
    std::array<std::size_t, LONGEST_FENCE + 1> last{};  // by number of backticks: the last line of them alone
    for (Points rest = text; !rest.empty();) {
        const auto size = static_cast<std::size_t>(std::ranges::find_if(rest, ends) - rest.begin());
        lines.push_back({rest.first(size), ticks_of(rest.first(size))});
        if (lines.back().ticks.alone) last[lines.back().ticks.count] = lines.size() - 1;
        rest = rest.subspan(std::min(size + 1, rest.size()));
    }
    for (std::size_t i = 0; i < lines.size(); i++) {
        write_line(lines[i].text, out);
        const Offset fence = lines[i].ticks.count;
        if (fence == 0 || last[fence] <= i) continue;
        const auto begin = lines[i + 1].text.begin();
        do i++;
        while (!lines[i].ticks.alone || lines[i].ticks.count != fence);
        write_code({begin, lines[i].text.begin()}, out);
        write_line(lines[i].text, out);
    }
}

class MarkupReader {
public:
    explicit MarkupReader(const Vocabulary& vocabulary) : page_(vocabulary), elements_(page_) {}

    // Reads a text; returns its contents, as `Holds`. Without tags and references `marked` has no meaning.
    unsigned read(Points raw) {
        unsigned holds = read(raw, TWICE, true);
        const bool is_escape = holds & DOUBLED && speaks_of_escapes();
        const bool is_lost = page_.has_hidden && !page_.is_nonblank(marked());
        if (is_escape || is_lost) holds = read(raw, is_escape ? 0u : TWICE, !is_lost);
        return holds;
    }

    // Reads a text whose markup was escaped once more as a whole, `&lt;p&gt;...&lt;/p&gt;` or `\u003cp\u003e...`; false for
    // any other: such a text begins with the tag of a block, has no `<` and `>`, and is not about escapes.
    bool read_escaped(Points raw) {
        const Points text = trimmed(raw);
        if (text.empty() || (text[0] != '&' && text[0] != '\\') || find(text, 0, '<', '>') < std::ssize(text)) return false;
        Writer out(unescaped_.get(text.size() + BEHIND));
        if (text[0] == '&') {
            page_.references.copy(text, starts_with(text, "&amp;") ? DECODES | TWICE : DECODES, out);
        } else {
            unescape_string(text, out);
        }
        const Points left = out.from(0);
        if (left.size() < 3 || left.front() != '<' || left.back() != '>') return false;
        page_.scanner.take(left);
        const Markup first = page_.scanner.read(0);
        if (!first.is_tag || first.closes || first.roles & DROPS || !(first.roles & BREAKS)) return false;
        read(left);
        return page_.is_nonblank(marked()) && !speaks_of_escapes();
    }

    Points marked() const { return page_.out.from(0); }
    bool is_heavy() const { return page_.is_heavy; }  // whether anything is bold or italic

private:
    bool speaks_of_escapes() const {
        constexpr std::u32string_view WORDS[] = {U"标签", U"标记", U"实体", U"转义", U"换行", U"字符", U"代码", U"HTML", U"html"};
        return holds_any(marked(), WORDS);
    }

    // Writes a program's string without its escapes, but for its line breaks.
    static void unescape_string(Points text, Writer& out) {
        for (Offset j = 0; j < std::ssize(text); j++) {
            const std::uint32_t next = text[j] == '\\' && j + 1 < std::ssize(text) ? text[j + 1] : 0;
            const std::uint32_t point = next == 'u' ? References::hex(text, j + 2) : is_one_of(next, "\"/") ? next : 0;
            out.append(point ? point : text[j]);
            if (point) j += next == 'u' ? 5 : 1;
        }
    }

    // twice: TWICE, or 0; hides: drops invisible texts.
    unsigned read(Points raw, unsigned twice, bool hides) {
        page_.hides = hides;
        unsigned holds = page_.begin(raw) ? unsigned{TAGS} : 0, how = DECODES | PARSES | twice;
        const Points text = page_.text();
        Offset kept = 0;
        for (Offset j = find(text, 0, '<'); j + 1 < std::ssize(text); j = find(text, j, '<')) {
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
        if (!holds) how = DECODES;  // characters are read as by a parser only beside markup
        holds |= copy_between(kept, std::ssize(text), how);
        elements_.close_down_to(1, Closed::by_end);
        return holds;
    }

    // Writes the text between two tags; white space between the parts of a formula is dropped.
    unsigned copy_between(Offset start, Offset stop, unsigned how) {
        const OpenElement& entry = page_.stack.back();
        Points between = page_.text().subspan(start, stop - start);
        const Action action = entry.action;
        if (entry.math && action != Action::math_text && action != Action::annotation && action != Action::note)
            between = trimmed(between);
        return page_.copy(between, entry.math || entry.code ? how & ~TWICE : how);
    }

    void read_tag(const Markup& found) {
        const int number = found.number;
        if (found.closes) {
            if (number != NONE) elements_.close(number);
            return write_break(page_, found.roles, number);
        }
        const Action action = number == NONE ? Action::none : page_.action_of(number);
        const Points content = page_.text().subspan(found.content_begin, found.content_end - found.content_begin);
        if (found.content_end && found.roles & DROPS) return read_script(found, content);
        if (number == NONE) {
            write_formula(page_, Attribute::latex);
            return;
        }
        elements_.open(found);
        if (found.content_end) {
            const Offset begin = page_.out.size();
            page_.copy(content, found.roles & RAW ? PARSES : DECODES | PARSES);
            if (action == Action::area && !page_.is_nonblank(page_.out.from(begin))) {
                page_.out.cut(begin);
                page_.out.append(BLANK);
            }
            page_.out.append('\n');
        }
    }

    void read_script(const Markup& found, Points content) {
        if (!holds(page_.attributes[Attribute::type], "math/tex")) return write_break(page_, found.roles, found.number);
        // the box before it shows the same formula
        if (page_.box_end == page_.out.size()) page_.out.cut(page_.box_begin);
        write_formula(page_, content, PARSES);
    }

    Page page_;
    Elements elements_;
    PointBuffer unescaped_;
};

constexpr std::size_t LONGEST_NOTE = 100;  // characters of a line that can be cut off

// The settings of cleaning; threads may share it.
struct Cleaner {
    const Vocabulary vocabulary;
    const bool html;                                       // whether markup is searched
    const std::vector<std::vector<std::uint32_t>> cut_at;  // beginnings of the lines that are cut off
};
// Returns a text without style rules; leading: only without the rules that it begins with.
using DropRules = std::function<std::vector<std::uint32_t>(Points text, bool leading)>;

// Calls take(part, mark) for each longest part of a text without marks, and the mark behind it, 0 at the end.
void each_part(Points text, auto take) {
    for (bool is_last = false; !is_last;) {
        const auto mark = std::ranges::find_if(text, [](std::uint32_t point) { return point >= BEYOND; });
        is_last = mark == text.end();
        take(Points(text.begin(), mark), is_last ? 0 : *mark);
        if (!is_last) text = {mark + 1, text.end()};
    }
}

// Whether a text with marks is about bold or italic type, by its words outside formulas and addresses.
bool speaks_of_weight(Points text) {
    constexpr std::u32string_view WORDS[] = {U"加粗", U"黑体", U"粗体", U"粗字", U"斜体"};
    std::uint32_t until = 0;
    bool speaks = false;
    each_part(text, [&](Points part, std::uint32_t mark) {
        const auto begins = [&](std::u32string_view word) { return part.size() > 1 && part[0] == word[0] && part[1] == word[1]; };
        for (; !until && !speaks && !part.empty(); part = part.subspan(1))
            speaks = starts_with(part, "bold") || starts_with(part, "italic") || std::ranges::any_of(WORDS, begins);
        if (!until) until = is_medium(mark) ? std::uint32_t{ADDRESS_END} : mark == FORMULA ? FORMULA_END : 0;
        else if (mark == until) until = 0;
    });
    return speaks;
}

// Cleans one text after the other, in the same buffers.
class TextCleaner {
public:
    TextCleaner(const Cleaner& cleaner, DropRules drop_rules)
        : cleaner_(cleaner), drop_rules_(std::move(drop_rules)), reader_(cleaner.vocabulary) {}

    // A clean text, valid until the next one, and the number of characters cut off.
    struct Cleaned {
        Points text;
        std::int64_t cut = 0;
    };
    Cleaned clean(Points text) {
        Cleaned made{without_markup(text)};
        for (Points left; (left = without_notes(made.text)).size() < made.text.size();) {
            made.cut += std::ssize(made.text) - std::ssize(left);
            made.text = folded_again({left.begin(), left.end()});  // it may hold only one end of fenced code
        }
        return made;
    }

private:
    Points without_markup(Points text) {
        Writer out(out_.get(capacity_for(text.size())));
        if (cleaner_.html && reader_.read_escaped(text)) return laid_out(reader_.marked(), out);
        unsigned searched = RULES_AT_START | FENCES;
        Points bare = text;
        unsigned found = Layout(text, false, out).lay_out(cleaner_.html ? searched | MARKUP : searched);
        if (cleaner_.html && found) {
            const unsigned holds = reader_.read(text);
            if (holds) bare = reader_.marked();
            out.cut(0);
            if (holds & TAGS) return laid_out(bare, out);
            if (holds & BRACES) searched = FENCES;
            found = Layout(bare, false, out).lay_out(searched);
        }
        if (found & RULES_AT_START) return folded_again(drop_rules_(bare, true));
        if (found & FENCES) {
            out.cut(0);
            fold_fenced(bare, out);
        }
        return out.from(0);
    }

    // The layout of a text with marks, without its style rules.
    Points laid_out(Points text, Writer& out) {
        if (Layout(text, reader_.is_heavy() && speaks_of_weight(text), out).lay_out(RULES) == 0) return out.from(0);
        const Points left = without_rules(text);
        out = Writer(out_.get(capacity_for(left.size())));
        Layout(left, false, out).lay_out(0);
        return out.from(0);
    }

    // A text with marks without style rules, except in code, formulas and addresses.
    Points without_rules(Points text) {
        std::vector<std::uint32_t> left;
        int depth = 0;
        each_part(text, [&](Points part, std::uint32_t mark) {
            if (depth > 0 || part.empty()) append(left, part);
            else append(left, drop_rules_(part, false));
            if (mark) left.push_back(mark);
            if (mark == CODE || mark == FENCE || mark == FORMULA || is_medium(mark)) depth++;
            const bool ends = mark == CODE_END || mark == FENCE_END || mark == FORMULA_END || mark == ADDRESS_END;
            depth -= ends && depth > 0;
        });
        return hold(std::move(left));
    }

    // A clean text without the last lines that begin with a marker, and the blank ones around them, which code can have; the
    // first line stays. A source note names a book, a site or an exam and its year; a longer line is text.
    Points without_notes(Points text) const {
        if (cleaner_.cut_at.empty() || !is_marked(last_line(text))) return text;
        for (Points line = last_line(text); line.size() < text.size(); line = last_line(text)) {
            const bool is_note = line.size() <= LONGEST_NOTE && is_marked(line);
            if (!is_note && !trimmed(line).empty()) break;
            text = text.first(text.size() - line.size() - 1);
        }
        while (!text.empty() && is_space(text.back())) text = text.first(text.size() - 1);
        return text;
    }
    static Points last_line(Points text) {
        const auto end = std::find(text.rbegin(), text.rend(), std::uint32_t{'\n'});
        return text.last(static_cast<std::size_t>(end - text.rbegin()));
    }
    bool is_marked(Points line) const {
        return std::ranges::any_of(cleaner_.cut_at, [&](const auto& marker) {
            return line.size() >= marker.size() && std::ranges::equal(marker, line.first(marker.size()));
        });
    }

    Points hold(std::vector<std::uint32_t>&& text) {
        const std::size_t size = text.size();
        held_ = std::move(text);
        held_.resize(size + BEHIND);
        return Points(held_).first(size);
    }
    Points folded_again(std::vector<std::uint32_t>&& text) {
        const Points left = hold(std::move(text));
        Writer out(out_.get(capacity_for(left.size())));
        fold_fenced(left, out);
        return out.from(0);
    }

    const Cleaner& cleaner_;
    const DropRules drop_rules_;
    MarkupReader reader_;
    PointBuffer out_;
    std::vector<std::uint32_t> held_;
};

static_assert(TextReader::BEHIND >= BEHIND);

auto clean(const Cleaner& cleaner, const StringArrays& strings, nb::callable drop_rules) {
    const auto drop = [&](Points text, bool leading) {
        const nb::gil_scoped_acquire locked;
        return points_of(nb::cast<nb::str>(drop_rules(str_of(text), leading)));
    };
    TextReader texts(strings_of(strings));
    std::vector<std::uint8_t> changed(texts.size());
    std::vector<std::int64_t> cut(texts.size()), lengths;
    StringBuffer made;
    {
        Unlocked unlocked;
        TextCleaner text_cleaner(cleaner, drop);
        for (std::size_t i = 0; i < texts.size(); i++) {
            const Points text = texts[i];
            const auto clean = text_cleaner.clean(text);
            cut[i] = clean.cut;
            if (std::ranges::equal(clean.text, text)) continue;
            changed[i] = true;
            encode_utf8(clean.text, made.extend(utf8_length(clean.text)));
            lengths.push_back(std::ssize(clean.text));
        }
    }
    return std::tuple(give<std::uint8_t, bool>(std::move(changed)), give(std::move(cut)), give(std::move(made)),
                      give(std::move(lengths)));
}

}  // namespace

void bind_cleaning(nb::module_& m) {
    nb::class_<Cleaner>(m, "Cleaner", "Cleans texts; see cleaning.py.")
        .def(nb::init<const Vocabulary::References&, bool, const std::vector<std::vector<std::uint32_t>>&>(), nb::kw_only(),
             "references"_a, "html"_a, "cut_at"_a, "references: code points by name; cut_at: code points of markers.")
        .def("clean", &clean, "texts"_a.noconvert(), "drop_rules"_a,
             "Clean n texts.\n\nReturn for each whether it changes, bool (n,), and the number of characters cut off, int64 (n,),\n"
             "then the clean texts of those that change and their lengths, int64. drop_rules: takes a text and whether it has no\n"
             "markup, and returns it without style rules, in a text without markup only without leading ones.");
    nb::dict elements;  // of HTML, SVG and MathML: their roles by name
    for (const auto& [element, names] : ELEMENTS)
        each_word(names, [&, roles = element.roles](std::string_view name) { elements[nb::cast(name)] = roles; });
    m.attr("ELEMENTS") = elements;
    m.attr("LONGEST_NOTE") = LONGEST_NOTE;
}

}  // namespace dedup
