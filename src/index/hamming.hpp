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

struct HammingLayout {
    std::vector<Block> blocks;
    std::vector<Flip> flips;
    std::size_t buckets = 0;
    int distance;

    explicit HammingLayout(int distance) : distance(distance) {}
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

// Its pool and its fingerprints belong to others; what it is given must have room, see `insert`.
class HammingIndex {
public:
    explicit HammingIndex(HammingLayout layout) : layout_(std::move(layout)), used_(layout_.buckets) {}

    const HammingLayout& layout() const { return layout_; }
    // How many chunks of the pool are in use.
    std::size_t used() const { return used_; }
    // How many fingerprints were given, in a bucket or not.
    std::size_t size() const { return size_; }
    const Repeats& repeats() const { return repeats_; }

    // Becomes another one of the same layout, with so many chunks in use.
    void adopt(std::size_t chunks, std::size_t size, std::span<const std::uint32_t> repeats);

    // Inserts the fingerprints from `size` to `stop` that are to be found. The pool has room for a chunk more for
    // each of them and block.
    void insert(std::span<Chunk> pool, std::span<const std::uint64_t> fingerprints,
                std::span<const std::uint8_t> searchable, std::size_t stop);

    // Appends what is within the distance of each query, ascending; none where `is_short` is not empty and says
    // so. most_equal: of equal ones the first so many, 0 for all. Distances are appended, too.
    void search(std::span<const Chunk> pool, std::span<const std::uint64_t> fingerprints,
                std::span<const std::uint64_t> queries, std::span<const std::uint8_t> is_short, std::size_t most_equal,
                Candidates& found) const;

private:
    std::int64_t find_equal(std::span<const Chunk> pool, std::span<const std::uint64_t> fingerprints,
                            std::uint64_t fingerprint) const;
    void insert_one(std::span<Chunk> pool, std::uint64_t fingerprint, std::uint32_t number);

    HammingLayout layout_;
    Repeats repeats_;
    std::size_t used_, size_ = 0;
};

// For each of n fingerprints the earlier ones within the distance, by comparing all of them, none of or with those
// that are short; with distances.
Candidates pairs_within(std::span<const std::uint64_t> fingerprints, std::span<const std::uint8_t> is_short,
                        int distance);

}  // namespace dedup
