#include "judgment/features.hpp"

namespace dedup::judgment {
namespace {

constexpr std::size_t MOST_BEGIN = 8;  // tokens
constexpr double FEW = 2;              // differences

// The greatest values of some features.
constexpr std::pair<std::size_t, double> CAPS[] = {
    {"pieces"_f, 10}, {"forms"_f, 6}, {"grammar"_f, 6}, {"replaced"_f, 6}, {"unlike"_f, 6}};

// A question asks for something, at its end; a text full of notation is an exercise. An article is long, a message is not.
TextKind kind_of(const Form& a, const Form& b) {
    const auto is_question = [](const Form& form) {
        const std::size_t most = form.layout.is_long ? 3 : 0;  // choices: an article may have a list or two
        const bool is_exercise = 10 * form.profile->notation > 3 * form.stem.size();
        return form.choices.size() > most || form.answer.size() || form.explanation.size() || form.layout.asks || is_exercise;
    };
    if (is_question(a) || is_question(b)) return TextKind::question;
    return a.layout.is_long || b.layout.is_long ? TextKind::article : TextKind::message;
}

// The percentage of a text that is not compared word by word: its notes and explanation, an answer that the other lacks.
double left_out(const Form& form, const Form& other) {
    const auto size = [&](Range part) { return static_cast<double>(form.text(form.of(part)).size()); };
    const double out = size(form.explanation) + size(form.notes) + (other.answer.size() ? 0 : size(form.answer));
    return out > 0 ? 100 * out / static_cast<double>(form.text(form.tokens).size()) : 0;
}

void append_words(const Form& form, std::span<const std::uint32_t> numbers, std::vector<std::uint64_t>& to) {
    for (const std::uint32_t at : numbers) {
        if (has_content(form.tokens[at])) to.push_back(form.tokens[at].key);
    }
}

// An order of two forms that does not depend on which is the first.
bool is_before(const Form& a, const Form& b) {
    const auto x = a.tokens.first(a.explanation.end), y = b.tokens.first(b.explanation.end);
    if (x.size() != y.size()) return x.size() < y.size();
    for (std::size_t i = 0; i < x.size(); i++) {
        const Points p = a.text(x[i]), q = b.text(y[i]);
        if (!std::ranges::equal(p, q)) return std::ranges::lexicographical_compare(p, q);
        if (x[i].clause != y[i].clause) return x[i].clause < y[i].clause;
        if (x[i].flags != y[i].flags) return x[i].flags < y[i].flags;
    }
    const std::pair p(a.stem.size(), a.answer.size()), q(b.stem.size(), b.answer.size());
    if (p != q) return p < q;
    return std::ranges::lexicographical_compare(a.choices, b.choices, {}, &Range::size, &Range::size);
}

using Marks = std::vector<std::uint64_t>;

// Digests of the images, ascending.
Marks images_of(const Form& form) {
    Marks marks;
    for (const Token& token : asked(form)) {
        if (token.kind == Kind::image) marks.push_back(digest(form.text(token)));
    }
    std::ranges::sort(marks);
    return marks;
}

// Digests of the emphasised words, each with its neighbours.
Marks emphasised(const Form& form) {
    Marks marks;
    const auto tokens = asked(form);
    for (std::size_t i = 0; i < tokens.size(); i++) {
        const std::size_t first = i ? i - 1 : 0, end = std::min(i + 2, tokens.size());
        if (tokens[i].flags & EMPHASISED) marks.push_back(digest(form.text(range_of(first, end).of(tokens))));
    }
    return marks;
}

// Digests of the choices that an answer names, ascending; of the answer itself if it names none.
Marks keyed(const Form& form) {
    Marks marks;
    const Points letters = form.text(form.of(form.answer));
    if (form.choices.empty() || !std::ranges::all_of(letters, [](std::uint32_t c) { return 'a' <= c && c <= 'h'; }))
        return {digest(letters)};
    for (const std::uint32_t letter : letters) {
        if (letter - 'a' < form.choices.size()) marks.push_back(digest(form.text(form.of(form.choices[letter - 'a']))));
    }
    std::ranges::sort(marks);
    return marks;
}

// Whether signs at one position differ; one more or fewer is layout.
bool have_other_signs(std::span<const Sign> x, std::span<const Sign> y) {
    for (auto one = x.begin(), other = y.begin(); one != x.end() && other != y.end();) {
        const bool same = one->context == other->context;
        if (same && one->signs != other->signs) return true;
        const bool first = one->context <= other->context;
        other += same || !first;
        one += first;
    }
    return false;
}

// Guards of signs, images, emphasised words and answers.
std::uint32_t compare_marks(const Form& a, const Form& b) {
    const Profile &one = *a.profile, &other = *b.profile;
    std::uint32_t guards = 0;
    if (have_other_signs(one.signs, other.signs)) guards |= "formula"_g;
    if ((one.has_image || other.has_image) && images_of(a) != images_of(b)) guards |= "image"_g;
    if (one.has_emphasis && other.has_emphasis && emphasised(a) != emphasised(b)) guards |= "emphasis"_g;
    if (a.answer.size() && b.answer.size() && keyed(a) != keyed(b)) guards |= "answer"_g;
    return guards;
}

// How many characters of each the other lacks, the lesser count first.
std::pair<double, double> count_letters(const Letters& a, const Letters& b, HashTable<std::uint32_t>& counts) {
    counts.reset(a.distinct.size());
    for (const auto& [key, count] : a.distinct) counts[key].value = count;
    double common = 0;
    for (const auto& [key, count] : b.distinct) common += std::min(counts.find(key), count);
    const double left = a.size, right = b.size;
    return {std::min(left, right) - common, std::max(left, right) - common};
}

// Guards and features of two forms, found step by step.
struct Comparer {
    const Form &a, &b;
    const std::uint32_t stop;  // guards
    Scratch& s;
    Comparison& to;
    std::vector<std::uint64_t> alike{};             // keys of words of the stems that are only written otherwise
    Alignment added{};                              // tokens that only one side has, in the stems
    std::size_t count_added = 0;                    // of their differences

    bool goes_on() const { return !(to.guards & stop); }

    void measure_stems() {
        auto& f = to.features;
        const auto x = a.of(a.stem), y = b.of(b.stem);
        const Profile &one = *a.profile, &other = *b.profile;
        const std::size_t p = a.text(x).size(), q = b.text(y).size();
        f["han"_f] = static_cast<double>(one.han + other.han) / std::max<double>(1, p + q);
        f["length"_f] = std::max(p, q);
        f["notation"_f] = static_cast<double>(one.notation + other.notation) / std::max<double>(1, x.size() + y.size());
        std::vector<std::uint64_t> common, light;
        std::ranges::set_intersection(one.numbers, other.numbers, std::back_inserter(common));
        f["numbers"_f] = std::min<double>(common.size(), 10);
        std::ranges::set_symmetric_difference(one.grammar, other.grammar, std::back_inserter(light));
        f["grammar"_f] = std::max<double>(light.size(), one.order != other.order);
        std::tie(f["letters_min"_f], f["letters_max"_f]) = count_letters(one.letters, other.letters, s.counts);
        const auto differ = std::ranges::mismatch(x.first(std::min(MOST_BEGIN, x.size())), y, {}, &Token::key, &Token::key);
        f["begin"_f] = static_cast<double>(differ.in1 - x.begin());
    }

    void compare_stems() {
        auto& f = to.features;
        measure_stems();
        align(a, a.stem, b, b.stem, false, s, to.differences);
        if (to.differences.exchanged) to.guards |= "exchanged"_g;
        const std::uint32_t stated = look_at_differences();
        if (goes_on()) compare_added();
        if (!goes_on()) return;
        for (const auto& [feature, most] : CAPS) f[feature] = std::min(f[feature], most);
        const double weight = std::max({a.profile->weight, b.profile->weight, 1.0});
        for (const std::size_t share : {"edge_share"_f, "replaced_share"_f}) f[share] /= weight;
        const bool has_numbers = measure_own(a, b, alike, to);
        if (to.kind == TextKind::article) {
            const bool few = f["pieces"_f] <= FEW;
            to.guards &= few ? OF_ARTICLES | OF_FEW : OF_ARTICLES;
            to.guards |= (has_numbers ? "number"_g : 0) | (few ? stated : 0);
        }
        to.same = f["pieces"_f] == 0 && f["grammar"_f] == 0 && std::ranges::none_of(to.differences.differences, &Difference::moved);
    }

    // Adds a difference that is not null to the features.
    void measure_change(const Change& c, bool clauses) {
        auto& f = to.features;
        const auto raise = [&](std::size_t feature, double value) { f[feature] = std::max(f[feature], value); };
        f["pieces"_f]++;
        if (c.replaced) {
            f["replaced"_f]++;
            raise("replaced_min"_f, c.least());
            f["replaced_share"_f] += c.most();
        } else if (clauses) {
            f["edge_share"_f] += c.left + c.right;
        } else {
            raise("inserted_max"_f, c.heaviest);
        }
        if (!c.unlike) return;
        f["unlike"_f]++;
        raise("unlike_max"_f, c.heaviest);
        raise("unlike_min"_f, c.least());
        f["unlike_ratio"_f] = std::min(f["unlike_ratio"_f], c.ratio);
        f["contained"_f] += c.contained;
    }

    // Returns guards for an article with few differences: another number or identifier in a sentence of both texts.
    std::uint32_t look_at_differences() {
        auto& f = to.features;
        const Alignment& found = to.differences;
        const bool han = f["han"_f] > 0.3;
        std::int64_t negations = 0, moods = 0;
        bool fewer_blanks = false, more_blanks = false;
        const Match last{a.profile->last_clause, b.profile->last_clause};
        std::uint32_t stated = 0;
        f["unlike_ratio"_f] = 1;
        for (const Difference& one : found.differences) {
            if (one.moved) continue;
            const auto left = one.left.of(found.left), right = one.right.of(found.right);
            const Change c = look_at(a, b, found, one, last, s);
            const auto add = [&] {
                dedup::append(added.left, left);
                dedup::append(added.right, right);
                count_added++;
            };
            if (c.null || c.alike) {
                append_words(a, left, alike);
                append_words(b, right, alike);
            }
            if (!one.clauses) moods += c.polar;
            if (c.null) {
                f["forms"_f]++;
                if (c.asks) add();
                continue;
            }
            measure_change(c, one.clauses);
            if (!c.replaced && !one.clauses) add();
            const bool adds = one.clauses && !c.limits && (to.kind == TextKind::message || !c.in_tail);
            if (!adds) negations += c.negation;  // a clause more denies nothing, but the last one of a question may
            more_blanks |= c.blanks > 0;
            fewer_blanks |= c.blanks < 0;
            const bool other = c.unlike && !c.contained, other_identifier = han && c.latins && c.unlike && c.ratio < 0.8;
            if (c.numbers_differ || (c.number_alone && !one.edge)) to.guards |= "number"_g;
            if (c.names && other && c.ratio <= 0.5) to.guards |= "name"_g;
            if (c.unit) to.guards |= "unit"_g;
            if ((c.formula && !c.numbers_differ) || other_identifier) to.guards |= "formula"_g;
            if (c.opposite) to.guards |= "opposite"_g;
            if (other && c.in_tail && c.word && b.profile->has_word(c.word->key) && a.profile->has_word(c.other->key))
                to.guards |= "exchanged"_g;
            if (to.kind == TextKind::article) {
                if ((c.numbers_differ || other_identifier) && is_stated(a, left) && is_stated(b, right))
                    stated |= c.numbers_differ ? "number"_g : "name"_g;
                if (changes_rule(a, b, found, one, c)) to.guards |= "provision"_g;
            }
            if (!goes_on()) return stated;
        }
        if (negations) to.guards |= "negation"_g;
        if (moods && !(moods > 0 ? b : a).profile->asks) to.guards |= "mood"_g;
        if (more_blanks && fewer_blanks) to.guards |= "blanks"_g;
        return stated;
    }

    // Compares all that each side adds, since its position may differ: 正确的说法是, 说法错误的是
    void compare_added() {
        if (count_added > 4) return;
        const Difference whole{range_of(0, added.left.size()), range_of(0, added.right.size()), false, false, false, false};
        const Change change = look_at(a, b, added, whole, {0, 0}, s);
        if (change.numbers_differ) to.guards |= "number"_g;
        if (change.opposite) to.guards |= "opposite"_g;
    }

    struct Pairing {
        double ratio;
        std::uint32_t left, right;
    };

    // Pairs of choices: equal ones first, then the most similar.
    std::vector<Pairing> pair_choices() {
        const Profile &one = *a.profile, &other = *b.profile;
        const std::uint32_t m = one.keys.size(), n = other.keys.size();
        std::vector<Pairing> pairs, likely;
        std::vector<bool> has_left(m), has_right(n);
        const auto take = [&](const Pairing& pair) {
            if (has_left[pair.left] || has_right[pair.right]) return;
            has_left[pair.left] = has_right[pair.right] = true;
            pairs.push_back(pair);
        };
        for (std::uint32_t i = 0; i < m; i++) {
            for (std::uint32_t j = 0; j < n && !has_left[i]; j++) {
                if (one.keys[i] == other.keys[j] || std::ranges::equal(one.choice(i), other.choice(j))) take({1, i, j});
            }
        }
        for (std::uint32_t i = 0; i < m; i++) {
            for (std::uint32_t j = 0; j < n; j++) {
                if (has_left[i] || has_right[j]) continue;
                const Points x = one.choice(i), y = other.choice(j);
                const double common = s.subsequence.length(x, y);
                likely.push_back({2 * common / static_cast<double>(x.size() + y.size()), i, j});
            }
        }
        std::ranges::sort(likely, {}, [](const Pairing& pair) {
            return std::tuple(-pair.ratio, std::abs(std::int64_t{pair.left} - pair.right), pair.left, pair.right);
        });
        std::ranges::for_each(likely, take);
        for (std::uint32_t i = 0; i < m; i++) {
            if (!has_left[i]) add_whole(a.choices[i], {});
        }
        for (std::uint32_t j = 0; j < n; j++) {
            if (!has_right[j]) add_whole({}, b.choices[j]);
        }
        return pairs;
    }

    // Adds choices of which words are not compared as one difference.
    void add_whole(Range left, Range right) {
        const Range x = append_range(left, to.differences.left), y = append_range(right, to.differences.right);
        to.differences.differences.push_back({x, y, true, false, false, false});
    }

    void compare_choices() {
        to.same &= a.choices.size() == b.choices.size();
        if (a.choices.empty() || b.choices.empty()) return;
        const std::vector<Pairing> pairs = pair_choices();
        std::uint32_t opposed = 0;
        for (const auto& [ratio, i, j] : pairs) {
            if (ratio == 1) continue;
            if (ratio < 0.5) {
                add_whole(a.choices[i], b.choices[j]);
                continue;
            }
            const std::size_t first = to.differences.differences.size();
            if (!goes_on()) return;
            align(a, a.choices[i], b, b.choices[j], true, s, to.differences);
            bool numbers = false, odd = false;
            for (std::size_t k = first; k < to.differences.differences.size(); k++) {
                const Difference& one = to.differences.differences[k];
                if (one.moved) continue;
                const Change c = look_at(a, b, to.differences, one, {0, 0}, s);
                if (c.null) continue;
                numbers |= c.numbers_differ;
                if (c.opposite && !c.names) opposed |= "choice_opposite"_g;
                odd ^= c.negation != 0;
            }
            const std::size_t shorter = std::min(a.profile->choice(i).size(), b.profile->choice(j).size());
            if (numbers && ratio >= 0.85 && shorter >= 12) to.guards |= "number"_g;  // it says more than a value
            if (odd) opposed |= "choice_negation"_g;
        }
        to.guards |= opposed;
        measure_choices(pairs);
    }

    void measure_choices(std::span<const Pairing> pairs) {
        auto& f = to.features;
        const Profile &one = *a.profile, &other = *b.profile;
        const std::size_t count = std::max(a.choices.size(), b.choices.size()), both = a.choices.size() + b.choices.size();
        auto unmatched = static_cast<double>(count);
        int exchanged = 0;
        for (const auto& [ratio, i, j] : pairs) {
            exchanged += ratio < 1;
            unmatched -= ratio >= 0.6;
            f["choices_order"_f] = std::max<double>(f["choices_order"_f], i != j);
            f["choices_apart"_f] += (1 - ratio) * static_cast<double>(one.choice(i).size() + other.choice(j).size()) / 2;
            if (ratio == 1) f["choices_weight"_f] += weight_of(a.of(a.choices[i]));
        }
        // the right choice is known, and equal: then one distractor may differ
        const bool keyed = a.answer.size() && b.answer.size() && !(to.guards & "answer"_g);
        to.same &= exchanged <= (keyed ? 1 : 0);
        f["choices_unmatched"_f] = unmatched / static_cast<double>(count);
        f["choices_length"_f] = static_cast<double>(one.choices.size() + other.choices.size()) / both;
        std::tie(f["choices_letters_min"_f], f["choices_letters_max"_f]) =
            count_letters(one.choice_letters, other.choice_letters, s.counts);
    }

    // Two explanations of one answer may use other words, so words count for nothing. But a number that the other text lacks
    // in each keeps them apart; and if most of the words are equal, so do the guards of two questions.
    void compare_explanations() {
        const Profile &one = *a.profile, &other = *b.profile;
        if (!std::ranges::includes(other.known, one.explained) && !std::ranges::includes(one.known, other.explained))
            to.guards |= "number"_g;
        Alignment found;
        align(a, a.explanation, b, b.explanation, true, s, found);
        double weight = weight_of(a.of(a.explanation)) + weight_of(b.of(b.explanation));
        std::uint32_t guards = found.exchanged ? "exchanged"_g : 0;
        for (const Difference& difference : found.differences) {
            if (difference.moved) continue;
            const Change c = look_at(a, b, found, difference, {0, 0}, s);
            if (c.null) continue;
            weight -= 2 * (c.left + c.right);
            if (difference.clauses) continue;  // a clause more explains more
            guards ^= c.negation ? "negation"_g : 0;
            if (c.formula) guards |= "formula"_g;
            if (c.opposite && !c.names) guards |= "opposite"_g;
        }
        if (weight >= 0) to.guards |= guards;
    }
};

}  // namespace

Comparison compare_forms(TextKind kind, const Form& x, const Form& y, std::uint32_t stop, Scratch& s) {
    const bool turned = is_before(y, x);
    const Form &a = turned ? y : x, &b = turned ? x : y;
    Comparison to{.kind = kind == TextKind::any ? kind_of(a, b) : kind};
    s.subsequence.steps_left = Subsequence::MOST;
    to.reworded = a.profile->light != b.profile->light;
    to.left_out = std::max(left_out(a, b), left_out(b, a));
    const bool is_article = to.kind == TextKind::article;
    Comparer comparer{a, b, is_article ? stop & OF_ARTICLES : stop, s, to};
    to.guards = compare_marks(a, b);
    if (is_article) to.guards |= compare_titles(a, b, s.subsequence, to.features);
    const SharedWeight shared = to.kind == TextKind::question ? SharedWeight{} : shared_weight(a, b);
    to.little = 2 * shared.both < std::min(shared.left, shared.right);
    if (to.little && stop) {
        to.guards &= comparer.stop;  // guards that hold for this kind
        to.whole = !to.guards;
        return to;
    }
    if (comparer.goes_on()) comparer.compare_stems();
    if (comparer.goes_on()) comparer.compare_choices();
    // choices and the same answer settle the question: then an explanation only explains
    const bool settled = !a.choices.empty() && !b.choices.empty() && a.answer.size() && b.answer.size();
    if (!settled && comparer.goes_on() && a.explanation.size() && b.explanation.size()) comparer.compare_explanations();
    if (turned) {
        std::swap(to.differences.left, to.differences.right);
        for (Difference& difference : to.differences.differences) std::swap(difference.left, difference.right);
    }
    to.whole = !(to.guards & stop);
    return to;
}

}  // namespace dedup::judgment
