// The form of a text: what a question says, in tokens, without notes, numbering and notation.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/text.hpp"

namespace dedup::judgment {

// mark: brackets and signs with a meaning; blank: a gap to fill in; function: a word that carries no
// meaning of its own.
enum class Kind : std::uint8_t { word, function, number, letter, symbol, image, blank };

// What is known of a token's word, bits of `Token::flags`. The first six come from its part of speech.
enum Flag : std::uint16_t {
    NOUN = 1,           // n... of jieba
    VERB = 2,           // v...
    NAME = 4,           // nr, ns, nt, nz: persons, places, organisations, works
    PROPER = 8,         // nr, ns, nt
    TERM = 16,          // n..., x (not in the dictionary), l, j, vn, and words in Latin letters
    LATIN = 32,         // a word or letter that is not Han
    NEGATES = 64,       // 不, 没有, not, except
    LIMITS = 128,       // 若, 只, if, only
    TRUTH = 256,        // what a choice of true and false says: 对, 错误, true
    EMPHASISED = 512,
};

// text: the token as it is compared, points [begin, end) of its form: 3.0 is 3, \leq is ≤.
struct Token {
    std::uint64_t key;      // hash of the text, or of its set of synonyms
    std::uint32_t begin;
    std::uint32_t end;
    float weight;           // IDF of a word, a fixed one of other kinds, 0 of function words and blanks
    std::uint32_t clause;   // counts up within each part
    std::uint16_t synonym;  // number of the set of synonyms that the key stands for, from 1; 0: none
    std::uint16_t flags;
    Kind kind;
};

struct Range {
    std::uint32_t begin;
    std::uint32_t end;
};

// Facts of a form as a whole, bits of `Form::facts`.
enum Fact : std::uint8_t {
    EXPLAINED = 1,  // an explanation stands behind the answer
    QUESTION = 2,   // it asks
    SELECTS = 4,    // it asks which of its choices
    HAN = 8,        // Han characters are in it
};

// One text's form, as views into the arrays of `Forms`. The tokens, and their texts, lie one after the
// other: stem, choices in their order, answer, notes. So is the text of neighbouring tokens one span.
struct Form {
    Points points;
    std::span<const Token> tokens;
    Range stem;                      // tokens
    std::span<const Range> choices;  // tokens of each
    Range answer;
    Range notes;
    std::uint8_t facts;

    std::span<const Token> of(Range range) const { return tokens.subspan(range.begin, range.end - range.begin); }
    Points text(const Token& token) const { return points.subspan(token.begin, token.end - token.begin); }
    Points text(std::span<const Token> some) const {
        return some.empty() ? Points{} : points.subspan(some.front().begin, some.back().end - some.front().begin);
    }
};

// The forms of a batch.
struct Forms {
    struct Place {
        std::uint64_t points;  // where each begins
        std::uint64_t tokens;
        std::uint64_t choices;
        Range stem;
        Range answer;
        Range notes;
        std::uint8_t facts;
    };
    std::vector<Place> places;  // one more than texts
    std::vector<std::uint32_t> points;
    std::vector<Token> tokens;
    std::vector<Range> choices;

    std::size_t size() const { return places.size() - 1; }
    Form operator[](std::size_t i) const {
        const Place &one = places[i], &next = places[i + 1];
        return {Points(points).subspan(one.points, next.points - one.points),
                std::span(tokens).subspan(one.tokens, next.tokens - one.tokens),
                one.stem,
                std::span(choices).subspan(one.choices, next.choices - one.choices),
                one.answer,
                one.notes,
                one.facts};
    }
};

}  // namespace dedup::judgment
