// An exact Hamming index: multi-index hashing (Norouzi, Punjani, Fleet, "Fast search in Hamming space
// with multi-index hashing", CVPR 2012).
//
// Disjoint blocks of a fingerprint are keys. Fingerprints within distance k differ, in at least one of the blocks, by no
// more than its radius, if the sum of (radius + 1) is greater than k; so a query looks up all keys within the radius: at
// distance 3, 31 keys of each half. Beyond it, three blocks are looked up in a tenth of the time of two.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/pages.hpp"
#include "index/candidates.hpp"
#include "index/key_index.hpp"

namespace dedup {

// Finds fingerprints within a distance of 0 to 7; they are numbered from 0.
class HammingIndex {
public:
    explicit HammingIndex(int distance) : blocks(distance < 4 ? 2 : 3, 0), distance_(distance) {}

    Pages<std::uint64_t> fingerprints;  // by number
    Pages<std::uint8_t> is_searchable;  // by number
    KeyIndex blocks;                    // of those that are searchable, each value once
    std::map<std::uint32_t, std::vector<std::uint32_t>> repeats;  // the later ones of equal fingerprints, by the first

    std::size_t size() const { return fingerprints.size(); }
    std::size_t nbytes() const { return fingerprints.nbytes() + is_searchable.nbytes() + blocks.nbytes(); }
    int distance() const { return distance_; }

    // Appends fingerprints, those that are short without finding them later.
    void add(std::span<const Fingerprint> more, std::size_t threads);

    // Appends what is within the distance of each query that is not short, ascending, with distances. most_equal: of
    // equal ones the first so many, 0 for all.
    void search(std::span<const Fingerprint> queries, std::size_t most_equal, Candidates& found) const;

private:
    std::uint32_t key_of(std::uint64_t fingerprint, std::size_t block) const;
    std::vector<std::uint32_t> flips(std::size_t block) const;
    std::vector<std::int64_t> find_equal(std::span<const Fingerprint> queries) const;

    int distance_;
};

// For each of n fingerprints the earlier ones within the distance, none of or with those that are short; with distances.
Candidates pairs_within(std::span<const Fingerprint> texts, int distance, std::size_t threads);

}  // namespace dedup
