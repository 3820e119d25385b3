// Columns of keys, packed: who shares a key, in half of the memory of an index that grows.
//
// In each column texts lie by the lowest bits of their keys, the address; under an address, in the order given,
// the rest of the key and the number, in as few bits as these need: an entry. Nothing is ever added.
#pragma once
#include "index/keys.hpp"

namespace dedup {

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
class PackedColumns final : public KeyIndex {
public:
    // starts: for each column the first entry of each address, and how many there are; words: of all columns one
    // after the other.
    PackedColumns(std::span<const std::uint32_t> starts, std::span<const std::uint64_t> words, PackedForm form,
                  std::size_t columns, std::size_t size);

    // Whether places ascend in each column and lie in its words. Numbers are not looked at: those that are not
    // below the size are skipped where they are found.
    bool is_sound() const;

    std::size_t columns() const override { return columns_; }
    std::size_t size() const override { return size_; }
    void search(std::span<const std::uint32_t> keys, Candidates& found) const override;

    // How much a column holds; writes it by address: key << 32 | number.
    std::size_t held(std::size_t column) const { return starts_of(column).back(); }
    void collect_column(std::size_t column, std::span<std::uint64_t> items) const;

    // Distributes the items of a column.
    static void pack(std::span<const std::uint64_t> items, PackedForm form, std::span<std::uint32_t> starts,
                     std::span<std::uint64_t> words);

private:
    static constexpr std::size_t LINE_WORDS = 8;

    std::span<const std::uint32_t> starts_of(std::size_t column) const {
        return starts_.subspan(column * (form_.addresses() + 1), form_.addresses() + 1);
    }
    // Inlined, or gcc drops the calls, as of functions without effect.
    [[gnu::always_inline]] void fetch_starts(std::span<const std::uint32_t> row) const {
        for (std::size_t c = 0; c < columns_; c++)
            __builtin_prefetch(&starts_[c * (form_.addresses() + 1) + (row[c] & (form_.addresses() - 1))]);
    }
    // Two cache lines, which hold nearly all that lies under an address.
    [[gnu::always_inline]] void fetch_entries(std::span<const std::uint32_t> row) const {
        for (std::size_t c = 0; c < columns_; c++) {
            const std::uint64_t place = starts_of(c)[row[c] & (form_.addresses() - 1)];
            const std::uint64_t* word = words_.data() + begin_[c] + place * form_.width() / 64;
            __builtin_prefetch(word);
            __builtin_prefetch(word + LINE_WORDS);
        }
    }
    void collect(std::span<const std::uint32_t> row, Matches& matches) const;

    std::span<const std::uint32_t> starts_;
    std::span<const std::uint64_t> words_;
    std::vector<std::size_t> begin_;  // the word with which each column begins, and the end
    PackedForm form_;
    std::size_t columns_, size_;
};

}  // namespace dedup
