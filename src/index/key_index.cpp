#include "index/key_index.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace dedup {
namespace {

constexpr std::size_t LOOKED_UP = 2048;      // rows at once: their matches wait to be sorted
constexpr std::size_t INSERTED = 1 << 12;    // rows that find all buckets full, at most, between two looks at the room
constexpr std::size_t LEAST = 1 << 13;       // documents that columns are built for
constexpr std::size_t LEAST_SLOTS = 64;      // of a column that does not grow
constexpr double GROWTH = 1.12;
constexpr std::size_t LOAD = 49;             // documents a bucket, of 51 that it takes
constexpr double SPILLED = 0.055;            // slots of the table, a document

// The keys of a column, one behind the other.
void gather(std::span<const std::uint32_t> rows, std::size_t column, std::size_t columns,
            std::vector<std::uint32_t>& keys) {
    keys.resize(rows.size() / columns);
    for (std::size_t row = 0; row < keys.size(); row++) keys[row] = rows[row * columns + column];
}

// What several columns hold as one, the numbers of each moved by what stands beside it. documents: that it is built for;
// spare: slots for documents that come.
Column united(std::span<const std::pair<const Column*, std::size_t>> parts, std::size_t documents, std::size_t spare) {
    std::size_t spilled = 0;
    for (const auto& [part, first] : parts) spilled += part->spilled;
    while (true) {
        Column made;
        made.buckets.resize((documents + LOAD - 1) / LOAD);
        made.slots.resize(std::max(static_cast<std::size_t>(SPILLED * static_cast<double>(documents)), 2 * spilled) + spare);
        made.number_bits = std::bit_width(documents);
        if (std::ranges::all_of(parts, [&](const auto& part) { return made.take(*part.first, part.second); })) return made;
        spilled = 2 * spilled + spare;
    }
}

}  // namespace

std::size_t KeyIndex::nbytes() const {
    std::size_t sum = 0;
    for (const Column& column : columns) sum += column.nbytes();
    return sum;
}

void KeyIndex::search(std::span<const std::uint32_t> keys, Candidates& found) const {
    Matches matches;
    std::vector<std::uint32_t> own;
    for (std::size_t start = 0; start < keys.size(); start += LOOKED_UP * columns.size()) {
        const auto rows = keys.subspan(start, std::min(LOOKED_UP * columns.size(), keys.size() - start));
        for (std::size_t c = 0; c < columns.size() && size_ > 0; c++) {
            gather(rows, c, columns.size(), own);
            columns[c].search(own, [&](std::size_t row, std::uint64_t number) { matches.add(row, number, c); });
        }
        matches.enter(rows.size() / columns.size(), size_, found);
    }
}

void KeyIndex::add(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> stored, std::size_t threads) {
    const std::size_t width = columns.size();
    while (!keys.empty()) {
        std::size_t count = std::min({planned_ - size_, INSERTED, keys.size() / width});
        for (const Column& column : columns) count = std::min(count, column.room(size_));
        if (count < std::min(INSERTED, keys.size() / width)) {
            build_again(threads);
            continue;
        }
        share(width, threads, [&](auto take) {
            std::vector<std::uint32_t> own;
            for (std::size_t c; (c = take()) < width;) {
                gather(keys.first(count * width), c, width, own);
                const auto is_stored = [&](std::size_t row) { return stored.empty() || (stored[row] >> c & 1) != 0; };
                dropped[c] += columns[c].insert(own, is_stored, stored.empty() ? most_equal_ : 0, size_);
            }
        }, 1);
        size_ += count;
        keys = keys.subspan(count * width);
        if (!stored.empty()) stored = stored.subspan(count);
    }
}

void KeyIndex::build_again(std::size_t threads) {
    planned_ = std::max(LEAST, static_cast<std::size_t>(GROWTH * static_cast<double>(size_)) + INSERTED);
    share(columns.size(), threads, [&](auto take) {
        for (std::size_t c; (c = take()) < columns.size();) {
            const std::pair<const Column*, std::size_t> own[] = {{&columns[c], 0}};
            columns[c] = united(own, planned_, 2 * INSERTED);
        }
    }, 1);
}

Column KeyIndex::merged(std::span<const KeyIndex* const> parts, std::size_t column) {
    std::vector<std::pair<const Column*, std::size_t>> columns;
    std::size_t documents = 0;
    for (const KeyIndex* part : parts) {
        columns.emplace_back(&part->columns[column], documents);
        documents += part->size();
    }
    return united(columns, std::max(documents, std::size_t{1}), LEAST_SLOTS);
}

}  // namespace dedup
