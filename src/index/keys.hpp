// Texts by keys, a key for each column: what both forms of such an index share.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fingerprint/sketch.hpp"
#include "index/candidates.hpp"

namespace dedup {

constexpr int COLUMN_BITS = 5;
constexpr std::size_t MOST_COLUMNS = 1 << COLUMN_BITS;

class KeyIndex {
public:
    virtual ~KeyIndex() = default;
    virtual std::size_t columns() const = 0;
    // How many texts there are: numbers found are below it.
    virtual std::size_t size() const = 0;
    // Appends the texts that share a key with each of n rows of keys, and in which columns.
    virtual void search(std::span<const std::uint32_t> keys, Candidates& found) const = 0;
};

// What is held under the keys of one row: number and column in one word, sorted by both when all are there.
class Matches {
public:
    // Makes room for so many more than there are.
    void reserve(std::size_t more) {
        if (count_ + more <= items_.size()) return;
        items_.resize(2 * (count_ + more));
        other_.resize(items_.size());
    }
    void add(std::uint64_t number, std::uint64_t column) { items_[count_++] = number << COLUMN_BITS | column; }

    // Appends each number once, with its columns, and begins anew; numbers are below `size`.
    void enter(std::size_t size, Candidates& found) {
        const std::uint64_t* items = sorted(size);
        for (std::size_t i = 0; i < count_;) {
            const std::uint64_t number = items[i] >> COLUMN_BITS;
            std::uint32_t columns = 0;
            for (; i < count_ && items[i] >> COLUMN_BITS == number; i++)
                columns |= std::uint32_t{1} << (items[i] & (MOST_COLUMNS - 1));
            found.add(static_cast<std::int64_t>(number), columns);
        }
        found.end_text();
        count_ = 0;
    }

private:
    static constexpr std::size_t FEW = 40;
    static constexpr int DIGIT_BITS = 9;

    // Few by insertion, many digit by digit.
    const std::uint64_t* sorted(std::size_t size) {
        std::uint64_t* items = items_.data();
        if (count_ <= FEW) {
            for (std::size_t i = 1; i < count_; i++) {
                const std::uint64_t item = items[i];
                std::size_t place = i;
                for (; place > 0 && items[place - 1] > item; place--) items[place] = items[place - 1];
                items[place] = item;
            }
            return items;
        }
        std::uint64_t* other = other_.data();
        for (int shift = COLUMN_BITS; size >> (shift - COLUMN_BITS) != 0; shift += DIGIT_BITS) {
            const auto digit = [shift](std::uint64_t item) { return item >> shift & ((1 << DIGIT_BITS) - 1); };
            std::array<std::uint32_t, (1 << DIGIT_BITS) + 1> begin{};
            for (std::size_t i = 0; i < count_; i++) begin[digit(items[i]) + 1]++;
            for (std::size_t i = 1; i < begin.size(); i++) begin[i] += begin[i - 1];
            for (std::size_t i = 0; i < count_; i++) other[begin[digit(items[i])]++] = items[i];
            std::swap(items, other);
        }
        return items;
    }

    std::vector<std::uint64_t> items_, other_;
    std::size_t count_ = 0;
};

}  // namespace dedup
