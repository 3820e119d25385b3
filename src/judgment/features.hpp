// The features of a pair, and its guards.
#pragma once
#include <array>
#include <string_view>
#include <utility>

#include "core/hash.hpp"
#include "judgment/model.hpp"
#include "judgment/pair.hpp"

namespace dedup::judgment {

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
    Weights of(const Token& word) const { return weights_.find(key_of(word.key)); }
    std::pair<Own, Own> own(const Form& a, const Form& b, std::span<const std::uint64_t> alike, bool numbers);

private:
    Own own(const Form& form, std::size_t first, double Weights::* here, double Weights::* there, bool numbers) const;

    bool found_ = false;
    Totals totals_;
    HashTable<Weights> weights_;   // by word
    std::vector<Weights*> words_;  // of each token of both, null where it has no content
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

// Compares pairs.
class Comparer {
public:
    Comparer(const Relations& relations, TextKind kind) : differ_(relations), kind_(kind) {}

    // The same features and guards in both orders of the two. stop: guards; as soon as one of them holds the comparison
    // ends. With `stop` it also ends where there is `little` in common. The result is valid until the next call.
    const Comparison& compare(const Form& x, const Form& y, std::uint32_t stop, Scratch& s) const;

    // Whether a difference is none but in notation, or of words without a meaning.
    bool is_null(const Form& a, const Form& b, const Alignment& found, const Difference& one, Work& work, Scratch& s) const {
        return differ_.look_at(a, b, found, one, {0, 0}, work, s.differ).null;
    }

private:
    void compare_stems(const Form& a, const Form& b, std::uint32_t stop, Work& work, Scratch& s, Comparison& to) const;
    void look_at_differences(const Form& a, const Form& b, std::uint32_t stop, Work& work, Scratch& s, Comparison& to) const;
    std::uint32_t compare_added(const Form& a, const Form& b, Work& work, Scratch& s, Alignment& found) const;
    void pair_choices(const Profile& a, const Profile& b, Work& work, Scratch& s) const;
    void compare_choices(const Form& a, const Form& b, std::uint32_t stop, Work& work, Scratch& s, Comparison& to) const;
    std::uint32_t compare_explanations(const Form& a, const Form& b, Work& work, Scratch& s) const;

    const Differ differ_;
    const TextKind kind_;
};

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
