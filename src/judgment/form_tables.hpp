// The tables that the form of a text is read with, as Python makes them: see judgment/form_tables.py.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/hash.hpp"
#include "fingerprint/lexicon.hpp"
#include "judgment/token.hpp"

namespace dedup::judgment {

// What a folded character is. letter: of any script but Han; circled: ① and its like.
enum class Class : std::uint8_t { other, space, digit, letter, han, sign, circled };

// What a phrase is looked for, as bits.
enum Phrase : std::uint16_t {
    ANSWER = 1 << 0,
    EXPLANATION = 1 << 1,
    LINE = 1 << 2,
    NOTE = 1 << 3,
    BRACKET = 1 << 4,
    POINTS = 1 << 5,
    UNIT = 1 << 6,
    NUMBERED = 1 << 7,
    HEADING = 1 << 8,
    PAPER = 1 << 9,
    NUMERAL = 1 << 10,
    ASKS_FOR = 1 << 11,
    CHOOSES = 1 << 12,
};

// What the tables say of a word, or of a command such as \leq, besides its `Flag`s.
enum Meaning : std::uint32_t {
    FUNCTION = 1 << 10,
    ENGLISH_FUNCTION = 1 << 11,
    FORMULA = 1 << 12,
    NOT_NEGATING = 1 << 13,
    SIGN = 1 << 14,
    LOOK = 1 << 15,
    FRACTION = 1 << 16,
    UNDERLINE = 1 << 17,
    ENVIRONMENT = 1 << 18,
};

struct FormTables {
    // Beside a folded character: it is a number of `expansions`, or written high or low.
    static constexpr std::uint32_t POINT = (1 << 21) - 1, EXPANDED = 1 << 21, RAISED = 1 << 22, LOWERED = 1 << 23;
    static constexpr std::uint32_t MATHEMATICAL = 0x1D400, MATHEMATICAL_END = 0x1D800;
    static constexpr std::uint32_t FOLDED = PLANE + MATHEMATICAL_END - MATHEMATICAL;  // size of `folded`

    struct Word {
        std::uint32_t flags = 0;
        std::uint32_t number = 0;  // of the set of synonyms, from 1; the sign of a command
    };
    struct Found {
        std::size_t length = 0;
        std::uint16_t kinds = 0;
    };

    const Lexicon* lexicon = nullptr;
    std::span<const std::uint32_t> folded;
    TextColumn expansions;
    std::span<const Class> classes;        // PLANE
    std::span<const std::uint8_t> speech;  // by node, flags up to TERM
    std::span<const float> weights;        // by node, 0 for none
    TextColumn phrases;                    // sorted
    std::span<const std::uint16_t> phrase_kinds;
    Points negating;
    std::vector<std::uint16_t> first = std::vector<std::uint16_t>(PLANE + 1);  // of `phrases` by character
    std::unordered_map<std::uint64_t, Word> words;                              // by digest

    void index_phrases() {
        for (std::size_t i = 0; i < phrases.size(); i++) first[phrases[i][0] + 1]++;
        for (std::size_t c = 0; c < PLANE; c++) first[c + 1] += first[c];
    }

    Class class_of(std::uint32_t point) const {
        if (point < PLANE) return classes[point];
        return 0x20000 <= point && point < 0x40000 ? Class::letter : Class::other;
    }

    Word word(Points text) const {
        const auto found = words.find(digest(text));
        return found == words.end() ? Word{} : found->second;
    }

    // The longest phrase of those kinds that begins a text.
    Found phrase(Points text, std::uint16_t wanted) const {
        Found found;
        if (text.empty() || text[0] >= PLANE) return found;
        for (std::size_t i = first[text[0]]; i < first[text[0] + 1]; i++) {
            const Points one = phrases[i];
            if ((phrase_kinds[i] & wanted) && one.size() > found.length && one.size() <= text.size() &&
                std::equal(one.begin(), one.end(), text.begin()))
                found = {one.size(), phrase_kinds[i]};
        }
        return found;
    }
};

// A text and what stands at its places; a space stands before and behind it.
struct Reader {
    const FormTables& tables;
    Points text;

    std::size_t size() const { return text.size(); }
    std::uint32_t at(std::size_t i) const { return i < text.size() ? text[i] : U' '; }
    Class kind(std::size_t i) const { return tables.class_of(at(i)); }
    bool is(std::size_t i, Class wanted) const { return kind(i) == wanted; }
    bool is_in(std::size_t i, std::u32string_view those) const { return those.find(at(i)) != those.npos; }
    bool is_latin(std::size_t i) const { return U'a' <= at(i) && at(i) <= U'z'; }
    bool is_plain(std::size_t i) const { return is(i, Class::letter) || is(i, Class::digit); }

    std::size_t skip(std::size_t i) const {
        while (i < text.size() && is(i, Class::space)) i++;
        return i;
    }
    std::size_t digits(std::size_t i) const {
        std::size_t n = 0;
        while (is(i + n, Class::digit)) n++;
        return n;
    }
    FormTables::Found phrase(std::size_t i, std::uint16_t wanted) const {
        return tables.phrase(i < text.size() ? text.subspan(i) : Points{}, wanted);
    }
    Reader part(std::size_t begin, std::size_t end) const { return {tables, text.subspan(begin, end - begin)}; }
    bool holds(std::uint16_t wanted) const {
        for (std::size_t i = 0; i < text.size(); i++) {
            if (phrase(i, wanted).length) return true;
        }
        return false;
    }
    std::size_t letters() const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < text.size(); i++) count += is_plain(i) || is(i, Class::han);
        return count;
    }
    // Where the bracket closes that opens at i; 0 if it is long, or holds the end of a line or a bracket.
    std::size_t closing(std::size_t i, std::size_t most) const {
        const std::size_t stop = std::min(i + most + 2, text.size());
        for (std::size_t j = i + 1; j < stop; j++) {
            if (is_in(j, U"()[]\n")) return is_in(j, U")]") ? j : 0;
        }
        return 0;
    }
    // Behind what closes a label: a bracket, one of `ends`, or both; 0 if there is none.
    std::size_t after_label(std::size_t i, std::u32string_view ends) const {
        i = skip(i);
        if (is_in(i, U")]")) {
            const std::size_t j = skip(i + 1);
            if (is_in(j, ends)) return j + 1;
        }
        return is_in(i, ends) ? i + 1 : 0;
    }
};

}  // namespace dedup::judgment
