// A text cleaned: without markup, its white space folded.
#pragma once
#include "cleaning/fences.hpp"
#include "cleaning/layout.hpp"
#include "cleaning/markup.hpp"

namespace dedup::cleaning {

// What has become of a text: nothing; a clean one; one without markup, that may begin with style rules, or hold
// some anywhere, with white space not folded.
enum Found : std::uint8_t { STAYS, CLEAN, LEADING_RULES, RULES };

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
          layout_(characters),
          room_(room_for(longest)),
          reader_(characters, vocabulary, room_.room()) {}

    // Writes a text clean, or as it is if style rules are looked for in it. html: whether markup is looked for.
    // `out` is empty, and has room for what becomes of the text.
    std::uint8_t clean(Points text, bool html, Writer& out) {
        if (html && reader_.read_escaped(text)) return finish_markup(reader_.marked(), out);
        unsigned looks = RULES_AT_START | FENCES;
        Folded folded = white_space_.fold(text, html ? looks | MARKUP : looks, out);
        Points bare = text;
        if (folded == Folded::needs_markup) {
            const unsigned holds = reader_.read(text);
            if (holds) bare = reader_.marked();
            if (holds & TAGS) return finish_markup(bare, out);
            if (holds & BRACES) looks = FENCES;
            folded = white_space_.fold(bare, looks, out);
            if (folded == Folded::stays && holds) folded = Folded::clean;
        }
        if (folded == Folded::stays) return STAYS;
        if (folded == Folded::needs_rules) {
            out.append(bare);
            return LEADING_RULES;
        }
        if (folded == Folded::needs_fences) fences_.fold(bare, out);
        return CLEAN;
    }

    // Writes what is left of a text with marks, style rules dropped.
    std::uint8_t finish(Points text, Writer& out) { return finish(text, false, false, out); }

    // Writes what is left of a text that held no tags; fenced code keeps its white space.
    std::uint8_t fold(Points text, Writer& out) {
        fences_.fold(text, out);
        return CLEAN;
    }

private:
    std::uint8_t finish_markup(Points text, Writer& out) {
        return finish(text, reader_.is_heavy() && speaks_of_weight(text), true, out);
    }

    // Lays a text with marks out, unless style rules are looked for and it may hold some.
    std::uint8_t finish(Points text, bool is_heavy, bool rules, Writer& out) {
        if (layout_.lay_out(text, rules, is_heavy, out)) return CLEAN;
        out.cut(0);
        out.append(text);
        return RULES;
    }

    WhiteSpace white_space_;
    Fences fences_;
    Layout layout_;
    Buffer room_;
    MarkupReader reader_;
};

}  // namespace dedup::cleaning
