// A column of keys, packed: who has a key, in little memory.
//
// Texts lie by the lowest bits of their keys, the address; under an address, in the order given, the rest of the
// key and the number, in as few bits as these need: an entry. Nothing is ever added.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fingerprint/sketch.hpp"

namespace dedup {

static_assert(std::endian::native == std::endian::little, "entries are read as bytes of words");

constexpr std::uint64_t ones(int bits) { return (std::uint64_t{1} << bits) - 1; }

// How entries are made.
struct PackedForm {
    int address_bits;  // of a key
    int number_bits;   // of an entry

    int width() const { return KEY_BITS - address_bits + number_bits; }
    std::size_t addresses() const { return std::size_t{1} << address_bits; }
    // Words that so many entries take, and one more, since entries are read as 8 bytes from any byte on.
    std::size_t words(std::size_t entries) const { return (entries * width() + 63) / 64 + 1; }
};

// A view: starts and words belong to others, a file for instance.
class PackedColumn {
public:
    // starts: the first entry of each address, and how many there are; size: numbers are below it.
    PackedColumn(std::span<const std::uint32_t> starts, std::span<const std::uint64_t> words, PackedForm form,
                 std::size_t size)
        : starts_(starts), words_(words), form_(form), size_(size) {}

    std::size_t size() const { return size_; }

    // Calls take(row, number) for each text with the key of a row.
    template <class Take>
    void search(std::span<const std::uint32_t> keys, Take take) const {
        const PackedColumn own = *this;  // which nobody else can change
        const std::uint64_t width = static_cast<std::uint64_t>(form_.width()), entry_mask = ones(form_.width());
        for (std::size_t row = 0; row < keys.size(); row++) {
            if (row + STARTS_AHEAD < keys.size()) own.fetch_start(keys[row + STARTS_AHEAD]);
            if (row + ENTRIES_AHEAD < keys.size()) own.fetch_entries(keys[row + ENTRIES_AHEAD]);
            const std::uint32_t* start = &own.starts_[keys[row] & ones(own.form_.address_bits)];
            const std::uint64_t rest = std::uint64_t{keys[row]} >> own.form_.address_bits << own.form_.number_bits;
            const std::uint64_t end = start[1] * width;
            for (std::uint64_t bit = start[0] * width; bit < end; bit += width) {
                const std::uint64_t number = (own.entry_at(bit) & entry_mask) ^ rest;
                if (number < own.size_) take(row, number);  // and so the rest of the key is the same
            }
        }
    }

    // Calls take(key, number) for each text, by address.
    template <class Take>
    void each(Take take) const {
        const std::uint64_t width = static_cast<std::uint64_t>(form_.width()), entry_mask = ones(form_.width());
        std::uint64_t bit = 0;
        for (std::size_t address = 0; address < form_.addresses(); address++) {
            for (const std::uint64_t end = starts_[address + 1] * width; bit < end; bit += width) {
                const std::uint64_t entry = entry_at(bit) & entry_mask;
                take(static_cast<std::uint32_t>(entry >> form_.number_bits << form_.address_bits | address),
                     entry & ones(form_.number_bits));
            }
        }
    }

private:
    static constexpr std::size_t STARTS_AHEAD = 32, ENTRIES_AHEAD = 16;  // rows
    static constexpr std::size_t LINE_WORDS = 8;

    // An entry by its first bit, and what follows it.
    std::uint64_t entry_at(std::uint64_t bit) const {
        std::uint64_t entry;
        std::memcpy(&entry, reinterpret_cast<const std::byte*>(words_.data()) + bit / 8, sizeof entry);
        return entry >> bit % 8;
    }
    // Inlined, or gcc drops the calls, as of functions without effect.
    [[gnu::always_inline]] void fetch_start(std::uint32_t key) const {
        __builtin_prefetch(&starts_[key & ones(form_.address_bits)]);
    }
    // Two cache lines, which hold nearly all that lies under an address.
    [[gnu::always_inline]] void fetch_entries(std::uint32_t key) const {
        const std::uint64_t place = starts_[key & ones(form_.address_bits)];
        const std::uint64_t* word = words_.data() + place * form_.width() / 64;
        __builtin_prefetch(word);
        __builtin_prefetch(word + LINE_WORDS);
    }

    std::span<const std::uint32_t> starts_;
    std::span<const std::uint64_t> words_;
    PackedForm form_;
    std::size_t size_;
};

}  // namespace dedup
