// The two loops of the Hamming index that are worth the widest registers a processor has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace dedup {

struct Chunk;

// A chunk that a query looks at. near: a bit for each entry with few enough different check bits, of
// free entries, too; next: the chunk after it.
struct Walk {
    std::uint32_t chunk;
    std::uint16_t check;
    std::uint16_t limit;
    std::uint32_t block;
    std::uint32_t next;
    std::uint32_t near;
};

// Fills in `near` and `next` of all walks.
using ScanChunks = void (*)(const Chunk* pool, std::span<Walk> walks);

// Counts the values within a distance of one.
using CountNear = std::size_t (*)(std::span<const std::uint64_t> values, std::uint64_t one, int distance);

struct Lanes {
    ScanChunks scan_chunks;
    CountNear count_near;
};

// Those of the best kind of code that this processor runs; all give the same answers.
Lanes lanes();

}  // namespace dedup
