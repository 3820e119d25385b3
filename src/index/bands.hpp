// Texts by keys: columns that grow, or packed ones.
//
// All is done column by column: the memory of one is small enough for the processor's cache of addresses, and each
// place is asked for well before it is needed.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/hash.hpp"
#include "index/candidates.hpp"
#include "index/keys.hpp"
#include "index/packed.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dedup {

// What nearly all keys of a range share: a look-up reads one cache line as a rule, the first.
struct alignas(64) Bucket {
    static constexpr std::size_t ENTRIES = 51;
    static constexpr int TAG_BITS = 8;

    std::uint8_t tags[ENTRIES];  // the lowest bits of keys
    std::uint8_t count;
    std::uint32_t entries[ENTRIES];  // numbers, and above them the bits of keys that follow

    bool is_full() const { return count == ENTRIES; }
    // A bit for each entry with this tag.
    std::uint64_t equal_tags(std::uint8_t tag) const {
        std::uint64_t equal = 0;
#if defined(__SSE2__)
        const auto* line = reinterpret_cast<const __m128i*>(this);
        const __m128i all = _mm_set1_epi8(static_cast<char>(tag));
        for (int i = 0; i < 4; i++) {
            const int part = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(line + i), all));
            equal |= static_cast<std::uint64_t>(part) << 16 * i;
        }
#else
        for (std::size_t i = 0; i < ENTRIES; i++) equal |= std::uint64_t{tags[i] == tag} << i;
#endif
        return equal & ones(count);
    }
};
static_assert(sizeof(Bucket) == 256);

// A column of keys that grows. Each bucket holds the keys of a range; what finds its bucket full goes into a table:
// open addressing with linear probing, a key and a number + 1 in each slot, 0: free. A view: both belong to others.
class GrowingColumn {
public:
    GrowingColumn(std::span<Bucket> buckets, std::span<std::uint64_t> slots, int number_bits)
        : buckets_(buckets), slots_(slots), number_bits_(number_bits) {}

    // How many texts found their bucket full.
    std::size_t spilled() const { return spilled_; }

    // Numbers that can be added yet, whatever their keys, where numbers up to `size` are taken.
    std::size_t room(std::size_t size) const {
        const std::size_t numbers = std::size_t{1} << number_bits_, most = slots_.size() / 4 * 3;
        return std::min(numbers - std::min(size, numbers), most - std::min(spilled_, most));
    }

    // Calls take(row, number) for each text with the key of a row.
    template <class Take>
    void search(std::span<const std::uint32_t> keys, Take take) const {
        const GrowingColumn own = *this;  // which nobody else can change
        std::array<std::size_t, AHEAD> open;  // rows for which there is more to be looked at than a cache line
        for (std::size_t row = 0; row < std::min(AHEAD, keys.size()); row++) own.fetch(keys[row]);
        for (std::size_t start = 0; start < keys.size(); start += AHEAD) {
            std::size_t count = 0;
            for (std::size_t row = start; row < std::min(start + AHEAD, keys.size()); row++) {
                if (row + AHEAD < keys.size()) own.fetch(keys[row + AHEAD]);
                const Bucket& bucket = own.buckets_[own.bucket_of(keys[row])];
                open[count] = row;
                count += bucket.is_full() | (bucket.equal_tags(static_cast<std::uint8_t>(keys[row])) != 0);
            }
            for (std::size_t i = 0; i < count; i++) own.fetch_found(keys[open[i]]);
            for (std::size_t i = 0; i < count; i++)
                own.find(keys[open[i]], [&](std::uint64_t number) { take(open[i], number); });
        }
    }

    // Adds the keys of rows under the numbers from `first` on, those for which stored(row) holds; most_equal: of a key
    // so many are held at most, 0 for any number. Returns how many were left out. There has to be room.
    template <class Stored>
    std::int64_t insert(std::span<const std::uint32_t> keys, Stored stored, std::size_t most_equal, std::size_t first) {
        GrowingColumn own = *this;  // which a tag that is written cannot change
        std::int64_t left_out = 0;
        for (std::size_t row = 0; row < keys.size(); row++) {
            if (row + AHEAD < keys.size()) own.fetch(keys[row + AHEAD]);
            if (row + SECOND_AHEAD < keys.size()) own.fetch_free(keys[row + SECOND_AHEAD]);
            std::size_t equal = 0;
            if (most_equal > 0) own.find(keys[row], [&](std::uint64_t) { equal++; });
            if (stored(row) && (most_equal == 0 || equal < most_equal))
                own.put(keys[row], first + row);
            else
                left_out++;
        }
        spilled_ = own.spilled_;
        return left_out;
    }

    // Takes what another column holds; false where there is no room.
    bool take(const GrowingColumn& other) {
        GrowingColumn own = *this;
        const std::size_t most = slots_.size() / 4 * 3;
        bool has_room = other.number_bits_ <= number_bits_;
        other.each([&](std::uint32_t key, std::uint64_t number) {
            if (own.spilled_ < most)
                own.put(key, number);
            else
                has_room = false;
        });
        spilled_ = own.spilled_;
        return has_room;
    }

    // Calls take(key, number) for each text, nearly by key.
    template <class Take>
    void each(Take take) const {
        const GrowingColumn own = *this;
        const int number_bits = number_bits_, bits = Bucket::TAG_BITS + 32 - number_bits;  // of a key that an entry has
        const std::uint64_t number_mask = ones(number_bits), key_mask = ones(bits);
        for (std::size_t at = 0; at < own.buckets_.size(); at++) {
            const Bucket& bucket = own.buckets_[at];
            const std::uint64_t first = ((std::uint64_t{at} << KEY_BITS) + own.buckets_.size() - 1) / own.buckets_.size();
            for (std::size_t i = 0, count = bucket.count; i < count; i++) {
                const std::uint64_t entry = bucket.entries[i];
                const std::uint64_t low = entry >> number_bits << Bucket::TAG_BITS | bucket.tags[i];
                take(static_cast<std::uint32_t>(first + ((low - first) & key_mask)), entry & number_mask);
            }
        }
        for (const std::uint64_t slot : own.slots_) {
            if (slot != 0) take(static_cast<std::uint32_t>(slot >> 32), (slot & 0xFFFFFFFF) - 1);
        }
    }

private:
    static constexpr std::size_t AHEAD = 64, SECOND_AHEAD = 20;  // rows

    std::size_t bucket_of(std::uint32_t key) const { return key * buckets_.size() >> KEY_BITS; }
    // Scattered: keys that find their bucket full are neighbours.
    std::size_t slot_of(std::uint32_t key) const {
        return static_cast<std::uint32_t>(key * static_cast<std::uint32_t>(GOLDEN)) * slots_.size() >> 32;
    }
    std::size_t after(std::size_t slot) const { return slot + 1 == slots_.size() ? 0 : slot + 1; }
    std::uint32_t bits_of(std::uint32_t key) const {
        return static_cast<std::uint32_t>(std::uint64_t{key >> Bucket::TAG_BITS} << number_bits_);
    }
    // Inlined, or gcc drops the calls, as of functions without effect.
    [[gnu::always_inline]] void fetch(std::uint32_t key) const { __builtin_prefetch(&buckets_[bucket_of(key)]); }
    [[gnu::always_inline]] void fetch_found(std::uint32_t key) const {
        const Bucket& bucket = buckets_[bucket_of(key)];
        const std::uint64_t equal = bucket.equal_tags(static_cast<std::uint8_t>(key));
        if (equal != 0) __builtin_prefetch(&bucket.entries[std::countr_zero(equal)]);
        if (bucket.is_full()) __builtin_prefetch(&slots_[slot_of(key)]);
    }
    [[gnu::always_inline]] void fetch_free(std::uint32_t key) const {
        const Bucket& bucket = buckets_[bucket_of(key)];
        if (bucket.is_full()) return __builtin_prefetch(&slots_[slot_of(key)]);
        __builtin_prefetch(&bucket.entries[bucket.count]);
    }

    template <class Take>
    void find(std::uint32_t key, Take take) const {
        const Bucket& bucket = buckets_[bucket_of(key)];
        const std::uint32_t bits = bits_of(key);
        for (std::uint64_t equal = bucket.equal_tags(static_cast<std::uint8_t>(key)); equal != 0; equal &= equal - 1) {
            const std::uint64_t number = bucket.entries[std::countr_zero(equal)] ^ bits;
            if (number >> number_bits_ == 0) take(number);
        }
        if (!bucket.is_full()) return;
        for (std::size_t at = slot_of(key); slots_[at] != 0; at = after(at)) {
            if (slots_[at] >> 32 == key) take((slots_[at] & 0xFFFFFFFF) - 1);
        }
    }

    void put(std::uint32_t key, std::uint64_t number) {
        Bucket& bucket = buckets_[bucket_of(key)];
        if (!bucket.is_full()) {
            bucket.tags[bucket.count] = static_cast<std::uint8_t>(key);
            bucket.entries[bucket.count++] = bits_of(key) | static_cast<std::uint32_t>(number);
            return;
        }
        std::size_t at = slot_of(key);
        while (slots_[at] != 0) at = after(at);
        slots_[at] = std::uint64_t{key} << 32 | (number + 1);
        spilled_++;
    }

    std::span<Bucket> buckets_;
    std::span<std::uint64_t> slots_;
    int number_bits_;
    std::size_t spilled_ = 0;  // texts in the table
};

class BandIndex {
public:
    using Column = std::variant<PackedColumn, GrowingColumn>;

    // size: numbers are below it.
    BandIndex(std::vector<Column> columns, std::size_t size) : columns_(std::move(columns)), size_(size) {}

    std::size_t columns() const { return columns_.size(); }
    std::size_t size() const { return size_; }
    // How many texts can be added, whatever their keys; none to packed columns.
    std::size_t room() const;

    // Appends the texts that share a key with each of n rows of keys, and in which columns.
    void search(std::span<const std::uint32_t> keys, Candidates& found) const;

    // Inserts n rows of keys under the numbers from `size` on; there is room. stored: the columns that each is to be
    // held in, as bits; most_equal: where a column holds so many of a key it holds no more, 0 where that is counted
    // already. What a column does not hold is counted in `dropped`.
    void insert(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> stored, std::size_t most_equal,
                std::span<std::int64_t> dropped);

    // Calls take(key, number) for each text that a column holds.
    template <class Take>
    void each(std::size_t column, Take take) const {
        std::visit([&](const auto& one) { one.each(take); }, columns_[column]);
    }
    const Column& column(std::size_t column) const { return columns_[column]; }

private:
    std::vector<Column> columns_;
    std::size_t size_;
};

// Packs a column of several indexes, the numbers of each behind those of the former; starts and words are zeros.
// Returns false where there are not as many words as it takes, or a number is not below the size of its source.
bool pack(std::span<const BandIndex* const> sources, std::size_t column, PackedForm form,
          std::span<std::uint32_t> starts, std::span<std::uint64_t> words);

}  // namespace dedup
