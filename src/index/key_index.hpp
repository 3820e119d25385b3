// Documents by rows of keys, one key for each column: bands of a MinHash (Indyk and Motwani's locality-sensitive hashing,
// STOC 1998), blocks of a fingerprint, or other keys that are compared for equality.
//
// Look-ups go column by column: the memory of one is small enough for the processor's cache of addresses, and each
// bucket is fetched well before it is needed. Once buckets are full on average, a column is rebuilt with some more of
// them, so the load stays the same, and a look-up is a cache miss.
#pragma once
#include "index/candidates.hpp"

namespace dedup {

constexpr std::uint64_t ones(int bits) { return (std::uint64_t{1} << bits) - 1; }

// The entries of a range of keys. Most look-ups read its first cache line only.
struct alignas(64) Bucket {
    static constexpr std::size_t ENTRIES = 51;
    static constexpr int TAG_BITS = 8;

    std::uint8_t tags[ENTRIES];  // the lowest bits of keys
    std::uint8_t count;
    std::uint32_t entries[ENTRIES];  // numbers, and above them further bits of the keys

    bool is_full() const { return count == ENTRIES; }
    // Returns a bit for each entry with this tag.
    std::uint64_t equal_tags(std::uint8_t tag) const {
        const auto* const line = reinterpret_cast<const Lanes*>(this);
        std::uint64_t equal = 0;
        for (int i = 0; i < 4; i++) equal |= std::uint64_t{dedup::bits_of((Lanes)(line[i] == tag))} << 16 * i;
        return equal & ones(count);
    }
};
static_assert(sizeof(Bucket) == 256);

// A column of keys. Each bucket holds the keys of a range. An entry whose bucket is full spills into a table: open
// addressing with linear probing, a key and a number + 1 in each slot, 0: free.
class Column {
public:
    Pages<Bucket> buckets;
    Pages<std::uint64_t> slots;
    int number_bits = 0;
    std::size_t spilled = 0;  // documents in the table

    std::size_t nbytes() const { return buckets.nbytes() + slots.nbytes(); }
    // Returns how many documents fit in, for any keys, after `size` documents.
    std::size_t capacity_left(std::size_t size) const {
        const std::size_t numbers = std::size_t{1} << number_bits, most = most_spilled();
        return std::min(numbers - std::min(size, numbers), most - std::min(spilled, most));
    }

    // Calls take(row, number) for each text with the key of a row.
    void search(std::span<const std::uint32_t> keys, auto take) const {
        struct Open {
            std::size_t row;
            std::uint64_t equal;  // tags
        };
        std::array<Open, AHEAD> open;  // rows that need more than the first cache line
        for (std::size_t row = 0; row < std::min(AHEAD, keys.size()); row++) fetch(keys[row]);
        for (std::size_t start = 0; start < keys.size(); start += AHEAD) {
            std::size_t count = 0;
            for (std::size_t row = start; row < std::min(start + AHEAD, keys.size()); row++) {
                if (row + AHEAD < keys.size()) fetch(keys[row + AHEAD]);
                open[count] = {row, equal_tags(keys[row])};
                count += bucket(keys[row]).is_full() | (open[count].equal != 0);
            }
            for (const auto& [row, equal] : std::span(open).first(count)) fetch_found(keys[row], equal);
            for (const auto& [row, equal] : std::span(open).first(count))
                find(keys[row], equal, [&](std::uint64_t number) { take(row, number); });
        }
    }

    // Adds the keys of the rows with stored(row), numbered from `first` on; most_equal: the limit of one key, 0 for none.
    // The rows have to fit in. Returns how many rows were dropped.
    std::int64_t insert(std::span<const std::uint32_t> keys, auto stored, std::size_t most_equal, std::size_t first) {
        std::int64_t dropped = 0;
        for (std::size_t row = 0; row < keys.size(); row++) {
            if (row + AHEAD < keys.size()) fetch(keys[row + AHEAD]);
            if (row + SECOND_AHEAD < keys.size()) fetch_free(keys[row + SECOND_AHEAD]);
            std::size_t equal = 0;
            if (most_equal > 0) find(keys[row], equal_tags(keys[row]), [&](std::uint64_t) { equal++; });
            if (stored(row) && (most_equal == 0 || equal < most_equal)) put(keys[row], first + row);
            else dropped++;
        }
        return dropped;
    }

    // Adds the entries of another column, their numbers increased by `first`. Returns false if they do not fit in.
    bool append(const Column& more, std::size_t first) {
        bool fits = true;
        more.each([&](std::uint32_t key, std::uint64_t number) {
            fits &= spilled < most_spilled();
            if (fits) put(key, first + number);
        });
        return fits;
    }

private:
    static constexpr std::size_t AHEAD = 64, SECOND_AHEAD = 20;  // rows

    std::size_t most_spilled() const { return slots.size() / 4 * 3; }

    std::size_t bucket_of(std::uint32_t key) const { return key * buckets.size() >> KEY_BITS; }
    const Bucket& bucket(std::uint32_t key) const { return buckets[bucket_of(key)]; }
    // Scattered, as keys that spill are neighbours.
    std::size_t slot_of(std::uint32_t key) const {
        return static_cast<std::uint32_t>(key * static_cast<std::uint32_t>(GOLDEN)) * slots.size() >> 32;
    }
    std::size_t after(std::size_t slot) const { return slot + 1 == slots.size() ? 0 : slot + 1; }
    std::uint64_t equal_tags(std::uint32_t key) const { return bucket(key).equal_tags(static_cast<std::uint8_t>(key)); }
    std::uint32_t bits_of(std::uint32_t key) const {
        return static_cast<std::uint32_t>(std::uint64_t{key >> Bucket::TAG_BITS} << number_bits);
    }
    // Inlined, or gcc drops the calls, as of functions without effect.
    [[gnu::always_inline]] void fetch(std::uint32_t key) const { __builtin_prefetch(&bucket(key)); }
    [[gnu::always_inline]] void fetch_found(std::uint32_t key, std::uint64_t equal) const {
        const Bucket& own = bucket(key);
        if (equal != 0) __builtin_prefetch(&own.entries[std::countr_zero(equal)]);
        if (own.is_full()) __builtin_prefetch(&slots[slot_of(key)]);
    }
    [[gnu::always_inline]] void fetch_free(std::uint32_t key) const {
        const Bucket& own = bucket(key);
        if (own.is_full()) return __builtin_prefetch(&slots[slot_of(key)]);
        __builtin_prefetch(&own.entries[own.count]);
    }

    void find(std::uint32_t key, std::uint64_t equal, auto take) const {
        const Bucket& own = bucket(key);
        const std::uint32_t bits = bits_of(key);
        for (; equal != 0; equal &= equal - 1) {
            const std::uint64_t number = own.entries[std::countr_zero(equal)] ^ bits;
            if (number >> number_bits == 0) take(number);
        }
        if (!own.is_full()) return;
        for (std::size_t at = slot_of(key); slots[at] != 0; at = after(at)) {
            if (slots[at] >> 32 == key) take((slots[at] & 0xFFFFFFFF) - 1);
        }
    }

    void put(std::uint32_t key, std::uint64_t number) {
        Bucket& own = buckets[bucket_of(key)];
        if (!own.is_full()) {
            own.tags[own.count] = static_cast<std::uint8_t>(key);
            own.entries[own.count++] = bits_of(key) | static_cast<std::uint32_t>(number);
            return;
        }
        std::size_t at = slot_of(key);
        while (slots[at] != 0) at = after(at);
        slots[at] = std::uint64_t{key} << 32 | (number + 1);
        spilled++;
    }

    // Calls take(key, number) for each entry, nearly in the order of keys.
    void each(auto take) const {
        const int bits = Bucket::TAG_BITS + 32 - number_bits;  // of the key, in tag and entry
        const std::uint64_t number_mask = ones(number_bits), key_mask = ones(bits);
        for (std::size_t at = 0; at < buckets.size(); at++) {
            const Bucket& bucket = buckets[at];
            const std::uint64_t first = ((std::uint64_t{at} << KEY_BITS) + buckets.size() - 1) / buckets.size();
            for (std::size_t i = 0, count = bucket.count; i < count; i++) {
                const std::uint64_t entry = bucket.entries[i];
                const std::uint64_t low = entry >> number_bits << Bucket::TAG_BITS | bucket.tags[i];
                take(static_cast<std::uint32_t>(first + ((low - first) & key_mask)), entry & number_mask);
            }
        }
        for (const std::uint64_t slot : slots) {
            if (slot != 0) take(static_cast<std::uint32_t>(slot >> 32), (slot & 0xFFFFFFFF) - 1);
        }
    }
};

// Collects matches of rows with documents, each in one word: a number and a column.
class Matches {
public:
    void add(std::size_t row, std::uint64_t number, std::uint64_t column) {
        found_.push_back({number << COLUMN_BITS | column, row});
    }

    // Returns the candidates of n rows, and removes all matches; numbers are below `size`.
    Candidates take(std::size_t rows, std::size_t size) {
        Candidates found;
        ends_.assign(rows + 1, 0);
        for (const Match& match : found_) ends_[match.row + 1]++;
        for (std::size_t row = 0; row < rows; row++) ends_[row + 1] += ends_[row];
        items_.resize(found_.size());
        spare_.resize(found_.size());
        for (const Match& match : found_) items_[ends_[match.row]++] = match.item;
        found_.clear();
        std::size_t start = 0;
        for (std::size_t row = 0; row < rows; row++) {
            const std::size_t count = ends_[row] - start;
            const auto items = sorted(std::span(items_).subspan(start, count), std::span(spare_).first(count), size);
            for (std::size_t i = 0; i < count;) {
                const std::uint64_t number = items[i] >> COLUMN_BITS;
                std::uint32_t columns = 0;
                for (; i < count && items[i] >> COLUMN_BITS == number; i++)
                    columns |= std::uint32_t{1} << (items[i] & (MOST_COLUMNS - 1));
                found.all.push_back({static_cast<std::int64_t>(number), columns});
            }
            found.end_text();
            start = ends_[row];
        }
        return found;
    }

private:
    struct Match {
        std::uint64_t item;
        std::size_t row;
    };
    static constexpr std::size_t FEW = 40;
    static constexpr int DIGIT_BITS = 9;

    // By number and column; many by radix sort of the numbers, as columns come in order.
    static std::span<const std::uint64_t> sorted(std::span<std::uint64_t> items, std::span<std::uint64_t> spare,
                                                 std::size_t size) {
        if (items.size() <= FEW) {
            std::ranges::sort(items);
            return items;
        }
        for (int shift = COLUMN_BITS; size >> (shift - COLUMN_BITS) != 0; shift += DIGIT_BITS) {
            const auto digit = [shift](std::uint64_t item) { return item >> shift & ((1 << DIGIT_BITS) - 1); };
            std::array<std::uint32_t, (1 << DIGIT_BITS) + 1> begin{};
            for (const std::uint64_t item : items) begin[digit(item) + 1]++;
            for (std::size_t i = 1; i < begin.size(); i++) begin[i] += begin[i - 1];
            for (const std::uint64_t item : items) spare[begin[digit(item)]++] = item;
            std::swap(items, spare);
        }
        return items;
    }

    std::vector<Match> found_;
    std::vector<std::size_t> ends_;
    std::vector<std::uint64_t> items_, spare_;
};

class KeyIndex {
public:
    // most_equal: how many documents a column holds under one key, the first ones, so that a phrase of very many
    // documents stays affordable; 0 for no limit.
    KeyIndex(std::size_t columns, std::size_t most_equal) : columns(columns), dropped(columns), most_equal_(most_equal) {}

    std::vector<Column> columns;
    std::vector<std::int64_t> dropped;  // documents that each column does not hold

    std::size_t size() const { return size_; }
    void set_size(std::size_t size) { size_ = size; }
    std::size_t nbytes() const {
        std::size_t sum = 0;
        for (const Column& column : columns) sum += column.nbytes();
        return sum;
    }

    // Returns the documents that have a key in common with each of n rows of keys.
    Candidates search(std::span<const std::uint32_t> keys) const {
        Candidates found;
        Matches matches;
        std::vector<std::uint32_t> own;
        for (std::size_t start = 0; start < keys.size(); start += LOOKED_UP * columns.size()) {
            const auto rows = keys.subspan(start, std::min(LOOKED_UP * columns.size(), keys.size() - start));
            for (std::size_t c = 0; c < columns.size() && size_ > 0; c++) {
                gather(rows, c, columns.size(), own);
                columns[c].search(own, [&](std::size_t row, std::uint64_t number) { matches.add(row, number, c); });
            }
            found.append(matches.take(rows.size() / columns.size(), size_));
        }
        return found;
    }

    // Adds n rows of keys under the next numbers. stored: the columns that hold each, as bits; if empty, all columns with
    // fewer than `most_equal` documents under its key.
    void add(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> stored, std::size_t threads) {
        const std::size_t width = columns.size();
        while (!keys.empty()) {
            std::size_t count = std::min({planned_ - size_, INSERTED, keys.size() / width});
            for (const Column& column : columns) count = std::min(count, column.capacity_left(size_));
            if (count < std::min(INSERTED, keys.size() / width)) {
                rebuild(threads);
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

    // Returns one column of several indexes merged, numbered in their order.
    static Column merged(std::span<const KeyIndex* const> indexes, std::size_t column) {
        std::vector<std::pair<const Column*, std::size_t>> columns;
        std::size_t documents = 0;
        for (const KeyIndex* index : indexes) {
            columns.emplace_back(&index->columns[column], documents);
            documents += index->size();
        }
        return merged(columns, std::max(documents, std::size_t{1}), LEAST_SLOTS);
    }

private:
    static constexpr std::size_t LOOKED_UP = 2048;      // rows at once, whose matches are sorted together
    static constexpr std::size_t INSERTED = 1 << 12;    // rows at once, between two checks of the capacity
    static constexpr std::size_t LEAST = 1 << 13;       // documents that columns are built for
    static constexpr std::size_t LEAST_SLOTS = 64;      // of a column that does not grow
    static constexpr double GROWTH = 1.12;
    static constexpr std::size_t LOAD = 49;             // documents a bucket, of 51 that it takes
    static constexpr double SPILLED = 0.055;            // slots of the table, a document

    static void gather(std::span<const std::uint32_t> rows, std::size_t column, std::size_t columns,
                std::vector<std::uint32_t>& keys) {
        keys.resize(rows.size() / columns);
        for (std::size_t row = 0; row < keys.size(); row++) keys[row] = rows[row * columns + column];
    }

    // Merges columns, the numbers of each increased by its offset. documents: the capacity; spare: free slots.
    static Column merged(std::span<const std::pair<const Column*, std::size_t>> parts, std::size_t documents, std::size_t spare) {
        std::size_t spilled = 0;
        for (const auto& [column, first] : parts) spilled += column->spilled;
        while (true) {
            Column made;
            made.buckets.resize((documents + LOAD - 1) / LOAD);
            made.slots.resize(std::max(static_cast<std::size_t>(SPILLED * static_cast<double>(documents)), 2 * spilled) + spare);
            made.number_bits = std::bit_width(documents);
            if (std::ranges::all_of(parts, [&](const auto& one) { return made.append(*one.first, one.second); })) return made;
            spilled = 2 * spilled + spare;
        }
    }

    void rebuild(std::size_t threads) {
        planned_ = std::max(LEAST, static_cast<std::size_t>(GROWTH * static_cast<double>(size_)) + INSERTED);
        share(columns.size(), threads, [&](auto take) {
            for (std::size_t c; (c = take()) < columns.size();) {
                const std::pair<const Column*, std::size_t> own[] = {{&columns[c], 0}};
                columns[c] = merged(own, planned_, 2 * INSERTED);
            }
        }, 1);
    }

    std::size_t most_equal_, size_ = 0, planned_ = 0;
};

}  // namespace dedup
