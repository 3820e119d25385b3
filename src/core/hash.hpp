// Stable 64-bit hashes of words and texts: the same on every machine and in every process.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/text.hpp"

#define XXH_INLINE_ALL
#include "third_party/xxhash.h"

namespace dedup {

// xxh3 of a text's UTF-32-LE.
inline std::uint64_t digest(Points text) { return XXH3_64bits(text.data(), text.size_bytes()); }

// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

constexpr std::uint64_t GOLDEN = 0x9E3779B97F4A7C15;  // 2**64 by the golden ratio, odd

// The hash table of this code: 64-bit keys to a small value, open addressing with linear probing.
//
// It serves thousands of short texts one after the other: it is as large as the text needs, so that
// a short one stays in the cache, and it is emptied by the places that were taken. For a text of
// millions of characters it grows with the keys that come.

// A key that is not 0, of any value; 0 and the largest one share it.
inline std::uint64_t key_of(std::uint64_t value) { return std::max<std::uint64_t>(value + 1, 1); }

template <class Value>
class HashTable {
public:
    // Makes it empty, for about as many keys.
    void reset(std::size_t expected) {
        for (std::size_t i = 0; i < count_; i++) slots_[taken_[i]].key = FREE;
        count_ = 0;
        std::size_t size = LEAST;
        while (size < 2 * expected && size < MOST_AT_FIRST) size *= 2;
        make_room(size);
    }

    // The value under a key that is not 0, and whether it is new; new ones are Value{}. Valid until the
    // next key.
    struct Entry {
        Value& value;
        bool is_new;
    };
    Entry operator[](std::uint64_t key) {
        const std::size_t place = place_of(key);
        Slot& slot = slots_[place];
        if (slot.key == key) return {slot.value, false};
        if (count_ > mask_ / 2) {
            grow();
            return (*this)[key];
        }
        slot = {key, Value{}};
        taken_[count_++] = static_cast<std::uint32_t>(place);
        return {slot.value, true};
    }

    // The value under a key that is not 0; Value{} where there is none. Once it was made empty.
    Value find(std::uint64_t key) const {
        const Slot& slot = slots_[place_of(key)];
        return slot.key == key ? slot.value : Value{};
    }

    // Calls take(key, value) for each key.
    void each(auto take) const {
        for (std::size_t i = 0; i < count_; i++) take(slots_[taken_[i]].key, slots_[taken_[i]].value);
    }

    std::size_t size() const { return count_; }

private:
    static constexpr std::uint64_t FREE = 0;
    static constexpr std::size_t LEAST = 16, MOST_AT_FIRST = 1 << 15;
    struct Slot {
        std::uint64_t key = FREE;
        Value value{};
    };

    // Where a key is, or a free place for it.
    std::size_t place_of(std::uint64_t key) const {
        std::size_t place = (key * GOLDEN >> 20) & mask_;
        while (slots_[place].key != FREE && slots_[place].key != key) place = (place + 1) & mask_;
        return place;
    }

    // Of a power of two slots a half is taken at most.
    void make_room(std::size_t size) {
        if (size > slots_.size()) slots_.resize(size);
        if (size / 2 > taken_.size()) taken_.resize(size / 2);
        mask_ = size - 1;
    }

    [[gnu::noinline]] void grow() {
        std::vector<Slot> held;
        held.reserve(count_);
        for (std::size_t i = 0; i < count_; i++) held.push_back(std::exchange(slots_[taken_[i]], Slot{}));
        count_ = 0;
        make_room(2 * (mask_ + 1));
        for (const Slot& one : held) (*this)[one.key].value = one.value;
    }

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> taken_;  // places, `count_` of them
    std::size_t count_ = 0;
    std::size_t mask_ = 0;
};

}  // namespace dedup
