// Candidates of texts: earlier texts with a key in common or a near fingerprint, in the index and in a batch.
#pragma once
#include <unordered_map>

#include "core/system.hpp"
#include "fingerprint/sketch.hpp"

namespace dedup {

constexpr int COLUMN_BITS = 5;
constexpr std::size_t MOST_COLUMNS = 1 << COLUMN_BITS;
constexpr std::uint32_t BY_SIMHASH = std::uint32_t{1} << 31;

// An earlier text that a text finds. `united` sets the last three members.
struct Candidate {
    std::int64_t number = 0;
    std::uint32_t columns = 0;      // a bit for each column in which both have the same key, and BY_SIMHASH
    std::uint8_t distance = 0;      // bits in which the fingerprints differ
    std::uint8_t agreement = 0;     // equal bits of the sketches, 0 without sketches
    std::uint64_t fingerprint = 0;
};

// Candidates of n texts. Text i: all[offsets[i]:offsets[i + 1]], ascending by number, each number once.
struct Candidates {
    std::vector<std::int64_t> offsets;
    std::vector<Candidate> all;

    explicit Candidates(std::size_t texts = 0) : offsets(texts + 1) {}
    std::span<const Candidate> operator[](std::size_t text) const {
        return std::span(all).subspan(offsets[text], offsets[text + 1] - offsets[text]);
    }
    void end_text() { offsets.push_back(std::ssize(all)); }
    void append(const Candidates& more) {
        const std::int64_t first = offsets.back();
        for (std::size_t i = 1; i < more.offsets.size(); i++) offsets.push_back(first + more.offsets[i]);
        dedup::append(all, more.all);
    }
};

// Returns the result of `find(first, count)` over n texts, computed for ranges of them in several threads.
auto gathered(std::size_t n, std::size_t threads, auto find) {
    using Result = decltype(find(n, n));
    constexpr std::size_t LEAST_ROWS = 256;
    const std::size_t rows = threads > 1 ? std::max(LEAST_ROWS, n / (4 * threads) + 1) : std::max(n, std::size_t{1});
    if (n <= rows) return find(0, n);
    std::vector<Result> results((n + rows - 1) / rows);
    share(results.size(), threads, [&](auto take) {
        for (std::size_t i; (i = take()) < results.size();) results[i] = find(i * rows, std::min(rows, n - i * rows));
    }, 1);
    Result all;
    for (const Result& one : results) all.append(one);
    return all;
}

// Fingerprints and sketches of n texts: rows of `columns` keys and of `words` words of bits, 0 without sketches.
struct Prints {
    std::span<const Fingerprint> rows;
    std::span<const std::uint32_t> keys;
    std::span<const std::uint64_t> bits;
    std::size_t columns = 0, words = 0;

    std::size_t size() const { return rows.size(); }
    ColumnView<std::uint64_t> column(std::uint64_t Fingerprint::* field) const {
        if (rows.empty()) return {};
        return {&(rows.data()->*field), rows.size(), sizeof(Fingerprint) / sizeof(std::uint64_t)};
    }
    Prints range(std::size_t first, std::size_t count) const {
        return {rows.subspan(first, count), keys.subspan(columns * first, columns * count),
                bits.subspan(words * first, words * count), columns, words};
    }
};

// Returns the candidates of either list, measured, with the columns of both. fingerprints, bits: of the earlier texts by
// number. compares: whether to drop candidates with fewer equal bits than `least` of their text.
inline Candidates united(const Candidates& left, const Candidates& right, const Prints& texts,
                         ColumnView<std::uint64_t> fingerprints, std::span<const std::uint64_t> bits, bool compares,
                         std::span<const std::int64_t> least) {
    constexpr std::size_t AHEAD = 12;  // candidates
    const std::size_t words = compares ? texts.words : 0;
    Candidates found;
    std::size_t x = 0, y = 0;
    // inlined, or gcc drops the calls, as of functions without effect
    const auto fetch = [&](const Candidates& from, std::size_t at) __attribute__((always_inline)) {
        if (at >= from.all.size()) return;
        __builtin_prefetch(&fingerprints[from.all[at].number]);
        if (words > 0) __builtin_prefetch(&bits[from.all[at].number * words]);
    };
    for (std::size_t row = 0; row < texts.size(); row++, found.end_text()) {
        const std::size_t stop = left.offsets[row + 1], right_stop = right.offsets[row + 1];
        while (x < stop || y < right_stop) {
            const bool take = y >= right_stop || (x < stop && left.all[x].number <= right.all[y].number);
            const bool take_right = x >= stop || (y < right_stop && right.all[y].number <= left.all[x].number);
            Candidate one;
            if (take) {
                fetch(left, x + AHEAD);
                one = left.all[x++];
            }
            if (take_right) {
                fetch(right, y + AHEAD);
                one.number = right.all[y].number;
                one.columns |= right.all[y++].columns;
            }
            int agreement = 0;
            for (std::size_t word = 0; word < words; word++)
                agreement += std::popcount(~(texts.bits[row * words + word] ^ bits[one.number * words + word]));
            if (words > 0 && agreement < least[row]) continue;
            one.fingerprint = fingerprints[one.number];
            one.distance = static_cast<std::uint8_t>(std::popcount(texts.rows[row].value ^ one.fingerprint));
            one.agreement = static_cast<std::uint8_t>(agreement);
            found.all.push_back(one);
        }
    }
    return found;
}

// The candidates of an index, within its limits.
struct Found {
    Candidates candidates;               // in all channels, with enough equal bits
    Candidates by_key;                   // all with a key in common, not measured
    std::vector<std::int64_t> equal;     // how many have the fingerprint of each text

    void append(const Found& more) {
        candidates.append(more.candidates);
        by_key.append(more.by_key);
        dedup::append(equal, more.equal);
    }
};

// Returns the candidates that one index of all texts would find, given the ones of several indexes that hold a range of
// the texts each. Of the texts with one key in a column the first `most_equal` count, of those with one fingerprint the
// first `most_same`. least: equal bits, for each text.
inline Found merged_segments(std::span<const Candidates> segments, std::span<const std::int64_t> least,
                             std::int64_t most_equal, std::int64_t most_same) {
    Found found;
    found.equal.resize(least.size());
    std::vector<const Candidate*> all;
    std::unordered_map<std::uint64_t, std::int64_t> same;  // candidates by fingerprint
    for (std::size_t row = 0; row < least.size(); row++) {
        all.clear();
        for (const Candidates& segment : segments) {
            for (const Candidate& one : segment[row]) all.push_back(&one);
        }
        if (!std::ranges::is_sorted(all, {}, &Candidate::number)) std::ranges::stable_sort(all, {}, &Candidate::number);
        std::array<std::int64_t, MOST_COLUMNS> counts{};
        same.clear();
        for (const Candidate* one : all) {
            std::uint32_t keys = 0, near = one->columns & BY_SIMHASH;
            for (std::uint32_t rest = one->columns & ~BY_SIMHASH; rest != 0; rest &= rest - 1) {
                const int column = std::countr_zero(rest);
                if (counts[column] >= most_equal) continue;
                counts[column]++;
                keys |= std::uint32_t{1} << column;
            }
            if (near != 0 && ++same[one->fingerprint] > most_same) near = 0;
            if (near != 0 && one->distance == 0) found.equal[row]++;
            if (keys != 0) found.by_key.all.push_back({one->number, keys});
            if ((keys | near) == 0 || one->agreement < least[row]) continue;
            found.candidates.all.push_back(*one);
            found.candidates.all.back().columns = keys | near;
        }
        found.candidates.end_text();
        found.by_key.end_text();
    }
    return found;
}

constexpr std::int32_t NO_ROW = -1;

// Returns for each of n rows the last row before it with the same key, or NO_ROW.
std::vector<std::int32_t> former_rows(std::size_t n, auto key_of) {
    const int bits = std::max<int>(4, std::bit_width(2 * n));
    std::vector<std::int32_t> table(std::size_t{1} << bits, NO_ROW), former(n);
    for (std::size_t i = 0; i < n; i++) {
        const std::uint64_t key = key_of(i);
        std::size_t slot = key * GOLDEN >> (64 - bits);  // Fibonacci hashing: Knuth, TAOCP 3, section 6.4
        while (table[slot] != NO_ROW && key_of(table[slot]) != key) slot = (slot + 1) & (table.size() - 1);
        former[i] = std::exchange(table[slot], static_cast<std::int32_t>(i));
    }
    return former;
}

// Returns the earlier rows that have a key in common with each text.
inline Candidates pairs_sharing(const Prints& texts, std::size_t threads) {
    const std::size_t n = texts.size(), columns = texts.columns;
    std::vector<std::vector<std::int32_t>> former(columns);
    share(columns, threads, [&](auto take) {
        for (std::size_t c; (c = take()) < columns;)
            former[c] = former_rows(n, [&](std::size_t i) { return texts.keys[i * columns + c]; });
    }, 1);
    return gathered(n, threads, [&](std::size_t start, std::size_t count) {
        Candidates found;
        std::vector<std::uint32_t> shared(n);
        for (std::size_t i = start; i < start + count; i++, found.end_text()) {
            std::size_t first = i;
            for (std::size_t c = 0; c < columns; c++) {
                for (std::int32_t j = former[c][i]; j != NO_ROW; j = former[c][j]) {
                    shared[j] |= std::uint32_t{1} << c;
                    first = std::min<std::size_t>(first, j);
                }
            }
            for (std::size_t j = first; j < i; j++) {
                if (shared[j] != 0) found.all.push_back({static_cast<std::int64_t>(j), std::exchange(shared[j], 0)});
            }
        }
        return found;
    });
}

// The keys and fingerprints by which later texts of a batch find its kept ones. An index holds a bounded number of texts
// under a key, so whether a kept text is found depends on how many came before it.
class BatchVisibility {
public:
    struct Batch {
        std::span<const Fingerprint> rows;   // short ones are not found by their fingerprint
        std::size_t columns;                 // of keys
        std::int64_t most_equal, most_same;  // texts held under a key of each column, found by one fingerprint
        Candidates by_key, pairs;            // of the index and of the batch, by a common key
        std::vector<std::int64_t> equal;     // how many kept texts have the same fingerprint
        std::vector<std::int32_t> same;      // the first row with the same fingerprint
    };
    explicit BatchVisibility(Batch&& batch) : batch_(std::move(batch)) { reset(); }

    // Marks no row as kept.
    void reset() {
        const std::size_t n = batch_.rows.size();
        stored_.assign(n, 0);
        visible_.assign(n, 0);
        counts_.assign(n, 0);
        unseen_ = 0;
    }

    // Marks a row as kept; it comes after all kept rows.
    void keep(std::size_t row) {
        visible_[row] = stored_[row] = free_columns(row);
        if (batch_.rows[row].is_short) return;
        std::int64_t& count = counts_[batch_.same[row]];
        if (batch_.equal[row] + count >= batch_.most_same) {
            unseen_++;
            return;
        }
        count++;
        visible_[row] |= BY_SIMHASH;
    }

    // Sets `stored` for all kept rows. `keep` need not be called for rows that no later row finds.
    void store_columns(std::span<const std::uint8_t> kept) {
        for (std::size_t row = 0; row < kept.size(); row++) {
            if (kept[row] && stored_[row] == 0) stored_[row] = free_columns(row);
        }
    }

    // How many kept rows no later text finds by their fingerprint; 0 if sketches find them.
    std::int64_t unseen() const { return batch_.most_same > 1 ? unseen_ : 0; }

    // Columns that hold each kept row, as bits.
    std::span<const std::uint32_t> stored() const { return stored_; }
    // The same, and BY_SIMHASH.
    std::span<const std::uint32_t> visible() const { return visible_; }

private:
    // Returns the columns that hold fewer texts under the key of a row than the limit.
    std::uint32_t free_columns(std::size_t row) const {
        const auto indexed = batch_.by_key[row], pairs = batch_.pairs[row];
        if (std::ssize(indexed) + std::ssize(pairs) < batch_.most_equal)
            return static_cast<std::uint32_t>((std::uint64_t{1} << batch_.columns) - 1);
        std::array<std::int64_t, MOST_COLUMNS> counts{};
        const auto count = [&](std::uint32_t columns) {
            for (; columns != 0; columns &= columns - 1) counts[std::countr_zero(columns)]++;
        };
        for (const Candidate& one : indexed) count(one.columns);
        for (const Candidate& one : pairs) count(one.columns & stored_[one.number]);
        std::uint32_t free = 0;
        for (std::size_t c = 0; c < batch_.columns; c++) free |= std::uint32_t{counts[c] < batch_.most_equal} << c;
        return free;
    }

    Batch batch_;
    std::vector<std::uint32_t> stored_, visible_;
    std::vector<std::int64_t> counts_;  // kept rows that their fingerprint finds, by the first row with it
    std::int64_t unseen_ = 0;
};

// The candidates of n texts: kept documents of an index of `count`, then earlier texts of the batch, as count + row.
struct LookUp {
    Candidates candidates;
    BatchVisibility visibility;
    // Texts without a candidate, and without another text of the batch that has the same fingerprint or a key in common.
    std::vector<std::uint8_t> alone;
    int distance;  // of near fingerprints, -1 if they make no candidates
};

}  // namespace dedup
