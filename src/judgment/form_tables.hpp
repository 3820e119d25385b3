// The form of a text: the tokens of a question, without notes, numbering and notation; and the tables that it is read with,
// as Python makes them: see judgment/tables.py.
#pragma once
#include "fingerprint/jieba.hpp"

namespace dedup::judgment {

// function: a word without a meaning of its own; symbol: a sign with one, or a formula's bracket; blank: a gap to fill in.
enum class Kind : std::uint8_t { word, function, number, letter, symbol, image, blank };

// Properties of a token's word, bits of `Token::flags`.
enum Flag : std::uint16_t {
    PROPER = 1,   // names a person, a location or an organisation
    LATIN = 2,    // a word or letter that is not Han
    NEGATES = 4,  // 不, 没有, not, except
    LIMITS = 8,   // 若, 只, if, only
    EMPHASISED = 16,
    ASKS = 32,  // what, 什么
    GRAMMAR = 64,   // a light word or a synonym, but no layout of a question: another one may say something else
    JOINS = 128,    // joins members of a list, or says nothing: 和, the
    EQUALS = 256,   // 是
    TASK = 512,     // begins or ends a question: 下列, a question mark
    POLAR = 1024,   // asks for yes or no: 吗
    LISTED = 2048,  // follows 、
    ARGUMENT = 4096,  // in the brackets of a function: f(x, y)
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
    std::uint32_t signs;  // hash of the signs before it that are no tokens, of the last one behind it as well; 0 if none
};

struct Range {
    std::uint32_t begin, end;

    std::uint32_t size() const { return end - begin; }
    // The elements of a vector or span.
    auto of(const auto& values) const { return std::span(values).subspan(begin, size()); }
};
inline Range range_of(std::size_t begin, std::size_t end) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

using Buffer = std::vector<std::uint32_t>;
inline void append(Buffer& to, Points some) { to.insert(to.end(), some.begin(), some.end()); }
void clear(auto&... some) { (some.clear(), ...); }

constexpr bool is_circled(std::uint32_t point) { return 0x2460 <= point && point <= 0x249B; }  // ① and its like

// The lines of a stem. first: tokens of the first two. provisions: how many begin as in a statute: 第三条, Article 3;
// preamble: tokens before the first of these. asks: the last sentence asks for something.
struct Layout {
    Range first[2] = {};
    std::uint32_t lines = 0, provisions = 0, preamble = 0;
    bool asks = false, is_long = false;
};

// The parts of a text but for choices: ranges of its points, or of its tokens.
struct Parts {
    Range stem, answer, explanation, notes;
    bool han = false;  // Han characters are in it
    Layout layout;
};

// A text folded, formulas in one line, not cut into tokens yet.
struct ParsedText : Parts {
    Points points;
    std::span<const Range> choices;
    std::span<const Range> images;  // the key of each, in the order of their marks

    Points text(Range range) const { return range.of(points); }
};

struct Profile;

// One text's form, as views into the arrays of `Forms`. The tokens, and their texts, lie one after the other: stem,
// choices in their order, answer, explanation, notes. So the text of neighbouring tokens is one span.
struct Form : Parts {
    Points points;
    std::span<const Range> choices;  // tokens of each
    std::span<const Token> tokens;
    const Profile* profile = nullptr;  // of a form that is compared

    std::span<const Token> of(Range range) const { return range.of(tokens); }
    Points text(const Token& token) const { return points.subspan(token.begin, token.end - token.begin); }
    Points text(std::span<const Token> some) const {
        return some.empty() ? Points{} : points.subspan(some.front().begin, some.back().end - some.front().begin);
    }
};

// Parsed texts or forms one after the other. inner: images of the former, tokens of the latter.
template <class One, class Inner>
struct Batch {
    struct Slot : Parts {
        std::size_t points_begin = 0, choices_begin = 0, inner_begin = 0;
    };
    std::vector<Slot> slots{Slot{}};  // one more than texts: the next one
    Buffer points;
    std::vector<Range> choices;
    std::vector<Inner> inner;

    std::size_t size() const { return slots.size() - 1; }
    // Appends points to the next one.
    Range write(Points some) {
        const std::size_t begin = points.size() - slots.back().points_begin;
        append(points, some);
        return range_of(begin, begin + some.size());
    }
    // Completes the next one, of all that was added since the last call.
    void end_one() { slots.push_back({{}, points.size(), choices.size(), inner.size()}); }
    void clear() {
        slots.assign(1, Slot{});
        judgment::clear(points, choices, inner);
    }
    One operator[](std::size_t i) const {
        const Slot &one = slots[i], &next = slots[i + 1];
        return {one, range_of(one.points_begin, next.points_begin).of(points),
                range_of(one.choices_begin, next.choices_begin).of(choices), range_of(one.inner_begin, next.inner_begin).of(inner)};
    }
};
using ParsedTexts = Batch<ParsedText, Range>;
using Forms = Batch<Form, Token>;

// Classes of folded characters. letter: of any script but Han; circled: ① and its like; mark: ♀ or £.
enum class Class : std::uint8_t { other, space, digit, letter, han, sign, circled, mark };
constexpr std::string_view CLASSES[] = {"other", "space", "digit", "letter", "han", "sign", "circled", "mark"};

// Kinds of phrases, as bits.
enum Phrase : std::uint32_t {
    ANSWER = 1 << 0, EXPLANATION = 1 << 1, LINE = 1 << 2, NOTE = 1 << 3, BRACKET = 1 << 4, POINTS = 1 << 5,
    UNIT = 1 << 6, NUMBERED = 1 << 7, HEADING = 1 << 8, PAPER = 1 << 9, NUMERAL = 1 << 10, LIGHT = 1 << 11,
    PART = 1 << 12,  // a part of the task begins with it
    JOINT = 1 << 13, HANGER = 1 << 14,  // no question begins with it: never, or behind a number in brackets
    ASK = 1 << 15,     // in a sentence that asks for something
    DENIES = 1 << 16,  // a character that negates a word
    KEY = ANSWER | EXPLANATION | LINE,
};

// Their sections in form_words.txt, by bit.
constexpr std::string_view PHRASES[] = {
    "answer", "explanation", "line", "note", "bracket", "points", "unit", "numbered", "heading", "paper", "numeral", "light", "part",
    "joint", "hanger", "ask", "negating",
};

// Properties of a word, or of a command such as \leq, besides its `Flag`s.
enum Meaning : std::uint32_t {
    FUNCTION = 1 << 13, ENGLISH_FUNCTION = 1 << 14, FORMULA = 1 << 15, NOT_NEGATING = 1 << 16, AUXILIARY = 1 << 17,
    SIGN = 1 << 18, LOOK = 1 << 19, FRACTION = 1 << 20, UNDERLINE = 1 << 21, ENVIRONMENT = 1 << 22,
    BEHIND_NUMBER = 1 << 23, UNIT_SYMBOL = 1 << 24,  // a unit behind a number; the symbol of one
};

// Names of both by bit: the section of form_words.txt with the words, if there is one.
constexpr std::string_view FLAGS[] = {
    "proper", "latin", "negates", "limits", "emphasised", "asks", "grammar", "joins", "equals", "task", "polar", "listed",
    "argument", "function", "english_function", "formula", "not_negating", "auxiliary", "sign", "look", "fraction", "underline",
    "environment", "behind_number", "unit_symbol",
};
static_assert(1 << (std::size(FLAGS) - 1) == UNIT_SYMBOL && 1 << (std::size(PHRASES) - 1) == DENIES);

// Groups of words: two are related if they share a group.
class Groups {
public:
    Groups() = default;
    // members: digest of a word, number of one of its groups.
    explicit Groups(std::vector<std::pair<std::uint64_t, std::uint32_t>> members) {
        std::ranges::sort(members);
        ranges_.reset(members.size());
        for (const auto& [key, group] : members) {
            const auto [range, is_new] = ranges_[key_of(key)];
            groups_.push_back(group);
            range = range_of(is_new ? groups_.size() - 1 : range.begin, groups_.size());
        }
    }
    std::span<const std::uint32_t> of(std::uint64_t key) const { return ranges_.find(key_of(key)).of(groups_); }
    bool share(Points one, Points other) const {
        const auto a = of(digest(one)), b = of(digest(other));
        return std::ranges::find_first_of(a, b) != a.end();
    }

private:
    std::vector<std::uint32_t> groups_;
    HashTable<Range> ranges_;
};

struct FormTables {
    static constexpr std::uint32_t MATHEMATICAL = 0x1D400, MATHEMATICAL_END = 0x1D800;
    static constexpr std::uint32_t FOLDED = PLANE + MATHEMATICAL_END - MATHEMATICAL;  // characters of the table
    static constexpr std::uint32_t JOINED = U'+';                          // with the character before it

    // number: of the set of synonyms, from 1; the sign of a command. key: number, or a hash of the word.
    struct Word {
        std::uint32_t flags = 0, number = 0;
        std::uint64_t key = 0;
    };
    struct Found {
        std::size_t length = 0;
        std::uint32_t kinds = 0;
    };

    const Lexicon* lexicon = nullptr;
    TextColumn folded;                       // of each character of the table
    std::span<const std::uint32_t> scripts;  // ^ of superscripts, _ of subscripts, + of accents and the like, or 0
    std::span<const Class> classes;          // PLANE
    std::span<const std::uint8_t> proper;    // by node, whether it names a person or the like
    std::span<const float> weights;          // by node, 0 for none
    TextColumn phrases;                      // sorted
    std::span<const std::uint32_t> phrase_kinds;
    std::vector<std::uint16_t> first = std::vector<std::uint16_t>(PLANE + 1);  // of `phrases` by character
    std::vector<std::uint32_t> single = std::vector<std::uint32_t>(PLANE);     // the folded character, 0 for several
    std::vector<std::uint32_t> traits = std::vector<std::uint32_t>(PLANE);     // of each character
    std::vector<std::uint8_t> starts = std::vector<std::uint8_t>(PLANE);       // ... for `SearchedText`
    HashTable<Word> words;                                                     // by digest
    struct Spelling {
        std::uint32_t flags = 0;
        Points text;  // the plain spelling, empty for the word itself
    };
    HashTable<Spelling> spellings;  // of units and words with another spelling, apart from `words`: a small table is faster
    std::size_t longest_unit = 0;
    Groups opposites;  // words that exclude each other
    Groups alike;      // characters that look or sound alike

    // Sets of characters. Besides these, traits are the kinds of the phrases that begin with a character.
    enum Trait : std::uint32_t {
        BRACKETS = 1 << 17, PAUSES = 1 << 18,
        PLAIN_HAN = 1 << 19,     // Han, and no light word begins with it
        PLAIN_LETTER = 1 << 20,  // a letter, and no light word begins with it
        UNIT_START = 1 << 21,    // a unit behind a number begins with it
    };
    // Sets of characters that texts are searched for.
    enum Start : std::uint8_t {
        OPENS = 1 << 0, ENDS = 1 << 1, MARKS = 1 << 2,
        NOTES = 1 << 3,         // a phrase of a note may begin with it
        KEYS = 1 << 4,          // 答案: and the like may begin with it
        BEFORE_KEY = 1 << 5,    // ... and follow it
        LABELS = 1 << 6,        // a choice's label may begin with it
        BEFORE_LABEL = 1 << 7,  // ... and follow it
    };

    void index() {
        for (std::size_t i = 0; i < phrases.size(); i++) {
            first[phrases[i][0] + 1]++;
            traits[phrases[i][0]] |= phrase_kinds[i];
        }
        const auto add = [](auto& to, auto set, std::u32string_view characters) {
            for (const char32_t c : characters) to[c] |= set;
        };
        add(traits, BRACKETS, U"()[]\n");
        add(traits, PAUSES, U",;。?!.:\n");
        add(starts, OPENS, U"([");
        add(starts, ENDS, U"\n。?!");
        add(starts, MARKS, U"\\{}$`![](~—");
        add(starts, KEYS, U"([");
        add(starts, BEFORE_KEY, U"\n 。?!)\"");
        add(starts, LABELS, U"abcdefgh([");
        add(starts, BEFORE_LABEL, U";。?!.,)]_、:$");
        for (std::size_t c = 0; c < PLANE; c++) {
            first[c + 1] += first[c];
            if (!scripts[c] && folded[c].size() == 1) single[c] = folded[c][0];
            if (classes[c] == Class::space || classes[c] == Class::han) starts[c] |= BEFORE_LABEL;
            if (traits[c] & NOTE) starts[c] |= NOTES;
            if (traits[c] & KEY) starts[c] |= KEYS;
            if (traits[c] & LIGHT) continue;
            if (classes[c] == Class::han) traits[c] |= PLAIN_HAN;
            if (classes[c] == Class::letter) traits[c] |= PLAIN_LETTER;
        }
    }

    bool has(std::uint32_t point, std::uint32_t some) const { return point < PLANE && traits[point] & some; }

    // The index of a character in the table, FOLDED if it is not there.
    static std::size_t folded_index(std::uint32_t point) {
        if (point < PLANE) return point;
        return MATHEMATICAL <= point && point < MATHEMATICAL_END ? PLANE + point - MATHEMATICAL : FOLDED;
    }

    Class class_of(std::uint32_t point) const {
        if (point < PLANE) return classes[point];
        return 0x20000 <= point && point < 0x40000 ? Class::letter : Class::mark;
    }

    bool has_any(Points text, Class wanted) const {
        return std::ranges::any_of(text, [&](std::uint32_t point) { return class_of(point) == wanted; });
    }
    bool is_plain(std::uint32_t point) const {
        const Class kind = class_of(point);
        return kind == Class::letter || kind == Class::digit;
    }

    Word word(Points text) const {
        const std::uint64_t key = digest(text);
        Word word = words.find(key_of(key));
        word.key = word.number ? word.number : key;
        return word;
    }

    Spelling spelling(Points text) const { return spellings.find(key_of(digest(text))); }

    // The longest phrase of some kinds that begins a text.
    Found phrase(Points text, std::uint32_t wanted) const {
        Found found;
        if (text.empty() || !has(text[0], wanted)) return found;
        for (std::size_t i = first[text[0]]; i < first[text[0] + 1]; i++) {
            const Points one = phrases[i];
            if ((phrase_kinds[i] & wanted) && one.size() > found.length && one.size() <= text.size() &&
                one.back() == text[one.size() - 1] && std::equal(one.begin(), one.end(), text.begin()))
                found = {one.size(), phrase_kinds[i]};
        }
        return found;
    }
};

inline bool begins(Points text, std::u32string_view word) {
    return text.size() >= word.size() && std::ranges::equal(text.first(word.size()), word);
}

// A text and its characters by position; all around it are spaces. starts: a byte of `FormTables::starts` for each character,
// null for a text without; eight more bytes, of any value, follow.
struct Reader {
    const FormTables& tables;
    Points text;
    const std::uint8_t* starts = nullptr;

    std::size_t size() const { return text.size(); }
    std::uint32_t at(std::size_t i) const { return i < text.size() ? text[i] : U' '; }
    Class kind(std::size_t i) const { return tables.class_of(at(i)); }
    bool is(std::size_t i, Class wanted) const { return kind(i) == wanted; }
    template <std::size_t N>
    bool is_in(std::size_t i, const char32_t (&set)[N]) const {  // a literal: so no loop looks for its end
        return std::find(set, set + N - 1, at(i)) != set + N - 1;
    }
    bool is_latin(std::size_t i) const { return U'a' <= at(i) && at(i) <= U'z'; }
    bool is_plain(std::size_t i) const { return tables.is_plain(at(i)); }
    // Behind the characters of a class from i on.
    std::size_t behind(std::size_t i, Class wanted) const {
        while (i < text.size() && is(i, wanted)) i++;
        return i;
    }
    std::size_t skip(std::size_t i) const { return behind(i, Class::space); }
    std::size_t digits(std::size_t i) const { return behind(i, Class::digit) - i; }
    FormTables::Found phrase(std::size_t i, std::uint32_t wanted) const {
        return tables.phrase(i < text.size() ? text.subspan(i) : Points{}, wanted);
    }
    bool has_word(std::size_t i, std::u32string_view word) const { return i < size() && begins(text.subspan(i), word); }
    Reader part(std::size_t begin, std::size_t end) const {
        return {tables, text.subspan(begin, end - begin), starts ? starts + begin : nullptr};
    }
    Reader from(std::size_t begin) const { return part(begin, size()); }
    // The first position from i on of a character with one of some traits, or of another character; else the size.
    std::size_t find_trait(std::size_t i, std::uint32_t traits) const {
        while (i < text.size() && !tables.has(text[i], traits)) i++;
        return i;
    }
    std::size_t find_point(std::size_t i, std::uint32_t point) const {
        return std::find(text.begin() + std::min(i, size()), text.end(), point) - text.begin();
    }
    bool holds(std::uint32_t wanted) const {
        std::size_t i = find_trait(0, wanted);
        while (i < text.size() && !phrase(i, wanted).length) i = find_trait(i + 1, wanted);
        return i < text.size();
    }
    // The number of letters and digits, at most `most`.
    std::size_t letters(std::size_t most = std::numeric_limits<std::size_t>::max()) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < text.size() && count < most; i++) count += is_plain(i) || is(i, Class::han);
        return count;
    }
    // The position of the bracket that closes the one at i; 0 if it is far, or a line ends or a bracket opens before.
    std::size_t closing(std::size_t i, std::size_t most) const {
        const std::size_t stop = std::min(i + most + 2, text.size());
        for (std::size_t j = i + 1; j < stop; j++) {
            if (tables.has(text[j], FormTables::BRACKETS)) return is_in(j, U")]") ? j : 0;
        }
        return 0;
    }
    // Behind the end of a label: a bracket, one of `ends`, or both; 0 if there is none.
    std::size_t after_label(std::size_t i, const auto& ends) const {
        i = skip(i);
        const std::size_t j = is_in(i, U")]") ? skip(i + 1) : i;
        return is_in(j, ends) ? j + 1 : is_in(i, ends) ? i + 1 : 0;
    }

    // With `starts`, eight characters at once: the first position from i on of a character of a set; else the size.
    std::size_t find(std::size_t i, FormTables::Start set) const {
        for (; i < size(); i += ASCII_BLOCK) {
            if (const std::uint64_t found = matches(eight(i), set)) return position(i, found);
        }
        return size();
    }
    // ... that follows one of another set.
    std::size_t find_behind(std::size_t i, FormTables::Start before, FormTables::Start set) const {
        std::uint64_t last = i ? starts[i - 1] : tables.starts[U' '];
        for (; i < size(); i += ASCII_BLOCK) {
            const std::uint64_t own = eight(i);
            if (const std::uint64_t found = matches(own, set) & matches(own << 8 | last, before)) return position(i, found);
            last = own >> 56;
        }
        return size();
    }
    // The first phrase of a note from i on.
    std::size_t find_note(std::size_t i) const {
        i = find(i, FormTables::NOTES);
        while (i < size() && !phrase(i, NOTE).length) i = find(i + 1, FormTables::NOTES);
        return i;
    }

private:
    std::uint64_t eight(std::size_t i) const { return read_word<std::uint64_t>(starts + i); }
    // The lowest bit of each byte of the set.
    static std::uint64_t matches(std::uint64_t eight, FormTables::Start set) {
        return eight >> std::countr_zero(unsigned{set}) & 0x0101010101010101;
    }
    std::size_t position(std::size_t i, std::uint64_t found) const {
        return std::min(i + static_cast<std::size_t>(std::countr_zero(found)) / 8, size());
    }
};

// A text that can be searched eight characters at once.
class SearchedText {
public:
    Buffer points;

    Reader reader(const FormTables& tables) {
        if (starts_.size() < points.size() + ASCII_BLOCK) starts_.resize(points.size() + ASCII_BLOCK);
        const std::uint8_t* starts = tables.starts.data();  // a byte that is written might else be part of the pointer
        std::ranges::transform(points, starts_.begin(), [=](auto c) { return c < PLANE ? starts[c] : std::uint8_t{0}; });
        return {tables, points, starts_.data()};
    }

private:
    std::vector<std::uint8_t> starts_;
};

}  // namespace dedup::judgment
