#include "judgment/pair.hpp"

#include <iterator>
#include <numeric>
#include <utility>

namespace dedup::judgment {
namespace {

void mark(std::vector<std::uint8_t>& places, std::size_t begin, std::size_t count) {
    std::fill_n(places.begin() + begin, count, 1);
}

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
        if (p[i] != q[j] && !(std::max(p[i], q[j]) < 0x3000 && alike.share(p[i], q[j]))) return false;
    }
}

}  // namespace

void Differ::take_clauses(const Form& form, Range part, bool choice, Side& side) {
    if (choice)
        summarizer_.find_clauses(form, part, side.clauses);
    else
        side.clauses = form.summary->clauses;
    side.clause_keys.resize(side.clauses.size());
    std::ranges::transform(side.clauses, side.clause_keys.begin(), &Clause::key);
    side.gone_clauses.assign(side.clauses.size(), 0);
}

// Runs of equal values in what `same_` leaves of x and y, which were compared last, each from its first place in y
// on.
template <class Take>
void Differ::find_runs(Keys x, Keys y, std::size_t longest, Take take) {
    a_.taken.assign(x.size(), 0);
    b_.taken.assign(y.size(), 0);
    for (const auto [i, j] : same_) a_.taken[i] = b_.taken[j] = 1;
    if (same_.size() == x.size() || same_.size() == y.size()) return;
    const auto left = subsequence_.left(), right = subsequence_.right();
    const std::size_t begin = subsequence_.begin();
    places_.assign(subsequence_.values() + 1, 0);
    next_.resize(y.size() + 1);
    for (std::uint32_t j = begin + right.size(); j > begin; j--) {  // places from 1 on
        if (!b_.taken[j - 1]) next_[j] = std::exchange(places_[right[j - 1 - begin]], j);
    }
    for (std::size_t i = begin; i < begin + left.size(); i++) {
        if (a_.taken[i] || !left[i - begin]) continue;
        std::uint32_t& place = places_[left[i - begin]];
        while (place && b_.taken[place - 1]) place = next_[place];
        if (!place) continue;
        const std::size_t j = place - 1;
        std::size_t count = 0;
        while (count < longest && i + count < x.size() && j + count < y.size() && !a_.taken[i + count] &&
               !b_.taken[j + count] && x[i + count] == y[j + count]) {
            a_.taken[i + count] = b_.taken[j + count] = 1;
            count++;
        }
        take(i, j, count);
    }
}

void Differ::gather(const Form& form, Range clauses, Side& side) const {
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

void Differ::align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Work& work, Alignment& found) {
    take_clauses(a, of_a, choice, a_);
    take_clauses(b, of_b, choice, b_);
    const Keys x = a_.clause_keys, y = b_.clause_keys;
    const auto count_of = [](const auto& values) { return static_cast<std::uint32_t>(values.size()); };
    subsequence_.find(x, y, work, same_);
    find_runs(x, y, 1, [&](std::size_t i, std::size_t j, std::size_t) {
        if (!(x[i] & 1)) return;
        a_.gone_clauses[i] = b_.gone_clauses[j] = 1;
        const Range left = append_places(a_.clauses[i].tokens, found.left), right = append_places(b_.clauses[j].tokens, found.right);
        found.differences.push_back({left, right, choice, false, true, true});
    });
    const std::vector<Match> same = same_;  // since `align_tokens` overwrites it
    const auto sum = [](std::span<const Token> tokens) {
        return std::accumulate(tokens.begin(), tokens.end(), std::uint64_t{0}, [](auto to, auto& one) { return to + one.key; });
    };
    const auto p = a.of(of_a), q = b.of(of_b);
    found.exchanged |= have_swapped(a.text(p), b.text(q), sum(p) == sum(q)) || are_crossed(a, b, work);
    Match at{0, 0};
    for (std::size_t k = 0; k <= same.size(); k++) {
        const Match next = k < same.size() ? same[k] : Match{count_of(x), count_of(y)};
        gather(a, {at.left, next.left}, a_);
        gather(b, {at.right, next.right}, b_);
        if (!a_.tokens.empty() || !b_.tokens.empty()) {
            const bool one_sided = a_.tokens.empty() || b_.tokens.empty();
            const bool begins = at.left == 0 && at.right == 0, ends = k == same.size();
            align_tokens(a, b, {{}, {}, choice, false, one_sided, false}, begins, ends, work, found);
        }
        at = {next.left + 1, next.right + 1};
    }
}

void Differ::align_tokens(const Form& a, const Form& b, Difference kind, bool begins, bool ends, Work& work, Alignment& found) {
    const Keys x = a_.keys, y = b_.keys;
    subsequence_.find(x, y, work, same_);
    a_.gone.assign(x.size(), 0);
    b_.gone.assign(y.size(), 0);
    // Appends what lies between two places but for what has moved.
    const auto add = [](const Side& side, std::size_t i, std::size_t end, bool all, std::vector<std::uint32_t>& to) {
        const std::size_t begin = to.size();
        for (; i < end; i++) {
            if (all || !side.gone[i]) to.push_back(side.tokens[i]);
        }
        return range_of(begin, to.size());
    };
    partners_.assign(x.size(), 0);
    bool displaced = false;
    find_runs(x, y, x.size(), [&](std::size_t i, std::size_t j, std::size_t count) {
        double weight = 0;
        bool word = false;
        const Token& first = a.tokens[a_.tokens[i]];
        for (std::size_t k = i; k < i + count; k++) {
            weight += a.tokens[a_.tokens[k]].weight;
            word |= a.tokens[a_.tokens[k]].kind == Kind::word;
            displaced |= has_content(a.tokens[a_.tokens[k]]);
            partners_[k] = j + k - i + 1;
        }
        const bool denies = first.flags & NEGATES && (first.flags & LATIN || first.end - first.begin == 1);
        const Token& other = b.tokens[b_.tokens[j]];
        const bool apart = first.clause != other.clause;
        // what is denied is something else, and both texts say it: 甲不来，乙来
        const bool both = i + 1 < x.size() && j + 1 < y.size() && a_.taken[i + 1] && b_.taken[j + 1];
        found.exchanged |= count == 1 && denies && (apart || both);
        found.exchanged |= apart && first.flags & other.flags & ARGUMENT;
        if (!word || weight <= (count == 1 ? 5 : 8)) return;
        mark(a_.gone, i, count);
        mark(b_.gone, j, count);
        const Range left = add(a_, i, i + count, true, found.left), right = add(b_, j, j + count, true, found.right);
        found.differences.push_back({left, right, kind.choice, false, false, true});
    });
    if (displaced) found.exchanged |= are_exchanged(a, b, work);
    Match at{0, 0};
    for (std::size_t k = 0; k <= same_.size(); k++) {
        const bool last = k == same_.size();
        const std::size_t i = last ? x.size() : same_[k].left, j = last ? y.size() : same_[k].right;
        kind.left = add(a_, at.left, i, false, found.left);
        kind.right = add(b_, at.right, j, false, found.right);
        kind.edge = (begins && at.left == 0 && at.right == 0) || (ends && last);
        if (kind.left.size() || kind.right.size()) found.differences.push_back(kind);
        if (!last) at = {same_[k].left + 1, same_[k].right + 1};
    }
}

// Whether two runs stand at each other's places, around a word that says what the one is to the other: 甲比乙大, 乙比甲大.
// Members of a list may change places, and what stands on both sides of 是.
bool Differ::are_exchanged(const Form& a, const Form& b, Work& work) {
    for (const auto [i, j] : same_) partners_[i] = j + 1;
    runs_.clear();
    for (std::size_t i = 0; i < partners_.size(); i++) {
        const std::size_t j = partners_[i] - 1;
        if (!partners_[i]) continue;
        if (runs_.empty() || runs_.back().left_end() != i || runs_.back().right_end() != j) runs_.push_back({i, j});
        runs_.back().count++;
    }
    const std::size_t count = runs_.size();
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
    for (Run& run : runs_) {
        const auto tokens = std::span(a_.tokens).subspan(run.left, run.count);
        run.words = std::ranges::any_of(tokens, [&](std::uint32_t at) { return has_content(a.tokens[at]); });
        if (!run.words) continue;
        run.beside_left = {near(a, a_, run.left, -1), near(a, a_, run.left_end() - 1, 1)};
        run.beside_right = {near(b, b_, run.right, -1), near(b, b_, run.right_end() - 1, 1)};
    }
    const auto is_joint = [&](const Form& form, const Side& side, std::size_t at) {  // before a token
        return !in_clause(form, side, at, at - 1) || token(form, side, at).flags & (JOINS | LISTED) ||
               token(form, side, at - 1).flags & JOINS;
    };
    // Between two runs stands what stands before them, or behind them, as well: 高为3厘米，宽为5厘米.
    const auto is_repeated = [&](const Run& p, const Run& q) {
        const bool joins = token(a, a_, p.left_end()).flags & JOINS;
        const Keys all = a_.keys, between = all.subspan(p.left_end() + joins, q.left - p.left_end() - joins);
        const Keys before = all.first(p.left), behind = all.subspan(q.left_end());
        return std::ranges::equal(between, before.last(std::min(between.size(), before.size()))) ||
               std::ranges::equal(between, behind.first(std::min(between.size(), behind.size())));
    };
    for (std::size_t i = 0; i < count; i++) {
        const Run& p = runs_[i];
        if (!p.words) continue;
        for (std::size_t j = i + 2; j < count; j++) {
            const Run& q = runs_[j];
            if (q.right > p.right || !q.words) continue;
            // each stands on the right where the other one stands on the left
            if (!p.beside_left.meets(q.beside_right) || !q.beside_left.meets(p.beside_right)) continue;
            if (is_joint(a, a_, p.left_end()) && is_joint(a, a_, q.left) && is_joint(b, b_, q.right_end()) &&
                is_joint(b, b_, p.right))
                continue;
            if (!work.suffices(count)) return false;
            bool relates = false, equates = false, stays = false;
            for (std::size_t k = i + 1; k < j; k++) {
                const Run& run = runs_[k];
                if (run.right < q.right || run.right > p.right) continue;
                if (!in_clause(a, a_, run.left, p.left) && !in_clause(a, a_, run.left, q.left)) continue;
                if (!in_clause(b, b_, run.right, p.right) && !in_clause(b, b_, run.right, q.right)) continue;
                for (std::size_t at = run.left; at < run.left_end(); at++) {
                    const std::uint32_t flags = token(a, a_, at).flags;
                    equates |= flags & EQUALS;
                    relates |= !(flags & (EQUALS | JOINS));
                }
            }
            for (std::size_t k = j + 1; k < count; k++)
                stays |= runs_[k].right > p.right && runs_[k].words && in_clause(a, a_, runs_[k].left, q.left);
            if ((relates || (equates && stays)) && !is_repeated(p, q)) return true;
        }
    }
    return false;
}

// Whether two clauses share words with the same two clauses of the other text: 校长是甲，乙是秘书 and 乙是校长，甲是秘书.
// Words count that one clause of each text has.
bool Differ::are_crossed(const Form& a, const Form& b, Work& work) {
    if (std::ranges::count(a_.taken, 0) < 2 || std::ranges::count(b_.taken, 0) < 2) return false;
    const auto each = [](const Form& form, const Side& side, auto take) {
        for (std::uint32_t k = 0; k < side.clauses.size(); k++) {
            if (side.taken[k]) continue;
            for (const Token& token : form.of(side.clauses[k].tokens)) {
                if (has_content(token)) take(key_of(token.key), k);
            }
        }
    };
    const auto enter = [](std::uint32_t& owner, std::uint32_t k) { owner = owner == NONE || owner == k ? k : SEVERAL; };
    owners_.reset(a.tokens.size() + b.tokens.size());
    each(a, a_, [&](auto key, std::uint32_t k) { enter(owners_[key].value.left, k); });
    each(b, b_, [&](auto key, std::uint32_t k) { enter(owners_[key].value.right, k); });
    clear(links_, forks_);
    each(a, a_, [&](auto key, std::uint32_t k) {
        const Owners both = owners_.find(key);
        if (both.left == k && both.right < SEVERAL) links_.emplace_back(k, both.right);
    });
    std::ranges::sort(links_);
    const auto repeated = std::ranges::unique(links_);
    links_.erase(repeated.begin(), repeated.end());
    for (auto x = links_.begin(); x != links_.end(); x++) {
        for (auto y = x + 1; y != links_.end() && y->first == x->first && work.suffices(1); y++)
            forks_.emplace_back(x->second, y->second);
    }
    std::ranges::sort(forks_);
    return std::ranges::adjacent_find(forks_) != forks_.end();
}

// The texts and numbers of one side.
void Differ::read(const Form& form, std::span<const std::uint32_t> tokens, Side& side) const {
    clear(side.text, side.content, side.plain, side.numbers, side.words);
    for (const std::uint32_t at : tokens) {
        const Points text = form.text(form.tokens[at]);
        append(side.text, text);
        if (has_content(form.tokens[at])) append(side.content, text);
        side.words.push_back(digest(text));
    }
    write_plainly(side.text, relations_.spellings, side.plain);
    find_numbers(side.plain, side.numbers);
    std::ranges::sort(side.words);
}

// Words that exclude each other stand on the two sides, or are all that two texts differ by.
bool Differ::excludes() {
    for (const auto& [side, other] : {std::pair(&a_, &b_), std::pair(&b_, &a_)}) {
        side->groups.clear();
        for (const std::uint64_t word : side->words) {
            const auto groups = relations_.opposites.of(word);
            if (groups.empty() || std::binary_search(other->words.begin(), other->words.end(), word)) continue;
            side->groups.insert(side->groups.end(), groups.begin(), groups.end());
        }
    }
    std::sort(b_.groups.begin(), b_.groups.end());
    for (const std::uint64_t group : a_.groups) {
        if (std::binary_search(b_.groups.begin(), b_.groups.end(), group)) return true;
    }
    const Points p = a_.plain, q = b_.plain;
    const auto [begin, end] = frame(p, q);
    const Points u = p.subspan(begin, p.size() - end - begin), v = q.subspan(begin, q.size() - end - begin);
    return relations_.opposites.share(digest(u), digest(v));
}

// Two texts differ by one or two characters that look or sound alike.
bool Differ::are_alike(Points p, Points q) const {
    if (p.size() != q.size()) return false;
    std::size_t unequal = 0;
    for (std::size_t i = 0; i < p.size(); i++) {
        if (p[i] != q[i] && (++unequal > 2 || !relations_.alike.share(p[i], q[i]))) return false;
    }
    return unequal > 0;
}

bool Differ::is_anagram(Points p, Points q) {
    if (p.size() != q.size()) return false;
    a_.text.assign(p.begin(), p.end());
    b_.text.assign(q.begin(), q.end());
    std::ranges::sort(a_.text);
    std::ranges::sort(b_.text);
    return a_.text == b_.text;
}

// Two words differ by one letter, of six at least.
bool Differ::are_close(Points p, Points q, Work& work) {
    const std::size_t longer = std::max(p.size(), q.size());
    if (longer < 6 || longer > std::min(p.size(), q.size()) + 1 || std::ranges::equal(p, q)) return false;
    const auto is_letter = [](std::uint32_t c) { return U'a' <= c && c <= U'z'; };
    return std::ranges::all_of(p, is_letter) && std::ranges::all_of(q, is_letter) && common(p, q, work) + 1 == longer;
}

// Also puts the keys of the signs in `keys` of the side.
Differ::Held Differ::hold(
    const Form& form, std::span<const std::uint32_t> tokens, std::uint32_t tail, Side& side) const {
    Held held;
    side.keys.clear();
    for (const std::uint32_t at : tokens) {
        const Token& token = form.tokens[at];
        const Points text = form.text(token);
        const bool negates = token.flags & NEGATES;
        held.negations += negates;
        held.denials += negates && relations_.opposites.of(digest(text)).empty();
        held.limits |= token.flags & LIMITS;
        held.asks |= token.flags & ASKS;
        held.blanks += token.kind == Kind::blank;
        held.polar += (token.flags & POLAR) != 0;
        held.tail |= token.clause == tail;
        if (has_content(token)) {
            held.count++;
            held.last = &token;
            held.weight += token.weight;
            held.latin |= token.flags & LATIN;
        }
        if (token.kind == Kind::word) {
            held.words = true;
            held.proper |= token.flags & PROPER;
            held.heaviest = std::max<double>(held.heaviest, token.weight);
        }
        if (token.kind == Kind::number) held.circled &= text.size() == 1 && is_circled(text[0]);
        const bool sign = token.kind == Kind::symbol || token.kind == Kind::letter;
        if (sign && !(text.size() == 1 && text[0] == '_')) side.keys.push_back(token.key);
    }
    return held;
}

Change Differ::look_at(
    const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last, Work& work) {
    const auto left = one.left.of(found.left), right = one.right.of(found.right);
    read(a, left, a_);
    read(b, right, b_);
    const Held x = hold(a, left, last.left, a_), y = hold(b, right, last.right, b_);
    const bool content = x.count || y.count, wordless = !x.words && !y.words;
    const bool same = a_.plain == b_.plain, notation = is_same_notation(a_.plain, b_.plain, relations_.alike);
    const auto is_symbol = [&](Points text) { return relations_.spellings.find(text).uses & Spellings::SYMBOL; };

    Change change{};
    change.opposite = !same && excludes();
    change.null = !change.opposite && (same || !content);
    if ((x.negations + y.negations) % 2) change.negation = x.negations > y.negations ? 1 : -1;
    if (change.opposite) {
        change.negation = 0;
        change.opposite = (x.denials + y.denials) % 2 == 0;  // 不增加, 减少
    }
    const bool has_number = !a_.numbers.empty(), other_has = !b_.numbers.empty();
    change.numbers_differ = !notation && has_number && other_has && a_.numbers != b_.numbers;
    change.number_alone = !notation && has_number != other_has && wordless && !(x.circled && y.circled);
    change.unit = !same && is_symbol(a_.plain) && is_symbol(b_.plain);
    change.formula = a_.keys != b_.keys && wordless && !notation;
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

    const Points p = a_.content, q = b_.content;
    change.alike = are_alike(p, q) || are_alike(a_.plain, b_.plain) || (change.latins && are_close(p, q, work));
    change.replaced = (x.count && y.count) || change.alike;
    change.unlike = change.replaced && !change.alike && !notation && !is_anagram(p, q);
    const std::size_t in_common = change.unlike ? common(p, q, work) : 0, longer = std::max(p.size(), q.size());
    change.ratio = change.unlike ? static_cast<double>(in_common) / static_cast<double>(longer) : 1;
    change.contained = change.unlike && in_common == std::min(p.size(), q.size());
    return change;
}

}  // namespace dedup::judgment
