// What comparisons ask of a form, whatever it is compared with.
#pragma once
#include <cstdint>
#include <vector>

#include "core/hash_table.hpp"
#include "judgment/relations.hpp"
#include "judgment/token.hpp"

namespace dedup::judgment {

inline bool has_content(const Token& token) { return token.kind != Kind::function && token.kind != Kind::blank; }

double weight_of(const auto& words) {
    double sum = 0;  // exact, in any order: float in double
    for (const auto& word : words) sum += word.weight;
    return sum;
}

// Tokens of stem and choices.
inline Range asked_of(const Form& form) {
    return {form.stem.begin, form.choices.empty() ? form.stem.end : form.choices.back().end};
}

// How often each character is in what carries a meaning.
struct Letters {
    struct Letter {
        std::uint32_t point, count;
    };
    std::vector<Letter> distinct;
    std::size_t size = 0;  // characters
};

// Counts them. A character of the basic plane knows its place among the distinct ones, which is checked there: so none
// has to be forgotten.
class LetterCounter {
public:
    Letters letters;

    void clear() {
        places_.resize(PLANE);
        letters.distinct.clear();
        letters.size = 0;
        beyond_.reset(0);
    }
    void add(Points text) {
        auto& distinct = letters.distinct;
        for (const std::uint32_t point : text) {
            std::uint32_t& place = point < PLANE ? places_[point] : beyond_[key_of(point)].value;
            if (place < distinct.size() && distinct[place].point == point) {
                distinct[place].count++;
            } else {
                place = static_cast<std::uint32_t>(distinct.size());
                distinct.push_back({point, 1});
            }
        }
        letters.size += text.size();
    }

private:
    std::vector<std::uint32_t> places_;
    HashTable<std::uint32_t> beyond_;
};

// Tokens, and a hash of those with a meaning; its lowest bit tells whether it is long enough to be known again at another
// place.
struct Clause {
    Range tokens;
    std::uint64_t key;
};

struct Summary {
    // Of the stem.
    std::vector<Clause> clauses;
    std::vector<std::uint64_t> numbers;  // digests, ascending
    double weight = 0;
    std::size_t han = 0, notation = 0;  // characters; tokens
    std::uint32_t last_clause = 0;
    // Of stem and choices.
    Letters letters;
    bool has_image = false, has_emphasis = false;
    // Of choices: the plain text of each, one after the other, and a hash of the words of each.
    Letters choice_letters;
    Buffer choices;
    std::vector<std::size_t> ends;
    std::vector<std::uint64_t> keys;

    Points choice(std::size_t i) const { return range_of(i ? ends[i - 1] : 0, ends[i]).of(choices); }
};

class Summarizer {
public:
    explicit Summarizer(const Relations& relations) : relations_(relations) {}
    Summary summarize(const Form& form);
    void find_clauses(const Form& form, Range part, std::vector<Clause>& found);

private:
    void summarize_choices(const Form& form, Summary& to);

    const Relations& relations_;
    LetterCounter counter_;
    std::vector<std::uint64_t> keys_;
    Buffer text_;
};

}  // namespace dedup::judgment
