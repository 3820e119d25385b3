// Candidates of many texts: what a channel finds, and what all channels find together.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash.hpp"
#include "core/parallel.hpp"
#include "core/strings.hpp"
#include "fingerprint/sketch.hpp"

namespace dedup {

constexpr std::uint32_t BY_SIMHASH = std::uint32_t{1} << 31;

// Earlier texts found for n texts: text i has the places offsets[i] to offsets[i + 1], ascending by number, each
// number once. columns: a bit for each column of keys that they share, and BY_SIMHASH; distances: of the
// fingerprints; agreements: equal bits of the sketches, 0 where there are none; values: fingerprints of the
// earlier ones. The last three are empty where they are not measured.
struct Candidates {
    std::vector<std::int64_t> offsets{0}, numbers;
    std::vector<std::uint32_t> columns;
    std::vector<std::uint8_t> distances, agreements;
    std::vector<std::uint64_t> values;

    static Candidates none(std::size_t texts) {
        Candidates made;
        made.offsets.assign(texts + 1, 0);
        return made;
    }
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
    // Appends those of more texts.
    void append(const Candidates& more) {
        const std::int64_t first = offsets.back();
        for (std::size_t i = 1; i < more.offsets.size(); i++) offsets.push_back(first + more.offsets[i]);
        const auto add = [](auto& all, const auto& some) { all.insert(all.end(), some.begin(), some.end()); };
        add(numbers, more.numbers);
        add(columns, more.columns);
        add(distances, more.distances);
        add(agreements, more.agreements);
        add(values, more.values);
    }
};

// The candidates of n texts, found by `find(first, count)` for some in a row, in several threads.
template <class Find>
auto gathered(std::size_t n, std::size_t threads, Find find) {
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
        twins.insert(twins.end(), more.twins.begin(), more.twins.end());
    }
};

// Appends for text `row` every pair of two channels once, with the columns of both, measured; number of the
// result: first + number. With fewer than `least` equal bits a candidate is none.
void unite(const Candidates& one, const Candidates& other, const Measures& earlier, const Measures& own,
           std::size_t row, std::int64_t least, std::int64_t first, Candidates& to);

// What one index would find, of what several find that hold a part of the texts each, whatever bits are equal.
// Each holds the first texts under a key and finds the first with a fingerprint: of all, the first `most_equal` of
// a key and the first `most_same` with a fingerprint count. least: of equal bits, for each text.
Found found_together(std::span<const Candidates> parts, std::span<const std::int64_t> least, std::int64_t most_equal,
                     std::int64_t most_same);

// Rows of a batch that have a key in common.

constexpr std::int32_t NO_ROW = -1;

// Finds for each row of one column the last row before it with the same key.
class FormerRows {
public:
    explicit FormerRows(std::size_t rows)
        : bits_(std::max<int>(4, std::bit_width(2 * rows))), table_(std::size_t{1} << bits_) {}

    // key_of: the key of a row; former: for each row the row before it, or NO_ROW.
    template <class KeyOf>
    void find(KeyOf key_of, std::span<std::int32_t> former) {
        std::fill(table_.begin(), table_.end(), NO_ROW);
        const std::size_t mask = table_.size() - 1;
        for (std::size_t i = 0; i < former.size(); i++) {
            const std::uint64_t key = key_of(i);
            std::size_t place = key * GOLDEN >> (64 - bits_);  // Fibonacci hashing: Knuth, TAOCP 3, section 6.4
            while (table_[place] != NO_ROW && key_of(table_[place]) != key) place = (place + 1) & mask;
            former[i] = table_[place];
            table_[place] = static_cast<std::int32_t>(i);
        }
    }

private:
    int bits_;
    std::vector<std::int32_t> table_;
};

// The earlier rows that share a key with each of n rows, and in which columns.
inline Candidates pairs_sharing(std::span<const std::uint32_t> keys, std::size_t n, std::size_t columns, std::size_t threads) {
    std::vector<std::int32_t> former(columns * n);
    share(columns, threads, [&](auto take) {
        FormerRows rows(n);
        for (std::size_t c; (c = take()) < columns;)
            rows.find([&](std::size_t i) { return keys[i * columns + c]; }, std::span(former).subspan(c * n, n));
    }, 1);
    return gathered(n, threads, [&](std::size_t start, std::size_t count) {
        Candidates found;
        std::vector<std::uint32_t> shared(n);
        for (std::size_t i = start; i < start + count; i++) {
            std::size_t first = i;
            for (std::size_t c = 0; c < columns; c++) {
                for (std::int32_t j = former[c * n + i]; j != NO_ROW; j = former[c * n + j]) {
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

}  // namespace dedup
