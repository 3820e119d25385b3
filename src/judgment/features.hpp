// The differences of two forms, by longest common subsequences (Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA
// 2004); the features of the pair, and its guards.
#pragma once
#include "judgment/profile.hpp"

namespace dedup::judgment {

// Bounds the steps spent on a pair: what would take more is taken as altogether different.
class Work {
public:
    static constexpr std::uint64_t MOST = 1 << 22, MATRIX = 1 << 20;

    // Takes the steps, if there are so many left.
    bool suffices(std::uint64_t steps, std::uint64_t most = MOST) {
        if (steps > std::min(left_, most)) return false;
        left_ -= steps;
        return true;
    }

private:
    std::uint64_t left_ = MOST;
};

// How much of the beginning and then of the end is equal.
struct Frame {
    std::size_t begin, end;
};

template <class T>
Frame frame(std::span<const T> x, std::span<const T> y) {
    const std::size_t most = std::min(x.size(), y.size());
    Frame equal{0, 0};
    while (equal.begin < most && x[equal.begin] == y[equal.begin]) equal.begin++;
    while (equal.end < most - equal.begin && x[x.size() - 1 - equal.end] == y[y.size() - 1 - equal.end]) equal.end++;
    return equal;
}

struct Match {
    std::uint32_t left, right;
};

class Subsequence {
public:
    // The places of a longest one; those of equal beginning and end alone where there is too much to do.
    template <class T>
    void find(std::span<const T> x, std::span<const T> y, Work& work, std::vector<Match>& found) {
        number(x, y);
        const auto [begin, end] = equal_;
        const std::size_t m = left_.size(), n = right_.size();
        const auto add = [&](std::size_t i, std::size_t j) {
            found.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
        };
        found.clear();
        for (std::size_t k = 0; k < begin; k++) add(k, k);
        if (m && n && work.suffices(steps(m, n), Work::MATRIX)) {
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

    // ... and its length alone.
    template <class T>
    std::size_t length(std::span<const T> x, std::span<const T> y, Work& work) {
        number(x, y);
        const std::size_t m = left_.size(), n = right_.size();
        std::size_t grown = 0;
        if (m && n && work.suffices(steps(m, n))) {
            fill(0);
            for (const std::uint64_t bits : rows_) grown += static_cast<std::size_t>(std::popcount(~bits));
        }
        return equal_.begin + grown + equal_.end;
    }

    // What was compared last but for the equal beginning and end: numbers of the values, from 1 on, up to `values`; on
    // the left 0 stands for what the right side has not.
    std::span<const std::uint32_t> left() const { return left_; }
    std::span<const std::uint32_t> right() const { return right_; }
    std::size_t begin() const { return equal_.begin; }
    std::uint32_t values() const { return values_; }

private:
    static constexpr std::size_t WORD = 64;

    static std::size_t words_of(std::size_t bits) { return (bits + WORD - 1) / WORD; }
    static std::uint64_t steps(std::size_t x, std::size_t y) { return words_of(x) * y; }

    template <class T>
    void number(std::span<const T> x, std::span<const T> y) {
        equal_ = frame(x, y);
        left_.resize(x.size() - equal_.begin - equal_.end);
        right_.resize(y.size() - equal_.begin - equal_.end);
        values_ = 0;
        if (left_.empty() || right_.empty()) return;
        numbers_.reset(right_.size());
        for (std::size_t j = 0; j < right_.size(); j++) {
            const auto [number, is_new] = numbers_[key_of(y[equal_.begin + j])];
            right_[j] = is_new ? number = ++values_ : number;
        }
        for (std::size_t i = 0; i < left_.size(); i++) left_[i] = numbers_.find(key_of(x[equal_.begin + i]));
    }

    // Makes a row of bits, one of each of the left side, and after each of the right side the next one, `stride` words
    // behind it; a 0 is a place where it grew.
    void fill(std::size_t stride) {
        const std::size_t words = words_of(left_.size());
        masks_.assign((values_ + 1) * words, 0);  // row 0: of what the right side has not
        for (std::size_t i = 0; i < left_.size(); i++) masks_[left_[i] * words + i / WORD] |= std::uint64_t{1} << i % WORD;
        rows_.resize(words + stride * right_.size());
        std::uint64_t* row = rows_.data();
        std::fill_n(row, words, ~std::uint64_t{0});
        for (const std::uint32_t one : right_) {
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

    Frame equal_{0, 0};
    std::vector<std::uint32_t> left_, right_;
    std::uint32_t values_ = 0;
    HashTable<std::uint32_t> numbers_;  // of each value of the right side
    std::vector<std::uint64_t> masks_, rows_;
};

// Tokens of both sides, as ranges of `Alignment::left` and `right`; one of them may be empty.
struct Difference {
    Range left, right;
    bool choice;   // of a choice, not of the stem
    bool edge;     // the part begins or ends with it
    bool clauses;  // whole clauses, with no counterpart at their place
    bool moved;    // in both, at other places
};

// Differences of two forms, in their order: of the stem, then of choices.
struct Alignment {
    std::vector<std::uint32_t> left, right;  // places of tokens in their forms
    std::vector<Difference> differences;
    bool exchanged = false;                      // words have changed places, and what they say of each other

    void clear() {
        judgment::clear(left, right, differences);
        exchanged = false;
    }
};

// What is known of one difference.
struct Change {
    bool null;  // no difference but in notation, or of words without a meaning
    bool replaced, in_tail, asks;
    bool numbers_differ, number_alone, unit, formula, opposite;
    bool alike, unlike, contained, names, latins, limits;
    std::int64_t blanks;        // more of them on the left
    std::int64_t polar;         // words that ask for yes or no, more of them on the left
    std::int64_t negation;      // 1: the left side denies what the right one says, -1: the right one does
    const Token *word, *other;  // all that the sides say, where it is one word in place of another; or null
    double left, right;         // weights
    double heaviest;            // word
    double ratio;               // of characters in common, where the sides are unlike

    double least() const { return std::min(left, right); }
    double most() const { return std::max(left, right); }
};

inline Range append_places(Range places, std::vector<std::uint32_t>& to) {
    const std::size_t begin = to.size();
    for (std::uint32_t at = places.begin; at < places.end; at++) to.push_back(at);
    return range_of(begin, to.size());
}

using Keys = std::span<const std::uint64_t>;

// Room in which differences are found, one for each thread; what a call leaves there means nothing to the next one.
struct DifferScratch {
    // One of the two texts: what lies between clauses that both have, and what is known of its part of a difference.
    struct Side {
        std::vector<Clause> clauses;
        std::vector<std::uint64_t> clause_keys, keys, numbers, words, groups;
        std::vector<std::uint8_t> taken, gone, gone_clauses;
        std::vector<std::uint32_t> tokens;
        Buffer text, plain, content;
    };
    static constexpr std::uint32_t SEVERAL = ~std::uint32_t{1}, NONE = SEVERAL + 1;
    // The clause of each side that holds a word.
    struct Owners {
        std::uint32_t left = NONE, right = NONE;
    };
    // Keys of the next words with a meaning before and behind a run; 0 where its clause has none there.
    struct Beside {
        std::uint64_t before, behind;
        bool meets(const Beside& other) const { return before == other.before || behind == other.behind; }
    };
    // Tokens that both sides have in a row, from these places on; words: some of them have a meaning.
    struct Run {
        std::size_t left, right, count;
        Beside beside_left, beside_right;
        bool words;
        std::size_t left_end() const { return left + count; }
        std::size_t right_end() const { return right + count; }
    };

    Subsequence subsequence;
    std::vector<Match> clauses, tokens;  // that both sides have in the same order
    std::vector<std::size_t> partners;   // of each token of the left side the place of its like, from 1 on, or 0
    std::vector<Run> runs;
    HashTable<Owners> owners;  // of words
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links, forks;  // of clauses
    std::vector<std::uint32_t> places, next;  // of each value the first that is left, from 1 on; the next one of the same
    Side a, b;
};

// Finds the differences of two parts. Clauses that both have are taken out, those in order first; then tokens between them
// are aligned.
void align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Work& work, DifferScratch& s, Alignment& found);

// Says what is known of a difference. last: clauses of the stem that are its tail.
Change look_at(const Relations& relations, const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last,
               Work& work, DifferScratch& s);

// rises: with it the probability that both ask the same rises (1), falls (-1), or does either (0).
struct FeatureName {
    std::string_view name;
    int rises;
};

// "own": the weight of words that the other text lacks, of all; "named": of the one that weighs most, the more often it
// stands. "clauses": the weight of what is no difference. "unlike": replaced by what neither looks nor sounds alike, nor
// is an anagram. "edge": whole clauses that one has.
// "letters": characters that the other text lacks, the lesser and the greater figure of the two texts. "apart":
// characters that pairs of choices differ by.
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

// The place of a name; one that is not there is an error of compilation.
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

// What two texts are; what makes two of a kind the same differs. The last one: it is told from the texts.
enum class TextKind : std::uint8_t { question, article, message, any };
constexpr std::string_view TEXT_KINDS[] = {"question", "article", "message"};

// In an article a word is one of many: only what names its subject keeps two apart, whatever the model says.
constexpr std::uint32_t OF_ARTICLES = "answer"_g | "choice_negation"_g | "choice_opposite"_g | "title"_g | "provision"_g;

// Where hardly anything else differs, one word counts in an article as in a question.
constexpr std::uint32_t OF_FEW = "name"_g | "unit"_g | "negation"_g | "opposite"_g | "exchanged"_g | "mood"_g;

struct Comparison {
    TextKind kind;
    Features features;
    std::uint32_t guards;   // bits by the places of GUARDS
    Alignment differences;  // the left side is the first form's
    bool whole;             // it came to its end; else its features are unfinished
    bool same;              // nothing differs but notation, words without a meaning, the order of choices; see `keyed`
    bool little;            // in common: of two articles or messages, each lacks most words of the other
    bool reworded;          // light words are replaced by synonyms at least
    double left_out;        // percentage of the text that is not compared word by word, of the text with more of it
};

// The words that two texts share, found when they are asked for: few guards do. A word that is repeated counts once, with
// the greatest of its weights.
class SharedWords {
public:
    // The weight of a word in each text; less than 0 where it is not.
    struct Weights {
        double left = -1, right = -1;
        std::uint32_t count = 0;  // in both
        double both() const { return std::max(std::min(left, right), 0.0); }
    };
    // The weight of the words that both texts have, and of those of each.
    struct Totals {
        double both = 0, left = 0, right = 0;
    };
    // The words of one text that the other lacks: their weight, each word once; the greatest weight of one, by how often
    // it stands; whether a number in a sentence is among them.
    struct Own {
        double weight = 0, named = 0;
        bool has_number = false;
    };

    void clear() { found_ = false; }
    const Totals& find(const Form& a, const Form& b);
    // Once they are found: of one word; of those of the left text, or the right one. alike: keys of words that are only
    // written otherwise, and so are in both.
    Weights of(const Token& word) const { return weights_[places_.find(key_of(word.key))]; }
    std::pair<Own, Own> own(const Form& a, const Form& b, std::span<const std::uint64_t> alike, bool numbers);

private:
    std::uint32_t place_of(std::uint64_t key);
    Own own(const Form& form, std::size_t first, double Weights::* here, double Weights::* there, bool numbers);

    bool found_ = false;
    Totals totals_;
    HashTable<std::uint32_t> places_;  // of words in `weights_`
    std::vector<Weights> weights_;     // the first is of no word
    std::vector<std::uint32_t> words_; // places, of each token of both, 0 where it has no content
};

// What the differences of two stems say together.
struct StemDifferences {
    std::uint32_t said = 0;           // guards: another number or identifier stands in a sentence that both have
    std::vector<std::uint64_t> alike; // keys of words that are only written otherwise
    std::vector<Range> left, right;   // differences that only this side has words of

    void clear() {
        said = 0;
        judgment::clear(alike, left, right);
    }
};

// Choices of two texts in pairs.
struct ChoicePairs {
    struct Pairing {
        double ratio;
        std::uint32_t left, right;
    };
    std::vector<Pairing> pairs;
    std::vector<std::uint8_t> has_left, has_right;  // whether each is in a pair
};

// Room of comparisons, one for each thread; what a call leaves there means nothing to the next one.
struct Scratch {
    Comparison found;
    Alignment explained;
    SharedWords words;
    StemDifferences stems;
    ChoicePairs choices;
    DifferScratch differ;
    std::vector<ChoicePairs::Pairing> likely;
    std::vector<std::uint64_t> common, left_marks, right_marks;
    HashTable<std::uint32_t> counts;  // by character
};

// Compares two forms: the same features and guards in both orders of the two. stop: guards; as soon as one of them holds the
// comparison ends. With `stop` it also ends where there is `little` in common. The result is valid until the next call.
const Comparison& compare_forms(const Relations& relations, TextKind kind, const Form& x, const Form& y, std::uint32_t stop, Scratch& s);

// What is special to articles; see articles.cpp.

// Raises the feature of titles; returns guards.
std::uint32_t compare_titles(const Form& a, const Form& b, Scratch& s, Features& f);
// Measures what each text has of its own; `to` has the differences of the stems. Guards that count for articles stay.
void measure_own(const Form& a, const Form& b, Scratch& s, Comparison& to);
// Whether what stands at places, a number or an identifier, does so in a sentence.
bool is_said(const Form& form, std::span<const std::uint32_t> places);
// In statutes each word counts: one that is replaced, added or left out makes another rule.
bool changes_rule(const Form& a, const Form& b, const Alignment& found, const Difference& one, const Change& change);

}  // namespace dedup::judgment
