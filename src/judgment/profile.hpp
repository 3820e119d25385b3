// What comparisons ask of a form, whatever it is compared with; what words and characters are to each other, in tables that
// Python makes.
#pragma once
#include "judgment/form_tables.hpp"

namespace dedup::judgment {

// Groups of words: two are related if they share a group.
class Groups {
public:
    // Digests of words, each with the number of a group that it is in.
    explicit Groups(std::vector<std::pair<std::uint64_t, std::uint32_t>> members) {
        std::ranges::sort(members);
        ranges_.reset(members.size());
        for (const auto& [key, group] : members) {
            const auto [range, is_new] = ranges_[key_of(key)];
            groups_.push_back(group);
            range = range_of(is_new ? groups_.size() - 1 : range.begin, groups_.size());
        }
    }
    std::span<const std::uint32_t> of(std::uint64_t key) const { return ranges_.find(key_of(key)).of(groups_); }
    bool share(Points one, Points other) const {
        const auto a = of(digest(one)), b = of(digest(other));
        return std::ranges::find_first_of(a, b) != a.end();
    }

private:
    std::vector<std::uint32_t> groups_;
    HashTable<Range> ranges_;
};

// Words that are written in another way as well.
struct Spellings {
    enum Use : std::uint8_t { BEHIND_NUMBER = 1, SYMBOL = 2 };  // a unit behind a number; the symbol of one
    struct Spelling {
        std::uint8_t uses = 0;
        Points text;  // how it is written plainly, empty: as it is
    };
    HashTable<Spelling> words;  // by digest
    std::size_t longest_unit = 0;
    Buffer unit_starts;  // what units behind a number begin with, ascending

    Spelling find(Points word) const { return words.find(key_of(digest(word))); }
};

struct Relations {
    Groups opposites;  // words that exclude each other
    Groups alike;      // characters that look or sound alike
    Spellings spellings;
};

// Appends a text with its numerals in digits, and units behind them as symbols.
void write_plainly(Points text, const Spellings& spellings, Buffer& to);

// Appends digests of the numbers in such a text, and sorts them.
void find_numbers(Points plain, std::vector<std::uint64_t>& to);

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

inline bool is_explained(const Form& form) { return form.text(form.of(form.explanation)).size() >= 10; }

inline std::uint32_t count_images(const Form& form) {
    return static_cast<std::uint32_t>(std::ranges::count(form.tokens, Kind::image, &Token::kind));
}

// How often each character is in what carries a meaning.
struct Letters {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> distinct;  // keys of characters, counts
    std::size_t size = 0;                                           // characters
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
    Letters letters() const;

    const Relations& relations_;
    HashTable<std::uint32_t> counts_;  // by character
    std::vector<std::uint64_t> keys_;
    Buffer text_, content_;
};

}  // namespace dedup::judgment
