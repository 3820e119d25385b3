// Differences of two forms.
#include "judgment/features.hpp"

namespace dedup::judgment {
namespace {

using Side = DifferScratch::Side;

// Two Han characters have changed places and nothing else has: once across the bounds of words, or more than once. Not
// neighbours, which often say the same in either order: 合成蛋白质, 蛋白质合成.
bool have_swapped(Points x, Points y, bool same_words) {
    if (x.size() != y.size()) return false;
    static constexpr std::u32string_view JOINTS = U"和与及或";
    bool back = false;
    std::size_t unequal = 0;
    std::size_t first = x.size();
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

// The same but for notation, or how a machine reads it: 10^9 and 109, 10~15 and 10-15, 2020 and 2o2o.
bool is_same_notation(Points p, Points q, const Groups& alike) {
    const auto is_script = [](std::uint32_t c) { return c == '^' || c == '_'; };
    const bool plain = std::ranges::any_of(p, is_script) != std::ranges::any_of(q, is_script);
    const auto skip = [&](Points text, std::size_t i) {  // but 3^2 is not 32
        const bool ten = i > 1 && text[i - 2] == '1' && text[i - 1] == '0';
        const bool power = i > 0 && '0' <= text[i - 1] && text[i - 1] <= '9' && !ten;
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

// Finds what x and y have in the same order, then takes runs of equal values in what is left of them, each from its first
// place in y on.
void match(Keys x, Keys y, std::size_t longest, Work& work, DifferScratch& s, std::vector<Match>& same, auto take) {
    s.subsequence.find(x, y, work, same);
    s.a.taken.assign(x.size(), 0);
    s.b.taken.assign(y.size(), 0);
    for (const auto [i, j] : same) s.a.taken[i] = s.b.taken[j] = 1;
    if (same.size() == x.size() || same.size() == y.size()) return;
    const auto left = s.subsequence.left(), right = s.subsequence.right();
    const std::size_t begin = s.subsequence.begin();
    s.places.assign(s.subsequence.values() + 1, 0);
    s.next.resize(y.size() + 1);
    for (std::uint32_t j = begin + right.size(); j > begin; j--) {  // places from 1 on
        if (!s.b.taken[j - 1]) s.next[j] = std::exchange(s.places[right[j - 1 - begin]], j);
    }
    for (std::size_t i = begin; i < begin + left.size(); i++) {
        if (s.a.taken[i] || !left[i - begin]) continue;
        std::uint32_t& place = s.places[left[i - begin]];
        while (place && s.b.taken[place - 1]) place = s.next[place];
        if (!place) continue;
        const std::size_t j = place - 1;
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
        if (side.gone_clauses[k]) continue;
        const Range clause = side.clauses[k].tokens;
        for (std::uint32_t at = clause.begin; at < clause.end; at++) {
            side.tokens.push_back(at);
            side.keys.push_back(form.tokens[at].key);
        }
    }
}

// Whether two runs stand at each other's places, around a word that says what the one is to the other: 甲比乙大, 乙比甲大.
// Members of a list may change places, and what stands on both sides of 是.
bool are_exchanged(const Form& a, const Form& b, Work& work, DifferScratch& s) {
    for (const auto [i, j] : s.tokens) s.partners[i] = j + 1;
    s.runs.clear();
    for (std::size_t i = 0; i < s.partners.size(); i++) {
        const std::size_t j = s.partners[i] - 1;
        if (!s.partners[i]) continue;
        if (s.runs.empty() || s.runs.back().left_end() != i || s.runs.back().right_end() != j) s.runs.push_back({i, j, 0, {}, {}, false});
        s.runs.back().count++;
    }
    const std::size_t count = s.runs.size();
    if (!work.suffices(count * count, Work::MATRIX)) return false;
    const auto token = [](const Form& form, const Side& side, std::size_t at) -> const Token& {
        return form.tokens[side.tokens[at]];
    };
    const auto in_clause = [&](const Form& form, const Side& side, std::size_t at, std::size_t of) {
        return at < side.tokens.size() && token(form, side, at).clause == token(form, side, of).clause;
    };
    const auto near = [&](const Form& form, const Side& side, std::size_t of, std::size_t step) {  // -1 or 1
        std::size_t at = of + step;
        while (in_clause(form, side, at, of) && !has_content(token(form, side, at))) at += step;
        return in_clause(form, side, at, of) ? side.keys[at] : 0;
    };
    for (DifferScratch::Run& run : s.runs) {
        const auto tokens = std::span(s.a.tokens).subspan(run.left, run.count);
        run.words = std::ranges::any_of(tokens, [&](std::uint32_t at) { return has_content(a.tokens[at]); });
        if (!run.words) continue;
        run.beside_left = {near(a, s.a, run.left, -1), near(a, s.a, run.left_end() - 1, 1)};
        run.beside_right = {near(b, s.b, run.right, -1), near(b, s.b, run.right_end() - 1, 1)};
    }
    const auto is_joint = [&](const Form& form, const Side& side, std::size_t at) {  // before a token
        return !in_clause(form, side, at, at - 1) || token(form, side, at).flags & (JOINS | LISTED) ||
               token(form, side, at - 1).flags & JOINS;
    };
    // Between two runs stands what stands before them, or behind them, as well: 高为3厘米，宽为5厘米.
    const auto is_repeated = [&](const DifferScratch::Run& p, const DifferScratch::Run& q) {
        const bool joins = token(a, s.a, p.left_end()).flags & JOINS;
        const Keys all = s.a.keys, between = all.subspan(p.left_end() + joins, q.left - p.left_end() - joins);
        const Keys before = all.first(p.left), behind = all.subspan(q.left_end());
        return std::ranges::equal(between, before.last(std::min(between.size(), before.size()))) ||
               std::ranges::equal(between, behind.first(std::min(between.size(), behind.size())));
    };
    for (std::size_t i = 0; i < count; i++) {
        const DifferScratch::Run& p = s.runs[i];
        if (!p.words) continue;
        for (std::size_t j = i + 2; j < count; j++) {
            const DifferScratch::Run& q = s.runs[j];
            if (q.right > p.right || !q.words) continue;
            // each stands on the right where the other one stands on the left
            if (!p.beside_left.meets(q.beside_right) || !q.beside_left.meets(p.beside_right)) continue;
            if (is_joint(a, s.a, p.left_end()) && is_joint(a, s.a, q.left) && is_joint(b, s.b, q.right_end()) &&
                is_joint(b, s.b, p.right))
                continue;
            if (!work.suffices(count)) return false;
            bool relates = false, equates = false, stays = false;
            for (std::size_t k = i + 1; k < j; k++) {
                const DifferScratch::Run& run = s.runs[k];
                if (run.right < q.right || run.right > p.right) continue;
                if (!in_clause(a, s.a, run.left, p.left) && !in_clause(a, s.a, run.left, q.left)) continue;
                if (!in_clause(b, s.b, run.right, p.right) && !in_clause(b, s.b, run.right, q.right)) continue;
                for (std::size_t at = run.left; at < run.left_end(); at++) {
                    const std::uint32_t flags = token(a, s.a, at).flags;
                    equates |= flags & EQUALS;
                    relates |= !(flags & (EQUALS | JOINS));
                }
            }
            for (std::size_t k = j + 1; k < count; k++)
                stays |= s.runs[k].right > p.right && s.runs[k].words && in_clause(a, s.a, s.runs[k].left, q.left);
            if ((relates || (equates && stays)) && !is_repeated(p, q)) return true;
        }
    }
    return false;
}

// Whether two clauses share words with the same two clauses of the other text: 校长是甲，乙是秘书 and 乙是校长，甲是秘书.
// Words count that one clause of each text has.
bool are_crossed(const Form& a, const Form& b, Work& work, DifferScratch& s) {
    if (std::ranges::count(s.a.taken, 0) < 2 || std::ranges::count(s.b.taken, 0) < 2) return false;
    const auto each = [](const Form& form, const Side& side, auto take) {
        for (std::uint32_t k = 0; k < side.clauses.size(); k++) {
            if (side.taken[k]) continue;
            for (const Token& token : form.of(side.clauses[k].tokens)) {
                if (has_content(token)) take(key_of(token.key), k);
            }
        }
    };
    const auto enter = [](std::uint32_t& owner, std::uint32_t k) { owner = owner == DifferScratch::NONE || owner == k ? k : DifferScratch::SEVERAL; };
    s.owners.reset(a.tokens.size() + b.tokens.size());
    each(a, s.a, [&](auto key, std::uint32_t k) { enter(s.owners[key].value.left, k); });
    each(b, s.b, [&](auto key, std::uint32_t k) { enter(s.owners[key].value.right, k); });
    clear(s.links, s.forks);
    each(a, s.a, [&](auto key, std::uint32_t k) {
        const DifferScratch::Owners both = s.owners.find(key);
        if (both.left == k && both.right < DifferScratch::SEVERAL) s.links.emplace_back(k, both.right);
    });
    std::ranges::sort(s.links);
    const auto repeated = std::ranges::unique(s.links);
    s.links.erase(repeated.begin(), repeated.end());
    for (auto x = s.links.begin(); x != s.links.end(); x++) {
        for (auto y = x + 1; y != s.links.end() && y->first == x->first && work.suffices(1); y++)
            s.forks.emplace_back(x->second, y->second);
    }
    std::ranges::sort(s.forks);
    return std::ranges::adjacent_find(s.forks) != s.forks.end();
}

bool is_anagram(Points p, Points q, DifferScratch& s) {
    if (p.size() != q.size()) return false;
    s.a.text.assign(p.begin(), p.end());
    s.b.text.assign(q.begin(), q.end());
    std::ranges::sort(s.a.text);
    std::ranges::sort(s.b.text);
    return s.a.text == s.b.text;
}

// Two words differ by one letter, of six at least.
bool are_close(Points p, Points q, Work& work, DifferScratch& s) {
    const std::size_t longer = std::max(p.size(), q.size());
    if (longer < 6 || longer > std::min(p.size(), q.size()) + 1 || std::ranges::equal(p, q)) return false;
    const auto is_letter = [](std::uint32_t c) { return U'a' <= c && c <= U'z'; };
    return std::ranges::all_of(p, is_letter) && std::ranges::all_of(q, is_letter) && s.subsequence.length(p, q, work) + 1 == longer;
}

// What the tokens of a side hold. content: what carries a meaning.
struct SideStats {
    std::int64_t count = 0;  // of content
    const Token* last = nullptr;
    double weight = 0, heaviest = 0;  // of content; of a word
    std::int64_t negations = 0, denials = 0, blanks = 0, polar = 0;  // denials: negations that are no opposites
    bool words = false, asks = false, proper = false, latin = false, limits = false, tail = false, circled = true;
};

// Also finds texts, numbers and the keys of the signs of the side.
SideStats read(const Relations& relations, const Form& form, std::span<const std::uint32_t> tokens, std::uint32_t tail, Side& side) {
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
        stats.denials += negates && relations.opposites.of(word).empty();
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
    write_plainly(side.text, relations.spellings, side.plain);
    find_numbers(side.plain, side.numbers);
    std::ranges::sort(side.words);
    return stats;
}

// Words that exclude each other stand on the two sides, or are all that two texts differ by.
bool excludes(const Groups& opposites, DifferScratch& s) {
    for (const auto& [side, other] : {std::pair(&s.a, &s.b), std::pair(&s.b, &s.a)}) {
        side->groups.clear();
        for (const std::uint64_t word : side->words) {
            const auto groups = opposites.of(word);
            if (groups.empty() || std::binary_search(other->words.begin(), other->words.end(), word)) continue;
            dedup::append(side->groups, groups);
        }
    }
    std::sort(s.b.groups.begin(), s.b.groups.end());
    for (const std::uint64_t group : s.a.groups) {
        if (std::binary_search(s.b.groups.begin(), s.b.groups.end(), group)) return true;
    }
    const Points p = s.a.plain, q = s.b.plain;
    const auto [begin, end] = frame(p, q);
    const Points u = p.subspan(begin, p.size() - end - begin), v = q.subspan(begin, q.size() - end - begin);
    return opposites.share(u, v);
}

// Two texts differ by one or two characters that look or sound alike.
bool are_alike(Points p, Points q, const Groups& alike) {
    if (p.size() != q.size()) return false;
    std::size_t unequal = 0;
    for (std::size_t i = 0; i < p.size(); i++) {
        if (p[i] != q[i] && (++unequal > 2 || !alike.share(p.subspan(i, 1), q.subspan(i, 1)))) return false;
    }
    return unequal > 0;
}

void align_tokens(const Form& a, const Form& b, Difference kind, bool begins, bool ends, Work& work, DifferScratch& s, Alignment& found) {
    const Keys x = s.a.keys, y = s.b.keys;
    s.a.gone.assign(x.size(), 0);
    s.b.gone.assign(y.size(), 0);
    // Appends what lies between two places but for what has moved.
    const auto add = [](const Side& side, std::size_t i, std::size_t end, bool all, std::vector<std::uint32_t>& to) {
        const std::size_t begin = to.size();
        for (; i < end; i++) {
            if (all || !side.gone[i]) to.push_back(side.tokens[i]);
        }
        return range_of(begin, to.size());
    };
    s.partners.assign(x.size(), 0);
    bool displaced = false;
    match(x, y, x.size(), work, s, s.tokens, [&](std::size_t i, std::size_t j, std::size_t count) {
        double weight = 0;
        bool word = false;
        const Token& first = a.tokens[s.a.tokens[i]];
        for (std::size_t k = i; k < i + count; k++) {
            weight += a.tokens[s.a.tokens[k]].weight;
            word |= a.tokens[s.a.tokens[k]].kind == Kind::word;
            displaced |= has_content(a.tokens[s.a.tokens[k]]);
            s.partners[k] = j + k - i + 1;
        }
        const bool denies = first.flags & NEGATES && (first.flags & LATIN || first.end - first.begin == 1);
        const Token& other = b.tokens[s.b.tokens[j]];
        const bool apart = first.clause != other.clause;
        // what is denied is something else, and both texts say it: 甲不来，乙来
        const bool both = i + 1 < x.size() && j + 1 < y.size() && s.a.taken[i + 1] && s.b.taken[j + 1];
        found.exchanged |= count == 1 && denies && (apart || both);
        found.exchanged |= apart && first.flags & other.flags & ARGUMENT;
        if (!word || weight <= (count == 1 ? 5 : 8)) return;
        std::fill_n(s.a.gone.begin() + i, count, 1);
        std::fill_n(s.b.gone.begin() + j, count, 1);
        const Range left = add(s.a, i, i + count, true, found.left), right = add(s.b, j, j + count, true, found.right);
        found.differences.push_back({left, right, kind.choice, false, false, true});
    });
    if (displaced) found.exchanged |= are_exchanged(a, b, work, s);
    const std::vector<Match>& same = s.tokens;
    Match at{0, 0};
    for (std::size_t k = 0; k <= same.size(); k++) {
        const bool last = k == same.size();
        const std::size_t i = last ? x.size() : same[k].left, j = last ? y.size() : same[k].right;
        kind.left = add(s.a, at.left, i, false, found.left);
        kind.right = add(s.b, at.right, j, false, found.right);
        kind.edge = (begins && at.left == 0 && at.right == 0) || (ends && last);
        if (kind.left.size() || kind.right.size()) found.differences.push_back(kind);
        if (!last) at = {same[k].left + 1, same[k].right + 1};
    }
}

}  // namespace

void align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Work& work, DifferScratch& s, Alignment& found) {
    take_clauses(a, of_a, choice, s.a);
    take_clauses(b, of_b, choice, s.b);
    const Keys x = s.a.clause_keys, y = s.b.clause_keys;
    const auto count_of = [](const auto& values) { return static_cast<std::uint32_t>(values.size()); };
    match(x, y, 1, work, s, s.clauses, [&](std::size_t i, std::size_t j, std::size_t) {
        if (!(x[i] & 1)) return;
        s.a.gone_clauses[i] = s.b.gone_clauses[j] = 1;
        const Range left = append_places(s.a.clauses[i].tokens, found.left), right = append_places(s.b.clauses[j].tokens, found.right);
        found.differences.push_back({left, right, choice, false, true, true});
    });
    const auto sum = [](std::span<const Token> tokens) {
        return std::accumulate(tokens.begin(), tokens.end(), std::uint64_t{0}, [](auto to, auto& one) { return to + one.key; });
    };
    const auto p = a.of(of_a), q = b.of(of_b);
    found.exchanged |= have_swapped(a.text(p), b.text(q), sum(p) == sum(q)) || are_crossed(a, b, work, s);
    const std::vector<Match>& same = s.clauses;
    Match at{0, 0};
    for (std::size_t k = 0; k <= same.size(); k++) {
        const Match next = k < same.size() ? same[k] : Match{count_of(x), count_of(y)};
        gather(a, {at.left, next.left}, s.a);
        gather(b, {at.right, next.right}, s.b);
        if (!s.a.tokens.empty() || !s.b.tokens.empty()) {
            const bool one_sided = s.a.tokens.empty() || s.b.tokens.empty();
            const bool begins = at.left == 0 && at.right == 0, ends = k == same.size();
            align_tokens(a, b, {{}, {}, choice, false, one_sided, false}, begins, ends, work, s, found);
        }
        at = {next.left + 1, next.right + 1};
    }
}

Change look_at(const Relations& relations, const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last,
               Work& work, DifferScratch& s) {
    const auto left = one.left.of(found.left), right = one.right.of(found.right);
    const SideStats x = read(relations, a, left, last.left, s.a), y = read(relations, b, right, last.right, s.b);
    const bool content = x.count || y.count, wordless = !x.words && !y.words;
    const bool same = s.a.plain == s.b.plain, notation = is_same_notation(s.a.plain, s.b.plain, relations.alike);
    const auto is_symbol = [&](Points text) { return relations.spellings.find(text).uses & Spellings::SYMBOL; };

    Change change{};
    change.opposite = !same && excludes(relations.opposites, s);
    change.null = !change.opposite && (same || !content);
    if ((x.negations + y.negations) % 2) change.negation = x.negations > y.negations ? 1 : -1;
    if (change.opposite) {
        change.negation = 0;
        change.opposite = (x.denials + y.denials) % 2 == 0;  // 不增加, 减少
    }
    const bool has_number = !s.a.numbers.empty(), other_has = !s.b.numbers.empty();
    change.numbers_differ = !notation && has_number && other_has && s.a.numbers != s.b.numbers;
    change.number_alone = !notation && has_number != other_has && wordless && !(x.circled && y.circled);
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
    change.alike = are_alike(p, q, relations.alike) || are_alike(s.a.plain, s.b.plain, relations.alike) || (change.latins && are_close(p, q, work, s));
    change.replaced = (x.count && y.count) || change.alike;
    change.unlike = change.replaced && !change.alike && !notation && !is_anagram(p, q, s);
    const std::size_t in_common = change.unlike ? s.subsequence.length(p, q, work) : 0, longer = std::max(p.size(), q.size());
    change.ratio = change.unlike ? static_cast<double>(in_common) / static_cast<double>(longer) : 1;
    change.contained = change.unlike && in_common == std::min(p.size(), q.size());
    return change;
}

}  // namespace dedup::judgment
