// Characters: sixteen at a time, classes and kinds; marks beyond Unicode; words of ASCII in texts; room that text is
// written to.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/text.hpp"

namespace dedup::cleaning {

// Sixteen bytes, one for each of sixteen characters; where they tell of which something holds, 0xFF or 0.
using Lanes = std::uint8_t __attribute__((vector_size(16)));

inline unsigned bits_of(Lanes lanes) {
#if defined(__SSE2__)
    return static_cast<unsigned>(_mm_movemask_epi8((__m128i)lanes));
#else
    unsigned bits = 0;
    for (int i = 0; i < 16; i++) bits |= unsigned{lanes[i] >= 0x80} << i;
    return bits;
#endif
}

// Characters as bytes, those beyond 0xFE as 0xFF; numbers from 2**31 on, which are none, as 0.
class Block {
public:
    static constexpr int SIZE = 16;

    explicit Block(const std::uint32_t* points) : bytes_(narrow(read(points), read(points + 4), read(points + 8), read(points + 12))) {}

    // Which of sixteen characters lie between two; numbers from 2**31 on do not.
    static Lanes between(const std::uint32_t* points, std::uint32_t first, std::uint32_t last) {
        const auto from = static_cast<std::int32_t>(first), to = static_cast<std::int32_t>(last);
        const auto are = [&](int at) { return (read(points + at) >= from) & (read(points + at) <= to) & 0xFF; };
        return narrow(are(0), are(4), are(8), are(12));
    }
    Lanes equal(char letter) const { return (Lanes)(bytes_ == static_cast<std::uint8_t>(letter)); }
    Lanes between(char first, char last) const { return between(bytes_, first, last); }
    Lanes beyond_ascii() const { return bytes_; }  // the upper bit tells
    Lanes letters() const { return between(bytes_ | SMALL, 'a', 'z'); }

private:
    using Four = std::int32_t __attribute__((vector_size(16)));
    static constexpr std::uint8_t SMALL = 'a' - 'A';

    static Four read(const std::uint32_t* points) {
        Four four;
        std::memcpy(&four, points, sizeof four);
        return four;
    }
    static Lanes narrow(Four a, Four b, Four c, Four d) {
#if defined(__SSE2__)
        return (Lanes)_mm_packus_epi16(_mm_packs_epi32((__m128i)a, (__m128i)b), _mm_packs_epi32((__m128i)c, (__m128i)d));
#else
        const Four all[] = {a, b, c, d};
        Lanes bytes;
        for (int i = 0; i < SIZE; i++) bytes[i] = static_cast<std::uint8_t>(std::clamp(all[i / 4][i % 4], 0, 0xFF));
        return bytes;
#endif
    }
    static Lanes between(Lanes bytes, char first, char last) {
        return (Lanes)(bytes - static_cast<std::uint8_t>(first) <= static_cast<std::uint8_t>(last - first));
    }
    Lanes bytes_;
};

using Place = std::int64_t;  // of a character in a text
constexpr Place NONE = -1;

// Classes, as bits: white space; a word's characters of any script; an ASCII letter; one or a digit; a mark
// inside of names; what starts an attribute's name, and goes on with it; what ends a value without quotes; what ends
// a line.
enum Class : std::uint16_t {
    SPACE = 1 << 0,
    WORD = 1 << 1,
    LETTER = 1 << 2,
    ALNUM = 1 << 3,
    MARK = 1 << 4,
    STARTS = 1 << 5,
    GOES_ON = 1 << 6,
    ENDS = 1 << 7,
    LINE = 1 << 8,
};

// Kinds: white space within a line, and between lines; what vanishes; what begins markup; braces and what
// else matters for style rules; what fences code.
enum class Kind : std::uint8_t { plain, space, line, invisible, markup, opening, closing, colon, at_sign, backtick };

inline bool is_blank(Kind kind) { return kind == Kind::space || kind == Kind::line; }

constexpr std::uint32_t END = 16;  // how far the end of a span is from its beginning

// Marks for what markup says: no text holds one, so none needs an escape.
enum Mark : std::uint32_t {
    CODE = BEYOND,  // around code in a line
    CODE_END,
    UNDERLINE = BEYOND + 8,  // spans
    DOTS,
    BOLD,
    ITALIC,
    SUP,
    SUB,
    RUBY,     // a reading
    FORMULA,
    ITEM,     // of a list
    ROW,      // of a table
    FENCE,    // lines of code
    LINED,    // an underlined block, which is no blank to fill in where it is empty
    RUBY_END = RUBY + END,
    FORMULA_END,
    ITEM_END,
    ROW_END,
    FENCE_END,
    LINED_END,
    BODY = BEYOND + 40,  // behind the marker of an item
    CELL,                // where a cell begins
    BLANK,               // a blank to fill in
    FRESH,               // a new line, unless one has just begun
    NO_MARK,
    IMAGE = BEYOND + 48,  // before an address
    AUDIO,
    VIDEO,
    ADDRESS_END,
    ACCENTS = BEYOND + 64,  // the first of the accents: the LaTeX command number `mark - ACCENTS`
};

inline bool is_medium(std::uint32_t mark) { return IMAGE <= mark && mark <= VIDEO; }

// Whether something is seen of a mark: an image or its like, a blank.
inline bool is_shown(std::uint32_t mark) { return is_medium(mark) || mark == BLANK || mark == UNDERLINE; }

constexpr std::uint32_t ZERO_WIDTH_SPACE = 0x200B, BYTE_ORDER_MARK = 0xFEFF;

inline std::uint32_t lower(std::uint32_t point) { return 'A' <= point && point <= 'Z' ? point + ('a' - 'A') : point; }

// Characters that may be read behind each text.
constexpr std::size_t BEHIND = std::max<std::size_t>(Block::SIZE, ASCII_BLOCK);

// The next place from `at` on where one of sixteen is found, the end without one. found_in: takes their place, returns
// bits.
Place find_where(Points text, Place at, auto found_in) {
    const Place size = std::ssize(text);
    for (; at < size; at += Block::SIZE) {
        if (const unsigned found = found_in(text.data() + at)) return std::min(size, at + std::countr_zero(found));
    }
    return size;
}

// The next place from `at` on with one of these characters of ASCII, the end without one.
template <class... Letters>
Place find(Points text, Place at, Letters... letters) {
    return find_where(text, at, [=](const std::uint32_t* points) {
        const Block block(points);
        return bits_of((block.equal(letters) | ...));
    });
}

constexpr std::size_t GROWTH = 10;  // characters that become of one at most; percent encoding is the greatest
constexpr std::size_t SPARE = 256;  // room for what is written without a character behind it

inline std::size_t room_for(std::size_t length) { return GROWTH * length + SPARE + BEHIND; }

class Writer {
public:
    Writer() = default;
    explicit Writer(std::span<std::uint32_t> room) : room_(room) {}

    Place size() const { return size_; }
    std::uint32_t& operator[](Place at) { return room_[at]; }
    std::uint32_t operator[](Place at) const { return room_[at]; }
    std::uint32_t* data() { return room_.data(); }

    void append(std::uint32_t point) { room_[size_++] = point; }
    void append(Points points) {
        assert(size_ + points.size() <= room_.size());
        std::copy(points.begin(), points.end(), room_.begin() + size_);
        size_ += std::ssize(points);
    }
    void append(std::string_view ascii) {
        for (const char letter : ascii) append(static_cast<std::uint32_t>(letter));
    }

    // What was written from a place on, or between two; nothing where the text was cut before it.
    Points from(Place first) const { return between(first, size_); }
    Points between(Place first, Place stop) const {
        return first < stop ? Points(room_).subspan(first, stop - first) : Points();
    }

    // Goes on writing from a place.
    void cut(Place at) { size_ = at; }

    // Puts what was written between two places, and nothing of what is behind it, at a place before.
    void take_back(Place first, Place stop, Place to) {
        const Points kept = between(first, stop);
        std::copy(kept.begin(), kept.end(), room_.begin() + to);
        size_ = to + std::ssize(kept);
    }

private:
    std::span<std::uint32_t> room_;
    Place size_ = 0;
};

class Characters {
public:
    [[gnu::noinline]] Characters() {
        for (std::uint32_t point = 0; point < BEHIND_WORDS; point++)
            classes_[point] = point == '_' || Py_UNICODE_ISALNUM(point) ? WORD | GOES_ON : 0;
        for (std::uint32_t point = 0; point < PLANE; point++) {
            classes_[point] |= other_classes_of(point);
            kinds_[point] = kind_of(point);
        }
    }

    // Whether a character is of one of these classes; none beyond the table is, and no mark.
    bool is(std::uint32_t point, unsigned classes) const {
        return point < classes_.size() && (classes_[point] & classes) != 0;
    }
    Kind kind(std::uint32_t point) const { return point < PLANE ? kinds_[point] : Kind::plain; }

    // Neither of a special kind nor a mark.
    bool is_plain(std::uint32_t point) const { return point < PLANE ? kinds_[point] == Kind::plain : point < BEYOND; }

    // Writes characters of no special kind, and single spaces between them, as long as there are some, and up to a
    // block without meaning. Returns where the next one stands; counts words: characters but underscores and spaces.
    Place copy_plain(Points text, Place j, Writer& out, Place& words) const {
        const Place size = std::ssize(text);
        std::uint32_t* to = out.data() + out.size();
        for (;;) {
            const Place begin = j;
            Place run = Block::SIZE;
            while (run == Block::SIZE && j < size) {
                const std::uint32_t* const points = text.data() + j;
                const unsigned there = size - j < Block::SIZE ? (1u << (size - j)) - 1 : ALL;
                const unsigned plain = plain_in(points) & there;
                const unsigned before = plain << 1 | unsigned{j > begin};
                run = std::countr_one(plain | (bits_of(Block(points).equal(' ')) & before & plain >> 1));
                std::copy_n(points, Block::SIZE, to);
                to += run;
                j += run;
                words += std::popcount(plain & ((1u << run) - 1));
            }
            for (; j < size && is_plain(text[j]); j++) {
                *to++ = text[j];
                words += text[j] != '_';
            }
            // a space stays between two of no special kind
            if (j == begin || j + 1 >= size || text[j] != ' ' || !is_plain(text[j + 1])) break;
            *to++ = text[j++];
        }
        out.cut(to - out.data());
        return j;
    }

    // The next place from `at` on with a character of none of these classes.
    Place skip(Points text, Place at, unsigned classes) const {
        while (at < std::ssize(text) && is(text[at], classes)) at++;
        return at;
    }

    Points trimmed(Points text) const {
        while (!text.empty() && is(text.front(), SPACE)) text = text.subspan(1);
        while (!text.empty() && is(text.back(), SPACE)) text = text.first(text.size() - 1);
        return text;
    }

private:
    static constexpr std::uint32_t BEHIND_WORDS = 0x31400;  // no character from there on is part of a word

    static bool is_one_of(std::string_view characters, std::uint32_t point) {
        return 0 < point && point < 0x80 && characters.find(static_cast<char>(point)) != characters.npos;
    }
    // ... besides the classes of words.
    static std::uint16_t other_classes_of(std::uint32_t point) {
        const bool letter = ('a' <= point && point <= 'z') || ('A' <= point && point <= 'Z');
        const bool digit = '0' <= point && point <= '9', space = is_white_space(point);
        return static_cast<std::uint16_t>(
            space * (SPACE | ENDS) | letter * (LETTER | ALNUM | STARTS) | digit * ALNUM |
            is_one_of(":._-", point) * MARK | is_one_of("_:@#*", point) * STARTS | is_one_of(":.@-", point) * GOES_ON |
            is_one_of("\"'<>", point) * ENDS | ends_line(point) * LINE);
    }
    static Kind kind_of(std::uint32_t point) {
        switch (point) {
            case ZERO_WIDTH_SPACE: case BYTE_ORDER_MARK: return Kind::invisible;
            case '<': case '&': return Kind::markup;
            case '{': return Kind::opening;
            case '}': return Kind::closing;
            case ':': return Kind::colon;
            case '@': return Kind::at_sign;
            case '`': return Kind::backtick;
            default: return ends_line(point) ? Kind::line : is_white_space(point) ? Kind::space : Kind::plain;
        }
    }

    static constexpr unsigned ALL = 0xFFFF;  // characters of a block, as bits
    // Behind the ideographic space: the most characters in a row of no special kind.
    static constexpr std::uint32_t FIRST_EASTERN = 0x3001, LAST_EASTERN = BYTE_ORDER_MARK - 1;

    // Which of sixteen characters are surely of no special kind, as bits; `is_plain` tells of the others. Never `_`,
    // which counts as no word. The special ones of ASCII are those of `kind_of`.
    unsigned plain_in(const std::uint32_t* points) const {
        const Block block(points);
        const Lanes others = block.beyond_ascii() | block.between(0, ' ') | block.equal('&') | block.between(':', '<') |
                             block.equal('@') | block.between('_', '`') | block.between('{', '}');
        return (~bits_of(others) & ALL) | bits_of(Block::between(points, FIRST_EASTERN, LAST_EASTERN));
    }

    std::array<std::uint16_t, BEHIND_WORDS> classes_{};
    std::array<Kind, PLANE> kinds_{};
};
// Made when it is first needed, which takes a millisecond.
[[gnu::const]] inline const Characters& characters() {
    static const Characters made;
    return made;
}

// Takes back the white space at the end of what was written from a place on.
inline void trim(Writer& out, Place begin) {
    while (out.size() > begin && is_blank(characters().kind(out[out.size() - 1]))) out.cut(out.size() - 1);
}

// Whether a text begins with a word of small letters, in capitals or not.
inline bool starts_with(Points text, std::string_view word) {
    if (text.size() < word.size()) return false;
    std::size_t k = 0;
    while (k < word.size() && lower(text[k]) == static_cast<std::uint32_t>(word[k])) k++;
    return k == word.size();
}

inline bool holds_word(Points text, std::string_view word) {
    for (std::size_t k = 0; k + word.size() <= text.size(); k++) {
        if (starts_with(text.subspan(k), word)) return true;
    }
    return false;
}

inline bool holds_any(Points text, std::span<const std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return holds_word(text, word); });
}

inline bool holds_any(Points text, std::initializer_list<std::u32string_view> words) {
    return std::ranges::any_of(words, [&](std::u32string_view word) {
        return !std::ranges::search(text, word).empty();
    });
}

// Whether markup may go on with this character after its first one.
inline bool may_begin_markup(std::uint32_t point) {
    const std::uint32_t small = point | ('a' - 'A');
    return ('a' <= small && small <= 'z') || point == '/' || point == '!' || point == '?' || point == '#';
}

// Whether an at-rule that may stand without declarations can go on here, behind its @.
inline bool may_be_at_rule(Points text, Place at) {
    return at < std::ssize(text) && text[at] < 0x80 &&
           std::string_view("mskicn-").find(static_cast<char>(text[at])) != std::string_view::npos;
}

}  // namespace dedup::cleaning
