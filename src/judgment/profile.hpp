// What comparisons ask of a form, whatever it is compared with.
#pragma once
#include <cstdint>
#include <vector>

#include "core/hash.hpp"
#include "judgment/relations.hpp"
#include "judgment/token.hpp"

namespace dedup::judgment {

// Without a branch, which would be foretold badly.
inline bool has_content(const Token& token) { return (token.kind != Kind::function) & (token.kind != Kind::blank); }

double weight_of(const auto& words) {
    double sum = 0;  // exact, in any order: float in double
    for (const auto& word : words) sum += word.weight;
    return sum;
}

// Tokens of stem and choices.
inline Range asked_of(const Form& form) {
    return {form.stem.begin, form.choices.empty() ? form.stem.end : form.choices.back().end};
}

inline std::span<const Token> asked(const Form& form) { return form.of(asked_of(form)); }

// How often each character is in what carries a meaning.
struct Letters {
    struct Letter {
        std::uint32_t point, count;
    };
    std::vector<Letter> distinct;
    std::size_t size = 0;  // characters
};

// Counts them, without a branch on whether one is new.
class LetterCounter {
public:
    void clear() {
        counts_.resize(PLANE);
        for (std::size_t k = 0; k < count_; k++) counts_[distinct_[k]] = 0;
        count_ = 0;
        beyond_.clear();
    }
    void add(Points text);
    Letters letters() const;

private:
    std::vector<std::uint32_t> counts_;  // of each character of the basic plane
    Buffer distinct_;                    // ... those that came, `count_` of them
    std::size_t count_ = 0;
    Buffer beyond_;  // the others, as they come
};

// Tokens, and a hash of those with a meaning; its lowest bit tells whether it is long enough to be known again at another
// place.
struct Clause {
    Range tokens;
    std::uint64_t key;
};

// Signs that are no tokens, and a hash of the tokens that they stand between.
struct Sign {
    std::uint64_t context;
    std::uint32_t signs;
};

struct Profile {
    // Of the stem.
    std::vector<Clause> clauses;
    std::vector<std::uint64_t> numbers;  // digests, ascending
    double weight = 0;
    std::size_t han = 0, notation = 0;  // characters; tokens
    std::uint32_t last_clause = 0;
    bool asks = false;        // with a word, a question mark or a blank
    // Numbers of the explanation, each once, and of all but notes where there is one.
    std::vector<std::uint64_t> explained, known;
    // Of stem and choices.
    std::vector<std::uint64_t> grammar;  // keys of light words that may change what is said, ascending
    std::uint64_t order = 0, light = 0;  // hashes: of these in the order of the stem; of their texts, in any order
    Letters letters;
    bool has_image = false, has_emphasis = false;
    std::vector<Sign> signs;  // ascending by context
    // Of choices: the plain text of each, one after the other, and a hash of the words of each.
    Letters choice_letters;
    Buffer choices;
    std::vector<std::size_t> ends;
    std::vector<std::uint64_t> keys;

    // Whether other signs stand at one place; one more or fewer is layout.
    bool has_other_signs(const Profile& other) const;
    Points choice(std::size_t i) const { return range_of(i ? ends[i - 1] : 0, ends[i]).of(choices); }
};

// The clauses of a part; `keys` is room.
void find_clauses(const Form& form, Range part, std::vector<std::uint64_t>& keys, std::vector<Clause>& found);

class ProfileBuilder {
public:
    explicit ProfileBuilder(const Relations& relations) : relations_(relations) {}
    Profile build(const Form& form);

private:
    void add_choices(const Form& form, Profile& to);
    void add_numbers(const Form& form, Range part, std::vector<std::uint64_t>& to);
    Points content(const Form& form, std::span<const Token> tokens);

    const Relations& relations_;
    LetterCounter counter_;
    std::vector<std::uint64_t> keys_;
    Buffer text_, content_;
};

}  // namespace dedup::judgment
