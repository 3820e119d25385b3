// What texts find by their keys, a key for each column: gathered column by column, entered text by text.
#pragma once
#include <algorithm>
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

// Number and column of each match in one word, sorted by both when all of a row are there.
class Matches {
public:
    void add(std::size_t row, std::uint64_t number, std::uint64_t column) {
        found_.push_back({number << COLUMN_BITS | column, row});
    }

    // Appends for each row each number once, with its columns, and begins anew; numbers are below `size`.
    void enter(std::size_t rows, std::size_t size, Candidates& to) {
        ends_.assign(rows + 1, 0);
        for (const Match& match : found_) ends_[match.row + 1]++;
        for (std::size_t row = 0; row < rows; row++) ends_[row + 1] += ends_[row];
        items_.resize(found_.size());
        other_.resize(found_.size());
        for (const Match& match : found_) items_[ends_[match.row]++] = match.item;
        found_.clear();
        std::size_t start = 0;
        for (std::size_t row = 0; row < rows; row++) {
            const std::size_t count = ends_[row] - start;
            const auto items = sorted(std::span(items_).subspan(start, count), std::span(other_).first(count), size);
            for (std::size_t i = 0; i < count;) {
                const std::uint64_t number = items[i] >> COLUMN_BITS;
                std::uint32_t columns = 0;
                for (; i < count && items[i] >> COLUMN_BITS == number; i++)
                    columns |= std::uint32_t{1} << (items[i] & (MOST_COLUMNS - 1));
                to.add(static_cast<std::int64_t>(number), columns);
            }
            to.end_text();
            start = ends_[row];
        }
    }

private:
    struct Match {
        std::uint64_t item;
        std::size_t row;
    };
    static constexpr std::size_t FEW = 40;
    static constexpr int DIGIT_BITS = 9;

    // By number; columns come in order. Few by insertion, many digit by digit.
    static std::span<const std::uint64_t> sorted(std::span<std::uint64_t> items, std::span<std::uint64_t> other,
                                                 std::size_t size) {
        if (items.size() <= FEW) {
            for (std::size_t i = 1; i < items.size(); i++) {
                const std::uint64_t item = items[i];
                std::size_t place = i;
                for (; place > 0 && items[place - 1] > item; place--) items[place] = items[place - 1];
                items[place] = item;
            }
            return items;
        }
        for (int shift = COLUMN_BITS; size >> (shift - COLUMN_BITS) != 0; shift += DIGIT_BITS) {
            const auto digit = [shift](std::uint64_t item) { return item >> shift & ((1 << DIGIT_BITS) - 1); };
            std::array<std::uint32_t, (1 << DIGIT_BITS) + 1> begin{};
            for (const std::uint64_t item : items) begin[digit(item) + 1]++;
            for (std::size_t i = 1; i < begin.size(); i++) begin[i] += begin[i - 1];
            for (const std::uint64_t item : items) other[begin[digit(item)]++] = item;
            std::swap(items, other);
        }
        return items;
    }

    std::vector<Match> found_;
    std::vector<std::size_t> ends_;
    std::vector<std::uint64_t> items_, other_;
};

}  // namespace dedup
