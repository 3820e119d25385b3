// The judge: whether two texts are the same to an editor.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judgment/features.hpp"
#include "judgment/read_texts.hpp"

namespace dedup::judgment {

// What decides a pair: its differences, how alike its canonical texts are, or nothing: all pairs are joined.
enum class Judging : std::uint8_t { differences, similarity, none };
constexpr std::string_view JUDGINGS[] = {"differences", "similarity", "none"};

// What is known of a pair; gone: one of the texts is not there any more.
enum class State : std::uint8_t { unknown, joined, refused, gone };
constexpr std::string_view STATES[] = {"unknown", "joined", "refused", "gone"};

// What keeps a pair apart, besides guards by their numbers: the model finds the same unlikely; they are not alike enough.
constexpr std::uint8_t UNLIKELY = std::size(GUARDS), SIMILARITY = UNLIKELY + 1;

// What a text can have more than another, by bit.
constexpr std::string_view RICHER[] = {"image", "answer", "explanation", "choice", "sentence"};

struct Verdict {
    double probability = NAN;  // that an editor would keep only one of the two; NaN if a guard holds or the model does not decide
    double similarity = NAN;   // Jaccard of the canonical texts; NaN unless measured
    State state = State::unknown;
    std::uint8_t apart = 0;     // what keeps them apart if they are refused
    std::uint8_t richer = 0;    // bits: what the first text has and the second lacks
    std::uint8_t left_out = 0;  // percentage of the text that is not compared, of the text with more of it
};

// Parts of a text; only the first two are compared word by word.
enum class Part : std::uint8_t { stem, choice, answer, notes, explanation };
constexpr std::string_view PARTS[] = {"stem", "choice", "answer", "notes", "explanation"};

// What became of the words at one place, seen from the first text. layout: white space, punctuation, numbering, which are
// not compared; notation: the same in other characters, or words without a meaning.
enum class DifferenceKind : std::uint8_t { layout, notation, inserted, deleted, replaced, moved };
constexpr std::string_view DIFFERENCE_KINDS[] = {"layout", "notation", "inserted", "deleted", "replaced", "moved"};

struct NamedDifference {
    DifferenceKind kind;
    Part part;
    Buffer text, other;  // the words of either text there
};

// All that a comparison finds, for training and for reasons, whatever is heeded.
struct PairFeatures {
    Features features;
    std::uint32_t guards;  // bits by the places of GUARDS
    bool equal;            // nothing differs, so they are the same whatever a model says
    TextKind kind;
    double probability;    // as in a verdict, whatever guards hold
};

// What makes a text the better copy, the first that differs decides. Words are not counted: how many there are says more
// of notation, headings and notes than of content.
struct Richness {
    std::uint32_t images, choices, answers, explanations;
};

struct TextRef {
    ReadTexts* texts;
    std::size_t row;
};
struct Pair {
    TextRef text, other;
};

struct JudgeOptions {
    std::uint32_t heeded = ~std::uint32_t{0};  // guards
    double confidence = 1;                     // least probability of a duplicate
    TextKind kind = TextKind::any;
    Judging judging = Judging::differences;
    double similarity = 1;  // least one, of texts that are not short
};

// Judges pairs of texts; pure, symmetric but for what says which text has more, and safe to share between threads.
class Judge {
public:
    using Models = std::array<Model, std::size(TEXT_KINDS)>;

    Judge(FormTables tables, Relations relations, Models models, const JudgeOptions& options)
        : tables_(std::move(tables)), relations_(std::move(relations)), models_(std::move(models)), options_(options),
          comparer_(relations_, options.kind) {}
    Judge(const Judge&) = delete;

    std::shared_ptr<ReadTexts> read(const Strings& texts) const { return std::make_shared<ReadTexts>(texts, tables_); }
    // What each text asks, whatever the order of its choices.
    const OwnTexts& canonical(ReadTexts& texts) const { return texts.canonical(tables_, relations_.spellings); }
    std::vector<Richness> richness(const ReadTexts& texts) const;

    // Fills all of the verdicts but similarities, which it does only where these decide.
    void judge(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const;
    // Fills similarities.
    void measure(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const;
    // Equal pairs together are faster. Of answers, notes and explanations all is named, as one difference.
    std::vector<std::vector<NamedDifference>> differences(std::span<const Pair> pairs, std::size_t threads) const;
    std::vector<PairFeatures> features(std::span<const Pair> pairs) const;

private:
    template <class Take>
    void compare(std::span<const Pair> pairs, std::size_t threads, std::uint32_t stop, Take take) const;
    template <class Take>
    void measure_all(std::span<const Pair> pairs, std::size_t threads, Take take) const;
    void judge_differences(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const;
    double probability(const Comparison& found) const;
    std::vector<NamedDifference> name_differences(const Form& a, const Form& b, const Alignment& found, Scratch& scratch) const;

    const FormTables tables_;
    const Relations relations_;
    const Models models_;
    const JudgeOptions options_;
    const Comparer comparer_;
};

}  // namespace dedup::judgment
