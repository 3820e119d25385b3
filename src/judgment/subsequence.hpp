// Longest common subsequences by bits (Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004).
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hash.hpp"
#include "judgment/token.hpp"

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
        number(x, y);
        const auto [begin, end] = equal_;
        const std::size_t m = left_.size(), n = right_.size();
        const auto add = [&](std::size_t i, std::size_t j) {
            found.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
        };
        found.clear();
        for (std::size_t k = 0; k < begin; k++) add(k, k);
        if (m && n && work.suffices(steps(m, n), Work::MATRIX)) {
            const std::size_t words = words_of(m);
            fill(words);
            const auto is_set = [&](std::size_t row, std::size_t column) {
                return rows_[row * words + column / WORD] >> column % WORD & 1;
            };
            for (std::size_t column = m, row = n; column && row;) {
                if (is_set(row, column - 1)) {
                    column--;
                } else if (!is_set(row - 1, column - 1)) {
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
        number(x, y);
        const std::size_t m = left_.size(), n = right_.size();
        std::size_t grown = 0;
        if (m && n && work.suffices(steps(m, n))) {
            fill(0);
            for (const std::uint64_t bits : rows_) grown += static_cast<std::size_t>(std::popcount(~bits));
        }
        return equal_.begin + grown + equal_.end;
    }

    // What was compared last but for the equal beginning and end: numbers of the values, from 1 on, up to `values`; on
    // the left 0 stands for what the right side has not.
    std::span<const std::uint32_t> left() const { return left_; }
    std::span<const std::uint32_t> right() const { return right_; }
    std::size_t begin() const { return equal_.begin; }
    std::uint32_t values() const { return values_; }

private:
    static constexpr std::size_t WORD = 64;

    static std::size_t words_of(std::size_t bits) { return (bits + WORD - 1) / WORD; }
    static std::uint64_t steps(std::size_t x, std::size_t y) { return words_of(x) * y; }

    template <class T>
    void number(std::span<const T> x, std::span<const T> y) {
        equal_ = frame(x, y);
        left_.resize(x.size() - equal_.begin - equal_.end);
        right_.resize(y.size() - equal_.begin - equal_.end);
        values_ = 0;
        if (left_.empty() || right_.empty()) return;
        numbers_.reset(right_.size());
        for (std::size_t j = 0; j < right_.size(); j++) {
            const auto [number, is_new] = numbers_[key_of(y[equal_.begin + j])];
            right_[j] = is_new ? number = ++values_ : number;
        }
        for (std::size_t i = 0; i < left_.size(); i++) left_[i] = numbers_.find(key_of(x[equal_.begin + i]));
    }

    // Makes a row of bits, one of each of the left side, and after each of the right side the next one, `stride` words
    // behind it; a 0 is a place where it grew.
    void fill(std::size_t stride) {
        const std::size_t words = words_of(left_.size());
        masks_.assign((values_ + 1) * words, 0);  // row 0: of what the right side has not
        for (std::size_t i = 0; i < left_.size(); i++) masks_[left_[i] * words + i / WORD] |= std::uint64_t{1} << i % WORD;
        rows_.resize(words + stride * right_.size());
        std::uint64_t* row = rows_.data();
        std::fill_n(row, words, ~std::uint64_t{0});
        for (const std::uint32_t one : right_) {
            const std::uint64_t *mask = &masks_[one * words], *before = row;
            row += stride;
            std::uint64_t carry = 0;
            for (std::size_t w = 0; w < words; w++) {
                const std::uint64_t bits = before[w], matched = bits & mask[w], part = bits + carry, sum = part + matched;
                carry = (part < carry) | (sum < matched);
                row[w] = sum | (bits & ~mask[w]);
            }
        }
    }

    Frame equal_{0, 0};
    std::vector<std::uint32_t> left_, right_;
    std::uint32_t values_ = 0;
    HashTable<std::uint32_t> numbers_;  // of each value of the right side
    std::vector<std::uint64_t> masks_, rows_;
};

}  // namespace dedup::judgment
