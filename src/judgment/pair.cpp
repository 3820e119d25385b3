// Differences of two forms.
#include "judgment/features.hpp"

namespace dedup::judgment {
namespace {

using Side = Scratch::Side;

// Whether two Han characters have changed positions and nothing else has: once across the bounds of words, or more than once.
// Not neighbours, which often mean the same in either order: 合成蛋白质, 蛋白质合成.
bool have_swapped(Points x, Points y, bool same_words) {
    if (x.size() != y.size()) return false;
    static constexpr std::u32string_view JOINTS = U"和与及或";
    bool back = false;
    std::size_t unequal = 0, first = x.size();
    for (std::size_t i = 0; i < x.size(); i++) {
        if (x[i] == y[i]) continue;
        first = std::min(first, i);
        unequal++;
        const auto one = x[first], other = y[first];
        if (x[i] == other && y[i] == one) {
            back |= i > first + 2 || (i == first + 2 && JOINTS.find(x[first + 1]) == JOINTS.npos);
        } else if (x[i] != one || y[i] != other || std::min(one, other) < 0x3400) {
            return false;
        }
    }
    return back && (unequal > 2 || !same_words);
}

// Whether two texts are equal but for notation, or how a machine reads it: 10^9 and 109, 10~15 and 10-15, 2020 and 2o2o.
bool is_same_notation(Points p, Points q, const Groups& alike) {
    const auto is_script = [](std::uint32_t c) { return c == '^' || c == '_'; };
    const bool plain = std::ranges::any_of(p, is_script) != std::ranges::any_of(q, is_script);
    const auto skip = [&](Points text, std::size_t i) {  // but 3^2 is not 32
        const bool ten = i > 1 && text[i - 2] == '1' && text[i - 1] == '0';
        const bool power = i > 0 && is_digit(text[i - 1]) && !ten;
        return i + (plain && i < text.size() && is_script(text[i]) && !power);
    };
    for (std::size_t i = 0, j = 0;; i++, j++) {
        i = skip(p, i);
        j = skip(q, j);
        if (i == p.size() || j == q.size()) return i == p.size() && j == q.size();
        if (p[i] != q[j] && !(std::max(p[i], q[j]) < 0x3000 && alike.share(p.subspan(i, 1), q.subspan(j, 1)))) return false;
    }
}

void take_clauses(const Form& form, Range part, bool choice, Side& side) {
    if (choice)
        find_clauses(form, part, side.keys, side.clauses);
    else
        side.clauses = form.profile->clauses;
    side.clause_keys.resize(side.clauses.size());
    std::ranges::transform(side.clauses, side.clause_keys.begin(), &Clause::key);
    side.gone_clauses.assign(side.clauses.size(), 0);
}

// Finds a longest common subsequence of x and y, then takes runs of equal values in the rest, each from the first in y on.
void match(Keys x, Keys y, std::size_t longest, Scratch& s, std::vector<Match>& same, auto take) {
    s.subsequence.find(x, y, same);
    s.a.taken.assign(x.size(), 0);
    s.b.taken.assign(y.size(), 0);
    for (const auto [i, j] : same) s.a.taken[i] = s.b.taken[j] = 1;
    if (same.size() == x.size() || same.size() == y.size()) return;
    const Buffer &left = s.subsequence.left, &right = s.subsequence.right;
    const std::size_t begin = s.subsequence.begin;
    s.firsts.assign(s.subsequence.values + 1, 0);
    s.next.resize(y.size() + 1);
    for (std::uint32_t j = begin + right.size(); j > begin; j--) {  // positions from 1 on
        if (!s.b.taken[j - 1]) s.next[j] = std::exchange(s.firsts[right[j - 1 - begin]], j);
    }
    for (std::size_t i = begin; i < begin + left.size(); i++) {
        if (s.a.taken[i] || !left[i - begin]) continue;
        std::uint32_t& first = s.firsts[left[i - begin]];
        while (first && s.b.taken[first - 1]) first = s.next[first];
        if (!first) continue;
        const std::size_t j = first - 1;
        std::size_t count = 0;
        while (count < longest && i + count < x.size() && j + count < y.size() && !s.a.taken[i + count] &&
               !s.b.taken[j + count] && x[i + count] == y[j + count]) {
            s.a.taken[i + count] = s.b.taken[j + count] = 1;
            count++;
        }
        take(i, j, count);
    }
}

void gather(const Form& form, Range clauses, Side& side) {
    clear(side.tokens, side.keys);
    for (std::uint32_t k = clauses.begin; k < clauses.end; k++) {
        if (!side.gone_clauses[k]) append_range(side.clauses[k].tokens, side.tokens);
    }
    for (const std::uint32_t at : side.tokens) side.keys.push_back(form.tokens[at].key);
}

// One side while runs are looked at.
struct Text {
    const Form& form;
    const Side& side;

    const Token& operator[](std::size_t at) const { return form.tokens[side.tokens[at]]; }
    bool are_together(std::size_t at, std::size_t other) const {  // in one clause
        return at < side.tokens.size() && (*this)[at].clause == (*this)[other].clause;
    }
    // The key of the next word with a meaning in the same clause, 0 if there is none; step: -1 or 1.
    std::uint64_t near(std::size_t from, std::size_t step) const {
        std::size_t at = from + step;
        while (are_together(at, from) && !has_content((*this)[at])) at += step;
        return are_together(at, from) ? side.keys[at] : 0;
    }
    bool is_joint(std::size_t at) const {  // before a token
        return !are_together(at, at - 1) || (*this)[at].flags & (JOINS | LISTED) || (*this)[at - 1].flags & JOINS;
    }
};

// Tokens that both sides have in a row, [begin, end) of each.
struct Run {
    Range left, right;
    std::uint64_t before[2], behind[2];  // keys of the next words on either side
    bool words = false;                  // some tokens have a meaning

    // Whether it is on the left where another one is on the right.
    bool replaces(const Run& other) const { return before[0] == other.before[1] || behind[0] == other.behind[1]; }
};

// Whether two runs have changed positions around a word that relates them: 甲比乙大, 乙比甲大. In a list and around 是 they may.
bool are_exchanged(const Text& a, const Text& b, Scratch& s) {
    for (const auto [i, j] : s.tokens) s.partners[i] = j + 1;
    std::vector<Run> runs;
    for (std::size_t i = 0; i < s.partners.size(); i++) {
        const std::size_t j = s.partners[i] - 1;
        if (!s.partners[i]) continue;
        if (runs.empty() || runs.back().left.end != i || runs.back().right.end != j)
            runs.push_back({range_of(i, i), range_of(j, j), {}, {}});
        runs.back().left.end++;
        runs.back().right.end++;
    }
    const std::size_t count = runs.size();
    if (!s.subsequence.may_take(count * count, Subsequence::MATRIX)) return false;
    for (Run& run : runs) {
        run.words = std::ranges::any_of(run.left.of(s.a.tokens), [&](auto at) { return has_content(a.form.tokens[at]); });
        if (!run.words) continue;
        run.before[0] = a.near(run.left.begin, -1), run.behind[0] = a.near(run.left.end - 1, 1);
        run.before[1] = b.near(run.right.begin, -1), run.behind[1] = b.near(run.right.end - 1, 1);
    }
    // The words between two runs are before them, or behind them, as well: 高为3厘米，宽为5厘米.
    const auto is_repeated = [&](const Run& p, const Run& q) {
        const bool joins = a[p.left.end].flags & JOINS;
        const Keys all = s.a.keys, between = range_of(p.left.end + joins, q.left.begin).of(all);
        const Keys before = all.first(p.left.begin), behind = all.subspan(q.left.end);
        return std::ranges::equal(between, before.last(std::min(between.size(), before.size()))) ||
               std::ranges::equal(between, behind.first(std::min(between.size(), behind.size())));
    };
    for (std::size_t i = 0; i < count; i++) {
        const Run& p = runs[i];
        for (std::size_t j = i + 2; p.words && j < count; j++) {
            const Run& q = runs[j];
            if (q.right.begin > p.right.begin || !q.words || !p.replaces(q) || !q.replaces(p)) continue;
            if (a.is_joint(p.left.end) && a.is_joint(q.left.begin) && b.is_joint(q.right.end) && b.is_joint(p.right.begin)) continue;
            if (!s.subsequence.may_take(count)) return false;
            bool relates = false, equates = false, stays = false;
            for (std::size_t k = i + 1; k < j; k++) {
                const auto [left, right] = std::pair(runs[k].left, runs[k].right);
                if (right.begin < q.right.begin || right.begin > p.right.begin) continue;
                if (!a.are_together(left.begin, p.left.begin) && !a.are_together(left.begin, q.left.begin)) continue;
                if (!b.are_together(right.begin, p.right.begin) && !b.are_together(right.begin, q.right.begin)) continue;
                for (std::size_t at = left.begin; at < left.end; at++) {
                    equates |= a[at].flags & EQUALS;
                    relates |= !(a[at].flags & (EQUALS | JOINS));
                }
            }
            for (std::size_t k = j + 1; k < count; k++)
                stays |= runs[k].right.begin > p.right.begin && runs[k].words && a.are_together(runs[k].left.begin, q.left.begin);
            if ((relates || (equates && stays)) && !is_repeated(p, q)) return true;
        }
    }
    return false;
}

// Whether two clauses share words with the same two clauses of the other text: 校长是甲，乙是秘书 and 乙是校长，甲是秘书. Only
// words of one clause of each text count.
bool are_crossed(const Form& a, const Form& b, Scratch& s) {
    if (std::ranges::count(s.a.taken, 0) < 2 || std::ranges::count(s.b.taken, 0) < 2) return false;
    const auto each = [](const Form& form, const Side& side, auto take) {
        for (std::uint32_t k = 0; k < side.clauses.size(); k++) {
            if (side.taken[k]) continue;
            for (const Token& token : form.of(side.clauses[k].tokens)) {
                if (has_content(token)) take(key_of(token.key), k);
            }
        }
    };
    const auto enter = [](std::uint32_t& owner, std::uint32_t k) {
        owner = owner == Scratch::NONE || owner == k ? k : Scratch::SEVERAL;
    };
    s.owners.reset(a.tokens.size() + b.tokens.size());
    each(a, s.a, [&](auto key, std::uint32_t k) { enter(s.owners[key].value.left, k); });
    each(b, s.b, [&](auto key, std::uint32_t k) { enter(s.owners[key].value.right, k); });
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links, forks;  // of clauses
    each(a, s.a, [&](auto key, std::uint32_t k) {
        const Scratch::Owners both = s.owners.find(key);
        if (both.left == k && both.right < Scratch::SEVERAL) links.emplace_back(k, both.right);
    });
    std::ranges::sort(links);
    const auto repeated = std::ranges::unique(links);
    links.erase(repeated.begin(), repeated.end());
    for (auto x = links.begin(); x != links.end(); x++) {
        for (auto y = x + 1; y != links.end() && y->first == x->first && s.subsequence.may_take(1); y++)
            forks.emplace_back(x->second, y->second);
    }
    std::ranges::sort(forks);
    return std::ranges::adjacent_find(forks) != forks.end();
}

bool is_anagram(Points p, Points q) {
    if (p.size() != q.size()) return false;
    Buffer x(p.begin(), p.end()), y(q.begin(), q.end());
    std::ranges::sort(x);
    std::ranges::sort(y);
    return x == y;
}

// Whether two words differ by one letter, of six at least.
bool are_close(Points p, Points q, Subsequence& subsequence) {
    const std::size_t longer = std::max(p.size(), q.size());
    if (longer < 6 || longer > std::min(p.size(), q.size()) + 1 || std::ranges::equal(p, q)) return false;
    const auto is_letter = [](std::uint32_t c) { return U'a' <= c && c <= U'z'; };
    return std::ranges::all_of(p, is_letter) && std::ranges::all_of(q, is_letter) && subsequence.length(p, q) + 1 == longer;
}

// Counts and marks of one side of a difference.
struct SideStats {
    std::int64_t count = 0;  // of tokens with a meaning
    const Token* last = nullptr;
    double weight = 0, heaviest = 0;  // of tokens with a meaning; of a word
    std::int64_t negations = 0, denials = 0, blanks = 0, polar = 0;  // denials: negations that are no opposites
    bool words = false, asks = false, proper = false, latin = false, limits = false, tail = false, circled = true;
};

// Also fills the texts, numbers and words of the side, and the keys of its signs.
SideStats read(const FormTables& tables, const Form& form, std::span<const std::uint32_t> tokens, std::uint32_t tail, Side& side) {
    SideStats stats;
    clear(side.text, side.content, side.plain, side.numbers, side.words, side.keys);
    for (const std::uint32_t at : tokens) {
        const Token& token = form.tokens[at];
        const Points text = form.text(token);
        const std::uint64_t word = digest(text);
        const bool negates = token.flags & NEGATES;
        append(side.text, text);
        side.words.push_back(word);
        stats.negations += negates;
        stats.denials += negates && tables.opposites.of(word).empty();
        stats.limits |= token.flags & LIMITS;
        stats.asks |= token.flags & ASKS;
        stats.blanks += token.kind == Kind::blank;
        stats.polar += (token.flags & POLAR) != 0;
        stats.tail |= token.clause == tail;
        if (has_content(token)) {
            append(side.content, text);
            stats.count++;
            stats.last = &token;
            stats.weight += token.weight;
            stats.latin |= token.flags & LATIN;
        }
        if (token.kind == Kind::word) {
            stats.words = true;
            stats.proper |= token.flags & PROPER;
            stats.heaviest = std::max<double>(stats.heaviest, token.weight);
        }
        if (token.kind == Kind::number) stats.circled &= text.size() == 1 && is_circled(text[0]);
        const bool sign = token.kind == Kind::symbol || token.kind == Kind::letter;
        if (sign && !(text.size() == 1 && text[0] == '_')) side.keys.push_back(token.key);
    }
    write_plainly(side.text, tables, side.plain);
    find_numbers(side.plain, side.numbers);
    std::ranges::sort(side.words);
    return stats;
}

// Whether words that exclude each other are on the two sides, or are all that two texts differ by.
bool excludes(const Groups& opposites, Side& a, Side& b) {
    for (const auto& [side, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        side->groups.clear();
        for (const std::uint64_t word : side->words) {
            const auto groups = opposites.of(word);
            if (!groups.empty() && !std::ranges::binary_search(other->words, word)) dedup::append(side->groups, groups);
        }
    }
    if (std::ranges::find_first_of(a.groups, b.groups) != a.groups.end()) return true;
    const Points p = a.plain, q = b.plain;
    const auto [begin, end] = frame(p, q);
    return opposites.share(p.subspan(begin, p.size() - end - begin), q.subspan(begin, q.size() - end - begin));
}

// Whether two texts differ by one or two characters that look or sound alike.
bool are_alike(Points p, Points q, const Groups& alike) {
    if (p.size() != q.size()) return false;
    std::size_t unequal = 0;
    for (std::size_t i = 0; i < p.size(); i++) {
        if (p[i] != q[i] && (++unequal > 2 || !alike.share(p.subspan(i, 1), q.subspan(i, 1)))) return false;
    }
    return unequal > 0;
}

// Calls take(range on the left, range on the right, whether they are the last) for the ranges between matches.
void each_between(std::span<const Match> same, std::size_t left_size, std::size_t right_size, auto take) {
    std::uint32_t i = 0, j = 0;
    for (const Match& one : same) {
        take(Range{i, one.left}, Range{j, one.right}, false);
        i = one.left + 1, j = one.right + 1;
    }
    take(range_of(i, left_size), range_of(j, right_size), true);
}

// begins, ends: whether the part does with these tokens.
void align_tokens(const Form& a, const Form& b, bool choice, bool begins, bool ends, Scratch& s, Alignment& found) {
    const Keys x = s.a.keys, y = s.b.keys;
    const Text left{a, s.a}, right{b, s.b};
    s.a.gone.assign(x.size(), 0);
    s.b.gone.assign(y.size(), 0);
    // Appends tokens but for moved ones.
    const auto add = [](const Side& side, Range range, std::vector<std::uint32_t>& to) {
        const std::size_t begin = to.size();
        for (std::uint32_t i = range.begin; i < range.end; i++) {
            if (!side.gone[i]) to.push_back(side.tokens[i]);
        }
        return range_of(begin, to.size());
    };
    s.partners.assign(x.size(), 0);
    bool displaced = false;
    match(x, y, x.size(), s, s.tokens, [&](std::size_t i, std::size_t j, std::size_t count) {
        double weight = 0;
        bool word = false;
        for (std::size_t k = i; k < i + count; k++) {
            weight += left[k].weight;
            word |= left[k].kind == Kind::word;
            displaced |= has_content(left[k]);
            s.partners[k] = j + k - i + 1;
        }
        const Token &first = left[i], &other = right[j];
        const bool denies = first.flags & NEGATES && (first.flags & LATIN || first.end - first.begin == 1);
        const bool apart = first.clause != other.clause;
        // something else is denied, and both texts say it: 甲不来，乙来
        const bool both = i + 1 < x.size() && j + 1 < y.size() && s.a.taken[i + 1] && s.b.taken[j + 1];
        found.exchanged |= count == 1 && denies && (apart || both);
        found.exchanged |= apart && first.flags & other.flags & ARGUMENT;
        if (!word || weight <= (count == 1 ? 5 : 8)) return;
        const Range from = add(s.a, range_of(i, i + count), found.left), to = add(s.b, range_of(j, j + count), found.right);
        std::fill_n(s.a.gone.begin() + i, count, 1);
        std::fill_n(s.b.gone.begin() + j, count, 1);
        found.differences.push_back({from, to, choice, false, false, true});
    });
    if (displaced) found.exchanged |= are_exchanged(left, right, s);
    const bool one_sided = x.empty() || y.empty();
    each_between(s.tokens, x.size(), y.size(), [&](Range p, Range q, bool last) {
        const bool edge = (begins && !p.begin && !q.begin) || (ends && last);
        const Range from = add(s.a, p, found.left), to = add(s.b, q, found.right);
        if (from.size() || to.size()) found.differences.push_back({from, to, choice, edge, one_sided, false});
    });
}

}  // namespace

void align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Scratch& s, Alignment& found) {
    take_clauses(a, of_a, choice, s.a);
    take_clauses(b, of_b, choice, s.b);
    const Keys x = s.a.clause_keys, y = s.b.clause_keys;
    match(x, y, 1, s, s.clauses, [&](std::size_t i, std::size_t j, std::size_t) {
        if (!(x[i] & 1)) return;
        s.a.gone_clauses[i] = s.b.gone_clauses[j] = 1;
        const Range left = append_range(s.a.clauses[i].tokens, found.left), right = append_range(s.b.clauses[j].tokens, found.right);
        found.differences.push_back({left, right, choice, false, true, true});
    });
    const auto sum = [](std::span<const Token> tokens) {
        return std::accumulate(tokens.begin(), tokens.end(), std::uint64_t{0}, [](auto to, auto& one) { return to + one.key; });
    };
    const auto p = a.of(of_a), q = b.of(of_b);
    found.exchanged |= have_swapped(a.text(p), b.text(q), sum(p) == sum(q)) || are_crossed(a, b, s);
    each_between(s.clauses, x.size(), y.size(), [&](Range left, Range right, bool last) {
        gather(a, left, s.a);
        gather(b, right, s.b);
        if (s.a.tokens.empty() && s.b.tokens.empty()) return;
        align_tokens(a, b, choice, !left.begin && !right.begin, last, s, found);
    });
}

Change look_at(const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last, Scratch& s) {
    const Groups& alike = s.tables.alike;
    const SideStats x = read(s.tables, a, one.left.of(found.left), last.left, s.a),
                    y = read(s.tables, b, one.right.of(found.right), last.right, s.b);
    const bool content = x.count || y.count, wordless = !x.words && !y.words;
    const bool same = s.a.plain == s.b.plain, notation = is_same_notation(s.a.plain, s.b.plain, alike);

    Change change{};
    change.opposite = !same && excludes(s.tables.opposites, s.a, s.b);
    change.null = !change.opposite && (same || !content);
    if ((x.negations + y.negations) % 2 && !change.opposite) change.negation = x.negations > y.negations ? 1 : -1;
    if (change.opposite) change.opposite = (x.denials + y.denials) % 2 == 0;  // 不增加, 减少
    const bool has_number = !s.a.numbers.empty(), other_has = !s.b.numbers.empty();
    change.numbers_differ = !notation && has_number && other_has && s.a.numbers != s.b.numbers;
    change.number_alone = !notation && has_number != other_has && wordless && !(x.circled && y.circled);
    const auto is_symbol = [&](Points text) { return s.tables.spelling(text).flags & UNIT_SYMBOL; };
    change.unit = !same && is_symbol(s.a.plain) && is_symbol(s.b.plain);
    change.formula = s.a.keys != s.b.keys && wordless && !notation;
    change.polar = x.polar - y.polar;
    change.blanks = content ? x.blanks - y.blanks : 0;
    change.latins = x.latin && y.latin;
    change.names = x.proper && y.proper && std::abs(x.count - y.count) <= 1;
    change.limits = x.limits || y.limits;
    change.asks = x.asks || y.asks;
    change.in_tail = x.tail || y.tail;
    change.left = x.weight;
    change.right = y.weight;
    change.heaviest = std::max(x.heaviest, y.heaviest);
    if (x.count == 1 && y.count == 1 && x.last->kind == Kind::word && y.last->kind == Kind::word) {
        change.word = x.last;
        change.other = y.last;
    }

    const Points p = s.a.content, q = s.b.content;
    change.alike = are_alike(p, q, alike) || are_alike(s.a.plain, s.b.plain, alike) || (change.latins && are_close(p, q, s.subsequence));
    change.replaced = (x.count && y.count) || change.alike;
    change.unlike = change.replaced && !change.alike && !notation && !is_anagram(p, q);
    const std::size_t in_common = change.unlike ? s.subsequence.length(p, q) : 0;
    change.ratio = change.unlike ? static_cast<double>(in_common) / static_cast<double>(std::max(p.size(), q.size())) : 1;
    change.contained = change.unlike && in_common == std::min(p.size(), q.size());
    return change;
}

}  // namespace dedup::judgment
