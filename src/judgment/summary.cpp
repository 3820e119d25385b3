#include "judgment/summary.hpp"

#include <algorithm>

namespace dedup::judgment {
namespace {

bool is_han(std::uint32_t point) { return 0x3400 <= point && point < 0xA000; }

bool is_notation(const Token& token) {
    return token.kind == Kind::symbol || token.kind == Kind::letter || token.kind == Kind::number;
}

std::uint64_t hash(const std::vector<std::uint64_t>& keys) {
    return XXH3_64bits(keys.data(), keys.size() * sizeof(std::uint64_t));
}

}  // namespace

Summary Summarizer::summarize(const Form& form) {
    Summary summary;
    summarize_choices(form, summary);
    const auto stem = form.of(form.stem);
    find_clauses(form, form.stem, summary.clauses);
    text_.clear();
    write_plainly(form.text(stem), relations_.spellings, text_);
    find_numbers(text_, summary.numbers);
    summary.weight = weight_of(stem);
    summary.han = std::ranges::count_if(form.text(stem), is_han);
    for (const Token& token : stem) {
        summary.notation += is_notation(token);
        if (token.kind != Kind::symbol) summary.last_clause = std::max(summary.last_clause, token.clause);
        if (has_content(token)) counter_.add(form.text(token));
    }
    summary.letters = counter_.letters;
    for (const Token& token : form.of(asked_of(form))) {
        summary.has_image |= token.kind == Kind::image;
        summary.has_emphasis |= (token.flags & EMPHASISED) != 0;
    }
    return summary;
}

// Leaves their letters in the counter.
void Summarizer::summarize_choices(const Form& form, Summary& to) {
    counter_.clear();
    for (const Range range : form.choices) {
        clear(text_, keys_);
        for (const Token& token : form.of(range)) {
            if (!has_content(token)) continue;
            append(text_, form.text(token));
            keys_.push_back(token.key);
        }
        counter_.add(text_);
        write_plainly(text_, relations_.spellings, to.choices);
        to.ends.push_back(to.choices.size());
        to.keys.push_back(hash(keys_));
    }
    to.choice_letters = counter_.letters;
}

void Summarizer::find_clauses(const Form& form, Range part, std::vector<Clause>& found) {
    found.clear();
    for (std::uint32_t at = part.begin; at < part.end;) {
        const std::uint32_t begin = at;
        keys_.clear();
        for (; at < part.end && form.tokens[at].clause == form.tokens[begin].clause; at++) {
            if (has_content(form.tokens[at])) keys_.push_back(form.tokens[at].key);
        }
        found.push_back({{begin, at}, (hash(keys_) & ~std::uint64_t{1}) | (keys_.size() >= 2)});
    }
}

}  // namespace dedup::judgment
