#include "judgment/profile.hpp"

#include <algorithm>

namespace dedup::judgment {
namespace {

constexpr std::uint64_t PRIME = 0x9E3779B185EBCA87;

bool is_han(std::uint32_t point) { return 0x3400 <= point && point < 0xA000; }

bool is_notation(const Token& token) {
    return (token.kind == Kind::symbol) | (token.kind == Kind::letter) | (token.kind == Kind::number);
}

std::uint64_t hash(std::span<const std::uint64_t> keys) { return XXH3_64bits(keys.data(), keys.size_bytes()); }

// Those of tokens that say something; `room` holds them.
std::span<const std::uint64_t> keys_of(std::span<const Token> tokens, std::vector<std::uint64_t>& room) {
    if (room.size() < tokens.size()) room.resize(tokens.size());
    std::size_t count = 0;
    for (const Token& token : tokens) {
        room[count] = token.key;
        count += has_content(token) | ((token.flags & GRAMMAR) != 0);
    }
    return std::span(room).first(count);
}

}  // namespace

void LetterCounter::add(Points text) {
    if (distinct_.size() < count_ + text.size()) distinct_.resize(count_ + text.size());
    for (const std::uint32_t point : text) {
        if (point >= PLANE) {
            beyond_.push_back(point);
            continue;
        }
        distinct_[count_] = point;
        count_ += counts_[point]++ == 0;
    }
}

Letters LetterCounter::letters() const {
    Letters letters{std::vector<Letters::Letter>(count_), beyond_.size()};
    for (std::size_t k = 0; k < count_; k++) {
        const std::uint32_t point = distinct_[k], count = counts_[point];
        letters.distinct[k] = {point, count};
        letters.size += count;
    }
    Buffer others = beyond_;
    std::ranges::sort(others);
    for (const std::uint32_t point : others) {
        if (letters.distinct.empty() || letters.distinct.back().point != point) letters.distinct.push_back({point, 0});
        letters.distinct.back().count++;
    }
    return letters;
}

bool Profile::has_other_signs(const Profile& other) const {
    for (auto one = signs.begin(), its = other.signs.begin(); one != signs.end() && its != other.signs.end();) {
        const bool same = one->context == its->context;
        if (same && one->signs != its->signs) return true;
        const bool first = one->context <= its->context;
        its += same || !first;
        one += first;
    }
    return false;
}

Profile ProfileBuilder::build(const Form& form) {
    Profile profile;
    add_choices(form, profile);
    const auto stem = form.of(form.stem);
    find_clauses(form, form.stem, keys_, profile.clauses);
    text_.clear();
    write_plainly(form.text(stem), relations_.spellings, text_);
    find_numbers(text_, profile.numbers);
    if (form.explanation.size()) {
        add_numbers(form, form.explanation, profile.explained);
        const auto repeated = std::ranges::unique(profile.explained);
        profile.explained.erase(repeated.begin(), repeated.end());
        add_numbers(form, {0, form.explanation.end}, profile.known);
    }
    profile.han = std::ranges::count_if(form.text(stem), is_han);
    for (const Token& token : stem) {
        profile.weight += token.weight;
        profile.notation += is_notation(token);
        profile.asks |= (token.flags & (ASKS | TASK | POLAR)) || token.kind == Kind::blank;
        profile.last_clause = std::max(profile.last_clause, token.kind == Kind::symbol ? 0 : token.clause);
    }
    std::uint64_t before = 0;
    for (const Token& token : form.of(asked_of(form))) {
        if (token.signs) profile.signs.push_back({std::rotl(before, 1) ^ token.key, token.signs});
        before = token.key;
        if (token.flags & GRAMMAR) {
            const bool in_stem = &token < stem.data() + stem.size();
            profile.order = in_stem ? profile.order * PRIME + token.key : profile.order + token.key * PRIME;
            profile.light += digest(form.text(token));
            profile.grammar.push_back(token.key);
        }
        profile.has_image |= token.kind == Kind::image;
        profile.has_emphasis |= (token.flags & EMPHASISED) != 0;
    }
    std::ranges::stable_sort(profile.signs, {}, &Sign::context);
    std::ranges::sort(profile.grammar);
    counter_.add(content(form, stem));
    profile.letters = counter_.letters();
    return profile;
}

// Those of each token by itself: 40, 200 is not 40200.
void ProfileBuilder::add_numbers(const Form& form, Range part, std::vector<std::uint64_t>& to) {
    text_.clear();
    for (const Token& token : form.of(part)) {
        write_plainly(form.text(token), relations_.spellings, text_);
        text_.push_back(U' ');
    }
    find_numbers(text_, to);
}

// The text of tokens with a meaning; valid until the next call. Short ones are copied without a branch.
Points ProfileBuilder::content(const Form& form, std::span<const Token> tokens) {
    constexpr std::size_t SHORT = 4;
    content_.resize(form.text(tokens).size() + SHORT);
    std::size_t size = 0;
    for (const Token& token : tokens) {
        const Points text = form.text(token);
        if (text.size() <= SHORT && token.begin + SHORT <= form.points.size())
            std::copy_n(form.points.begin() + token.begin, SHORT, content_.begin() + size);
        else
            std::ranges::copy(text, content_.begin() + size);
        size += has_content(token) ? text.size() : 0;
    }
    return Points(content_).first(size);
}

// Leaves their letters in the counter.
void ProfileBuilder::add_choices(const Form& form, Profile& to) {
    counter_.clear();
    for (const Range range : form.choices) {
        const auto tokens = form.of(range);
        const Points text = content(form, tokens);
        counter_.add(text);
        write_plainly(text, relations_.spellings, to.choices);
        to.ends.push_back(to.choices.size());
        to.keys.push_back(hash(keys_of(tokens, keys_)));
    }
    to.choice_letters = counter_.letters();
}

void find_clauses(const Form& form, Range part, std::vector<std::uint64_t>& keys, std::vector<Clause>& found) {
    found.clear();
    if (part.size()) found.reserve(form.tokens[part.end - 1].clause - form.tokens[part.begin].clause + 1);
    for (std::uint32_t at = part.begin; at < part.end;) {
        const std::uint32_t begin = at;
        while (at < part.end && form.tokens[at].clause == form.tokens[begin].clause) at++;
        const auto own = keys_of(form.of({begin, at}), keys);
        found.push_back({{begin, at}, (hash(own) & ~std::uint64_t{1}) | (own.size() >= 2)});
    }
}

}  // namespace dedup::judgment
