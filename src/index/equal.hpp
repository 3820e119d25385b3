// Equal texts: the 128 bits of a fingerprint and a digest lead to the numbers of the documents that have them.
//
// A table of numbers + 1, 0: free, at the place of a digest or the next free one. Equal texts lie in it in their order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/pages.hpp"

namespace dedup {

class EqualTexts {
public:
    static constexpr std::int64_t NONE = -1;

    Pages<std::uint64_t> digests;  // by number
    Pages<std::uint32_t> table;    // a power of two

    std::size_t size() const { return digests.size(); }
    std::size_t nbytes() const { return digests.nbytes() + table.nbytes(); }

    void add(std::span<const std::uint64_t> more) {
        std::size_t start = size();
        digests.resize(start + more.size());
        std::ranges::copy(more, digests.data() + start);
        std::size_t slots = std::max(table.size(), LEAST_SLOTS);
        while (5 * size() > 4 * slots) slots *= 2;
        if (slots != table.size()) {
            table = {};  // never two tables at once
            table.resize(slots);
            start = 0;
        }
        for (std::size_t number = start; number < size(); number++) {
            if (number + AHEAD < size()) fetch(digests[number + AHEAD]);
            std::size_t at = digests[number] & mask();
            while (table[at] != 0) at = (at + 1) & mask();
            table[at] = static_cast<std::uint32_t>(number + 1);
        }
    }

    // Calls take(i, number) for each text with the fingerprint and the digest of the i-th one, in their order, until it
    // returns true; fingerprints: by number.
    template <class Take>
    void find(std::span<const std::uint64_t> fingerprints, std::span<const std::uint64_t> values,
              std::span<const std::uint64_t> sought, Take take) const {
        if (size() == 0) return;
        for (std::size_t i = 0; i < values.size(); i++) {
            if (i + AHEAD < values.size()) fetch(sought[i + AHEAD]);
            if (i + AHEAD / 2 < values.size()) fetch_first(sought[i + AHEAD / 2]);
            for (std::size_t at = sought[i] & mask(); table[at] != 0; at = (at + 1) & mask()) {
                const std::uint32_t number = table[at] - 1;
                if (digests[number] == sought[i] && fingerprints[number] == values[i] && take(i, number)) break;
            }
        }
    }

private:
    static constexpr std::size_t AHEAD = 8, LEAST_SLOTS = 1 << 10;  // texts; slots

    std::size_t mask() const { return table.size() - 1; }
    // Inlined, or gcc drops the calls, as of functions without effect.
    [[gnu::always_inline]] void fetch(std::uint64_t digest) const { __builtin_prefetch(&table[digest & mask()]); }
    [[gnu::always_inline]] void fetch_first(std::uint64_t digest) const {
        if (const std::uint32_t entry = table[digest & mask()]; entry != 0) __builtin_prefetch(&digests[entry - 1]);
    }
};

}  // namespace dedup
