// Differences of two forms: what stands at a place in one, and in the other.
#pragma once
#include <span>
#include <vector>

#include "judgment/subsequence.hpp"
#include "judgment/profile.hpp"

namespace dedup::judgment {

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

// Appends the places of a range.
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

// Finds differences, and says what is known of them.
class Differ {
public:
    explicit Differ(const Relations& relations) : relations_(relations) {}

    // Clauses that both parts have are taken out, those in order first; then tokens between them are aligned.
    void align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Work& work, DifferScratch& s,
               Alignment& found) const;

    // last: clauses of the stem that are its tail.
    Change look_at(const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last, Work& work,
                   DifferScratch& s) const;

private:
    using Side = DifferScratch::Side;
    void align_tokens(const Form& a, const Form& b, Difference kind, bool begins, bool ends, Work& work, DifferScratch& s,
                      Alignment& found) const;
    void read(const Form& form, std::span<const std::uint32_t> tokens, Side& side) const;
    bool excludes(DifferScratch& s) const;
    bool are_alike(Points p, Points q) const;

    const Relations& relations_;
};

}  // namespace dedup::judgment
