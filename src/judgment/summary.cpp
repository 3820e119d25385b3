#include "judgment/summary.hpp"

#include <algorithm>

namespace dedup::judgment {
namespace {

constexpr std::size_t MOST_DISTINCT = 1 << 10;  // characters, of nearly all texts

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
    const auto stem = form.of(form.stem);
    find_clauses(form, form.stem, summary.clauses);
    text_.clear();
    write_plainly(form.text(stem), relations_.spellings, text_);
    find_numbers(text_, summary.numbers);
    summary.weight = weight_of(stem);
    summary.han = std::ranges::count_if(form.text(stem), is_han);
    summary.notation = std::ranges::count_if(stem, is_notation);
    for (const Token& token : stem) {
        if (token.kind != Kind::symbol) summary.last_clause = std::max(summary.last_clause, token.clause);
    }
    summary.letters = count_letters(form, asked_of(form));
    for (const Token& token : form.of(asked_of(form))) {
        summary.has_image |= token.kind == Kind::image;
        summary.has_emphasis |= (token.flags & EMPHASISED) != 0;
    }
    summarize_choices(form, summary);
    return summary;
}

void Summarizer::summarize_choices(const Form& form, Summary& to) {
    to.choice_letters = count_letters(form, choices_of(form));
    for (const Range range : form.choices) {
        clear(text_, keys_);
        for (const Token& token : form.of(range)) {
            if (!has_content(token)) continue;
            append(text_, form.text(token));
            keys_.push_back(token.key);
        }
        write_plainly(text_, relations_.spellings, to.choices);
        to.ends.push_back(to.choices.size());
        to.keys.push_back(hash(keys_));
    }
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

Letters Summarizer::count_letters(const Form& form, Range tokens) {
    Letters letters;
    counts_.reset(std::min<std::size_t>(form.text(form.of(tokens)).size(), MOST_DISTINCT));
    for (const Token& token : form.of(tokens)) {
        if (!has_content(token)) continue;
        for (const std::uint32_t point : form.text(token)) counts_[key_of(point)].value++;
        letters.size += token.end - token.begin;
    }
    letters.distinct.reserve(counts_.size());
    counts_.each([&](std::uint64_t key, std::uint32_t count) {
        letters.distinct.push_back({static_cast<std::uint32_t>(key - 1), count});
    });
    return letters;
}

}  // namespace dedup::judgment
