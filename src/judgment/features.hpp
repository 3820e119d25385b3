// The features of a pair, and its guards.
#pragma once
#include <array>
#include <string_view>

#include "judgment/pair.hpp"

namespace dedup::judgment {

// rises: with it the probability that both ask the same rises (1), falls (-1), or does either (0).
struct FeatureName {
    std::string_view name;
    int rises;
};

// "unlike": replaced by what neither looks nor sounds alike, nor is an anagram. "edge": whole clauses that one has.
// "tail": the last clause, and differences in it.
constexpr FeatureName FEATURES[] = {
    {"pieces", -1}, {"forms", 0}, {"edge_max", -1}, {"edge_share", -1}, {"started", 0}, {"inserted", 0},
    {"inserted_max", -1}, {"inserted_share", -1}, {"inserted_terms", -1}, {"inserted_verbs", 0},
    {"inserted_limits", -1}, {"replaced", 0}, {"replaced_max", -1}, {"replaced_min", -1}, {"replaced_share", -1},
    {"unlike", -1}, {"unlike_max", -1}, {"unlike_min", -1}, {"unlike_share", -1}, {"unlike_terms", -1},
    {"unlike_ratio", 1}, {"contained", 0}, {"alike", 0}, {"names", -1}, {"numbers_added", -1}, {"symbols", -1},
    {"latin", -1}, {"moved", 0}, {"moved_within", -1}, {"swaps", -1}, {"tail_ratio", 1}, {"tail_pieces", -1},
    {"tail_max", -1}, {"tail_min", -1}, {"tail_share", -1}, {"tail_unlike", -1}, {"tail_terms", -1},
    {"head_equal", 0}, {"length", 0}, {"length_ratio", 1}, {"all_shared", 1}, {"question", 0}, {"selects", 0},
    {"han", 0}, {"notation", 0}, {"numbers", 1}, {"numbers_share", 1}, {"choices_any", 0}, {"choices_both", 0},
    {"choices_equal", 1}, {"choices_mean", 1}, {"choices_least", 1}, {"choices_second", 1}, {"choices_bad", -1},
    {"choices_unmatched", -1}, {"choices_numbers", -1}, {"choices_count", -1}, {"choices_order", 0},
    {"choices_weight", 1}, {"choices_length", 0}, {"choices_truth", 0},
};

constexpr std::string_view GUARDS[] = {
    "number", "name", "blanks", "unit", "formula", "negation", "opposite", "exchanged", "image", "emphasis", "answer",
    "choice_negation", "choice_opposite",
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

struct Comparison {
    std::array<double, std::size(FEATURES)> features;
    std::uint32_t guards;   // bits by the places of GUARDS
    Alignment differences;  // the left side is the first form's
};

// Compares pairs; one for each thread.
class Comparer {
public:
    explicit Comparer(const Relations& relations) : relations_(relations), differ_(relations) {}

    // The same features and guards in both orders of the two.
    void compare(const Form& a, const Form& b, Comparison& to);

private:
    struct Choices {
        std::vector<std::uint32_t> plain;
        std::vector<std::size_t> ends;
        std::vector<std::uint64_t> keys;  // digests
        Points text(std::size_t i) const { return Points(plain).subspan(i ? ends[i - 1] : 0, ends[i] - (i ? ends[i - 1] : 0)); }
    };
    struct Pairing {
        double ratio;
        std::uint32_t left, right;
    };
    struct Weighed {
        std::uint64_t key;
        float weight;
    };
    struct Shared {
        double both, left, right;
    };
    void compare_stems(const Form& a, const Form& b, Work& work, Comparison& to);
    void compare_tails(const Form& a, const Form& b, Work& work, Comparison& to);
    void compare_choices(const Form& a, const Form& b, Work& work, Comparison& to);
    void compare_marks(const Form& a, const Form& b, Comparison& to);
    void read(const Form& form, Choices& choices);
    void pair_choices(const Form& a, const Form& b, Work& work);
    Shared share(std::span<const Token> a, std::span<const Token> b);
    void weigh(std::span<const Token> tokens, std::vector<Weighed>& to) const;
    void find_marks(const Form& form, std::uint16_t flag, std::vector<std::uint64_t>& to) const;
    void find_keyed(const Form& form, std::vector<std::uint64_t>& to) const;

    const Relations& relations_;
    Differ differ_;
    Choices a_, b_;
    std::vector<Pairing> pairings_, found_;
    std::vector<Weighed> weighed_a_, weighed_b_;
    std::vector<std::uint64_t> marks_a_, marks_b_;
    std::vector<std::uint32_t> text_a_, text_b_;
    std::vector<std::uint8_t> taken_a_, taken_b_;
};

}  // namespace dedup::judgment
