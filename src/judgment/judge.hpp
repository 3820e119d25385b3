// The judge: whether two texts are the same to an editor.
#pragma once
#include <cmath>
#include <deque>
#include <mutex>

#include "core/bind.hpp"
#include "judgment/features.hpp"

namespace dedup::judgment {

// Nodes of all trees. A leaf has the feature -1 and a value; the value of another node is the mean of its leaves. A feature
// of at most the threshold leads left. scores and probabilities: points of the calibration, ascending, with lines between.
struct Model {
    std::span<const std::int32_t> feature{}, left{}, right{}, roots{};
    std::span<const double> threshold{}, value{}, scores{}, probabilities{};

    static constexpr std::size_t MOST_NODES = 1 << 16, MOST_DEPTH = 64;

    // Whether it may be evaluated: each node leads to later nodes, and has one parent at most; so there are no cycles.
    bool is_sound(std::size_t features) const {
        const std::size_t nodes = feature.size();
        const auto size = static_cast<std::int32_t>(nodes);
        const std::size_t sizes[] = {left.size(), right.size(), threshold.size(), value.size()};
        if (std::ranges::any_of(sizes, [&](std::size_t one) { return one != nodes; })) return false;
        if (std::max(nodes, roots.size()) > MOST_NODES || scores.empty() || scores.size() != probabilities.size()) return false;
        for (const auto& some : {threshold, value, scores, probabilities}) {
            if (!std::ranges::all_of(some, [](double x) { return std::isfinite(x); })) return false;
        }
        const bool rises = std::ranges::is_sorted(scores, std::less_equal<>{}) && std::ranges::is_sorted(probabilities);
        if (!rises || probabilities.front() < 0 || probabilities.back() > 1) return false;
        std::vector<std::size_t> depth(nodes, 0);
        for (std::int32_t i = 0; i < size; i++) {
            if (feature[i] == -1) continue;
            if (feature[i] < 0 || feature[i] >= static_cast<std::int64_t>(features)) return false;
            for (const std::int32_t next : {left[i], right[i]}) {
                if (next <= i || next >= size || depth[next] > 0) return false;
                depth[next] = depth[i] + 1;
                if (depth[next] > MOST_DEPTH) return false;
            }
        }
        return std::ranges::all_of(roots, [&](std::int32_t root) { return 0 <= root && root < size; });
    }

    // The child of a node that is no leaf; without a branch, which would be predicted badly.
    std::int32_t next(std::int32_t node, std::span<const double> features) const {
        return (features[feature[node]] <= threshold[node] ? left : right)[node];
    }

    double score(std::span<const double> features) const {
        double sum = 0;
        for (std::int32_t node : roots) {
            while (feature[node] >= 0) node = next(node, features);
            sum += value[node];
        }
        return sum;
    }

    // Adds the contribution of each feature to the score: at each node, the change of the value. With the values of the roots
    // they sum up to the score. (Saabas, "Interpreting random forests", 2014.)
    void weigh(std::span<const double> features, std::span<double> to) const {
        for (std::int32_t node : roots) {
            while (feature[node] >= 0) {
                const std::int32_t behind = next(node, features);
                to[feature[node]] += value[behind] - value[node];
                node = behind;
            }
        }
    }

    double probability(double score) const {
        const std::size_t k = std::upper_bound(scores.begin(), scores.end(), score) - scores.begin();
        if (k == 0) return probabilities.front();
        if (k == scores.size()) return probabilities.back();
        const double share = (score - scores[k - 1]) / (scores[k] - scores[k - 1]);
        return probabilities[k - 1] + share * (probabilities[k] - probabilities[k - 1]);
    }
};

// Texts parsed for comparison, and the forms of some.
class ReadTexts {
public:
    // Raises ValueError for invalid UTF-8; lone surrogates pass.
    ReadTexts(const Strings& texts, const FormTables& tables);

    std::size_t size() const { return parsed_.size(); }
    // The number of characters of a text.
    std::size_t points(std::size_t row) const { return parsed_[row].points.size(); }
    ParsedText operator[](std::size_t row) const { return parsed_[row]; }
    // The text itself, in UTF-8.
    Bytes text(std::size_t row) const { return utf8_[row]; }

    mutable std::mutex in_use;  // held by a thread that makes, reads or drops forms
    static constexpr std::size_t MOST_POINTS = 1 << 21;
    // Makes the forms of some rows, if they are missing; before, drops all forms if they are large.
    void make_forms(const FormTables& tables, std::vector<std::size_t> rows, std::size_t threads);
    Form form(std::size_t row) const {
        const auto [part, index] = slots_[row];
        Form form = part->forms[index];
        form.profile = &part->profiles[index];
        return form;
    }

private:
    // The forms of one thread.
    struct Part {
        Forms forms;
        std::vector<Profile> profiles;
    };
    struct Slot {
        const Part* part = nullptr;  // null without a form
        std::size_t index = 0;
    };
    ParsedTexts parsed_;
    StringBuffer utf8_;
    std::deque<Part> parts_;
    std::vector<Slot> slots_;  // by row
    std::size_t held_ = 0;     // characters of texts with forms
};

// The basis of a decision: differences, similarity of canonical texts, or none: all pairs are joined.
enum class Judging : std::uint8_t { differences, similarity, none };
constexpr std::string_view JUDGINGS[] = {"differences", "similarity", "none"};

// The state of a pair; gone: one of the texts was removed.
enum class State : std::uint8_t { unknown, joined, refused, gone };
constexpr std::string_view STATES[] = {"unknown", "joined", "refused", "gone"};

// Reasons of a refusal, after the numbers of guards: the probability is too low; the similarity is too low.
constexpr std::uint8_t UNLIKELY = std::size(GUARDS), SIMILARITY = UNLIKELY + 1;

// Content that a text can have more of than another, by bit.
constexpr std::string_view RICHER[] = {"image", "answer", "explanation", "choice", "sentence"};

struct Verdict {
    double probability = NAN;  // that an editor would keep only one of the two; NaN if a guard holds or similarity decides
    double similarity = NAN;   // Jaccard of the canonical texts; NaN unless measured
    double required = NAN;     // least similarity of a duplicate; NaN unless measured
    State state = State::unknown;
    std::uint8_t apart = 0;     // reason of a refusal
    std::uint8_t richer = 0;    // bits in the order of RICHER, for the first text
    std::uint8_t left_out = 0;  // percentage of the text that is not compared, of the text with more of it
};

// Parts of a text; only the first two are compared word by word.
enum class Part : std::uint8_t { stem, choice, answer, notes, explanation };
constexpr std::string_view PARTS[] = {"stem", "choice", "answer", "notes", "explanation"};

// Kinds of differences, seen from the first text. layout: white space, punctuation, numbering, which are not compared;
// notation: the same in other characters, or words without a meaning.
enum class DifferenceKind : std::uint8_t { layout, notation, inserted, deleted, replaced, moved };
constexpr std::string_view DIFFERENCE_KINDS[] = {"layout", "notation", "inserted", "deleted", "replaced", "moved"};

struct NamedDifference {
    DifferenceKind kind;
    Part part;
    Buffer text, other;  // the words of either text
};

// All results of a comparison, for training and for reasons.
struct PairFeatures {
    Features features;
    std::uint32_t guards;  // bits in the order of GUARDS, heeded or not
    bool equal;            // nothing differs, so the model is not asked
    TextKind kind;
    double probability;    // as in a verdict without guards
};

// Counts that make a text the better copy; the first that differs decides. Words are not counted: their number depends more
// on notation, headings and notes than on content.
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

// The least similarity of duplicates by the characters of the longer text. threshold: of texts that are not short. A
// character that is dropped from inside a text takes three of its G grams and adds two: of G + 2 in all G - 3 are common.
// Below FULL that is less than 0.8, so less is required; with fewer than LEAST grams a character may be half of the meaning.
inline double required_similarity(double threshold, std::size_t length) {
    constexpr double FULL = 27, LEAST = 12;
    const auto common = [](double grams) { return (grams - 3) / (grams + 2); };
    const double grams = static_cast<double>(length) - 2;
    return grams < LEAST ? threshold : threshold * (common(std::min(grams, FULL)) / common(FULL));
}

struct JudgeOptions {
    std::uint32_t heeded = ~std::uint32_t{0};  // guards
    double confidence = 1;                     // least probability of a duplicate
    TextKind kind = TextKind::any;
    Judging judging = Judging::differences;
    double similarity = 1;  // least one, of texts that are not short
};

// Judges pairs of texts; pure, symmetric but for `Verdict::richer`, and safe to share between threads.
class Judge {
public:
    using Models = std::array<Model, std::size(TEXT_KINDS)>;

    Judge(FormTables tables, Models models, const JudgeOptions& options)
        : tables_(std::move(tables)), models_(std::move(models)), options_(options) {}
    Judge(const Judge&) = delete;

    std::shared_ptr<ReadTexts> read(const Strings& texts) const { return std::make_shared<ReadTexts>(texts, tables_); }
    // Writes the canonical text, which is sketched: stem and choices without notation, choices in ascending order.
    void write_canonical(const ParsedText& parsed, Buffer& out) const;
    std::vector<Richness> richness(const ReadTexts& texts) const;

    // Fills the verdicts; similarities only if these decide.
    void judge(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const;
    // Fills similarities, and the least of a duplicate.
    void measure(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const;
    // Differences of pairs; an answer, notes or an explanation is one as a whole. features: output, one for each pair, or empty.
    std::vector<std::vector<NamedDifference>> differences(std::span<const Pair> pairs, std::size_t threads,
                                                          std::span<PairFeatures> features = {}) const;

private:
    void compare(std::span<const Pair> pairs, std::size_t threads, std::uint32_t stop, auto take) const;
    double probability(const Comparison& found) const;

    const FormTables tables_;
    const Models models_;
    const JudgeOptions options_;
};

}  // namespace dedup::judgment
