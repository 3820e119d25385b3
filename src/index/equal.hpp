// Equal texts by their digests: a table of numbers + 1, 0: free, at the place of a digest or the next free one.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dedup {

class EqualTable {
public:
    // The table is a power of two with a free place; digests: by number.
    EqualTable(std::span<std::uint32_t> table, std::span<const std::uint64_t> digests)
        : table_(table), digests_(digests), mask_(table.size() - 1) {}

    void insert(std::size_t start, std::size_t stop) {
        for (std::size_t number = start; number < stop; number++) {
            if (number + AHEAD < stop) fetch(digests_[number + AHEAD]);
            std::size_t place = digests_[number] & mask_;
            while (table_[place] != 0) place = (place + 1) & mask_;
            table_[place] = static_cast<std::uint32_t>(number + 1);
        }
    }

    // The first with these two, -1 if there is none; fingerprints: by number.
    void find(std::span<const std::uint64_t> fingerprints, std::span<const std::uint64_t> values,
              std::span<const std::uint64_t> digests, std::span<std::int64_t> found) const {
        for (std::size_t i = 0; i < values.size(); i++) {
            if (i + AHEAD < values.size()) fetch(digests[i + AHEAD]);
            if (i + AHEAD / 2 < values.size()) fetch_first(digests[i + AHEAD / 2]);
            found[i] = -1;
            for (std::size_t place = digests[i] & mask_; table_[place] != 0; place = (place + 1) & mask_) {
                const std::uint32_t number = table_[place] - 1;
                if (digests_[number] == digests[i] && fingerprints[number] == values[i]) {
                    found[i] = number;
                    break;
                }
            }
        }
    }

private:
    static constexpr std::size_t AHEAD = 8;  // texts

    // Inlined, or gcc drops the calls, as of functions without effect.
    [[gnu::always_inline]] void fetch(std::uint64_t digest) const { __builtin_prefetch(&table_[digest & mask_]); }
    [[gnu::always_inline]] void fetch_first(std::uint64_t digest) const {
        if (const std::uint32_t entry = table_[digest & mask_]; entry != 0) __builtin_prefetch(&digests_[entry - 1]);
    }

    std::span<std::uint32_t> table_;
    std::span<const std::uint64_t> digests_;
    std::size_t mask_;
};

}  // namespace dedup
