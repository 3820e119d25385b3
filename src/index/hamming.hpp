// An exact Hamming index: multi-index hashing (Norouzi, Punjani, Fleet, "Fast search in Hamming space
// with multi-index hashing", CVPR 2012).
//
// The 64 bits are cut into blocks. A bucket of a block holds the fingerprints that are equal in it, as a
// chain of chunks; a query looks into all buckets that a fingerprint within the distance can be in. The first chunk
// of a bucket lies at its address, the others come from the rest of the pool.
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/pages.hpp"
#include "index/candidates.hpp"
#include "index/chunk.hpp"

namespace dedup {

struct Block {
    int offset, bits;        // of the fingerprint
    int radius;              // errors that a look into its buckets finds
    int check;               // where the check bits are: they spare most looks at fingerprints
    std::uint64_t base;      // its first bucket in the pool
    std::size_t begin, end;  // its flips
};

// What to change in an address, and how many bits that is.
struct Flip {
    std::uint64_t bits;
    int errors;
};

// How the bits are cut into blocks. Two fingerprints within distance k differ, in at least one of m disjoint blocks, by no
// more than the block's radius, if the sum of (radius + 1) over the blocks is greater than k: the pigeonhole principle of
// multi-index hashing, with radii that need not be equal. Of a block only as many bits address a bucket as leave the
// buckets well filled. Two blocks are the fastest for every distance from 1 to 7 and every size: a third one saves
// look-ups that cost less than its own, and one alone needs a radius that is too large (docs/measured.md).
struct HammingLayout {
    std::vector<Block> blocks;
    std::vector<Flip> flips;
    std::size_t buckets = 0;
    int distance = 0;

    // For up to `size` fingerprints.
    static HammingLayout of(int distance, std::size_t size);
    void add(int offset, int bits, int radius);

    static std::uint64_t address(const Block& block, std::uint64_t fingerprint) {
        return fingerprint >> block.offset & ((std::uint64_t{1} << block.bits) - 1);
    }
    static std::uint16_t check_of(const Block& block, std::uint64_t fingerprint) {
        return static_cast<std::uint16_t>(fingerprint >> block.check);
    }
};

// Fingerprints that are equal to one that came before; they are in no bucket.
class Repeats {
public:
    void add(std::uint32_t first, std::uint32_t number) {
        std::vector<std::uint32_t>& later = of_[first];
        if (later.empty()) firsts_.push_back(first);
        later.push_back(number);
    }
    // Those that are equal to a number.
    std::span<const std::uint32_t> of(std::uint32_t first) const {
        const auto found = of_.find(first);
        return found == of_.end() ? std::span<const std::uint32_t>{} : found->second;
    }
    bool empty() const { return firsts_.empty(); }
    void clear() {
        firsts_.clear();
        of_.clear();
    }
    // Pairs of the first number and a later one, in a row: as a snapshot keeps them.
    std::vector<std::uint32_t> pairs() const;

private:
    std::vector<std::uint32_t> firsts_;  // in the order in which they were repeated
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> of_;
};

// Finds fingerprints within a distance of 0 to 7; they are numbered from 0. The layout is made for the size, again at
// each doubling, so buckets stay filled alike and the cost of a query flat.
class HammingIndex {
public:
    explicit HammingIndex(int distance);

    Pages<std::uint64_t> fingerprints;   // by number
    Pages<std::uint8_t> is_searchable;   // by number
    Pages<Chunk> pool;                   // of all buckets, `used` of them in use
    std::size_t used = 0;
    std::size_t planned = 0;             // fingerprints that the layout is made for

    std::size_t size() const { return fingerprints.size(); }
    std::size_t nbytes() const { return used * sizeof(Chunk) + fingerprints.nbytes() + is_searchable.nbytes(); }
    int distance() const { return layout_.distance; }
    const HammingLayout& layout() const { return layout_; }
    const Repeats& repeats() const { return repeats_; }

    // Appends fingerprints, those that are short without finding them later. One that was there before takes no room
    // in the buckets.
    void add(std::span<const std::uint64_t> more, std::span<const std::uint8_t> is_short);
    // Becomes what a file holds: its arrays, and pairs of a fingerprint and one that repeats it.
    void load(Pages<std::uint64_t> values, Pages<std::uint8_t> searchable, Pages<Chunk> chunks, std::size_t size,
              std::span<const std::uint32_t> repeats);

    // Appends what is within the distance of each query that is not short, ascending, with distances. most_equal: of
    // equal ones the first so many, 0 for all.
    void search(std::span<const std::uint64_t> queries, std::span<const std::uint8_t> is_short, std::size_t most_equal,
                Candidates& found) const;

private:
    void lay_out(std::size_t size);
    void insert(std::size_t first);
    std::int64_t find_equal(std::uint64_t fingerprint) const;
    void insert_one(std::uint64_t fingerprint, std::uint32_t number);

    HammingLayout layout_;
    Repeats repeats_;
};

// For each of n fingerprints the earlier ones within the distance, by comparing all of them, none of or with those
// that are short; with distances.
Candidates pairs_within(std::span<const std::uint64_t> fingerprints, std::span<const std::uint8_t> is_short,
                        int distance, std::size_t threads);

}  // namespace dedup
