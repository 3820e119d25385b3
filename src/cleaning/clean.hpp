// A text cleaned: without markup, its white space folded, its last lines cut off at markers.
#pragma once
#include <functional>

#include "cleaning/fences.hpp"
#include "cleaning/layout.hpp"
#include "cleaning/markup.hpp"

namespace dedup::cleaning {

constexpr std::size_t LONGEST_NOTE = 100;  // characters of a line that can be cut off

struct Options {
    bool html;                                       // whether markup is looked for
    std::vector<std::vector<std::uint32_t>> cut_at;  // what lines begin with that are cut off
};
// Returns what is left of a text without style rules, or without those that it begins with.
using DropRules = std::function<std::vector<std::uint32_t>(Points text, bool leading)>;

// Whether the words of a text with marks speak of bold or italic type; formulas and addresses do not count.
inline bool speaks_of_weight(Points text) {
    constexpr std::u32string_view EASTERN[] = {U"加粗", U"黑体", U"粗体", U"粗字", U"斜体"};
    std::uint32_t until = 0;
    for (std::size_t j = 0; j < text.size(); j++) {
        const std::uint32_t point = text[j];
        if (until) {
            if (point == until) until = 0;
        } else if (point >= BEYOND) {
            until = is_medium(point) ? std::uint32_t{ADDRESS_END} : point == FORMULA ? std::uint32_t{FORMULA_END} : 0;
        } else if (lower(point) == 'b' || lower(point) == 'i') {
            if (starts_with(text.subspan(j), "bold") || starts_with(text.subspan(j), "italic")) return true;
        } else if (j + 1 < text.size()) {
            for (const std::u32string_view word : EASTERN) {
                if (point == word[0] && text[j + 1] == word[1]) return true;
            }
        }
    }
    return false;
}

// Cleans one text after the other, with the same room for all.
class TextCleaner {
public:
    TextCleaner(const Characters& characters, const Vocabulary& vocabulary, const Options& options, DropRules drop_rules)
        : characters_(characters),
          options_(options),
          drop_rules_(std::move(drop_rules)),
          white_space_(characters),
          fences_(characters),
          layout_(characters),
          reader_(characters, vocabulary) {}

    // A clean text, valid until the next one: the one given where nothing changes; and how many characters were cut off.
    struct Cleaned {
        Points text;
        std::int64_t cut = 0;
    };
    Cleaned clean(Points text) {
        Cleaned made{without_markup(text)};
        for (Points left; (left = without_notes(made.text)).size() < made.text.size();) {
            made.cut += std::ssize(made.text) - std::ssize(left);
            made.text = folded(hold({left.begin(), left.end()}));  // it may hold only one end of fenced code
        }
        return made;
    }

private:
    // What has become of a text: nothing; a clean one; one without markup, that may begin with style rules, or hold
    // some anywhere, with white space not folded.
    enum class Found : std::uint8_t { stays, clean, leading_rules, rules };

    Points without_markup(Points text) {
        const std::size_t size = room_for(text.size());
        reader_.write_to(marked_.room(size));
        Writer out(out_.room(size));
        switch (read(text, out)) {
            case Found::stays: return text;
            case Found::leading_rules: return folded(hold(drop_rules_(out.from(0), true)));
            case Found::rules: return laid_out(without_rules(out.from(0)));
            default: return out.from(0);
        }
    }

    // Writes a text clean, or as it is if style rules are looked for in it.
    Found read(Points text, Writer& out) {
        if (options_.html && reader_.read_escaped(text)) return finish_markup(reader_.marked(), out);
        unsigned looks = RULES_AT_START | FENCES;
        Folded folded = white_space_.fold(text, options_.html ? looks | MARKUP : looks, out);
        Points bare = text;
        if (folded == Folded::needs_markup) {
            const unsigned holds = reader_.read(text);
            if (holds) bare = reader_.marked();
            if (holds & TAGS) return finish_markup(bare, out);
            if (holds & BRACES) looks = FENCES;
            folded = white_space_.fold(bare, looks, out);
            if (folded == Folded::stays && holds) folded = Folded::clean;
        }
        if (folded == Folded::stays) return Found::stays;
        if (folded == Folded::needs_rules) {
            out.append(bare);
            return Found::leading_rules;
        }
        if (folded == Folded::needs_fences) fences_.fold(bare, out);
        return Found::clean;
    }

    // Lays a text with marks out, unless it may hold style rules.
    Found finish_markup(Points text, Writer& out) {
        if (layout_.lay_out(text, true, reader_.is_heavy() && speaks_of_weight(text), out)) return Found::clean;
        out.cut(0);
        out.append(text);
        return Found::rules;
    }

    // A text with marks without style rules; in code, formulas and addresses such are text.
    Points without_rules(Points text) {
        std::vector<std::uint32_t> left;
        int depth = 0;
        for (Points rest = text; !rest.empty();) {
            const auto size = static_cast<std::size_t>(
                std::ranges::find_if(rest, [](std::uint32_t point) { return point >= BEYOND; }) - rest.begin());
            const Points part = rest.first(size);
            if (depth > 0) left.insert(left.end(), part.begin(), part.end());
            else if (!part.empty()) std::ranges::copy(drop_rules_(part, false), std::back_inserter(left));
            if (size == rest.size()) break;
            const std::uint32_t mark = rest[size];
            left.push_back(mark);
            if (mark == CODE || mark == FENCE || mark == FORMULA || is_medium(mark)) depth++;
            const bool ends = mark == CODE_END || mark == FENCE_END || mark == FORMULA_END || mark == ADDRESS_END;
            depth -= ends && depth > 0;
            rest = rest.subspan(size + 1);
        }
        return hold(std::move(left));
    }

    // A clean text without the last lines that begin with a marker, and the blank ones around them, which code can have;
    // the first line stays. A source note names a book, a site or an exam and its year; a longer line is text.
    Points without_notes(Points text) const {
        if (options_.cut_at.empty() || !is_marked(last_line(text))) return text;
        for (Points line = last_line(text); line.size() < text.size(); line = last_line(text)) {
            const bool is_note = line.size() <= LONGEST_NOTE && is_marked(line);
            if (!is_note && !characters_.trimmed(line).empty()) break;
            text = text.first(text.size() - line.size() - 1);
        }
        while (!text.empty() && is_white_space(text.back())) text = text.first(text.size() - 1);
        return text;
    }
    static Points last_line(Points text) {
        const auto end = std::find(text.rbegin(), text.rend(), std::uint32_t{'\n'});
        return text.last(static_cast<std::size_t>(end - text.rbegin()));
    }
    bool is_marked(Points line) const {
        return std::ranges::any_of(options_.cut_at, [&](const auto& marker) {
            return line.size() >= marker.size() && std::ranges::equal(marker, line.first(marker.size()));
        });
    }

    // Holds a text that is read once more.
    Points hold(std::vector<std::uint32_t>&& text) {
        const std::size_t size = text.size();
        held_ = std::move(text);
        held_.resize(size + BEHIND);
        return Points(held_).first(size);
    }
    Points folded(Points text) {
        Writer out(out_.room(room_for(text.size())));
        fences_.fold(text, out);
        return out.from(0);
    }
    Points laid_out(Points text) {
        Writer out(out_.room(room_for(text.size())));
        layout_.lay_out(text, false, false, out);
        return out.from(0);
    }

    const Characters& characters_;
    const Options& options_;
    const DropRules drop_rules_;
    WhiteSpace white_space_;
    Fences fences_;
    Layout layout_;
    MarkupReader reader_;
    Buffer marked_, out_;
    std::vector<std::uint32_t> held_;
};

}  // namespace dedup::cleaning
