// Candidates of many texts: what a channel finds, and what all channels find together, in the index and in a batch.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/system.hpp"
#include "core/text.hpp"
#include "fingerprint/sketch.hpp"

namespace dedup {

constexpr int COLUMN_BITS = 5;
constexpr std::size_t MOST_COLUMNS = 1 << COLUMN_BITS;
constexpr std::uint32_t BY_SIMHASH = std::uint32_t{1} << 31;

// Earlier texts found for n texts: text i has the places offsets[i] to offsets[i + 1], ascending by number, each
// number once. columns: a bit for each column of keys that they share, and BY_SIMHASH; distances: of the
// fingerprints; agreements: equal bits of the sketches, 0 where there are none; values: fingerprints of the
// earlier ones. The last three are empty where they are not measured.
struct Candidates {
    std::vector<std::int64_t> offsets, numbers;
    std::vector<std::uint32_t> columns;
    std::vector<std::uint8_t> distances, agreements;
    std::vector<std::uint64_t> values;

    explicit Candidates(std::size_t texts = 0) : offsets(texts + 1) {}  // without any
    void add(std::int64_t number, std::uint32_t shared) {
        numbers.push_back(number);
        columns.push_back(shared);
    }
    // Appends one that is measured, of others.
    void add(const Candidates& from, std::size_t place, std::uint32_t shared) {
        add(from.numbers[place], shared);
        distances.push_back(from.distances[place]);
        agreements.push_back(from.agreements[place]);
        values.push_back(from.values[place]);
    }
    void end_text() { offsets.push_back(static_cast<std::int64_t>(numbers.size())); }
    void append(const Candidates& more) {
        const std::int64_t first = offsets.back();
        for (std::size_t i = 1; i < more.offsets.size(); i++) offsets.push_back(first + more.offsets[i]);
        dedup::append(numbers, more.numbers);
        dedup::append(columns, more.columns);
        dedup::append(distances, more.distances);
        dedup::append(agreements, more.agreements);
        dedup::append(values, more.values);
    }
};

// The candidates of n texts, found by `find(first, count)` for some in a row, in several threads.
auto gathered(std::size_t n, std::size_t threads, auto find) {
    using Made = decltype(find(n, n));
    constexpr std::size_t LEAST_ROWS = 256;
    const std::size_t rows = threads > 1 ? std::max(LEAST_ROWS, n / (4 * threads) + 1) : std::max(n, std::size_t{1});
    if (n <= rows) return find(0, n);
    std::vector<Made> parts((n + rows - 1) / rows);
    share(parts.size(), threads, [&](auto take) {
        for (std::size_t i; (i = take()) < parts.size();) parts[i] = find(i * rows, std::min(rows, n - i * rows));
    }, 1);
    Made all;
    for (const Made& part : parts) all.append(part);
    return all;
}

// What n texts are found by: fingerprints and sketches: rows of `columns` keys and of `words` words of bits, 0 where there
// are none.
struct Prints {
    std::span<const Fingerprint> rows;
    std::span<const std::uint32_t> keys;
    std::span<const std::uint64_t> bits;
    std::size_t columns = 0, words = 0;

    std::size_t size() const { return rows.size(); }
    ColumnView<std::uint64_t> values() const { return column(&Fingerprint::value); }
    ColumnView<std::uint64_t> digests() const { return column(&Fingerprint::digest); }
    Prints part(std::size_t first, std::size_t count) const {
        return {rows.subspan(first, count), keys.subspan(columns * first, columns * count),
                bits.subspan(words * first, words * count), columns, words};
    }

private:
    ColumnView<std::uint64_t> column(std::uint64_t Fingerprint::* field) const {
        if (rows.empty()) return {};
        return {&(rows.data()->*field), rows.size(), sizeof(Fingerprint) / sizeof(std::uint64_t)};
    }
};

// Fingerprints and sketches by number, of `words` words each, 0 where there are none.
struct Measures {
    ColumnView<std::uint64_t> values;
    std::span<const std::uint64_t> bits;
    std::size_t words;

    std::span<const std::uint64_t> bits_of(std::size_t number) const { return bits.subspan(number * words, words); }
};

// What the limits of an index leave of what its parts find.
struct Found {
    Candidates candidates;            // in all channels, with enough equal bits
    Candidates held;                  // whatever has a key in common, not measured
    std::vector<std::int64_t> twins;  // how many have the same fingerprint

    void append(const Found& more) {
        candidates.append(more.candidates);
        held.append(more.held);
        dedup::append(twins, more.twins);
    }
};

// Appends for text `row` every pair of two channels once, with the columns of both, measured; number of the
// result: first + number. With fewer than `least` equal bits a candidate is none.
inline void unite(const Candidates& one, const Candidates& other, const Measures& earlier, const Measures& own,
                  std::size_t row, std::int64_t least, std::int64_t first, Candidates& to) {
    constexpr std::size_t AHEAD = 12;  // places
    std::size_t x = one.offsets[row], y = other.offsets[row];
    const std::size_t stop = one.offsets[row + 1], other_stop = other.offsets[row + 1];
    const std::uint64_t value = own.values[row];
    const auto own_bits = own.bits_of(row);
    // inlined, or gcc drops the calls, as of functions without effect
    const auto fetch = [&](const Candidates& from, std::size_t place) __attribute__((always_inline)) {
        if (place >= from.numbers.size()) return;
        __builtin_prefetch(&earlier.values[from.numbers[place]]);
        if (own.words > 0) __builtin_prefetch(&earlier.bits[from.numbers[place] * own.words]);
    };
    while (x < stop || y < other_stop) {
        const bool take = y >= other_stop || (x < stop && one.numbers[x] <= other.numbers[y]);
        const bool take_other = x >= stop || (y < other_stop && other.numbers[y] <= one.numbers[x]);
        std::int64_t number = 0;
        std::uint32_t columns = 0;
        if (take) {
            fetch(one, x + AHEAD);
            number = one.numbers[x];
            columns = one.columns[x++];
        }
        if (take_other) {
            fetch(other, y + AHEAD);
            number = other.numbers[y];
            columns |= other.columns[y++];
        }
        int agreement = 0;
        for (std::size_t word = 0; word < own.words; word++)
            agreement += std::popcount(~(own_bits[word] ^ earlier.bits[number * own.words + word]));
        if (own.words > 0 && agreement < least) continue;
        to.add(first + number, columns);
        to.values.push_back(earlier.values[number]);
        to.distances.push_back(static_cast<std::uint8_t>(std::popcount(value ^ earlier.values[number])));
        to.agreements.push_back(static_cast<std::uint8_t>(agreement));
    }
}

// What one index would find, of what several find that hold a part of the texts each, whatever bits are equal.
// Each holds the first texts under a key and finds the first with a fingerprint: of all, the first `most_equal` of
// a key and the first `most_same` with a fingerprint count. least: of equal bits, for each text.
inline Found found_together(std::span<const Candidates> parts, std::span<const std::int64_t> least, std::int64_t most_equal,
                            std::int64_t most_same) {
    struct Place {
        std::int64_t number;
        const Candidates* part;
        std::size_t at;
    };
    Found found;
    found.twins.resize(least.size());
    std::vector<Place> places;
    std::unordered_map<std::uint64_t, std::int64_t> same;  // of how many candidates each value is the fingerprint
    for (std::size_t row = 0; row < least.size(); row++) {
        places.clear();
        for (const Candidates& part : parts) {
            for (std::size_t i = part.offsets[row]; i < static_cast<std::size_t>(part.offsets[row + 1]); i++)
                places.push_back({part.numbers[i], &part, i});
        }
        const auto by_number = [](const Place& a, const Place& b) { return a.number < b.number; };
        if (!std::is_sorted(places.begin(), places.end(), by_number))
            std::stable_sort(places.begin(), places.end(), by_number);
        std::array<std::int64_t, MOST_COLUMNS> counts{};
        same.clear();
        for (const auto& [number, part, at] : places) {
            std::uint32_t keys = 0, near = part->columns[at] & BY_SIMHASH;
            for (std::uint32_t left = part->columns[at] & ~BY_SIMHASH; left != 0; left &= left - 1) {
                const int column = std::countr_zero(left);
                if (counts[column] >= most_equal) continue;
                counts[column]++;
                keys |= std::uint32_t{1} << column;
            }
            if (near != 0 && ++same[part->values[at]] > most_same) near = 0;
            if (near != 0 && part->distances[at] == 0) found.twins[row]++;
            if ((keys | near) != 0 && part->agreements[at] >= least[row]) found.candidates.add(*part, at, keys | near);
            if (keys != 0) found.held.add(number, keys);
        }
        found.candidates.end_text();
        found.held.end_text();
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
        std::size_t place = key * GOLDEN >> (64 - bits);  // Fibonacci hashing: Knuth, TAOCP 3, section 6.4
        while (table[place] != NO_ROW && key_of(table[place]) != key) place = (place + 1) & (table.size() - 1);
        former[i] = std::exchange(table[place], static_cast<std::int32_t>(i));
    }
    return former;
}

// The earlier rows that share a key with each of n rows, and in which columns.
inline Candidates pairs_sharing(std::span<const std::uint32_t> keys, std::size_t n, std::size_t columns, std::size_t threads) {
    std::vector<std::vector<std::int32_t>> former(columns);
    share(columns, threads, [&](auto take) {
        for (std::size_t c; (c = take()) < columns;)
            former[c] = former_rows(n, [&](std::size_t i) { return keys[i * columns + c]; });
    }, 1);
    return gathered(n, threads, [&](std::size_t start, std::size_t count) {
        Candidates found;
        std::vector<std::uint32_t> shared(n);
        for (std::size_t i = start; i < start + count; i++) {
            std::size_t first = i;
            for (std::size_t c = 0; c < columns; c++) {
                for (std::int32_t j = former[c][i]; j != NO_ROW; j = former[c][j]) {
                    shared[j] |= std::uint32_t{1} << c;
                    first = std::min<std::size_t>(first, j);
                }
            }
            for (std::size_t j = first; j < i; j++) {
                if (shared[j] == 0) continue;
                found.add(static_cast<std::int64_t>(j), shared[j]);
                shared[j] = 0;
            }
            found.end_text();
        }
        return found;
    });
}

// By what later texts find those of a batch that are kept. An index holds a bounded number of texts under a key, so
// whether a kept text is found depends on how many came before it.
class BatchVisibility {
public:
    struct Known {
        std::size_t columns;                 // of keys
        std::int64_t most_equal, most_same;  // texts held under a key of each column, found by one fingerprint
        Candidates held, pairs;              // what the index holds under the keys of each; earlier rows that share a key
        std::vector<std::int64_t> twins;     // how many kept texts have the same fingerprint
        std::vector<std::int32_t> same;      // a number below n for each fingerprint
        std::span<const Fingerprint> rows;   // short ones do not count
    };
    explicit BatchVisibility(Known&& known) : known_(std::move(known)) { begin(); }

    std::int64_t most_same() const { return known_.most_same; }

    // Takes no row for kept.
    void begin() {
        const std::size_t n = known_.same.size();
        kept_.assign(n, 0);
        stored_.assign(n, 0);
        visible_.assign(n, 0);
        here_.assign(n, 0);
    }

    // Lets later rows find this one, which comes after all that are kept already.
    void keep(std::size_t row) {
        kept_[row] = 1;
        visible_[row] = stored_[row] = columns_held(row);
        std::int64_t& here = here_[known_.same[row]];
        if (known_.rows[row].is_short || known_.twins[row] + here >= known_.most_same) return;
        here++;
        visible_[row] |= BY_SIMHASH;
    }

    // Enters the columns of kept rows in `stored`, also of those that no later row was told of.
    void store_columns(std::span<const std::uint8_t> kept) {
        for (std::size_t row = 0; row < kept.size(); row++) {
            if (kept[row] && !kept_[row]) stored_[row] = columns_held(row);
        }
    }

    // How many rows are kept that their fingerprint does not find later.
    std::size_t count_unseen() const {
        std::size_t count = 0;
        for (std::size_t row = 0; row < kept_.size(); row++)
            count += kept_[row] && !known_.rows[row].is_short && !(visible_[row] & BY_SIMHASH);
        return count;
    }

    // Columns in which a kept row is held.
    std::span<const std::uint32_t> stored() const { return stored_; }
    // These and BY_SIMHASH.
    std::span<const std::uint32_t> visible() const { return visible_; }

private:
    // Those with fewer texts than the limit.
    std::uint32_t columns_held(std::size_t row) const {
        const auto& [width, most_equal, most_same, held, pairs, twins, same, rows] = known_;
        const auto every = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
        const auto before = [&](std::int64_t place) { return pairs.columns[place] & stored_[pairs.numbers[place]]; };
        std::int64_t found = held.offsets[row + 1] - held.offsets[row];
        for (std::int64_t i = pairs.offsets[row]; i < pairs.offsets[row + 1]; i++) found += before(i) != 0;
        if (found < most_equal) return every;
        std::array<std::int64_t, MOST_COLUMNS> counts{};
        const auto count = [&](std::uint32_t columns) {
            for (; columns != 0; columns &= columns - 1) counts[std::countr_zero(columns)]++;
        };
        for (std::int64_t i = held.offsets[row]; i < held.offsets[row + 1]; i++) count(held.columns[i]);
        for (std::int64_t i = pairs.offsets[row]; i < pairs.offsets[row + 1]; i++) count(before(i));
        std::uint32_t stored = 0;
        for (std::size_t c = 0; c < width; c++) stored |= std::uint32_t{counts[c] < most_equal} << c;
        return stored;
    }

    Known known_;
    std::vector<std::uint8_t> kept_;
    std::vector<std::uint32_t> stored_, visible_;
    std::vector<std::int64_t> here_;  // kept rows that a fingerprint finds
};

// What n texts find: first in an index of `count` texts, then earlier ones of the batch, by count + row.
struct LookUp {
    Candidates candidates;
    BatchVisibility visibility;
    // Those that find nothing and meet no other of the batch, not even one with the same fingerprint, or with a key
    // in common that has too few equal bits.
    std::vector<std::uint8_t> alone;
    int distance;  // of fingerprints that find each other, below 0 if none do
};

}  // namespace dedup
