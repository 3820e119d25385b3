// The form of a text: what a question says, in tokens, without notes, numbering and notation.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/text.hpp"

namespace dedup::judgment {

// function: a word that carries no meaning of its own; symbol: a sign with a meaning, or a bracket of a formula; blank:
// a gap to fill in.
enum class Kind : std::uint8_t { word, function, number, letter, symbol, image, blank };

// The name by which Python and data files know a bit.
struct Key {
    std::string_view name;
    std::uint32_t bit;
};

// What is known of a token's word, bits of `Token::flags`.
enum Flag : std::uint16_t {
    PROPER = 1,   // names a person, a place or an organisation
    LATIN = 2,    // a word or letter that is not Han
    NEGATES = 4,  // 不, 没有, not, except
    LIMITS = 8,   // 若, 只, if, only
    EMPHASISED = 16,
    ASKS = 32,  // what, 什么
    GRAMMAR = 64,   // a light word or a synonym, but no layout of a question: another one may say something else
    JOINS = 128,    // joins members of a list, or says nothing: 和, the
    EQUALS = 256,   // 是
    TASK = 512,     // begins what is asked, or ends it: 下列, a question mark
    POLAR = 1024,   // asks for yes or no: 吗
    LISTED = 2048,  // stands behind 、
    ARGUMENT = 4096,  // stands in the brackets of a function: f(x, y)
};

// text: the token as it is compared, points [begin, end) of its form: 3.0 is 3, \leq is ≤.
struct Token {
    std::uint64_t key;  // hash of the text, or the number of its set of synonyms, from 1
    std::uint32_t begin;
    std::uint32_t end;
    float weight;          // IDF of a word, a fixed one of other kinds, 0 of function words and blanks
    std::uint32_t clause;  // counts up within each part
    std::uint16_t flags;
    Kind kind;
    std::uint32_t signs;  // hash of those before it that are no tokens, of the last one behind it as well; 0 if none
};

struct Range {
    std::uint32_t begin;
    std::uint32_t end;

    std::uint32_t size() const { return end - begin; }
    // What stands there in a vector or span.
    auto of(const auto& values) const { return std::span(values).subspan(begin, size()); }
};
inline Range range_of(std::size_t begin, std::size_t end) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

using Buffer = std::vector<std::uint32_t>;
inline void append(Buffer& to, Points some) { to.insert(to.end(), some.begin(), some.end()); }
void clear(auto&... some) { (some.clear(), ...); }

// n texts, one after the other; see `TextColumn`.
struct OwnTexts {
    Buffer points;
    std::vector<std::int64_t> offsets;

    std::size_t size() const { return offsets.size() - 1; }
    Points operator[](std::size_t i) const { return TextColumn{points, offsets}[i]; }
};

constexpr bool is_circled(std::uint32_t point) { return 0x2460 <= point && point <= 0x249B; }  // ① and its like

// The parts of a text: folded, formulas in one line, not cut into tokens yet. Ranges are of its points.
struct ParsedText {
    Points points;
    Range stem;
    std::span<const Range> choices;
    Range answer;
    Range explanation;
    Range notes;
    std::span<const Range> images;  // what each is known by, in the order of their marks
    bool han;                       // Han characters are in it
    bool provision;                 // it begins as a provision of a statute does

    Points text(Range range) const { return range.of(points); }
};

// How the stem of a form lies on its page. first: the tokens of its first two lines. provisions: lines that begin as
// those of a statute do: 第三条, Article 3; preamble: the tokens before the first one. asks: its last sentence asks for
// something.
struct Layout {
    Range first[2] = {};
    std::uint32_t lines = 0, provisions = 0, preamble = 0;
    bool asks = false, is_long = false;
};

struct Profile;

// One text's form, as views into the arrays of `Forms`. The tokens, and their texts, lie one after the other: stem,
// choices in their order, answer, explanation, notes. So the text of neighbouring tokens is one span.
struct Form {
    Points points;
    std::span<const Token> tokens;
    Range stem;                      // tokens
    std::span<const Range> choices;  // tokens of each
    Range answer;
    Range explanation;
    Range notes;
    Layout layout;
    const Profile* profile = nullptr;  // where it is compared

    std::span<const Token> of(Range range) const { return range.of(tokens); }
    Points text(const Token& token) const { return points.subspan(token.begin, token.end - token.begin); }
    Points text(std::span<const Token> some) const {
        return some.empty() ? Points{} : points.subspan(some.front().begin, some.back().end - some.front().begin);
    }
};

// ParsedTexts or forms one after the other. inner: images of parsed_texts, tokens of forms.
template <class One, class Inner>
struct Batch {
    struct Place {
        std::uint64_t points;  // where each begins
        std::uint64_t choices;
        std::uint64_t inner;
        Range stem;
        Range answer;
        Range explanation;
        Range notes;
        bool han;
        Layout layout;
    };
    std::vector<Place> places{Place{}};  // one more than texts: where the next one begins
    Buffer points;
    std::vector<Range> choices;
    std::vector<Inner> inner;

    std::size_t size() const { return places.size() - 1; }
    // Makes one more of what was added since the last call.
    void end_one() { places.push_back({points.size(), choices.size(), inner.size(), {}, {}, {}, {}, false, {}}); }
    void clear() {
        places.assign(1, Place{});
        judgment::clear(points, choices, inner);
    }
    One operator[](std::size_t i) const {
        const Place &one = places[i], &next = places[i + 1];
        const Points own = Points(points).subspan(one.points, next.points - one.points);
        const auto listed = std::span(choices).subspan(one.choices, next.choices - one.choices);
        const auto held = std::span(inner).subspan(one.inner, next.inner - one.inner);
        if constexpr (std::is_same_v<One, ParsedText>)
            return {own, one.stem, listed, one.answer, one.explanation, one.notes, held, one.han, one.layout.provisions > 0};
        else
            return {own, held, one.stem, listed, one.answer, one.explanation, one.notes, one.layout};
    }
};
using ParsedTexts = Batch<ParsedText, Range>;
using Forms = Batch<Form, Token>;

}  // namespace dedup::judgment
