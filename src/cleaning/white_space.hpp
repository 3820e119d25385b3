// White space folded, and what keeps a text from being folded at once.
#pragma once
#include "cleaning/writer.hpp"

namespace dedup::cleaning {

constexpr Place SHORTEST_FENCE = 3, LONGEST_FENCE = 255;  // backticks of a line that fences code

// What is looked for, as bits: markup, fenced code, style rules at the start. What was seen: an opening brace,
// a colon behind it.
enum Look : unsigned {
    MARKUP = 1 << 0,
    FENCES = 1 << 1,
    RULES_AT_START = 1 << 2,
    OPENED = 1 << 3,
    COLON = 1 << 4,
};

// What folding makes of a text: nothing; a folded one; or what keeps it from being folded at once.
enum class Folded : std::uint8_t { stays, clean, needs_markup, needs_fences, needs_rules };

// Whether the three backticks that begin a line stand before here.
inline bool begins_fence(const Writer& out, Place at) {
    if (at < SHORTEST_FENCE || (at > SHORTEST_FENCE && out[at - SHORTEST_FENCE - 1] != '\n')) return false;
    return out[at - 2] == '`' && out[at - 3] == '`';
}

class WhiteSpace {
public:
    explicit WhiteSpace(const Characters& characters) : characters_(characters) {}

    // Writes a text with its white space folded. A tag is `<` and a letter, `/`, `!` or `?`; a reference `&` and
    // a letter or `#`. A style rule or a group of such begins with `@`, or a colon stands between its braces, the
    // first that hold no others. A fence is three backticks that begin a line. Marks are passed over.
    Folded fold(Points text, unsigned looks, Writer& out) const {
        const Place size = std::ssize(text);
        bool replaced = false;
        Place words = 0;
        for (Place j = 0;;) {
            std::uint32_t* to = out.data() + out.size();
            j = characters_.copy_plain(text, j, to, words);
            out.cut(to - out.data());
            if (j == size) break;
            const std::uint32_t point = text[j];
            const Kind kind = characters_.kind(point);
            if (is_blank(kind)) {
                const std::uint32_t blank = skip_blanks(text, j, replaced);
                if (out.size() && j < size) out.append(blank);
                continue;
            }
            j++;
            if (kind == Kind::invisible || point >= BEYOND) continue;
            out.append(point);
            const Folded need = look(text, j, kind, looks, out);
            if (need == Folded::clean) continue;
            out.cut(0);
            return looks & MARKUP ? Folded::needs_markup : need;
        }
        return out.size() == size && !replaced ? Folded::stays : Folded::clean;
    }

private:
    // Passes white space, and what vanishes within it; returns what becomes of it, notes whether that is another.
    std::uint32_t skip_blanks(Points text, Place& j, bool& replaced) const {
        std::uint32_t blank = ' ';
        for (; j < std::ssize(text); j++) {
            const std::uint32_t point = text[j];
            const Kind kind = characters_.kind(point);
            if (is_blank(kind)) {
                const std::uint32_t alone = kind == Kind::line ? '\n' : ' ';
                replaced |= point != alone;
                if (kind == Kind::line) blank = alone;
            } else if (kind != Kind::invisible && point < BEYOND) {
                break;
            }
        }
        return blank;
    }

    // What keeps a text from being folded at once, `clean` for nothing; notes what was seen. `j`: behind what was
    // written last.
    static Folded look(Points text, Place j, Kind kind, unsigned& looks, const Writer& out) {
        switch (kind) {
            case Kind::markup:
                return looks & MARKUP && j < std::ssize(text) && may_begin_markup(text[j]) ? Folded::needs_markup
                                                                                           : Folded::clean;
            case Kind::at_sign:
                return looks & RULES_AT_START && out.size() == 1 && may_be_at_rule(text, j) ? Folded::needs_rules
                                                                                                : Folded::clean;
            case Kind::backtick:
                return looks & FENCES && begins_fence(out, out.size()) ? Folded::needs_fences : Folded::clean;
            case Kind::opening:
                looks = (looks & ~COLON) | OPENED;
                return Folded::clean;
            case Kind::colon:
                looks |= COLON;
                return Folded::clean;
            default:  // closing
                if (looks & OPENED && looks & COLON && looks & RULES_AT_START) return Folded::needs_rules;
                if (looks & OPENED) looks &= ~(RULES_AT_START | OPENED);
                return Folded::clean;
        }
    }

    const Characters& characters_;
};

}  // namespace dedup::cleaning
