#include "judgment/pair.hpp"

#include <iterator>
#include <numeric>
#include <utility>

namespace dedup::judgment {
namespace {

void mark(std::vector<std::uint8_t>& places, std::size_t begin, std::size_t count) {
    std::fill_n(places.begin() + begin, count, 1);
}

// Two words have changed places and nothing else has: 甲比乙大, 乙比甲大.
bool are_exchanged(std::span<const std::uint64_t> x, std::span<const std::uint64_t> y) {
    if (x.size() != y.size()) return false;
    bool there = false, back = false;
    std::uint64_t one = 0, other = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
        if (x[i] == y[i]) continue;
        if (!there) one = x[i], other = y[i];
        there = true;
        if (x[i] == other && y[i] == one) {
            back = true;
        } else if (x[i] != one || y[i] != other) {
            return false;
        }
    }
    return back;
}

}  // namespace

void Alignment::clear() {
    left.clear();
    right.clear();
    differences.clear();
    moved_clauses = moved_within = 0;
    swaps = 0;
    exchanged = false;
}

void Differ::find_clauses(const Form& form, Range range, Side& side) {
    side.clauses.clear();
    side.clause_keys.clear();
    for (std::uint32_t at = range.begin; at < range.end;) {
        Range clause{at, at};
        buffer_.clear();
        for (; at < range.end && form.tokens[at].clause == form.tokens[clause.begin].clause; at++) {
            if (has_content(form.tokens[at])) buffer_.push_back(form.tokens[at].key);
        }
        clause.end = at;
        side.clauses.push_back(clause);
        // the lowest bit tells whether it is long enough to be known again at another place
        const std::uint64_t key = XXH3_64bits(buffer_.data(), buffer_.size() * sizeof(std::uint64_t));
        side.clause_keys.push_back((key & ~std::uint64_t{1}) | (buffer_.size() >= 2));
    }
    side.gone_clauses.assign(side.clauses.size(), 0);
}

// Runs that what is left of x and y has, each from its first place in y on.
template <class Take>
void Differ::find_runs(std::span<const std::uint64_t> x, std::span<const std::uint64_t> y, std::size_t longest, Take take) {
    a_.taken.assign(x.size(), 0);
    b_.taken.assign(y.size(), 0);
    for (const auto [i, j] : same_) a_.taken[i] = b_.taken[j] = 1;
    if (same_.size() == x.size() || same_.size() == y.size()) return;
    order_.clear();
    for (std::uint32_t j = 0; j < y.size(); j++) {
        if (!b_.taken[j]) order_.push_back(j);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t i, std::uint32_t j) { return y[i] < y[j]; });
    heads_.resize(order_.size());  // of each key's places, at the first of them: the next to look at
    std::iota(heads_.begin(), heads_.end(), 0);
    for (std::size_t i = 0; i < x.size(); i++) {
        if (a_.taken[i]) continue;
        const auto first = std::lower_bound(order_.begin(), order_.end(), x[i], [&](std::uint32_t j, std::uint64_t key) { return y[j] < key; });
        if (first == order_.end()) continue;
        std::uint32_t& head = heads_[first - order_.begin()];
        while (head < order_.size() && y[order_[head]] == x[i] && b_.taken[order_[head]]) head++;
        if (head == order_.size() || y[order_[head]] != x[i]) continue;
        const std::size_t j = order_[head];
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
    side.tokens.clear();
    side.keys.clear();
    for (std::uint32_t k = clauses.begin; k < clauses.end; k++) {
        if (side.gone_clauses[k]) continue;
        for (std::uint32_t at = side.clauses[k].begin; at < side.clauses[k].end; at++) {
            side.tokens.push_back(at);
            side.keys.push_back(form.tokens[at].key);
        }
    }
}

void Differ::align(const Form& a, Range of_a, const Form& b, Range of_b, bool choice, Work& work, Alignment& found) {
    find_clauses(a, of_a, a_);
    find_clauses(b, of_b, b_);
    const std::span<const std::uint64_t> x = a_.clause_keys, y = b_.clause_keys;
    const auto count_of = [](const auto& values) { return static_cast<std::uint32_t>(values.size()); };
    subsequence_.find(x, y, work, same_);
    find_runs(x, y, 1, [&](std::size_t i, std::size_t j, std::size_t) {
        if (!(x[i] & 1)) return;
        a_.gone_clauses[i] = b_.gone_clauses[j] = 1;
        found.moved_clauses += weight_of(a.of(a_.clauses[i]));
        const Range left{count_of(found.left), count_of(found.left) + a_.clauses[i].end - a_.clauses[i].begin};
        const Range right{count_of(found.right), count_of(found.right) + b_.clauses[j].end - b_.clauses[j].begin};
        for (std::uint32_t at = a_.clauses[i].begin; at < a_.clauses[i].end; at++) found.left.push_back(at);
        for (std::uint32_t at = b_.clauses[j].begin; at < b_.clauses[j].end; at++) found.right.push_back(at);
        found.differences.push_back({left, right, choice, false, true, true});
    });
    const std::vector<Match> same = same_;  // `align_tokens` finds others
    Match at{0, 0};
    for (std::size_t k = 0; k <= same.size(); k++) {
        const Match next = k < same.size() ? same[k] : Match{count_of(x), count_of(y)};
        gather(a, {at.left, next.left}, a_);
        gather(b, {at.right, next.right}, b_);
        if (!a_.tokens.empty() || !b_.tokens.empty()) {
            const bool one_sided = a_.tokens.empty() || b_.tokens.empty();
            align_tokens(a, {{}, {}, choice, false, one_sided, false}, at.left == 0 && at.right == 0, k == same.size(), work, found);
        }
        at = {next.left + 1, next.right + 1};
    }
}

void Differ::align_tokens(const Form& a, Difference kind, bool begins, bool ends, Work& work, Alignment& found) {
    const std::span<const std::uint64_t> x = a_.keys, y = b_.keys;
    found.exchanged |= are_exchanged(x, y);
    subsequence_.find(x, y, work, same_);
    a_.gone.assign(x.size(), 0);
    b_.gone.assign(y.size(), 0);
    // Appends what lies between two places but for what has moved.
    const auto add = [](const Side& side, std::size_t begin, std::size_t end, bool all, std::vector<std::uint32_t>& to) {
        Range range{static_cast<std::uint32_t>(to.size()), 0};
        for (std::size_t i = begin; i < end; i++) {
            if (all || !side.gone[i]) to.push_back(side.tokens[i]);
        }
        range.end = static_cast<std::uint32_t>(to.size());
        return range;
    };
    find_runs(x, y, x.size(), [&](std::size_t i, std::size_t j, std::size_t count) {
        double weight = 0;
        bool word = false;
        for (std::size_t k = i; k < i + count; k++) {
            weight += a.tokens[a_.tokens[k]].weight;
            word |= a.tokens[a_.tokens[k]].kind == Kind::word;
        }
        if (!word || weight <= (count == 1 ? 5 : 8)) return;
        mark(a_.gone, i, count);
        mark(b_.gone, j, count);
        found.moved_within += weight;
        found.swaps += count == 1;
        found.differences.push_back({add(a_, i, i + count, true, found.left), add(b_, j, j + count, true, found.right),
                                     kind.choice, false, false, true});
    });
    Match at{0, 0};
    for (std::size_t k = 0; k <= same_.size(); k++) {
        const bool last = k == same_.size();
        const std::size_t i = last ? x.size() : same_[k].left, j = last ? y.size() : same_[k].right;
        kind.left = add(a_, at.left, i, false, found.left);
        kind.right = add(b_, at.right, j, false, found.right);
        kind.edge = (begins && at.left == 0 && at.right == 0) || (ends && last);
        if (kind.left.begin < kind.left.end || kind.right.begin < kind.right.end) found.differences.push_back(kind);
        if (!last) at = {same_[k].left + 1, same_[k].right + 1};
    }
}

// The texts and numbers of one side.
void Differ::read(const Form& form, std::span<const std::uint32_t> tokens, Side& side) const {
    side.content.clear();
    side.tokens.clear();  // here: points of all of them
    for (const std::uint32_t at : tokens) {
        const Points text = form.text(form.tokens[at]);
        side.tokens.insert(side.tokens.end(), text.begin(), text.end());
        if (has_content(form.tokens[at])) side.content.insert(side.content.end(), text.begin(), text.end());
    }
    side.plain.clear();
    write_plainly(side.tokens, relations_.spellings, side.plain);
    side.numbers.clear();
    find_numbers(side.plain, side.numbers);
    side.words.clear();
    for (const std::uint32_t at : tokens) side.words.push_back(digest(form.text(form.tokens[at])));
    std::sort(side.words.begin(), side.words.end());
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

Change Differ::look_at(const Form& a, const Form& b, const Alignment& found, const Difference& one, Match last, Work& work) {
    const auto left = std::span(found.left).subspan(one.left.begin, one.left.end - one.left.begin);
    const auto right = std::span(found.right).subspan(one.right.begin, one.right.end - one.right.begin);
    read(a, left, a_);
    read(b, right, b_);
    // what a side holds
    struct Held {
        unsigned flags = 0, word_flags = 0, content_flags = 0, negations = 0, blanks = 0, kinds = 0;
        double weight = 0, heaviest = 0;
        bool content = false, circled = true, tail = false;
        std::vector<std::uint64_t>& signs;
    };
    const auto hold = [](const Form& form, std::span<const std::uint32_t> tokens, std::uint32_t clause, std::vector<std::uint64_t>& signs) {
        Held held{.signs = signs};
        signs.clear();
        for (const std::uint32_t at : tokens) {
            const Token& token = form.tokens[at];
            const Points text = form.text(token);
            const bool word = token.kind == Kind::word, content = has_content(token);
            held.flags |= token.flags;
            held.kinds |= 1u << static_cast<unsigned>(token.kind);
            held.negations += (token.flags & NEGATES) != 0;
            held.blanks += token.kind == Kind::blank;
            held.content |= content;
            held.tail |= token.clause == clause;
            if (content) held.weight += token.weight, held.content_flags |= token.flags;
            if (word) held.word_flags |= token.flags, held.heaviest = std::max<double>(held.heaviest, token.weight);
            if (token.kind == Kind::number) held.circled &= text.size() == 1 && 0x2460 <= text[0] && text[0] <= 0x249B;
            const bool sign = token.kind == Kind::symbol || token.kind == Kind::letter;
            if (sign && !(text.size() == 1 && text[0] == '_')) signs.push_back(token.key);
        }
        return held;
    };
    const Held x = hold(a, left, last.left, a_.keys), y = hold(b, right, last.right, b_.keys);
    const unsigned word_flags = x.word_flags | y.word_flags;
    const bool wordless = !((x.kinds | y.kinds) & 1u << static_cast<unsigned>(Kind::word));
    const unsigned both = x.word_flags & y.word_flags;
    const bool same = a_.plain == b_.plain;
    const auto is_symbol = [&](const Side& side) { return relations_.spellings.is(side.plain, Spellings::SYMBOL); };

    Change change{};
    change.edge = one.edge, change.clauses = one.clauses, change.in_tail = x.tail || y.tail;
    change.opposite = !same && excludes();
    change.null = !change.opposite && (same || !(x.content || y.content));
    change.replaced = x.content && y.content;
    change.numbers_differ = !a_.numbers.empty() && !b_.numbers.empty() && a_.numbers != b_.numbers;
    change.number_added = a_.numbers.empty() != b_.numbers.empty();
    change.number_alone = change.number_added && wordless && !(x.circled && y.circled);
    change.unit = !same && is_symbol(a_) && is_symbol(b_);
    change.symbols = a_.keys != b_.keys;
    change.formula = change.symbols && wordless;
    change.blanks = x.content || y.content ? std::int64_t{x.blanks} - y.blanks : 0;
    change.negation = (x.negations + y.negations) % 2 == 1;
    if (change.negation && change.opposite) change.negation = change.opposite = false;

    const Points p = a_.content, q = b_.content;
    change.chars = std::max(p.size(), q.size());
    std::size_t unequal = 0;
    change.alike = p.size() == q.size();
    for (std::size_t i = 0; change.alike && i < p.size(); i++) {
        if (p[i] != q[i]) change.alike = ++unequal <= 2 && relations_.alike.share(p[i], q[i]);
    }
    change.alike &= unequal > 0;
    change.unlike = change.replaced && !change.alike;
    if (change.unlike && p.size() == q.size()) {  // no anagram
        a_.tokens.assign(p.begin(), p.end()), b_.tokens.assign(q.begin(), q.end());
        std::sort(a_.tokens.begin(), a_.tokens.end()), std::sort(b_.tokens.begin(), b_.tokens.end());
        change.unlike = a_.tokens != b_.tokens;
    }
    const std::size_t in_common = change.unlike ? common(p, q, work) : 0;
    change.ratio = change.unlike ? static_cast<double>(in_common) / static_cast<double>(change.chars) : 1;
    change.contained = change.unlike && in_common == std::min(p.size(), q.size());

    change.left = x.weight, change.right = y.weight, change.heaviest = std::max(x.heaviest, y.heaviest);
    change.name = word_flags & NAME, change.names = both & PROPER;
    change.term = word_flags & TERM, change.terms = both & TERM, change.verb = word_flags & VERB;
    change.latin = (x.content_flags | y.content_flags) & LATIN, change.latins = x.content_flags & y.content_flags & LATIN;
    change.limits = (x.flags | y.flags) & LIMITS;
    return change;
}

}  // namespace dedup::judgment
