// What a batch finds among itself, and by what later texts find those of it that are kept.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "index/candidates.hpp"

namespace dedup {

// How many texts an index finds by the same. columns: of keys; equal: so many are held under a key in each; same: so
// many are found by one fingerprint.
struct Limits {
    std::size_t columns;
    std::int64_t equal, same;
};

// An index holds a bounded number of texts under a key, so whether a kept text of the batch is found by later ones
// depends on how many came before it.
class BatchVisibility {
public:
    // held: what the index holds under the keys of each; pairs: the earlier rows that share a key; twins: kept
    // texts with the same fingerprint; same: a number below n for each fingerprint; short: whether it counts.
    BatchVisibility(Limits limits, Candidates&& held, Candidates&& pairs, std::vector<std::int64_t>&& twins,
                    std::vector<std::int32_t>&& same, std::vector<std::uint8_t>&& is_short);

    const Limits& limits() const { return limits_; }

    // Takes no row for kept.
    void begin();
    // Lets later rows find this one, which comes after all that are kept already.
    void keep(std::size_t row);
    // Enters the columns of kept rows in `stored`, also of those that no later row was told of.
    void store_columns(std::span<const std::uint8_t> kept);
    // How many rows are kept that their fingerprint does not find later.
    std::size_t count_unseen() const;

    // Columns in which a kept row is held.
    std::span<std::uint32_t> stored() { return stored_; }
    // These and BY_SIMHASH.
    std::span<std::uint32_t> visible() { return visible_; }

private:
    std::uint32_t columns_held(std::size_t row) const;

    Limits limits_;
    Candidates held_, pairs_;
    std::vector<std::int64_t> twins_;
    std::vector<std::int32_t> same_;
    std::vector<std::uint8_t> short_, kept_;
    std::vector<std::uint32_t> stored_, visible_;
    std::vector<std::int64_t> here_;  // kept rows that a fingerprint finds
};

// What n texts find: first in an index of `count` texts, then earlier ones of the batch, by count + row.
struct LookUp {
    Candidates candidates;
    BatchVisibility visibility;
    // Those that find nothing and meet no other of the batch, not even one with the same fingerprint, or with a key
    // in common that has too few equal bits.
    std::vector<std::uint8_t> alone;
    int distance;  // of fingerprints that find each other, below 0 if none do
};

}  // namespace dedup
