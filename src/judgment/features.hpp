// Profiles of forms; the differences of two forms, by longest common subsequences (Hyyrö, "Bit-parallel LCS-length
// computation revisited", AWOCA 2004); the features of the pair, and its guards.
#pragma once
#include <tuple>

#include "judgment/form_tables.hpp"

namespace dedup::judgment {

using Keys = std::span<const std::uint64_t>;

// Appends a text with its numerals in digits, and units behind them as symbols.
void write_plainly(Points text, const FormTables& tables, Buffer& to);

// Appends digests of the numbers in such a text, and sorts them.
void find_numbers(Points plain, std::vector<std::uint64_t>& to);

// Without a branch, which would be predicted badly.
inline bool has_content(const Token& token) { return (token.kind != Kind::function) & (token.kind != Kind::blank); }

inline double weight_of(std::span<const Token> tokens) {
    double sum = 0;  // exact, in any order: float in double
    for (const Token& token : tokens) sum += token.weight;
    return sum;
}

// Tokens of stem and choices.
inline std::span<const Token> asked(const Form& form) {
    return form.of({form.stem.begin, form.choices.empty() ? form.stem.end : form.choices.back().end});
}

inline bool is_explained(const Form& form) { return form.text(form.of(form.explanation)).size() >= 10; }

inline std::uint32_t count_images(const Form& form) {
    return static_cast<std::uint32_t>(std::ranges::count(form.tokens, Kind::image, &Token::kind));
}

// How often each character occurs in tokens with a meaning.
struct Letters {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> distinct;  // keys of characters, counts
    std::size_t size = 0;                                           // characters
};

// Tokens, and a hash of those with a meaning; its lowest bit is 1 if there are at least two of these.
struct Clause {
    Range tokens;
    std::uint64_t key;
};

// Hash of two neighbouring tokens, and of the signs between them that are no tokens.
struct Sign {
    std::uint64_t context;
    std::uint32_t signs;
};

// A distinct word of stem and choices: its greatest weight, how often it occurs; whether each time as an image.
struct Word {
    std::uint64_t key;
    double weight;
    std::uint32_t count;
    bool image;
};

// The facts of a form that comparisons need.
struct Profile {
    // Of the stem.
    std::vector<Clause> clauses;
    std::vector<std::uint64_t> numbers;  // digests, ascending
    double weight = 0;
    std::size_t han = 0, notation = 0;  // characters; tokens
    std::uint32_t last_clause = 0;
    bool asks = false;  // with a word, a question mark or a blank
    // Numbers of the explanation, each once, and of all but notes if there is one.
    std::vector<std::uint64_t> explained, known;
    // Of stem and choices.
    std::vector<std::uint64_t> grammar;  // keys of light words that may change the meaning, ascending
    std::uint64_t order = 0, light = 0;  // hashes: of these in the order of the stem; of their texts, in any order
    std::vector<Word> words;             // ascending by key
    double words_weight = 0;
    Letters letters;  // of the stem
    bool has_image = false, has_emphasis = false;
    std::vector<Sign> signs;  // ascending by context
    // Of choices: the plain text of each, one after the other, and a hash of the words of each.
    Letters choice_letters;
    Buffer choices;
    std::vector<std::size_t> ends;
    std::vector<std::uint64_t> keys;

    bool has_word(std::uint64_t key) const { return std::ranges::binary_search(words, key, {}, &Word::key); }
    Points choice(std::size_t i) const { return range_of(i ? ends[i - 1] : 0, ends[i]).of(choices); }
};

// Makes profiles of forms; its buffers are reused.
class ProfileBuilder {
public:
    explicit ProfileBuilder(const FormTables& tables) : tables_(tables) {}
    Profile build(const Form& form);

private:
    void add_choices(const Form& form, Profile& to);
    void add_numbers(const Form& form, Range part, std::vector<std::uint64_t>& to);
    Points content(const Form& form, std::span<const Token> tokens);
    Letters letters() const;

    const FormTables& tables_;
    HashTable<std::uint32_t> counts_;  // by character
    std::vector<std::uint64_t> keys_;
    Buffer text_, content_;
};

// Finds the clauses of a part; `keys` is a buffer.
void find_clauses(const Form& form, Range part, std::vector<std::uint64_t>& keys, std::vector<Clause>& found);

// Lengths of the equal beginning and of the equal end behind it.
template <class T>
std::pair<std::size_t, std::size_t> frame(std::span<const T> x, std::span<const T> y) {
    const std::size_t most = std::min(x.size(), y.size());
    std::size_t begin = 0, end = 0;
    while (begin < most && x[begin] == y[begin]) begin++;
    while (end < most - begin && x[x.size() - 1 - end] == y[y.size() - 1 - end]) end++;
    return {begin, end};
}

struct Match {
    std::uint32_t left, right;
};

// Longest common subsequences. The steps spent on a pair are limited: parts that would take more count as altogether different.
class Subsequence {
public:
    static constexpr std::uint64_t MOST = 1 << 22, MATRIX = 1 << 20;
    std::uint64_t steps_left = MOST;  // reset for each pair
    // The last two texts between equal ends, values as numbers from 1 to `values`; 0 on the left: the right side lacks it.
    Buffer left, right;
    std::size_t begin = 0, end = 0;  // lengths of the equal beginning and end
    std::uint32_t values = 0;

    // Takes the steps, if that many are left and they are at most `most`.
    bool may_take(std::uint64_t steps, std::uint64_t most = MOST) {
        const bool enough = steps <= std::min(steps_left, most);
        steps_left -= enough ? steps : 0;
        return enough;
    }

    // Positions of a longest one; of equal beginning and end alone if there is too much to do.
    template <class T>
    void find(std::span<const T> x, std::span<const T> y, std::vector<Match>& found) {
        number(x, y);
        const std::size_t m = left.size(), n = right.size();
        const auto add = [&](std::size_t i, std::size_t j) {
            found.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
        };
        found.clear();
        for (std::size_t k = 0; k < begin; k++) add(k, k);
        if (m && n && may_take(steps(m, n), MATRIX)) {
            const std::size_t words = words_of(m);
            fill(words);
            const auto is_set = [&](std::size_t row, std::size_t column) {
                return rows_[row * words + column / WORD] >> column % WORD & 1;
            };
            for (std::size_t column = m, row = n; column && row;) {
                if (is_set(row, column - 1)) {
                    column--;
                } else if (!is_set(row - 1, column - 1)) {
                    row--;
                } else {
                    column--;
                    row--;
                    add(begin + column, begin + row);
                }
            }
            std::reverse(found.begin() + begin, found.end());
        }
        for (std::size_t k = end; k > 0; k--) add(x.size() - k, y.size() - k);
    }

    // The length of a longest one.
    std::size_t length(Points x, Points y) {
        number(x, y);
        const std::size_t m = left.size(), n = right.size();
        std::size_t grown = 0;
        if (m && n && may_take(steps(m, n))) {
            fill(0);
            for (const std::uint64_t bits : rows_) grown += static_cast<std::size_t>(std::popcount(~bits));
        }
        return begin + grown + end;
    }

private:
    static constexpr std::size_t WORD = 64;

    static std::size_t words_of(std::size_t bits) { return (bits + WORD - 1) / WORD; }
    static std::uint64_t steps(std::size_t x, std::size_t y) { return words_of(x) * y; }

    template <class T>
    void number(std::span<const T> x, std::span<const T> y) {
        std::tie(begin, end) = frame(x, y);
        left.resize(x.size() - begin - end);
        right.resize(y.size() - begin - end);
        values = 0;
        if (left.empty() || right.empty()) return;
        numbers_.reset(right.size());
        for (std::size_t j = 0; j < right.size(); j++) {
            const auto [number, is_new] = numbers_[key_of(y[begin + j])];
            right[j] = is_new ? number = ++values : number;
        }
        for (std::size_t i = 0; i < left.size(); i++) left[i] = numbers_.find(key_of(x[begin + i]));
    }

    // Makes a row of bits, one for each value on the left, and after each value on the right the next row, `stride` words
    // further; a bit is 0 if the subsequence grows there.
    void fill(std::size_t stride) {
        const std::size_t words = words_of(left.size());
        masks_.assign((values + 1) * words, 0);  // row 0: values that the right side lacks
        for (std::size_t i = 0; i < left.size(); i++) masks_[left[i] * words + i / WORD] |= std::uint64_t{1} << i % WORD;
        rows_.resize(words + stride * right.size());
        std::uint64_t* row = rows_.data();
        std::fill_n(row, words, ~std::uint64_t{0});
        for (const std::uint32_t one : right) {
            const std::uint64_t *mask = &masks_[one * words], *before = row;
            row += stride;
            std::uint64_t carry = 0;
            for (std::size_t w = 0; w < words; w++) {
                const std::uint64_t bits = before[w], matched = bits & mask[w], part = bits + carry, sum = part + matched;
                carry = (part < carry) | (sum < matched);
                row[w] = sum | (bits & ~mask[w]);
            }
        }
    }

    HashTable<std::uint32_t> numbers_;  // of each value of the right side
    std::vector<std::uint64_t> masks_, rows_;
};

// Tokens of both sides, as ranges of `Alignment::left` and `right`; one of them may be empty.
struct Difference {
    Range left, right;
    bool choice;   // of a choice, not of the stem
    bool edge;     // the part begins or ends with it
    bool clauses;  // whole clauses without a counterpart
    bool moved;    // in both, at other positions
};

// Differences of two forms, in their order: of the stem, then of choices.
struct Alignment {
    std::vector<std::uint32_t> left, right;  // numbers of tokens in their forms
    std::vector<Difference> differences;
    bool exchanged = false;  // words have changed positions, and with them the meaning
};

// The facts of one difference.
struct Change {
    bool null;  // no difference but in notation, or of words without a meaning
    bool replaced, in_tail, asks;
    bool numbers_differ, number_alone, unit, formula, opposite;
    bool alike, unlike, contained, names, latins, limits;
    std::int64_t blanks;        // more of them on the left
    std::int64_t polar;         // words that ask for yes or no, more of them on the left
    std::int64_t negation;      // 1: the left side denies the right one, -1: the other way round
    const Token *word, *other;  // the only words of the sides, if one word replaces another; else null
    double left, right;         // weights
    double heaviest;            // word
    double ratio;               // of characters in common, if the sides are unlike

    double least() const { return std::min(left, right); }
    double most() const { return std::max(left, right); }
};

inline Range append_range(Range numbers, std::vector<std::uint32_t>& to) {
    for (std::uint32_t at = numbers.begin; at < numbers.end; at++) to.push_back(at);
    return range_of(to.size() - numbers.size(), to.size());
}

// Buffers of comparisons, one object for each thread; nothing in it lasts from one call to the next.
struct Scratch {
    // One of the two texts: tokens between common clauses, or its side of a difference.
    struct Side {
        std::vector<Clause> clauses;
        std::vector<std::uint64_t> clause_keys, keys, numbers, words, groups;
        std::vector<std::uint8_t> taken, gone, gone_clauses;
        std::vector<std::uint32_t> tokens;
        Buffer text, plain, content;
    };
    // The clause of each side with a word.
    static constexpr std::uint32_t SEVERAL = ~std::uint32_t{1}, NONE = SEVERAL + 1;
    struct Owners {
        std::uint32_t left = NONE, right = NONE;
    };

    const FormTables& tables;
    Subsequence subsequence{};
    std::vector<Match> clauses{}, tokens{};  // that both sides have in the same order
    std::vector<std::size_t> partners{};     // of each token of the left side the position of its partner, from 1 on, or 0
    HashTable<Owners> owners{};              // of words
    std::vector<std::uint32_t> firsts{}, next{};  // of each value the first position left, from 1 on; the next one of the same
    HashTable<std::uint32_t> counts{};            // by character
    Side a{}, b{};
};

// Appends the differences of two parts: common clauses are taken out, in order first; tokens between them are aligned.
void align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Scratch& s, Alignment& found);

// The facts of a difference. last: clauses of the stem that are its tail.
Change look_at(const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last, Scratch& s);

// rises: with it the probability that both texts ask the same rises (1), falls (-1), or does either (0).
struct FeatureName {
    std::string_view name;
    int rises;
};

// "own": the weight of words that the other text lacks, of all; "named": of the heaviest one, the more often it occurs.
// "clauses": the weight of the text without a difference. "unlike": replaced by a word that neither looks nor sounds alike,
// nor is an anagram. "edge": whole clauses that one text has. "letters": characters that the other text lacks, the lesser and
// the greater figure of the two texts. "apart": characters that pairs of choices differ by.
constexpr FeatureName FEATURES[] = {
    {"pieces", -1}, {"forms", 0}, {"grammar", -1}, {"begin", 0}, {"edge_share", -1}, {"inserted_max", -1},
    {"replaced", 0}, {"replaced_min", -1}, {"replaced_share", -1}, {"unlike", -1}, {"unlike_max", -1},
    {"unlike_min", -1}, {"unlike_ratio", 1}, {"contained", 0}, {"length", 0}, {"letters_min", -1},
    {"letters_max", -1}, {"han", 0}, {"notation", 0}, {"numbers", 1}, {"own_least", -1}, {"own_most", -1},
    {"named_least", -1}, {"named_most", -1}, {"held", 1}, {"clauses_least", 1}, {"clauses_most", 1}, {"title_most", -1},
    {"choices_unmatched", -1}, {"choices_order", 0}, {"choices_weight", 1}, {"choices_length", 0},
    {"choices_apart", -1}, {"choices_letters_min", -1}, {"choices_letters_max", -1},
};

constexpr std::string_view GUARDS[] = {
    "number", "name", "blanks", "unit", "formula", "negation", "mood", "opposite", "exchanged", "image", "emphasis", "answer",
    "choice_negation", "choice_opposite", "title", "provision",
};

// The number of a feature, the bit of a guard; an unknown name is an error of compilation.
consteval std::size_t operator""_f(const char* name, std::size_t size) {
    std::size_t i = 0;
    while (FEATURES[i].name != std::string_view(name, size)) i++;
    return i;
}
consteval std::uint32_t operator""_g(const char* name, std::size_t size) {
    std::size_t i = 0;
    while (GUARDS[i] != std::string_view(name, size)) i++;
    return std::uint32_t{1} << i;
}

using Features = std::array<double, std::size(FEATURES)>;

// The kind of two texts; each has a model of its own. any: found out from the texts.
enum class TextKind : std::uint8_t { question, article, message, any };
constexpr std::string_view TEXT_KINDS[] = {"question", "article", "message"};

// In an article a word is one of many: only guards about its subject hold.
constexpr std::uint32_t OF_ARTICLES = "answer"_g | "choice_negation"_g | "choice_opposite"_g | "title"_g | "provision"_g;

// If hardly anything else differs, one word counts in an article as in a question.
constexpr std::uint32_t OF_FEW = "name"_g | "unit"_g | "negation"_g | "opposite"_g | "exchanged"_g | "mood"_g;

struct Comparison {
    TextKind kind;
    Features features{};
    std::uint32_t guards = 0;  // bits in the order of GUARDS
    Alignment differences{};   // the left side is the first form's
    bool whole = false;        // it came to its end; else its features are unfinished
    bool same = false;         // nothing differs but notation, words without a meaning, the order of choices; see `keyed`
    bool little = false;       // in common: of two articles or messages, each lacks most words of the other
    bool reworded = false;     // light words are replaced by synonyms at least
    double left_out = 0;       // percentage of the text that is not compared word by word, of the text with more of it
};

// Compares two forms: the same features and guards in both orders of the two. stop: guards; as soon as one of them holds the
// comparison ends. With `stop` it also ends if there is `little` in common.
Comparison compare_forms(TextKind kind, const Form& x, const Form& y, std::uint32_t stop, Scratch& s);

// Words that one text has alone, and titles; see profile.cpp.

// The weights of the words of two forms, each word once: in both, and in each form.
struct SharedWeight {
    double both = 0, left = 0, right = 0;
};
SharedWeight shared_weight(const Form& a, const Form& b);
// Sets the features of titles; returns guards.
std::uint32_t compare_titles(const Form& a, const Form& b, Subsequence& subsequence, Features& f);
// Sets the features of words that one text has alone; `to` has the differences of the stems. alike: keys of words that are
// in both texts, only written otherwise. Returns whether each text states a number of its own.
bool measure_own(const Form& a, const Form& b, Keys alike, Comparison& to);
// Whether a number or identifier among some tokens is in a sentence.
bool is_stated(const Form& form, std::span<const std::uint32_t> numbers);
// In statutes each word counts: one that is replaced, added or left out makes another rule.
bool changes_rule(const Form& a, const Form& b, const Alignment& found, const Difference& one, const Change& change);

}  // namespace dedup::judgment
