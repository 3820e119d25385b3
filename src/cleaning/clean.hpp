// A text cleaned: without markup, its white space folded.
#pragma once
#include "cleaning/fences.hpp"
#include "cleaning/layout.hpp"
#include "cleaning/markup.hpp"

namespace dedup::cleaning {

// What has become of a text: nothing; a clean one; one without markup, that may begin with style rules, or hold
// some anywhere, with white space not folded. Beside that, as bits: a second cleaning would find markup or
// references; might find a style rule.
enum Found : std::uint8_t {
    STAYS = 0,
    CLEAN = 1,
    LEADING_RULES = 2,
    RULES = 3,
    MARKUP_AGAIN = 8,
    RULES_AGAIN = 16,
};

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
    TextCleaner(const Characters& characters, const Vocabulary& vocabulary, std::size_t longest)
        : white_space_(characters),
          fences_(characters),
          layout_(characters, vocabulary),
          room_(room_for(longest)),
          reader_(characters, vocabulary, room_.room()) {}

    // Writes a text clean, or as it is if style rules are looked for in it. html: whether markup is looked for.
    // `out` is empty, and has room for what becomes of the text.
    std::uint8_t clean(Points text, bool html, Writer& out) {
        if (html && reader_.read_escaped(text)) return finish_markup(reader_.marked(), out);
        unsigned looks = RULES_AT_START | FENCES;
        auto [folded, has_marks] = white_space_.fold(text, html ? looks | MARKUP : looks, out);
        Points bare = text;
        unsigned found = CLEAN;
        if (folded == Folded::needs_markup) {
            const unsigned holds = reader_.read(text);
            if (holds) bare = reader_.marked();
            if (holds & TAGS) return finish_markup(bare, out);
            if (holds & BRACES) {
                looks = FENCES;
                found |= RULES_AGAIN;
            }
            const WhiteSpace::Result result = white_space_.fold(bare, looks, out);
            folded = result.folded == Folded::stays && holds ? Folded::clean : result.folded;
            has_marks = result.has_marks;
        }
        if (folded == Folded::stays) return STAYS;
        if (folded == Folded::needs_rules) {
            out.append(bare);
            return LEADING_RULES;
        }
        if (folded == Folded::needs_fences) {
            fences_.fold(bare, out);
            has_marks = true;
        }
        if (html && has_marks && reader_.holds_markup(out.from(0))) found |= MARKUP_AGAIN;
        return static_cast<std::uint8_t>(found);
    }

    // Writes what is left of a text with marks, style rules dropped.
    std::uint8_t finish(Points text, Writer& out) { return finish(text, false, false, out); }

    // Writes what is left of a text that held no tags; fenced code keeps its white space.
    std::uint8_t fold(Points text, Writer& out) {
        fences_.fold(text, out);
        const unsigned markup = reader_.holds_markup(out.from(0)) ? MARKUP_AGAIN : 0;
        return static_cast<std::uint8_t>(CLEAN | markup | rules_again(out));
    }

private:
    std::uint8_t finish_markup(Points text, Writer& out) {
        return finish(text, reader_.is_heavy() && speaks_of_weight(text), true, out);
    }

    // Whether style rules would be looked for in what is written.
    unsigned rules_again(const Writer& out) {
        Writer folded(room_.room());
        return white_space_.fold(out.from(0), RULES_AT_START, folded).folded == Folded::needs_rules ? RULES_AGAIN : 0;
    }

    // Lays a text with marks out, unless style rules are looked for and it may hold some.
    std::uint8_t finish(Points text, bool is_heavy, bool rules, Writer& out) {
        if (!layout_.lay_out(text, rules, is_heavy, out)) {
            out.cut(0);
            out.append(text);
            return RULES;
        }
        unsigned found = CLEAN;
        if (layout_.again() & AS_FENCE) {
            Writer folded(room_.room());
            fences_.fold(out.from(0), folded);
            out.cut(0);
            out.append(folded.from(0));
        }
        if (layout_.again() & AS_MARKUP && reader_.holds_markup(out.from(0))) found |= MARKUP_AGAIN;
        if (layout_.again() & WITH_BRACES) found |= rules_again(out);
        return static_cast<std::uint8_t>(found);
    }

    WhiteSpace white_space_;
    Fences fences_;
    Layout layout_;
    Buffer room_;
    MarkupReader reader_;
};

// Writes a text that a second cleaning turns into this one: each `<` that might begin a tag, and each `&` of a
// reference, escaped. brace: the first opening brace, too; then no style rule is looked for.
inline void escape(Points text, bool brace, const Characters& characters, const References& references, Writer& out) {
    for (Place j = 0; j < std::ssize(text); j++) {
        const std::uint32_t point = text[j];
        if (point == '<' && j + 1 < std::ssize(text)) {
            const std::uint32_t after = text[j + 1];
            if (after == '/' || after == '!' || after == '?' || characters.is(after, LETTER)) {
                out.append("&lt;");
                continue;
            }
        } else if (point == '&' && references.read(text, j + 1).end != NONE) {
            out.append("&amp;");
            continue;
        } else if (point == '{' && brace) {
            brace = false;
            out.append("&#123;");
            continue;
        }
        out.append(point);
    }
}

}  // namespace dedup::cleaning
