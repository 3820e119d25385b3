// Longest common subsequences by bits (Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004).
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash_table.hpp"

namespace dedup::judgment {

// Bounds the steps spent on a pair: what would take more is taken as altogether different.
class Work {
public:
    static constexpr std::uint64_t MOST = 1 << 22, MATRIX = 1 << 20;

    // Takes the steps, if there are so many left.
    bool suffices(std::uint64_t steps, std::uint64_t most = MOST) {
        if (steps > std::min(left_, most)) return false;
        left_ -= steps;
        return true;
    }

    // Whether it never runs out for two texts of so many characters and the choices of one, in whatever order they are
    // compared: clauses, tokens, and characters twice, of the stem, of what is added and of choices; and those of each
    // choice with all others.
    bool suffices_for(std::size_t x, std::size_t y, std::size_t choices) const {
        constexpr std::uint64_t TIMES = 11;
        return TIMES * (x / 64 + 1 + choices) * std::uint64_t{y} <= left_;
    }

private:
    std::uint64_t left_ = MOST;
};

// How much of the beginning and then of the end is equal.
struct Frame {
    std::size_t begin, end;
};

template <class T>
Frame frame(std::span<const T> x, std::span<const T> y) {
    const std::size_t most = std::min(x.size(), y.size());
    Frame equal{0, 0};
    while (equal.begin < most && x[equal.begin] == y[equal.begin]) equal.begin++;
    while (equal.end < most - equal.begin && x[x.size() - 1 - equal.end] == y[y.size() - 1 - equal.end]) equal.end++;
    return equal;
}

struct Match {
    std::uint32_t left, right;
};

class Subsequence {
public:
    // The places of a longest one; those of equal beginning and end alone where there is too much to do.
    template <class T>
    void find(std::span<const T> x, std::span<const T> y, Work& work, std::vector<Match>& found) {
        const auto [begin, end] = frame(x, y);
        const std::size_t m = x.size() - end - begin, n = y.size() - end - begin;
        const auto add = [&](std::size_t i, std::size_t j) {
            found.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
        };
        found.clear();
        for (std::size_t k = 0; k < begin; k++) add(k, k);
        if (m && n && work.suffices(steps(m, n), Work::MATRIX)) {
            const std::size_t words = (m + 63) / 64;
            const auto keep_row = [&] { rows_.insert(rows_.end(), bits_.begin(), bits_.end()); };
            rows_.clear();
            fill(x.subspan(begin, m), y.subspan(begin, n), keep_row);
            const auto is_set = [&](std::size_t row, std::size_t column) {
                return rows_[row * words + column / 64] >> column % 64 & 1;
            };
            for (std::size_t column = m, row = n; column && row;) {
                if (is_set(row - 1, column - 1)) {
                    column--;
                } else if (row > 1 && !is_set(row - 2, column - 1)) {
                    row--;
                } else {
                    column--;
                    row--;
                    add(begin + column, begin + row);
                }
            }
            std::reverse(found.begin() + begin, found.end());
        }
        for (std::size_t k = end; k > 0; k--) add(x.size() - k, y.size() - k);
    }

    // ... and its length alone.
    template <class T>
    std::size_t length(std::span<const T> x, std::span<const T> y, Work& work) {
        const auto [begin, end] = frame(x, y);
        const std::size_t m = x.size() - end - begin, n = y.size() - end - begin;
        std::size_t grown = 0;
        if (m && n && work.suffices(steps(m, n))) {
            fill(x.subspan(begin, m), y.subspan(begin, n), [] {});
            for (const std::uint64_t bits : bits_) grown += std::popcount(~bits);
        }
        return begin + grown + end;
    }

private:
    static std::uint64_t steps(std::size_t x, std::size_t y) { return (x + 63) / 64 * y; }

    // Calls `row` after each of y, when `bits_` holds a bit of each of x; a 0 is a place where it grew.
    template <class T, class Row>
    void fill(std::span<const T> x, std::span<const T> y, Row row) {
        const std::size_t words = (x.size() + 63) / 64;
        rows_of_.reset(x.size() + y.size());
        std::uint32_t count = 0;
        for (const T one : y) {
            const auto [row, is_new] = rows_of_[key_of(one)];
            if (is_new) row = ++count;
        }
        masks_.assign((count + 1) * words, 0);  // row 0: of what y has not
        for (std::size_t i = 0; i < x.size(); i++)
            masks_[rows_of_[key_of(x[i])].value * words + i / 64] |= std::uint64_t{1} << i % 64;
        bits_.assign(words, ~std::uint64_t{0});
        for (const T one : y) {
            const std::uint64_t* mask = &masks_[rows_of_[key_of(one)].value * words];
            std::uint64_t carry = 0;
            for (std::size_t w = 0; w < words; w++) {
                const std::uint64_t matched = bits_[w] & mask[w], part = bits_[w] + carry, sum = part + matched;
                carry = (part < carry) | (sum < matched);
                bits_[w] = sum | (bits_[w] & ~mask[w]);
            }
            row();
        }
    }

    HashTable<std::uint32_t> rows_of_;  // the mask of each value
    std::vector<std::uint64_t> masks_, bits_, rows_;
};

}  // namespace dedup::judgment
