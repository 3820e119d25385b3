// Differences of two forms: what stands at a place in one, and in the other.
#pragma once
#include <span>
#include <vector>

#include "judgment/relations.hpp"
#include "judgment/subsequence.hpp"
#include "judgment/token.hpp"

namespace dedup::judgment {

// Tokens of both sides, as ranges of `Alignment::left` and `right`; one of them may be empty.
struct Difference {
    Range left, right;
    bool choice;   // of a choice, not of the stem
    bool edge;     // the part begins or ends with it
    bool clauses;  // whole clauses, with no counterpart at their place
    bool moved;    // in both, at other places
};

// Differences of two forms; one is added to the other, stem first.
struct Alignment {
    std::vector<std::uint32_t> left, right;  // places of tokens in their forms
    std::vector<Difference> differences;
    double moved_clauses = 0, moved_within = 0;  // weights
    std::uint32_t swaps = 0;                     // single words that moved
    bool exchanged = false;                      // two words have changed places and nothing else has

    void clear();
};

// What is known of one difference.
struct Change {
    bool null;  // no difference but in notation, or of words without a meaning
    bool edge, clauses, replaced, in_tail;
    bool numbers_differ, number_added, number_alone, unit, symbols, formula, negation, opposite;
    bool alike, unlike, contained, name, names, term, terms, verb, latin, latins, limits;
    std::int64_t blanks;  // more of them on the left
    double left, right;   // weights
    double heaviest;      // word
    double ratio;         // of characters in common, where the sides are unlike
    std::size_t chars;

    double least() const { return std::min(left, right); }
    double most() const { return std::max(left, right); }
};

inline bool has_content(const Token& token) { return token.kind != Kind::function && token.kind != Kind::blank; }

template <class Tokens>
double weight_of(const Tokens& tokens) {
    double sum = 0;  // exact, in any order: float in double
    for (const Token& token : tokens) sum += token.weight;
    return sum;
}

// Finds differences, and says what is known of them; it holds room that is used again.
class Differ {
public:
    explicit Differ(const Relations& relations) : relations_(relations) {}

    // Clauses that both parts have are taken out, those in order first; then tokens between them are aligned.
    void align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Work& work, Alignment& found);

    // last: clauses of the stem that are its tail.
    Change look_at(const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last, Work& work);

    // Characters in common.
    std::size_t common(Points x, Points y, Work& work) { return subsequence_.length(x, y, work); }

private:
    // One of the two texts: what lies between clauses that both have, and what is known of its part of a difference.
    struct Side {
        std::vector<Range> clauses;
        std::vector<std::uint64_t> clause_keys, keys, numbers, words, groups;
        std::vector<std::uint8_t> taken, gone, gone_clauses;
        std::vector<std::uint32_t> tokens, plain, content;
    };
    void find_clauses(const Form& form, Range range, Side& side);
    void gather(const Form& form, Range clauses, Side& side) const;
    void align_tokens(const Form& a, Difference kind, bool begins, bool ends, Work& work, Alignment& found);
    template <class Take>
    void find_runs(std::span<const std::uint64_t> x, std::span<const std::uint64_t> y, std::size_t longest, Take take);
    void read(const Form& form, std::span<const std::uint32_t> tokens, Side& side) const;
    bool excludes();

    const Relations& relations_;
    Subsequence subsequence_;
    std::vector<Match> same_;
    std::vector<std::uint32_t> order_, heads_;
    std::vector<std::uint64_t> buffer_;
    Side a_, b_;
};

}  // namespace dedup::judgment
