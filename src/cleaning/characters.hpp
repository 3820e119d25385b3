// Characters: sixteen at a time, classes and kinds, marks beyond Unicode; words of ASCII in texts; the writer of a text.
#pragma once
#include <cassert>

#include "core/text.hpp"

namespace dedup::cleaning {

// Sixteen characters as bytes: 0xFF for all beyond 0xFE, 0 for numbers from 2**31 on, which are no characters.
class Block {
public:
    static constexpr int SIZE = 16;

    explicit Block(const std::uint32_t* points) : bytes_(narrow(read(points), read(points + 4), read(points + 8), read(points + 12))) {}

    // Tests which of sixteen characters are in a range; numbers from 2**31 on are not.
    static Lanes between(const std::uint32_t* points, std::uint32_t first, std::uint32_t last) {
        const auto from = static_cast<std::int32_t>(first), to = static_cast<std::int32_t>(last);
        const auto are = [&](int at) { return (read(points + at) >= from) & (read(points + at) <= to) & 0xFF; };
        return narrow(are(0), are(4), are(8), are(12));
    }
    Lanes equal(char letter) const { return (Lanes)(bytes_ == static_cast<std::uint8_t>(letter)); }
    Lanes between(char first, char last) const {
        return (Lanes)(bytes_ - static_cast<std::uint8_t>(first) <= static_cast<std::uint8_t>(last - first));
    }
    Lanes beyond_ascii() const { return bytes_; }  // in the upper bit of each lane

private:
    using Four = std::int32_t __attribute__((vector_size(16)));

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
    Lanes bytes_;
};

using Offset = std::int64_t;  // of a character in a text
constexpr Offset NONE = -1;

// Classes, as bits: white space; characters of words in any script; ASCII letters; ASCII letters and digits; marks inside
// of names; first and further characters of an attribute's name; characters that end a value without quotes.
enum Class : std::uint8_t { SPACE = 1, WORD = 2, LETTER = 4, ALNUM = 8, MARK = 16, STARTS = 32, GOES_ON = 64, ENDS = 128 };

// Kinds: white space within a line and between lines; characters that are dropped; beginnings of markup; braces, colon and @,
// which style rules have; backticks, which fence code.
enum class Kind : std::uint8_t { plain, space, line, invisible, markup, opening, closing, colon, at_sign, backtick };

inline bool is_blank(Kind kind) { return kind == Kind::space || kind == Kind::line; }

// Marks for the meaning of markup: no text holds one, so none needs an escape. UNDERLINE to LINED are spans, ended by + END.
enum Mark : std::uint32_t {
    CODE = BEYOND, CODE_END,                             // around code in a line
    UNDERLINE = BEYOND + 8, DOTS, BOLD, ITALIC, SUP, SUB,
    RUBY,                                                // a reading
    FORMULA,
    ITEM,                                                // of a list; its marker, then BODY
    ROW,                                                 // of a table, with a CELL at the beginning of each cell
    FENCE,                                               // lines of code
    LINED,                                               // an underlined block; an empty one is no blank to fill in
    BODY = BEYOND + 40, CELL,
    BLANK,                                               // a blank to fill in
    FRESH,                                               // a new line, unless one has just begun
    NO_MARK,
    IMAGE = BEYOND + 48, AUDIO, VIDEO, ADDRESS_END,      // media, before an address
    ACCENTS = BEYOND + 64,                               // the first accent: the LaTeX command number `mark - ACCENTS`
};
constexpr std::uint32_t END = 16, FORMULA_END = FORMULA + END, ROW_END = ROW + END, FENCE_END = FENCE + END;

inline bool is_medium(std::uint32_t mark) { return IMAGE <= mark && mark <= VIDEO; }

// Whether a mark is visible: a medium or a blank.
inline bool is_shown(std::uint32_t mark) { return is_medium(mark) || mark == BLANK || mark == UNDERLINE; }

constexpr std::uint32_t ZERO_WIDTH_SPACE = 0x200B, BYTE_ORDER_MARK = 0xFEFF;

inline std::uint32_t lower(std::uint32_t point) { return 'A' <= point && point <= 'Z' ? point + ('a' - 'A') : point; }

inline bool is_one_of(std::uint32_t point, std::string_view ascii) {
    return 0 < point && point < 0x80 && ascii.find(static_cast<char>(point)) != ascii.npos;
}

// Characters that may be read behind each text.
constexpr std::size_t BEHIND = std::max<std::size_t>(Block::SIZE, ASCII_BLOCK);

// The first offset from `at` on that a test of sixteen characters, at an address, marks by a bit; the end without one.
Offset find_where(Points text, Offset at, auto found_in) {
    const Offset size = std::ssize(text);
    for (; at < size; at += Block::SIZE) {
        if (const unsigned found = found_in(text.data() + at)) return std::min(size, at + std::countr_zero(found));
    }
    return size;
}

// The first offset from `at` on of one of these ASCII characters, the end without one.
template <class... Letters>
Offset find(Points text, Offset at, Letters... letters) {
    return find_where(text, at, [=](const std::uint32_t* points) {
        const Block block(points);
        return bits_of((block.equal(letters) | ...));
    });
}

// The most characters written for a text: ten for one, percent-encoded, and some without one.
inline std::size_t capacity_for(std::size_t length) { return 10 * length + 256 + BEHIND; }

class Writer {
public:
    Writer() = default;
    explicit Writer(std::span<std::uint32_t> buffer) : buffer_(buffer) {}

    Offset size() const { return size_; }
    std::uint32_t& operator[](Offset at) { return buffer_[at]; }
    std::uint32_t operator[](Offset at) const { return buffer_[at]; }
    std::uint32_t* data() { return buffer_.data(); }

    void append(std::uint32_t point) { buffer_[size_++] = point; }
    void append(Points points) {
        assert(size_ + points.size() <= buffer_.size());
        std::copy(points.begin(), points.end(), buffer_.begin() + size_);
        size_ += std::ssize(points);
    }
    void append(std::string_view ascii) {
        for (const char letter : ascii) append(static_cast<std::uint32_t>(letter));
    }

    // The text written from an offset on, empty if it was cut before that.
    Points from(Offset first) const {
        return first < size_ ? Points(buffer_).subspan(first, size_ - first) : Points();
    }

    // Drops the text from an offset on.
    void cut(Offset at) { size_ = at; }

    // Moves a part of the text to an offset before it, and drops the text behind it.
    void move_back(Points part, Offset to) {
        std::copy(part.begin(), part.end(), buffer_.begin() + to);
        size_ = to + std::ssize(part);
    }

private:
    std::span<std::uint32_t> buffer_;
    Offset size_ = 0;
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

    // Whether a character is of one of these classes; marks and characters beyond the table are of none.
    bool is(std::uint32_t point, unsigned classes) const {
        return point < classes_.size() && (classes_[point] & classes) != 0;
    }
    Kind kind(std::uint32_t point) const { return point < PLANE ? kinds_[point] : Kind::plain; }

    // Copies plain characters and single spaces between them from `j` on, and up to a block without meaning. Returns the
    // offset of the next character; adds to `words` the number of characters but underscores and spaces.
    Offset copy_plain(Points text, Offset j, Writer& out, Offset& words) const {
        const Offset size = std::ssize(text);
        std::uint32_t* to = out.data() + out.size();
        for (;;) {
            const Offset begin = j;
            Offset run = Block::SIZE;
            while (run == Block::SIZE && j < size) {
                const std::uint32_t* const points = text.data() + j;
                const unsigned inside = size - j < Block::SIZE ? (1u << (size - j)) - 1 : ALL;
                const unsigned plain = plain_in(points) & inside;
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
            // a space between two plain characters is copied
            if (j == begin || j + 1 >= size || text[j] != ' ' || !is_plain(text[j + 1])) break;
            *to++ = text[j++];
        }
        out.cut(to - out.data());
        return j;
    }

    // The first offset from `at` on of a character of none of these classes.
    Offset skip(Points text, Offset at, unsigned classes) const {
        while (at < std::ssize(text) && is(text[at], classes)) at++;
        return at;
    }

private:
    static constexpr std::uint32_t BEHIND_WORDS = 0x31400;  // no character from there on is part of a word

    // ... besides the classes of words.
    static std::uint8_t other_classes_of(std::uint32_t point) {
        const bool letter = ('a' <= point && point <= 'z') || ('A' <= point && point <= 'Z');
        const bool digit = '0' <= point && point <= '9', space = is_white_space(point);
        return static_cast<std::uint8_t>(
            space * (SPACE | ENDS) | letter * (LETTER | ALNUM | STARTS) | digit * ALNUM | is_one_of(point, ":._-") * MARK |
            is_one_of(point, "_:@#*") * STARTS | is_one_of(point, ":.@-") * GOES_ON | is_one_of(point, "\"'<>") * ENDS);
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

    bool is_plain(std::uint32_t point) const { return point < PLANE ? kinds_[point] == Kind::plain : point < BEYOND; }

    static constexpr unsigned ALL = 0xFFFF;  // characters of a block, as bits
    // Behind the ideographic space: the longest range of plain characters.
    static constexpr std::uint32_t FIRST_EASTERN = 0x3001, LAST_EASTERN = BYTE_ORDER_MARK - 1;

    // Sixteen bits, set for characters that are surely plain; `is_plain` decides the others. Never for `_`, which counts as no
    // word. In ASCII it agrees with `kind_of`.
    unsigned plain_in(const std::uint32_t* points) const {
        const Block block(points);
        const Lanes others = block.beyond_ascii() | block.between(0, ' ') | block.equal('&') | block.between(':', '<') |
                             block.equal('@') | block.between('_', '`') | block.between('{', '}');
        return (~bits_of(others) & ALL) | bits_of(Block::between(points, FIRST_EASTERN, LAST_EASTERN));
    }

    std::array<std::uint8_t, BEHIND_WORDS> classes_{};
    std::array<Kind, PLANE> kinds_{};
};
// Made when it is first needed, which takes a millisecond.
[[gnu::const]] inline const Characters& characters() {
    static const Characters made;
    return made;
}

inline bool is_space(std::uint32_t point) { return characters().is(point, SPACE); }

// A text without the characters at both ends for which a test holds.
Points trimmed(Points text, auto test) {
    while (!text.empty() && test(text.front())) text = text.subspan(1);
    while (!text.empty() && test(text.back())) text = text.first(text.size() - 1);
    return text;
}
inline Points trimmed(Points text) { return trimmed(text, is_space); }

// Drops the white space at the end of the text written from an offset on.
inline void trim(Writer& out, Offset begin) {
    while (out.size() > begin && is_space(out[out.size() - 1])) out.cut(out.size() - 1);
}

// Whether a text begins with a word of small letters, in capitals or not.
inline bool starts_with(Points text, std::string_view word) {
    return text.size() >= word.size() && std::ranges::equal(text.first(word.size()), word, {}, lower);
}

// Whether a text holds a word: one of small ASCII letters in capitals or not, any other as it is written.
inline bool holds(Points text, std::string_view word) { return !std::ranges::search(text, word, {}, lower).empty(); }
inline bool holds(Points text, std::u32string_view word) { return !std::ranges::search(text, word).empty(); }

bool holds_any(Points text, const auto& words) {
    return std::ranges::any_of(words, [&](const auto& word) { return holds(text, word); });
}

}  // namespace dedup::cleaning
