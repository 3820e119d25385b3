// Rows of a batch that have a key in common.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash.hpp"
#include "index/candidates.hpp"

namespace dedup {

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

// Counts the pairs of rows with the same key, of one column.
template <class KeyOf>
std::int64_t count_pairs(FormerRows& rows, KeyOf key_of, std::span<std::int32_t> former,
                         std::span<std::int64_t> before) {
    rows.find(key_of, former);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < former.size(); i++) {
        before[i] = former[i] == NO_ROW ? 0 : before[former[i]] + 1;
        count += before[i];
    }
    return count;
}

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
