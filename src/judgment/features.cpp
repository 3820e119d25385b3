#include "judgment/features.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace dedup::judgment {
namespace {

constexpr std::size_t MOST_BEGIN = 8;  // tokens
constexpr double MOST_MOVED = 40;      // weight
constexpr double FIRST_LOOK = 4;       // pieces

// Features that count no further.
struct Cap {
    std::size_t feature;
    double most;
};
constexpr Cap CAPS[] = {{"pieces"_f, 10}, {"forms"_f, 6}, {"replaced"_f, 6}, {"unlike"_f, 6}};
constexpr std::size_t OF_DIFFERENCES = "length"_f;  // features, the first ones

double share_of(double part, double whole, double of_none) { return whole > 0 ? part / whole : of_none; }

std::uint32_t last_clause(const Form& form) {
    std::uint32_t last = 0;
    for (const Token& token : form.of(form.stem)) {
        if (token.kind != Kind::symbol) last = std::max(last, token.clause);
    }
    return last;
}

// Tokens of stem and choices, and of choices.
Range asked_of(const Form& form) {
    return {form.stem.begin, form.choices.empty() ? form.stem.end : form.choices.back().end};
}
std::span<const Token> asked(const Form& form) { return form.of(asked_of(form)); }
Range choices_of(const Form& form) { return {form.choices.front().begin, form.choices.back().end}; }

void write_content(const Form& form, std::span<const Token> tokens, Buffer& to) {
    for (const Token& token : tokens) {
        if (has_content(token)) append(to, form.text(token));
    }
}

std::size_t count_han(Points text) {
    return std::ranges::count_if(text, [](std::uint32_t point) { return 0x3400 <= point && point < 0xA000; });
}

std::size_t count_notation(std::span<const Token> tokens) {
    return std::ranges::count_if(tokens, [](const Token& token) {
        return token.kind == Kind::symbol || token.kind == Kind::letter || token.kind == Kind::number;
    });
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
    if (a.stem.size() != b.stem.size()) return a.stem.size() < b.stem.size();
    return std::ranges::lexicographical_compare(a.choices, b.choices, {}, &Range::size, &Range::size);
}

// Digests of the images, ascending.
void find_images(const Form& form, std::vector<std::uint64_t>& to) {
    to.clear();
    for (const Token& token : asked(form)) {
        if (token.kind == Kind::image) to.push_back(digest(form.text(token)));
    }
    std::ranges::sort(to);
}

// Digests of the emphasised words, each with its neighbours.
void find_emphasised(const Form& form, std::vector<std::uint64_t>& to) {
    const auto tokens = asked(form);
    to.clear();
    for (std::size_t i = 0; i < tokens.size(); i++) {
        const std::size_t first = i ? i - 1 : 0, end = std::min(i + 2, tokens.size());
        if (tokens[i].flags & EMPHASISED) to.push_back(digest(form.text(range_of(first, end).of(tokens))));
    }
}

// Digests of the choices that an answer names, ascending; of the answer itself where it names none.
void find_keyed(const Form& form, std::vector<std::uint64_t>& to) {
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

}  // namespace

bool Comparer::compare(const Form& a, const Form& b, Comparison& to, const Stop& stop) {
    const bool turned = is_before(b, a);
    const Form &one = turned ? b : a, &other = turned ? a : b;
    Work work;
    to.features.fill(0);
    to.guards = 0;
    to.differences.clear();
    stop_ = stop;
    ruled_out_ = false;
    // the order in which work is spent counts where there is too much
    if (!work.suffices_for(one.points.size(), other.points.size(), one.choices.size())) stop_.model = nullptr;
    compare_marks(one, other, to);
    if (!is_stopped(to)) compare_stems(one, other, work, to);
    if (!is_stopped(to)) compare_choices(one, other, work, to);
    if (turned) {
        std::swap(to.differences.left, to.differences.right);
        for (Difference& difference : to.differences.differences) std::swap(difference.left, difference.right);
    }
    return !is_stopped(to);
}

void Comparer::compare_stems(const Form& a, const Form& b, Work& work, Comparison& to) {
    auto& f = to.features;
    const auto x = a.of(a.stem), y = b.of(b.stem);
    const Points p = a.text(x), q = b.text(y);
    const Match last{last_clause(a), last_clause(b)};
    const double total = std::max({weight_of(x), weight_of(y), 1.0});
    f["han"_f] = share_of(count_han(p) + count_han(q), p.size() + q.size(), 0);  // guards ask for it
    f["unlike_ratio"_f] = 1;
    shared_.reset();
    seen_ = {};
    next_look_ = FIRST_LOOK;
    clear(a_.added, b_.added);
    auto& differences = to.differences.differences;
    differ_.align_clauses(a, a.stem, b, b.stem, false, work, to.differences);
    std::size_t looked_at = differences.size();  // what has moved
    for (std::size_t gap = 0; gap < differ_.gaps(); gap++) {
        differ_.align_gap(a, b, gap, false, work, to.differences);
        const bool last_gap = gap + 1 == differ_.gaps();
        if (!stop_.model && !last_gap) continue;  // all are aligned before the first is looked at
        if (to.differences.exchanged) to.guards |= "exchanged"_g;
        look_at_differences(a, b, looked_at, last, total, work, to);
        looked_at = differences.size();
        if (is_stopped(to)) return;
    }
    if (seen_.negations) to.guards |= "negation"_g;
    if (seen_.more_blanks && seen_.fewer_blanks) to.guards |= "blanks"_g;
    if (is_stopped(to)) return;
    look_at_added(a, b, last, work, to);
    if (is_stopped(to)) return;
    f["length"_f] = std::max(p.size(), q.size());
    const double notation = count_notation(x) + count_notation(y);
    f["notation"_f] = notation / std::max<double>(1, x.size() + y.size());
    f["numbers"_f] = std::min<double>(count_numbers(p, q), 10);
    std::tie(f["letters_min"_f], f["letters_max"_f]) = count_letters(a, asked_of(a), b, asked_of(b));
    const auto differ = std::ranges::mismatch(x.first(std::min(MOST_BEGIN, x.size())), y, {}, &Token::key, &Token::key);
    f["begin"_f] = static_cast<double>(differ.in1 - x.begin());

    const Shared all = shared(a, b);
    const double both = std::min({all.both + seen_.written_otherwise, all.left, all.right});
    f["all_shared"_f] = share_of(both, all.left + all.right - both, 1);

    for (const auto [feature, most] : CAPS) f[feature] = std::min(f[feature], most);
    for (const std::size_t feature : {"edge_share"_f, "replaced_share"_f}) f[feature] /= total;
    f["moved"_f] = to.differences.moved_clauses / total;
    f["moved_within"_f] = std::min(to.differences.moved_within, MOST_MOVED);
}

// Notes where the differences seen so far, with any others, rule out that the pair is likely enough.
void Comparer::rule_out(const Comparison& to, double total) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (to.features["pieces"_f] < next_look_) return;
    next_look_ = 2 * to.features["pieces"_f];
    std::array<double, std::size(FEATURES)> low = to.features, high;
    high.fill(infinity);
    std::fill(low.begin() + OF_DIFFERENCES, low.end(), -infinity);
    for (const auto [feature, most] : CAPS) low[feature] = std::min(low[feature], most);
    for (const std::size_t feature : {"edge_share"_f, "replaced_share"_f}) low[feature] /= total;
    low["moved"_f] = high["moved"_f] = to.differences.moved_clauses / total;
    low["moved_within"_f] = std::min(to.differences.moved_within, MOST_MOVED);
    low["han"_f] = high["han"_f] = to.features["han"_f];
    low["unlike_ratio"_f] = low["begin"_f] = -infinity;
    high["unlike_ratio"_f] = to.features["unlike_ratio"_f];
    ruled_out_ = !stop_.model->can_reach(stop_.least, low, high);
}

// The differences from one on.
void Comparer::look_at_differences(
    const Form& a, const Form& b, std::size_t first, Match last, double total, Work& work, Comparison& to) {
    auto& f = to.features;
    const auto raise = [&](std::size_t feature, double value) { f[feature] = std::max(f[feature], value); };
    const bool han = f["han"_f] > 0.3;
    for (std::size_t k = first; k < to.differences.differences.size(); k++) {
        const Difference& one = to.differences.differences[k];
        if (one.moved) continue;
        const Change c = differ_.look_at(a, b, to.differences, one, last, work);
        if (c.null || c.alike) seen_.written_otherwise += c.least();
        if (c.null) {
            f["forms"_f]++;
            continue;
        }
        f["pieces"_f]++;
        if (c.replaced) {
            f["replaced"_f]++;
            raise("replaced_min"_f, c.least());
            f["replaced_share"_f] += c.most();
            f["alike"_f] += c.alike;
            f["slips"_f] += c.slip;
        } else if (one.clauses) {
            f["edge_share"_f] += c.left + c.right;
        } else {
            raise("inserted_max"_f, c.heaviest);
            a_.added.push_back(one.left);
            b_.added.push_back(one.right);
        }
        if (c.unlike) {
            f["unlike"_f]++;
            raise("unlike_max"_f, c.heaviest);
            raise("unlike_min"_f, c.least());
            f["unlike_ratio"_f] = std::min(f["unlike_ratio"_f], c.ratio);
            f["contained"_f] += c.contained;
        }
        if (!one.clauses || c.in_tail || c.limits) seen_.negations += c.negation;  // a clause more denies nothing
        seen_.more_blanks |= c.blanks > 0;
        seen_.fewer_blanks |= c.blanks < 0;
        const bool other = c.unlike && !c.contained;
        if (c.numbers_differ || (c.number_alone && !one.edge)) to.guards |= "number"_g;
        if (c.names && other && c.ratio <= 0.5) to.guards |= "name"_g;
        if (c.unit) to.guards |= "unit"_g;
        if (c.formula && !c.numbers_differ) to.guards |= "formula"_g;
        if (han && c.latins && c.unlike && c.ratio < 0.8) to.guards |= "formula"_g;
        if (c.opposite) to.guards |= "opposite"_g;
        if (other && c.in_tail && c.word) {
            shared(a, b);
            const bool both = weights_.find(key_of(c.word->key)).right >= 0;
            if (both && weights_.find(key_of(c.other->key)).left >= 0) to.guards |= "exchanged"_g;
        }
        if (stop_.model) rule_out(to, total);
        if (is_stopped(to)) return;
    }
}

// Made when it is asked for: few guards do. A word that is repeated counts once, with the greatest of its weights.
const Comparer::Shared& Comparer::shared(const Form& a, const Form& b) {
    if (shared_) return *shared_;
    const auto x = asked(a), y = asked(b);
    Shared found{0, 0, 0};
    weights_.reset(x.size() + y.size());
    const auto raise = [](double& weight, double to, double& sum) {  // exact in any order: the weights are floats
        if (weight >= to) return;
        sum += to - std::max(weight, 0.0);
        weight = to;
    };
    for (const Token& token : x) {
        if (has_content(token)) raise(weights_[key_of(token.key)].value.left, token.weight, found.left);
    }
    for (const Token& token : y) {
        if (!has_content(token)) continue;
        Weights& word = weights_[key_of(token.key)].value;
        const double before = word.both();
        raise(word.right, token.weight, found.right);
        found.both += word.both() - before;
    }
    return shared_.emplace(found);
}

// Compares all that each side adds, since it may stand at different places: 正确的说法是, 说法错误的是
void Comparer::look_at_added(const Form& a, const Form& b, Match last, Work& work, Comparison& to) {
    const auto repeat = [](const std::vector<Range>& ranges, std::vector<std::uint32_t>& places) {
        const std::size_t begin = places.size();
        for (const Range range : ranges) {
            for (std::uint32_t k = range.begin; k < range.end; k++) places.push_back(places[k]);
        }
        return range_of(begin, places.size());
    };
    auto &left = to.differences.left, &right = to.differences.right;
    const Difference added{repeat(a_.added, left), repeat(b_.added, right), false, false, false, false};
    const Change change = differ_.look_at(a, b, to.differences, added, last, work);
    const bool few = a_.added.size() <= 4;
    if (few && change.numbers_differ) to.guards |= "number"_g;
    if (few && change.opposite) to.guards |= "opposite"_g;
    left.resize(added.left.begin);
    right.resize(added.right.begin);
}

std::pair<double, double> Comparer::count_letters(const Form& a, Range of_a, const Form& b, Range of_b) {
    clear(a_.text, b_.text);
    write_content(a, a.of(of_a), a_.text);
    write_content(b, b.of(of_b), b_.text);
    counts_.reset(std::max(a_.text.size(), b_.text.size()) / 2);
    const auto count = [&](std::uint32_t point) -> std::int32_t& { return counts_[key_of(point)].value; };
    for (const std::uint32_t point : a_.text) count(point)++;
    double common = 0;
    for (const std::uint32_t point : b_.text) common += count(point)-- > 0;
    const double left = a_.text.size(), right = b_.text.size();
    return {std::min(left, right) - common, std::max(left, right) - common};
}

// How many numbers both texts have.
double Comparer::count_numbers(Points a, Points b) {
    const auto read = [&](Points text, Side& side) {
        clear(side.text, side.marks);
        write_plainly(text, relations_.spellings, side.text);
        find_numbers(side.text, side.marks);
    };
    read(a, a_);
    read(b, b_);
    common_.clear();
    std::ranges::set_intersection(a_.marks, b_.marks, std::back_inserter(common_));
    return common_.size();
}

void Comparer::read_choices(const Form& form, Side& side) const {
    clear(side.choices, side.ends, side.keys);
    for (const Range range : form.choices) {
        clear(side.text, side.marks);
        write_content(form, form.of(range), side.text);
        write_plainly(side.text, relations_.spellings, side.choices);
        side.ends.push_back(side.choices.size());
        for (const Token& token : form.of(range)) {
            if (has_content(token)) side.marks.push_back(token.key);
        }
        side.keys.push_back(XXH3_64bits(side.marks.data(), side.marks.size() * sizeof(std::uint64_t)));
    }
    side.taken.assign(form.choices.size(), 0);
}

// Equal choices first, then the most similar ones.
void Comparer::pair_choices(const Form& a, const Form& b, Work& work) {
    read_choices(a, a_);
    read_choices(b, b_);
    const std::uint32_t m = a.choices.size(), n = b.choices.size();
    clear(pairings_, found_);
    const auto take = [&](const Pairing& one) {
        if (a_.taken[one.left] || b_.taken[one.right]) return;
        a_.taken[one.left] = b_.taken[one.right] = 1;
        pairings_.push_back(one);
    };
    for (std::uint32_t i = 0; i < m; i++) {
        for (std::uint32_t j = 0; j < n && !a_.taken[i]; j++) {
            if (a_.keys[i] == b_.keys[j] || std::ranges::equal(a_.choice(i), b_.choice(j))) take({1, i, j});
        }
    }
    for (std::uint32_t i = 0; i < m; i++) {
        for (std::uint32_t j = 0; j < n; j++) {
            if (a_.taken[i] || b_.taken[j]) continue;
            const Points x = a_.choice(i), y = b_.choice(j);
            const double common = differ_.common(x, y, work);
            found_.push_back({2 * common / static_cast<double>(x.size() + y.size()), i, j});
        }
    }
    std::ranges::sort(found_, {}, [](const Pairing& one) {
        return std::tuple(-one.ratio, std::abs(std::int64_t{one.left} - one.right), one.left, one.right);
    });
    for (const Pairing& one : found_) take(one);
}

void Comparer::compare_choices(const Form& a, const Form& b, Work& work, Comparison& to) {
    auto& f = to.features;
    const std::size_t m = a.choices.size(), n = b.choices.size(), count = std::max(m, n);
    f["choices_any"_f] = m || n;
    if (!(m && n)) return;
    pair_choices(a, b, work);
    bool negated = false, opposite = false;
    const auto add_whole = [&](Range left, Range right) {
        const auto add = [](Range tokens, std::vector<std::uint32_t>& places) {
            const std::size_t begin = places.size();
            for (std::uint32_t at = tokens.begin; at < tokens.end; at++) places.push_back(at);
            return range_of(begin, places.size());
        };
        const Range x = add(left, to.differences.left), y = add(right, to.differences.right);
        to.differences.differences.push_back({x, y, true, false, false, false});
    };
    for (std::uint32_t i = 0; i < m; i++) {
        if (!a_.taken[i]) add_whole(a.choices[i], {});
    }
    for (std::uint32_t j = 0; j < n; j++) {
        if (!b_.taken[j]) add_whole({}, b.choices[j]);
    }
    for (const auto& [ratio, i, j] : pairings_) {
        f["choices_equal"_f] += ratio == 1;
        f["choices_order"_f] = std::max<double>(f["choices_order"_f], i != j);
        f["choices_apart"_f] += (1 - ratio) * static_cast<double>(a_.choice(i).size() + b_.choice(j).size()) / 2;
        if (ratio == 1) f["choices_weight"_f] += weight_of(a.of(a.choices[i]));
        if (ratio == 1) continue;
        if (ratio < 0.5) {
            add_whole(a.choices[i], b.choices[j]);
            continue;
        }
        const std::size_t first = to.differences.differences.size();
        if (is_stopped(to)) return;
        differ_.align(a, a.choices[i], b, b.choices[j], true, work, to.differences);
        bool numbers = false, odd = false, differs = false, alike = true;
        for (std::size_t k = first; k < to.differences.differences.size(); k++) {
            const Difference& one = to.differences.differences[k];
            if (one.moved) continue;
            const Change c = differ_.look_at(a, b, to.differences, one, {0, 0}, work);
            if (c.null) continue;
            differs = true;
            alike &= c.alike;
            numbers |= c.numbers_differ;
            opposite |= c.opposite && !c.names;
            odd ^= c.negation != 0;
        }
        f["choices_alike"_f] += differs && alike;
        const std::size_t shorter = std::min(a_.choice(i).size(), b_.choice(j).size());
        if (numbers && ratio >= 0.85 && shorter >= 12) to.guards |= "number"_g;  // it says more than a value
        negated |= odd;
    }
    if (negated) to.guards |= "choice_negation"_g;
    if (opposite) to.guards |= "choice_opposite"_g;

    pairings_.resize(count, {0, 0, 0});
    std::ranges::sort(pairings_, {}, &Pairing::ratio);
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
    f["choices_length"_f] = static_cast<double>(a_.choices.size() + b_.choices.size()) / (m + n);
    std::tie(f["choices_letters_min"_f], f["choices_letters_max"_f]) =
        count_letters(a, choices_of(a), b, choices_of(b));
}

// What is guarded whatever stands around it: images, emphasised words, answers.
void Comparer::compare_marks(const Form& a, const Form& b, Comparison& to) {
    const auto differ = [&](auto find) {
        find(a, a_.marks);
        find(b, b_.marks);
        return a_.marks != b_.marks;
    };
    if (differ(find_images)) to.guards |= "image"_g;
    if (differ(find_emphasised) && !a_.marks.empty() && !b_.marks.empty()) to.guards |= "emphasis"_g;
    if (a.answer.size() && b.answer.size() && differ(find_keyed)) to.guards |= "answer"_g;
}

}  // namespace dedup::judgment
