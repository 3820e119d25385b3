#include "judgment/features.hpp"

#include <tuple>

namespace dedup::judgment {
namespace {

constexpr std::size_t MOST_BEGIN = 8;  // tokens

// Features that count no further than this.
constexpr std::pair<std::size_t, double> CAPS[] = {
    {"pieces"_f, 10}, {"forms"_f, 6}, {"grammar"_f, 6}, {"replaced"_f, 6}, {"unlike"_f, 6}};

// A question asks for something, whatever stands before it; what is full of notation is an exercise. An article is long,
// a message is not.
TextKind kind_of(const Form& a, const Form& b) {
    const auto is_question = [](const Form& form) {
        const std::size_t most = form.layout.is_long ? 3 : 0;  // choices: an article may have a list or two
        const bool is_exercise = 10 * form.profile->notation > 3 * form.stem.size();
        return form.choices.size() > most || form.answer.size() || form.explanation.size() || form.layout.asks || is_exercise;
    };
    if (is_question(a) || is_question(b)) return TextKind::question;
    return a.layout.is_long || b.layout.is_long ? TextKind::article : TextKind::message;
}

// The percentage of a text that is not compared word by word: its notes, its explanation, an answer that the other lacks.
double left_out(const Form& form, const Form& other) {
    const auto size = [&](Range part) { return static_cast<double>(form.text(form.of(part)).size()); };
    const double out = size(form.explanation) + size(form.notes) + (other.answer.size() ? 0 : size(form.answer));
    return out > 0 ? 100 * out / static_cast<double>(form.text(form.tokens).size()) : 0;
}

void append_words(const Form& form, std::span<const std::uint32_t> places, std::vector<std::uint64_t>& to) {
    for (const std::uint32_t at : places) {
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

// Digests of the images, ascending.
void find_images(const Form& form, std::vector<std::uint64_t>& to) {
    for (const Token& token : asked(form)) {
        if (token.kind == Kind::image) to.push_back(digest(form.text(token)));
    }
    std::ranges::sort(to);
}

// Digests of the emphasised words, each with its neighbours.
void find_emphasised(const Form& form, std::vector<std::uint64_t>& to) {
    const auto tokens = asked(form);
    for (std::size_t i = 0; i < tokens.size(); i++) {
        const std::size_t first = i ? i - 1 : 0, end = std::min(i + 2, tokens.size());
        if (tokens[i].flags & EMPHASISED) to.push_back(digest(form.text(range_of(first, end).of(tokens))));
    }
}

// Digests of the choices that an answer names, ascending; of the answer itself where it names none.
void find_keyed(const Form& form, std::vector<std::uint64_t>& to) {
    const Points letters = form.text(form.of(form.answer));
    if (form.choices.empty() || !std::ranges::all_of(letters, [](std::uint32_t c) { return 'a' <= c && c <= 'h'; })) {
        to.push_back(digest(letters));
        return;
    }
    for (const std::uint32_t letter : letters) {
        if (letter - 'a' < form.choices.size()) to.push_back(digest(form.text(form.of(form.choices[letter - 'a']))));
    }
    std::ranges::sort(to);
}

// Of the characters of each, those that the other lacks; the lesser count first.
std::pair<double, double> count_letters(const Letters& a, const Letters& b, HashTable<std::uint32_t>& counts) {
    counts.reset(a.distinct.size());
    for (const auto& [key, count] : a.distinct) counts[key].value = count;
    double common = 0;
    for (const auto& [key, count] : b.distinct) common += std::min(counts.find(key), count);
    const double left = a.size, right = b.size;
    return {std::min(left, right) - common, std::max(left, right) - common};
}

// A comparison under way.
struct Comparer {
    const Relations& relations;
    const Form &a, &b;
    const std::uint32_t stop;  // guards
    Scratch& s;
    Comparison& to;
    Work work{};

    bool goes_on() const { return !(to.guards & stop); }

    // What is guarded whatever stands around it: images, emphasised words, answers.
    std::uint32_t compare_marks() {
        const auto differ = [&](auto find) {
            clear(s.left_marks, s.right_marks);
            find(a, s.left_marks);
            find(b, s.right_marks);
            return s.left_marks != s.right_marks;
        };
        const Profile &one = *a.profile, &other = *b.profile;
        std::uint32_t guards = 0;
        if (one.has_other_signs(other)) guards |= "formula"_g;
        if ((one.has_image || other.has_image) && differ(find_images)) guards |= "image"_g;
        if (one.has_emphasis && other.has_emphasis && differ(find_emphasised)) guards |= "emphasis"_g;
        if (a.answer.size() && b.answer.size() && differ(find_keyed)) guards |= "answer"_g;
        return guards;
    }

    // What no difference has a part in.
    void measure_stems(Features& f) {
        const auto x = a.of(a.stem), y = b.of(b.stem);
        const Profile &one = *a.profile, &other = *b.profile;
        const std::size_t p = a.text(x).size(), q = b.text(y).size();
        f["han"_f] = static_cast<double>(one.han + other.han) / std::max<double>(1, p + q);
        f["length"_f] = std::max(p, q);
        f["notation"_f] = static_cast<double>(one.notation + other.notation) / std::max<double>(1, x.size() + y.size());
        s.common.clear();
        std::ranges::set_intersection(one.numbers, other.numbers, std::back_inserter(s.common));
        f["numbers"_f] = std::min<double>(s.common.size(), 10);
        s.common.clear();
        std::ranges::set_symmetric_difference(one.grammar, other.grammar, std::back_inserter(s.common));
        f["grammar"_f] = std::max<double>(s.common.size(), one.order != other.order);
        std::tie(f["letters_min"_f], f["letters_max"_f]) = count_letters(one.letters, other.letters, s.counts);
        const auto differ = std::ranges::mismatch(x.first(std::min(MOST_BEGIN, x.size())), y, {}, &Token::key, &Token::key);
        f["begin"_f] = static_cast<double>(differ.in1 - x.begin());
    }

    // What the pairs of choices are, whatever they differ by.
    void measure_choices() {
        auto& f = to.features;
        const Profile &one = *a.profile, &other = *b.profile;
        const std::size_t count = std::max(a.choices.size(), b.choices.size());
        auto unmatched = static_cast<double>(count);
        int exchanged = 0;
        for (const auto& [ratio, i, j] : s.choices.pairs) {
            exchanged += ratio < 1;
            unmatched -= ratio >= 0.6;
            f["choices_order"_f] = std::max<double>(f["choices_order"_f], i != j);
            f["choices_apart"_f] += (1 - ratio) * static_cast<double>(one.choice(i).size() + other.choice(j).size()) / 2;
            if (ratio == 1) f["choices_weight"_f] += weight_of(a.of(a.choices[i]));
        }
        // the right choice is known, and kept: then one distractor may be another one
        const bool keyed = a.answer.size() && b.answer.size() && !(to.guards & "answer"_g);
        to.same &= exchanged <= (keyed ? 1 : 0);
        f["choices_unmatched"_f] = unmatched / static_cast<double>(count);
        const std::size_t both = a.choices.size() + b.choices.size();
        f["choices_length"_f] = static_cast<double>(one.choices.size() + other.choices.size()) / both;
        std::tie(f["choices_letters_min"_f], f["choices_letters_max"_f]) =
            count_letters(one.choice_letters, other.choice_letters, s.counts);
    }

    void compare_stems() {
        auto& f = to.features;
        measure_stems(f);
        align(a, a.stem, b, b.stem, false, work, s.differ, to.differences);
        if (to.differences.exchanged) to.guards |= "exchanged"_g;
        look_at_differences();
        if (goes_on()) to.guards |= compare_added();
        if (!goes_on()) return;
        for (const auto& [feature, most] : CAPS) f[feature] = std::min(f[feature], most);
        const double weight = std::max({a.profile->weight, b.profile->weight, 1.0});
        for (const std::size_t share : {"edge_share"_f, "replaced_share"_f}) f[share] /= weight;
        measure_own(a, b, s, to);
        to.same = f["pieces"_f] == 0 && f["grammar"_f] == 0 &&
                  std::ranges::none_of(to.differences.differences, &Difference::moved);
    }

    void look_at_differences() {
        auto& f = to.features;
        const auto raise = [&](std::size_t feature, double value) { f[feature] = std::max(f[feature], value); };
        const auto add = [&](const Difference& one) {
            s.stems.left.push_back(one.left);
            s.stems.right.push_back(one.right);
        };
        const bool han = f["han"_f] > 0.3;
        std::int64_t negations = 0, moods = 0;
        bool fewer_blanks = false, more_blanks = false;
        const Match last{a.profile->last_clause, b.profile->last_clause};
        s.stems.clear();
        f["unlike_ratio"_f] = 1;
        for (const Difference& one : to.differences.differences) {
            if (one.moved) continue;
            const Change c = look_at(relations, a, b, to.differences, one, last, work, s.differ);
            if (c.null || c.alike) {
                append_words(a, one.left.of(to.differences.left), s.stems.alike);
                append_words(b, one.right.of(to.differences.right), s.stems.alike);
            }
            if (!one.clauses) moods += c.polar;
            if (c.null) {
                f["forms"_f]++;
                if (c.asks) add(one);
                continue;
            }
            f["pieces"_f]++;
            if (c.replaced) {
                f["replaced"_f]++;
                raise("replaced_min"_f, c.least());
                f["replaced_share"_f] += c.most();
            } else if (one.clauses) {
                f["edge_share"_f] += c.left + c.right;
            } else {
                raise("inserted_max"_f, c.heaviest);
                add(one);
            }
            if (c.unlike) {
                f["unlike"_f]++;
                raise("unlike_max"_f, c.heaviest);
                raise("unlike_min"_f, c.least());
                f["unlike_ratio"_f] = std::min(f["unlike_ratio"_f], c.ratio);
                f["contained"_f] += c.contained;
            }
            const bool adds = one.clauses && !c.limits && (to.kind == TextKind::message || !c.in_tail);
            if (!adds) negations += c.negation;  // a clause more denies nothing, but the last one of a question may
            more_blanks |= c.blanks > 0;
            fewer_blanks |= c.blanks < 0;
            const bool other = c.unlike && !c.contained;
            if (c.numbers_differ || (c.number_alone && !one.edge)) to.guards |= "number"_g;
            if (c.names && other && c.ratio <= 0.5) to.guards |= "name"_g;
            if (c.unit) to.guards |= "unit"_g;
            if (c.formula && !c.numbers_differ) to.guards |= "formula"_g;
            const bool other_identifier = han && c.latins && c.unlike && c.ratio < 0.8;
            if (other_identifier) to.guards |= "formula"_g;
            if (c.opposite) to.guards |= "opposite"_g;
            if (other && c.in_tail && c.word) {
                s.words.find(a, b);
                if (s.words.of(*c.word).right >= 0 && s.words.of(*c.other).left >= 0) to.guards |= "exchanged"_g;
            }
            if (to.kind == TextKind::article && (c.numbers_differ || other_identifier) &&
                is_said(a, one.left.of(to.differences.left)) && is_said(b, one.right.of(to.differences.right)))
                s.stems.said |= c.numbers_differ ? "number"_g : "name"_g;
            if (to.kind == TextKind::article && changes_rule(a, b, to.differences, one, c)) to.guards |= "provision"_g;
            if (!goes_on()) return;
        }
        if (negations) to.guards |= "negation"_g;
        if (moods && !(moods > 0 ? b : a).profile->asks) to.guards |= "mood"_g;
        if (more_blanks && fewer_blanks) to.guards |= "blanks"_g;
    }

    // Compares all that each side adds, since it may stand at different places: 正确的说法是, 说法错误的是
    std::uint32_t compare_added() {
        Alignment& found = to.differences;
        const auto repeat = [](const std::vector<Range>& ranges, std::vector<std::uint32_t>& places) {
            const std::size_t begin = places.size();
            for (const Range range : ranges) {
                for (std::uint32_t k = range.begin; k < range.end; k++) places.push_back(places[k]);
            }
            return range_of(begin, places.size());
        };
        const Match last{a.profile->last_clause, b.profile->last_clause};
        const Difference added{repeat(s.stems.left, found.left), repeat(s.stems.right, found.right), false, false, false, false};
        const Change change = look_at(relations, a, b, found, added, last, work, s.differ);
        found.left.resize(added.left.begin);
        found.right.resize(added.right.begin);
        if (s.stems.left.size() > 4) return 0;
        return (change.numbers_differ ? "number"_g : 0) | (change.opposite ? "opposite"_g : 0);
    }

    // Equal choices first, then the most similar ones.
    void pair_choices() {
        const Profile &one = *a.profile, &other = *b.profile;
        const std::uint32_t m = one.keys.size(), n = other.keys.size();
        auto& [pairs, has_left, has_right] = s.choices;
        has_left.assign(m, 0);
        has_right.assign(n, 0);
        clear(pairs, s.likely);
        const auto take = [&](const ChoicePairs::Pairing& pair) {
            if (has_left[pair.left] || has_right[pair.right]) return;
            has_left[pair.left] = has_right[pair.right] = 1;
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
                const double common = s.differ.subsequence.length(x, y, work);
                s.likely.push_back({2 * common / static_cast<double>(x.size() + y.size()), i, j});
            }
        }
        std::ranges::sort(s.likely, {}, [](const ChoicePairs::Pairing& pair) {
            return std::tuple(-pair.ratio, std::abs(std::int64_t{pair.left} - pair.right), pair.left, pair.right);
        });
        std::ranges::for_each(s.likely, take);
    }

    void compare_choices() {
        const std::size_t m = a.choices.size(), n = b.choices.size();
        to.same &= m == n;
        if (!(m && n)) return;
        pair_choices();
        bool negated = false, opposite = false;
        const auto add_whole = [&](Range left, Range right) {
            const Range x = append_places(left, to.differences.left), y = append_places(right, to.differences.right);
            to.differences.differences.push_back({x, y, true, false, false, false});
        };
        for (std::uint32_t i = 0; i < m; i++) {
            if (!s.choices.has_left[i]) add_whole(a.choices[i], {});
        }
        for (std::uint32_t j = 0; j < n; j++) {
            if (!s.choices.has_right[j]) add_whole({}, b.choices[j]);
        }
        for (const auto& [ratio, i, j] : s.choices.pairs) {
            if (ratio == 1) continue;
            if (ratio < 0.5) {
                add_whole(a.choices[i], b.choices[j]);
                continue;
            }
            const std::size_t first = to.differences.differences.size();
            if (!goes_on()) return;
            align(a, a.choices[i], b, b.choices[j], true, work, s.differ, to.differences);
            bool numbers = false, odd = false;
            for (std::size_t k = first; k < to.differences.differences.size(); k++) {
                const Difference& one = to.differences.differences[k];
                if (one.moved) continue;
                const Change c = look_at(relations, a, b, to.differences, one, {0, 0}, work, s.differ);
                if (c.null) continue;
                numbers |= c.numbers_differ;
                opposite |= c.opposite && !c.names;
                odd ^= c.negation != 0;
            }
            const std::size_t shorter = std::min(a.profile->choice(i).size(), b.profile->choice(j).size());
            if (numbers && ratio >= 0.85 && shorter >= 12) to.guards |= "number"_g;  // it says more than a value
            negated |= odd;
        }
        if (negated) to.guards |= "choice_negation"_g;
        if (opposite) to.guards |= "choice_opposite"_g;
        measure_choices();
    }

    // Two explanations of one answer may use other words, so words count for nothing. But each may not hold a number that
    // the other text lacks; and if most of the words are the same, what keeps two questions apart does so here.
    std::uint32_t compare_explanations() {
        const Profile &one = *a.profile, &other = *b.profile;
        const bool has_number = !std::ranges::includes(other.known, one.explained);
        const bool numbers = has_number && !std::ranges::includes(one.known, other.explained);
        s.explained.clear();
        align(a, a.explanation, b, b.explanation, true, work, s.differ, s.explained);
        double weight = weight_of(a.of(a.explanation)) + weight_of(b.of(b.explanation));
        std::uint32_t guards = s.explained.exchanged ? "exchanged"_g : 0;
        for (const Difference& difference : s.explained.differences) {
            if (difference.moved) continue;
            const Change c = look_at(relations, a, b, s.explained, difference, {0, 0}, work, s.differ);
            if (c.null) continue;
            weight -= 2 * (c.left + c.right);
            if (difference.clauses) continue;  // a clause more says more
            guards ^= c.negation ? "negation"_g : 0;
            if (c.formula) guards |= "formula"_g;
            if (c.opposite && !c.names) guards |= "opposite"_g;
        }
        return (numbers ? "number"_g : 0) | (weight >= 0 ? guards : 0);
    }
};

}  // namespace

const Comparison& compare_forms(const Relations& relations, TextKind kind, const Form& x, const Form& y, std::uint32_t stop, Scratch& s) {
    const bool turned = is_before(y, x);
    const Form &a = turned ? y : x, &b = turned ? x : y;
    Comparison& to = s.found;
    to.features.fill(0);
    to.differences.clear();
    s.words.clear();
    to.same = false;
    to.reworded = a.profile->light != b.profile->light;
    to.left_out = std::max(left_out(a, b), left_out(b, a));
    to.kind = kind == TextKind::any ? kind_of(a, b) : kind;
    Comparer under_way{relations, a, b, to.kind == TextKind::article ? stop & OF_ARTICLES : stop, s, to};
    to.guards = to.kind == TextKind::article ? compare_titles(a, b, s, to.features) : 0;
    to.guards |= under_way.compare_marks();
    const auto all = to.kind == TextKind::question ? SharedWords::Totals{} : s.words.find(a, b);
    to.little = 2 * all.both < std::min(all.left, all.right);
    if (to.little && stop) {
        to.guards &= under_way.stop;  // those that count for this kind
        to.whole = !to.guards;
        return to;
    }
    if (under_way.goes_on()) under_way.compare_stems();
    if (under_way.goes_on()) under_way.compare_choices();
    // the choices and the same answer say what is asked: then an explanation only explains
    const bool has_choices = !a.choices.empty() && !b.choices.empty();
    const bool settled = has_choices && a.answer.size() && b.answer.size();
    if (!settled && under_way.goes_on() && a.explanation.size() && b.explanation.size())
        to.guards |= under_way.compare_explanations();
    if (turned) {
        std::swap(to.differences.left, to.differences.right);
        for (Difference& difference : to.differences.differences) std::swap(difference.left, difference.right);
    }
    to.whole = !(to.guards & stop);
    return to;
}

}  // namespace dedup::judgment
