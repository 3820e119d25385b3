// An index of keys that grows while it is queried: linear hashing, buckets as chains of chunks.
//
// For each column there is a bucket under each address; bucket b of column c begins with chunk b * columns + c of
// `heads` and goes on in `more`. A key has 30 bits: address and check bits hold all of them, so what matches is
// equal. A full head moves into `more` and begins anew, so only heads have room.
//
// Buckets are added one at a time, each taking its part of an older one (Litwin, "Linear hashing", VLDB 1980):
// nothing is ever copied as a whole, and a bucket is always filled alike.
//
// Chunk 0 of `more` is none. Its next one is the first of the chunks that are free again, its first entry says how
// many are in use.
#pragma once
#include "index/chunk.hpp"
#include "index/keys.hpp"

namespace dedup {

// A view: heads and more belong to others.
class BandIndex final : public KeyIndex {
public:
    static constexpr int ADDRESS_BITS = 14;  // at least; the check bits are what lies above these

    BandIndex(std::span<Chunk> heads, std::span<Chunk> more, std::size_t buckets, std::size_t columns,
              std::size_t size);

    std::size_t columns() const override { return columns_; }
    std::size_t size() const override { return size_; }
    void search(std::span<const std::uint32_t> keys, Candidates& found) const override;

    // How many chunks of `more` are in use.
    std::size_t used() const { return more_[0].entries[0]; }

    // Inserts n rows of keys under the numbers from `size` on. stored: the columns that each is to be held in, as
    // bits; most_equal: where a column holds so many of a key it holds no more, 0 where that is counted already.
    // What a column does not hold is counted in `dropped`. `more` has a chunk left for each key.
    void insert(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> stored, std::size_t most_equal,
                std::span<std::int64_t> dropped);

    // Makes the buckets up to `stop` of older ones; their heads are zero. Two buckets need no more chunks than the
    // one did, and a chunk is free before its texts are put elsewhere, so `more` does not grow.
    void split(std::size_t stop);

    // Writes what a column holds, bucket by bucket: key << 32 | number. Returns how many there are; where these are
    // more than there is room for, the others are counted only.
    std::size_t collect_column(std::size_t column, std::span<std::uint64_t> items) const;

private:
    struct Walk {
        std::uint32_t chunk;  // of `more`
        std::uint16_t check;
        std::uint16_t column;
    };

    static std::uint16_t check_of(std::uint32_t key) { return static_cast<std::uint16_t>(key >> ADDRESS_BITS); }
    // The head of a key's bucket.
    std::size_t head_of(std::uint32_t key, std::size_t column) const {
        const std::uint32_t address = key & mask_;
        return (address < buckets_ ? address : address & mask_ >> 1) * columns_ + column;
    }
    // Ask for the heads of a row's buckets; for the chunks after them. gcc takes functions that only ask for memory
    // for ones without effect, and drops their calls, unless they are inlined first.
    [[gnu::always_inline]] void fetch_heads(std::span<const std::uint32_t> row) const {
        for (std::size_t c = 0; c < columns_; c++) __builtin_prefetch(&heads_[head_of(row[c], c)]);
    }
    [[gnu::always_inline]] void fetch_seconds(std::span<const std::uint32_t> row) const {
        for (std::size_t c = 0; c < columns_; c++) __builtin_prefetch(&more_[heads_[head_of(row[c], c)].next]);
    }
    void collect(std::span<const std::uint32_t> row, std::vector<Walk>& walks, Matches& matches) const;
    bool has_room(const Chunk& head, std::uint16_t check, std::size_t most_equal) const;
    void put(Chunk& head, std::uint32_t entry, std::uint16_t check);

    std::span<Chunk> heads_, more_;
    std::size_t buckets_, columns_, size_;
    std::uint32_t mask_ = 1;  // bits of a key that are an address, some of them of buckets not yet there
};

}  // namespace dedup
