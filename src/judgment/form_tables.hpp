// The tables that the form of a text is read with, as Python makes them: see judgment/form_tables.py.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/hash.hpp"
#include "core/hash_table.hpp"
#include "fingerprint/lexicon.hpp"
#include "judgment/token.hpp"

namespace dedup::judgment {

// What a folded character is. letter: of any script but Han; circled: ① and its like.
enum class Class : std::uint8_t { other, space, digit, letter, han, sign, circled };

// What a phrase is looked for, as bits.
enum Phrase : std::uint16_t {
    ANSWER = 1 << 0, EXPLANATION = 1 << 1, LINE = 1 << 2, NOTE = 1 << 3, BRACKET = 1 << 4, POINTS = 1 << 5,
    UNIT = 1 << 6, NUMBERED = 1 << 7, HEADING = 1 << 8, PAPER = 1 << 9, NUMERAL = 1 << 10, LIGHT = 1 << 11,
};

// What the tables say of a word, or of a command such as \leq, besides its `Flag`s.
enum Meaning : std::uint32_t {
    FUNCTION = 1 << 5, ENGLISH_FUNCTION = 1 << 6, FORMULA = 1 << 7, NOT_NEGATING = 1 << 8, SIGN = 1 << 9,
    LOOK = 1 << 10, FRACTION = 1 << 11, UNDERLINE = 1 << 12, ENVIRONMENT = 1 << 13,
};

struct FormTables {
    static constexpr std::uint32_t MATHEMATICAL = 0x1D400, MATHEMATICAL_END = 0x1D800;
    static constexpr std::uint32_t FOLDED = PLANE + MATHEMATICAL_END - MATHEMATICAL;  // characters of the table

    struct Word {
        std::uint32_t flags = 0;
        std::uint32_t number = 0;  // of the set of synonyms, from 1; the sign of a command
    };
    struct Found {
        std::size_t length = 0;
        std::uint16_t kinds = 0;
    };

    const Lexicon* lexicon = nullptr;
    TextColumn folded;                       // what the characters of the table become
    std::span<const std::uint32_t> scripts;  // ^ of superscripts, _ of subscripts, 0 of others
    std::span<const Class> classes;          // PLANE
    std::span<const std::uint8_t> proper;    // by node, whether it names a person or the like
    std::span<const float> weights;          // by node, 0 for none
    TextColumn phrases;                      // sorted
    std::span<const std::uint16_t> phrase_kinds;
    Points negating;
    std::vector<std::uint16_t> first = std::vector<std::uint16_t>(PLANE + 1);  // of `phrases` by character
    std::vector<std::uint32_t> single = std::vector<std::uint32_t>(PLANE);     // what a character becomes, 0 if several
    std::vector<std::uint32_t> traits = std::vector<std::uint32_t>(PLANE);     // of each character
    HashTable<Word> words;                                                      // by digest

    // Sets of characters. Besides these, traits are the kinds of the phrases that begin with a character.
    enum Trait : std::uint32_t {
        OPENS = 1 << 16, ENDS = 1 << 17, MARKS = 1 << 18, DENIES = 1 << 19, BRACKETS = 1 << 20, PAUSES = 1 << 21,
        LABELS = 1 << 22,        // a choice's label may begin with it
        BEFORE_LABEL = 1 << 23,  // ... and stand behind it
        BEFORE_MARK = 1 << 24,   // what 答案: and the like may stand behind
        PLAIN_HAN = 1 << 25,     // Han, and no light word begins with it
        PLAIN_LETTER = 1 << 26,  // a letter, and no light word begins with it
    };

    void index_phrases() {
        for (std::size_t i = 0; i < phrases.size(); i++) {
            first[phrases[i][0] + 1]++;
            traits[phrases[i][0]] |= phrase_kinds[i];
        }
        for (std::size_t c = 0; c < PLANE; c++) first[c + 1] += first[c];
        const auto add = [&](std::uint32_t set, std::u32string_view characters) {
            for (const char32_t c : characters) traits[c] |= set;
        };
        add(OPENS, U"([");
        add(ENDS, U"\n。?!");
        add(BRACKETS, U"()[]\n");
        add(PAUSES, U",;。?!.:\n");
        add(MARKS, U"\\{}$`![](~—");
        add(LABELS, U"abcdefgh([");
        add(BEFORE_LABEL, U";。?!.,)]_、:$");
        add(BEFORE_MARK, U"\n 。?!)\"");
        for (const std::uint32_t c : negating) {
            if (c < PLANE) traits[c] |= DENIES;
        }
        for (std::size_t c = 0; c < PLANE; c++) {
            if (classes[c] == Class::space || classes[c] == Class::han) traits[c] |= BEFORE_LABEL;
            if (traits[c] & LIGHT) continue;
            if (classes[c] == Class::han) traits[c] |= PLAIN_HAN;
            if (classes[c] == Class::letter) traits[c] |= PLAIN_LETTER;
        }
    }

    void index_folded() {
        for (std::size_t c = 0; c < PLANE; c++) {
            if (!scripts[c] && folded[c].size() == 1) single[c] = folded[c][0];
        }
    }

    std::uint32_t traits_of(std::uint32_t point) const { return point < PLANE ? traits[point] : 0; }
    bool has(std::uint32_t point, std::uint32_t some) const { return traits_of(point) & some; }

    // Where the table has a character, FOLDED if it has not.
    static std::size_t folded_place(std::uint32_t point) {
        if (point < PLANE) return point;
        return MATHEMATICAL <= point && point < MATHEMATICAL_END ? PLANE + point - MATHEMATICAL : FOLDED;
    }

    Class class_of(std::uint32_t point) const {
        if (point < PLANE) return classes[point];
        return 0x20000 <= point && point < 0x40000 ? Class::letter : Class::other;
    }

    bool is_plain(std::uint32_t point) const {
        const Class kind = class_of(point);
        return kind == Class::letter || kind == Class::digit;
    }

    Word word(Points text) const { return word(digest(text)); }
    Word word(std::uint64_t digest) const { return words.find(key_of(digest)); }

    // The longest phrase of those kinds that begins a text.
    Found phrase(Points text, std::uint16_t wanted) const {
        Found found;
        if (text.empty() || !has(text[0], wanted)) return found;
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
    // The first place from i on of a character with one of these traits.
    std::size_t find(std::size_t i, std::uint32_t traits) const {
        while (i < text.size() && !tables.has(text[i], traits)) i++;
        return i;
    }
    // ... that stands behind one with one of others.
    std::size_t find_behind(std::size_t i, std::uint32_t before, std::uint32_t traits) const {
        bool behind = tables.has(at(i - 1), before);
        for (; i < text.size(); i++) {
            const std::uint32_t own = tables.traits_of(text[i]);
            if (behind && own & traits) return i;
            behind = own & before;
        }
        return i;
    }
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
    // Where the first phrase of those kinds begins; the size of the text where there is none.
    std::size_t find_phrase(std::uint16_t wanted) const {
        std::size_t i = find(0, wanted);
        while (i < text.size() && !phrase(i, wanted).length) i = find(i + 1, wanted);
        return i;
    }
    bool holds(std::uint16_t wanted) const { return find_phrase(wanted) < text.size(); }
    // How many letters and digits there are, `most` at most.
    std::size_t letters(std::size_t most = std::numeric_limits<std::size_t>::max()) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < text.size() && count < most; i++) count += is_plain(i) || is(i, Class::han);
        return count;
    }
    // Where the bracket closes that opens at i; 0 if it is long, or holds the end of a line or a bracket.
    std::size_t closing(std::size_t i, std::size_t most) const {
        const std::size_t stop = std::min(i + most + 2, text.size());
        for (std::size_t j = i + 1; j < stop; j++) {
            if (tables.has(text[j], FormTables::BRACKETS)) return is_in(j, U")]") ? j : 0;
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
