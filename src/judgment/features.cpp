#include "judgment/features.hpp"

#include <limits>
#include <tuple>

namespace dedup::judgment {
namespace {

double share_of(double part, double whole, double of_none) { return whole > 0 ? part / whole : of_none; }

std::uint32_t last_clause(const Form& form) {
    std::uint32_t last = 0;
    for (const Token& token : form.of(form.stem)) {
        if (token.kind != Kind::symbol) last = std::max(last, token.clause);
    }
    return last;
}

// Tokens of stem and choices.
std::span<const Token> asked(const Form& form) {
    return form.of({form.stem.begin, form.choices.empty() ? form.stem.end : form.choices.back().end});
}

std::size_t count_common(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    std::size_t common = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        common += *i == *j;
        const bool left = *i <= *j, right = *j <= *i;
        i += left, j += right;
    }
    return common;
}

void write_content(const Form& form, std::span<const Token> tokens, std::vector<std::uint32_t>& to) {
    for (const Token& token : tokens) {
        const Points text = form.text(token);
        if (has_content(token)) to.insert(to.end(), text.begin(), text.end());
    }
}

// An order of two forms that does not depend on which is the first.
bool is_before(const Form& a, const Form& b) {
    const auto x = a.tokens.first(a.answer.end), y = b.tokens.first(b.answer.end);
    if (x.size() != y.size()) return x.size() < y.size();
    for (std::size_t i = 0; i < x.size(); i++) {
        const Points p = a.text(x[i]), q = b.text(y[i]);
        if (!std::ranges::equal(p, q)) return std::ranges::lexicographical_compare(p, q);
        if (x[i].clause != y[i].clause) return x[i].clause < y[i].clause;
        if (x[i].flags != y[i].flags) return x[i].flags < y[i].flags;
    }
    const auto size = [](Range range) { return range.end - range.begin; };
    if (size(a.stem) != size(b.stem)) return size(a.stem) < size(b.stem);
    return std::ranges::lexicographical_compare(a.choices, b.choices, std::less<>{}, size, size);
}

}  // namespace

void Comparer::compare(const Form& a, const Form& b, Comparison& to) {
    const bool turned = is_before(b, a);
    const Form &one = turned ? b : a, &other = turned ? a : b;
    Work work;
    to.features.fill(0);
    to.guards = 0;
    to.differences.clear();
    compare_stems(one, other, work, to);
    compare_choices(one, other, work, to);
    compare_tails(one, other, work, to);
    compare_marks(one, other, to);
    if (!turned) return;
    std::swap(to.differences.left, to.differences.right);
    for (Difference& difference : to.differences.differences) std::swap(difference.left, difference.right);
}

void Comparer::compare_stems(const Form& a, const Form& b, Work& work, Comparison& to) {
    auto& f = to.features;
    differ_.align(a, a.stem, b, b.stem, false, work, to.differences);
    const double total = std::max({weight_of(a.of(a.stem)), weight_of(b.of(b.stem)), 1.0});
    const Match last{last_clause(a), last_clause(b)};
    const Points p = a.text(a.of(a.stem)), q = b.text(b.of(b.stem));
    std::size_t han_count = 0;
    for (const Points text : {p, q}) {
        for (const std::uint32_t point : text) han_count += 0x3400 <= point && point < 0xA000;
    }
    const double han = share_of(han_count, p.size() + q.size(), 0);

    const auto raise = [&](std::size_t feature, double value) { f[feature] = std::max(f[feature], value); };
    double pieces = 0, latin = 0, tail = 0, negations = 0;
    bool fewer_blanks = false, more_blanks = false;
    f["unlike_ratio"_f] = 1;
    for (const Difference& one : to.differences.differences) {
        if (one.moved) continue;
        const Change c = differ_.look_at(a, b, to.differences, one, last, work);
        if (c.null) {
            f["forms"_f]++;
            continue;
        }
        pieces++;
        f["names"_f] += c.name;
        f["numbers_added"_f] += c.number_added;
        f["symbols"_f] += c.symbols;
        latin += c.latin;
        if (!c.replaced) {
            f["inserted_limits"_f] += c.limits;
            if (c.clauses) {
                raise("edge_max"_f, c.heaviest);
                f["edge_share"_f] += c.left + c.right;
            } else {
                f["started"_f] += c.edge;
                f["inserted"_f]++;
                raise("inserted_max"_f, c.heaviest);
                f["inserted_share"_f] += c.left + c.right;
                f["inserted_terms"_f] += c.term;
                f["inserted_verbs"_f] += c.verb;
            }
        } else {
            f["replaced"_f]++;
            raise("replaced_max"_f, c.heaviest);
            raise("replaced_min"_f, c.least());
            f["replaced_share"_f] += c.most();
            f["alike"_f] += c.alike;
        }
        if (c.unlike) {
            f["unlike"_f]++;
            raise("unlike_max"_f, c.heaviest);
            raise("unlike_min"_f, c.least());
            f["unlike_share"_f] += c.most();
            f["unlike_terms"_f] += c.terms;
            f["unlike_ratio"_f] = std::min(f["unlike_ratio"_f], c.ratio);
            f["contained"_f] += c.contained;
        }
        if (c.in_tail) {
            tail++;
            raise("tail_max"_f, c.heaviest);
            raise("tail_min"_f, c.least());
            f["tail_share"_f] += c.most();
            if (c.unlike) raise("tail_unlike"_f, c.least());
            f["tail_terms"_f] += c.unlike && c.terms;
        }
        negations += c.negation;
        more_blanks |= c.blanks > 0;
        fewer_blanks |= c.blanks < 0;
        if (c.numbers_differ || (c.number_alone && !c.edge)) to.guards |= "number"_g;
        if (c.names && c.unlike && !c.contained && c.ratio < 0.5) to.guards |= "name"_g;
        if (c.unit) to.guards |= "unit"_g;
        if (c.formula && !c.numbers_differ) to.guards |= "formula"_g;
        if (han > 0.3 && c.latins && c.unlike && c.ratio < 0.8) to.guards |= "formula"_g;
        if (c.opposite) to.guards |= "opposite"_g;
    }
    if (static_cast<std::size_t>(negations) % 2) to.guards |= "negation"_g;
    if (more_blanks && fewer_blanks) to.guards |= "blanks"_g;
    if (to.differences.exchanged) to.guards |= "exchanged"_g;

    const auto cap = [&](std::size_t feature, double most) { f[feature] = std::min(f[feature], most); };
    f["pieces"_f] = std::min(pieces, 10.0);
    cap("forms"_f, 6), cap("inserted"_f, 6), cap("replaced"_f, 6), cap("unlike"_f, 6);
    for (const std::size_t share : {"edge_share"_f, "inserted_share"_f, "replaced_share"_f, "unlike_share"_f}) f[share] /= total;
    f["latin"_f] = han > 0.3 ? std::min(latin, 5.0) : 0;
    f["moved"_f] = to.differences.moved_clauses / total;
    f["moved_within"_f] = std::min(to.differences.moved_within, 40.0);
    f["swaps"_f] = std::min<double>(to.differences.swaps, 5);
    f["tail_pieces"_f] = std::min(tail, 5.0);
    f["length"_f] = std::max(p.size(), q.size());
    f["length_ratio"_f] = share_of(std::min(p.size(), q.size()), f["length"_f], 1);
    f["han"_f] = han;
    f["question"_f] = ((a.facts | b.facts) & QUESTION) != 0;
    f["selects"_f] = ((a.facts | b.facts) & SELECTS) != 0;

    const Shared all = share(asked(a), asked(b));
    f["all_shared"_f] = share_of(all.both, all.left + all.right - all.both, 1);
    marks_a_.clear(), marks_b_.clear(), text_a_.clear(), text_b_.clear();
    write_plainly(p, relations_.spellings, text_a_), write_plainly(q, relations_.spellings, text_b_);
    find_numbers(text_a_, marks_a_), find_numbers(text_b_, marks_b_);
    const double numbers = count_common(marks_a_, marks_b_);
    f["numbers"_f] = std::min(numbers, 10.0);
    f["numbers_share"_f] = share_of(numbers, std::max(marks_a_.size(), marks_b_.size()), 1);
}

// The last clauses as a whole, and the first words.
void Comparer::compare_tails(const Form& a, const Form& b, Work& work, Comparison& to) {
    auto& f = to.features;
    double weights[2] = {}, notation = 0, size = 0;
    text_a_.clear(), text_b_.clear();
    for (const auto& [form, text, weight] : {std::tuple(&a, &text_a_, &weights[0]), std::tuple(&b, &text_b_, &weights[1])}) {
        const std::uint32_t last = last_clause(*form);
        const auto stem = form->of(form->stem);
        for (const Token& token : stem) {
            notation += token.kind == Kind::symbol || token.kind == Kind::letter || token.kind == Kind::number;
            if (token.clause != last) continue;
            *weight += token.weight;
            write_content(*form, {&token, 1}, *text);
        }
        size += static_cast<double>(stem.size());
    }
    const double common = differ_.common(text_a_, text_b_, work);
    f["tail_ratio"_f] = share_of(2 * common, text_a_.size() + text_b_.size(), 1);
    f["tail_share"_f] /= std::max({1.0, weights[0], weights[1]});
    f["notation"_f] = notation / std::max(1.0, size);
    const auto x = a.of(a.stem), y = b.of(b.stem);
    f["head_equal"_f] = std::ranges::equal(x.first(std::min<std::size_t>(3, x.size())), y.first(std::min<std::size_t>(3, y.size())), {}, &Token::key, &Token::key);
}

void Comparer::read(const Form& form, Choices& choices) {
    choices.plain.clear(), choices.ends.clear(), choices.keys.clear();
    for (const Range range : form.choices) {
        text_a_.clear(), marks_a_.clear();
        write_content(form, form.of(range), text_a_);
        write_plainly(text_a_, relations_.spellings, choices.plain);
        choices.ends.push_back(choices.plain.size());
        for (const Token& token : form.of(range)) {
            if (has_content(token)) marks_a_.push_back(token.key);
        }
        choices.keys.push_back(XXH3_64bits(marks_a_.data(), marks_a_.size() * sizeof(std::uint64_t)));
    }
}

// Equal choices first, then the most similar ones.
void Comparer::pair_choices(const Form& a, const Form& b, Work& work) {
    read(a, a_), read(b, b_);
    const std::uint32_t m = a.choices.size(), n = b.choices.size();
    taken_a_.assign(m, 0), taken_b_.assign(n, 0);
    pairings_.clear(), found_.clear();
    const auto take = [&](const Pairing& one) {
        if (taken_a_[one.left] || taken_b_[one.right]) return;
        taken_a_[one.left] = taken_b_[one.right] = 1;
        pairings_.push_back(one);
    };
    for (std::uint32_t i = 0; i < m; i++) {
        for (std::uint32_t j = 0; j < n && !taken_a_[i]; j++) {
            if (a_.keys[i] == b_.keys[j] || std::ranges::equal(a_.text(i), b_.text(j))) take({1, i, j});
        }
    }
    for (std::uint32_t i = 0; i < m; i++) {
        for (std::uint32_t j = 0; j < n; j++) {
            if (taken_a_[i] || taken_b_[j]) continue;
            const Points x = a_.text(i), y = b_.text(j);
            const double common = differ_.common(x, y, work);
            found_.push_back({2 * common / static_cast<double>(x.size() + y.size()), i, j});
        }
    }
    const auto apart = [](const Pairing& one) { return one.left > one.right ? one.left - one.right : one.right - one.left; };
    std::ranges::sort(found_, std::less<>{}, [&](const Pairing& one) { return std::tuple(-one.ratio, apart(one), one.left, one.right); });
    for (const Pairing& one : found_) take(one);
}

void Comparer::compare_choices(const Form& a, const Form& b, Work& work, Comparison& to) {
    auto& f = to.features;
    const std::size_t m = a.choices.size(), n = b.choices.size(), count = std::max(m, n);
    f["choices_any"_f] = m || n;
    f["choices_both"_f] = m && n;
    if (!(m && n)) return;
    pair_choices(a, b, work);
    bool negated = false, opposite = false, truth = true;
    for (const auto& [ratio, i, j] : pairings_) {
        f["choices_equal"_f] += ratio == 1;
        f["choices_order"_f] = std::max<double>(f["choices_order"_f], i != j);
        if (ratio == 1) f["choices_weight"_f] += weight_of(a.of(a.choices[i]));
        if (ratio < 0.5 || ratio == 1) continue;
        const std::size_t first = to.differences.differences.size();
        differ_.align(a, a.choices[i], b, b.choices[j], true, work, to.differences);
        bool numbers = false, odd = false;
        for (std::size_t k = first; k < to.differences.differences.size(); k++) {
            const Difference one = to.differences.differences[k];
            if (one.moved) continue;
            const Change c = differ_.look_at(a, b, to.differences, one, {0, 0}, work);
            if (c.null) continue;
            numbers |= c.numbers_differ, opposite |= c.opposite, odd ^= c.negation;
        }
        f["choices_numbers"_f] += numbers;
        negated |= odd;
    }
    if (negated) to.guards |= "choice_negation"_g;
    if (opposite) to.guards |= "choice_opposite"_g;

    pairings_.resize(count, {0, 0, 0});
    std::ranges::sort(pairings_, std::less<>{}, &Pairing::ratio);
    double sum = 0;
    for (const Pairing& one : pairings_) {
        sum += one.ratio;
        f["choices_bad"_f] += one.ratio < 0.6;
    }
    f["choices_equal"_f] /= count;
    f["choices_mean"_f] = sum / count;
    f["choices_least"_f] = pairings_[0].ratio;
    f["choices_second"_f] = count > 1 ? pairings_[1].ratio : 1;
    f["choices_unmatched"_f] = f["choices_bad"_f] / count;
    f["choices_count"_f] = m > n ? m - n : n - m;
    f["choices_length"_f] = static_cast<double>(a_.plain.size() + b_.plain.size()) / (m + n);
    for (const Form* form : {&a, &b}) {
        for (const Range range : form->choices) truth &= range.end - range.begin == 1 && form->tokens[range.begin].flags & TRUTH;
    }
    f["choices_truth"_f] = truth;
}

// What is guarded whatever stands around it: images, emphasised words, answers.
void Comparer::compare_marks(const Form& a, const Form& b, Comparison& to) {
    find_marks(a, 0, marks_a_), find_marks(b, 0, marks_b_);
    std::ranges::sort(marks_a_), std::ranges::sort(marks_b_);
    if (marks_a_ != marks_b_) to.guards |= "image"_g;
    find_marks(a, EMPHASISED, marks_a_), find_marks(b, EMPHASISED, marks_b_);
    if (!marks_a_.empty() && !marks_b_.empty() && marks_a_ != marks_b_) to.guards |= "emphasis"_g;
    if (a.answer.begin == a.answer.end || b.answer.begin == b.answer.end) return;
    find_keyed(a, marks_a_), find_keyed(b, marks_b_);
    if (marks_a_ != marks_b_) to.guards |= "answer"_g;
}

// Digests of the tokens with a flag, each with its neighbours; of images where it is 0.
void Comparer::find_marks(const Form& form, std::uint16_t flag, std::vector<std::uint64_t>& to) const {
    const auto tokens = asked(form);
    to.clear();
    for (std::size_t i = 0; i < tokens.size(); i++) {
        if (flag ? !(tokens[i].flags & flag) : tokens[i].kind != Kind::image) continue;
        const std::size_t first = flag && i ? i - 1 : i, end = std::min(i + (flag ? 2 : 1), tokens.size());
        to.push_back(digest(form.text(tokens.subspan(first, end - first))));
    }
}

// Digests of the choices that an answer names; of the answer itself where it names none.
void Comparer::find_keyed(const Form& form, std::vector<std::uint64_t>& to) const {
    const Points letters = form.text(form.of(form.answer));
    to.clear();
    if (form.choices.empty() || !std::ranges::all_of(letters, [](std::uint32_t c) { return 'a' <= c && c <= 'h'; })) {
        to.push_back(digest(letters));
        return;
    }
    for (const std::uint32_t letter : letters) {
        if (letter - 'a' < form.choices.size()) to.push_back(digest(form.text(form.of(form.choices[letter - 'a']))));
    }
    std::ranges::sort(to);
}

// The weight of the words that both have, and of those of each; of words that are repeated once.
Comparer::Shared Comparer::share(std::span<const Token> a, std::span<const Token> b) {
    Shared shared{0, 0, 0};
    weigh(a, weighed_a_), weigh(b, weighed_b_);
    for (const Weighed& one : weighed_a_) shared.left += one.weight;
    for (const Weighed& one : weighed_b_) shared.right += one.weight;
    for (auto i = weighed_a_.begin(), j = weighed_b_.begin(); i != weighed_a_.end() && j != weighed_b_.end();) {
        if (i->key == j->key) shared.both += std::min(i->weight, j->weight);
        const bool left = i->key <= j->key, right = j->key <= i->key;
        i += left, j += right;
    }
    return shared;
}

void Comparer::weigh(std::span<const Token> tokens, std::vector<Weighed>& to) const {
    to.clear();
    for (const Token& token : tokens) {
        if (has_content(token)) to.push_back({token.key, token.weight});
    }
    std::ranges::sort(to, std::less<>{}, [](const Weighed& one) { return std::tuple(one.key, -one.weight); });
    const auto rest = std::ranges::unique(to, {}, &Weighed::key);
    to.erase(rest.begin(), rest.end());
}

}  // namespace dedup::judgment
