#include "index/hamming.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "index/lanes.hpp"

namespace dedup {
namespace {

constexpr int BITS = 64, CHECK_BITS = 16;
constexpr std::size_t LEAST_SIZE = 47 << 10;    // doubled as often as need be: buckets are 6 to 12 full, of 10 a chunk
constexpr double PER_BUCKET = 5.8;              // fingerprints at least, in a full index, for each bucket of all blocks
constexpr int FEWEST_BITS = 8, MOST_BITS = 28;  // of an address
constexpr std::size_t MOST_PROBES = 8192;       // buckets that a query looks into
constexpr std::size_t AHEAD = 6;   // fingerprints to be inserted
constexpr std::size_t PIECE = 64;  // buckets of a query that are looked into, while as many more are asked for

// Whether an earlier block finds a fingerprint, too: each is reported once.
inline bool is_seen(const HammingLayout& layout, std::uint64_t difference, std::uint32_t block) {
    bool seen = false;
    for (std::uint32_t earlier = 0; earlier < block; earlier++) {
        const Block& one = layout.blocks[earlier];
        seen |= std::popcount(HammingLayout::address(one, difference)) <= one.radius;
    }
    return seen;
}

// The first chunk of each bucket that a query looks into.
inline void begin_walks(const HammingLayout& layout, std::uint64_t query, std::span<Walk> walks) {
    std::size_t count = 0;
    for (std::uint32_t b = 0; b < layout.blocks.size(); b++) {
        const Block& block = layout.blocks[b];
        const std::uint64_t address = HammingLayout::address(block, query);
        const std::uint16_t check = HammingLayout::check_of(block, query);
        for (std::size_t f = block.begin; f < block.end; f++) {
            const Flip& flip = layout.flips[f];
            const auto chunk = static_cast<std::uint32_t>(block.base + (address ^ flip.bits));
            walks[count++] = {chunk, check, static_cast<std::uint16_t>(layout.distance - flip.errors), b, 0, 0};
        }
    }
}

// Asks for the chunks of some walks; inlined, or gcc drops the calls, as of a function without effect.
[[gnu::always_inline]] inline void fetch(const Chunk* pool, std::span<const Walk> walks, std::size_t start,
                                         std::size_t stop) {
    for (std::size_t w = start; w < std::min(stop, walks.size()); w++) __builtin_prefetch(pool + walks[w].chunk);
}

// The next greater number with as many bits (Warren, "Hacker's Delight", 2-1).
inline std::uint64_t next_with_as_many_bits(std::uint64_t x) {
    const std::uint64_t lowest = x & (~x + 1), sum = x + lowest;
    return sum | ((x ^ sum) / lowest >> 2);
}

}  // namespace

HammingLayout HammingLayout::of(int distance, std::size_t size) {
    const int count = std::min(distance + 1, 2), width = BITS / count;
    const int low = std::max(distance + 1 - count, 0) / count, more = std::max(distance + 1 - count, 0) % count;
    const double buckets = std::max(static_cast<double>(size) / count / PER_BUCKET, std::exp2(FEWEST_BITS));
    for (int bits = std::min({static_cast<int>(std::log2(buckets)), width, MOST_BITS});; bits--) {
        HammingLayout layout;
        layout.distance = distance;
        for (int i = 0; i < count; i++) layout.add(i * width, bits, i < more ? low + 1 : low);
        if (layout.flips.size() <= MOST_PROBES || bits == FEWEST_BITS) return layout;
    }
}

void HammingLayout::add(int offset, int bits, int radius) {
    const int end = offset + bits;
    Block block{offset,  bits,         radius, end + CHECK_BITS <= BITS ? end : std::max(offset - CHECK_BITS, 0),
                buckets, flips.size(), 0};
    flips.push_back({0, 0});
    for (int errors = 1; errors <= std::min({radius, distance, bits}); errors++) {
        for (std::uint64_t flip = (std::uint64_t{1} << errors) - 1; flip >> bits == 0;
             flip = next_with_as_many_bits(flip))
            flips.push_back({flip, errors});
    }
    block.end = flips.size();
    buckets += std::size_t{1} << bits;
    blocks.push_back(block);
}

std::vector<std::uint32_t> Repeats::pairs() const {
    std::vector<std::uint32_t> pairs;
    for (const std::uint32_t first : firsts_) {
        for (const std::uint32_t number : of(first)) pairs.insert(pairs.end(), {first, number});
    }
    return pairs;
}

HammingIndex::HammingIndex(int distance) {
    layout_.distance = distance;
    lay_out(LEAST_SIZE);
}

void HammingIndex::lay_out(std::size_t size) {
    layout_ = HammingLayout::of(layout_.distance, size);
    planned = size;
    used = layout_.buckets;
    // each bucket has a chunk at least
    const std::size_t room = layout_.buckets + layout_.blocks.size() * (size / Chunk::ENTRIES + 1);
    pool = {};  // never two at once
    pool.resize(room);
    repeats_.clear();
    insert(0);
}

void HammingIndex::add(std::span<const std::uint64_t> more, std::span<const std::uint8_t> is_short) {
    const std::size_t first = size();
    fingerprints.resize(first + more.size());
    is_searchable.resize(first + more.size());
    for (std::size_t i = 0; i < more.size(); i++) {
        fingerprints[first + i] = more[i];
        is_searchable[first + i] = !is_short[i];
    }
    std::size_t room = planned;
    while (room < size()) room *= 2;
    if (room > planned)
        lay_out(room);
    else
        insert(first);
}

void HammingIndex::load(Pages<std::uint64_t> values, Pages<std::uint8_t> searchable, Pages<Chunk> chunks, std::size_t size,
                        std::span<const std::uint32_t> repeats) {
    fingerprints = std::move(values);
    is_searchable = std::move(searchable);
    layout_ = HammingLayout::of(layout_.distance, planned = size);
    used = chunks.size();
    pool = std::move(chunks);
    repeats_.clear();
    for (std::size_t i = 0; i + 1 < repeats.size(); i += 2) repeats_.add(repeats[i], repeats[i + 1]);
}

std::int64_t HammingIndex::find_equal(std::uint64_t fingerprint) const {
    const Block& block = layout_.blocks[0];
    const std::uint16_t check = HammingLayout::check_of(block, fingerprint);
    std::uint32_t at = static_cast<std::uint32_t>(block.base + HammingLayout::address(block, fingerprint));
    do {
        const Chunk& chunk = pool[at];
        for (std::uint32_t equal = equal_checks(chunk, check); equal != 0; equal &= equal - 1) {
            const std::uint32_t entry = chunk.entries[std::countr_zero(equal)];
            if (entry != 0 && fingerprints[entry - 1] == fingerprint) return entry - 1;
        }
        at = chunk.next;
    } while (at != 0);
    return -1;
}

void HammingIndex::insert_one(std::uint64_t fingerprint, std::uint32_t number) {
    for (const Block& block : layout_.blocks) {
        Chunk* chunk = &pool[block.base + HammingLayout::address(block, fingerprint)];
        if (chunk->is_full()) {  // only the chunk after the first may have room
            std::uint32_t after = chunk->next;
            if (after == 0 || pool[after].is_full()) {
                pool[used].next = after;
                after = chunk->next = static_cast<std::uint32_t>(used++);
            }
            chunk = &pool[after];
        }
        chunk->put(chunk->count(), number + 1, HammingLayout::check_of(block, fingerprint));
    }
}

// Inserts the fingerprints from `first` on that are to be found.
void HammingIndex::insert(std::size_t first) {
    for (std::size_t number = first; number < size(); number++) {
        if (number + AHEAD < size()) {
            for (const Block& block : layout_.blocks)
                __builtin_prefetch(&pool[block.base + HammingLayout::address(block, fingerprints[number + AHEAD])]);
        }
        if (!is_searchable[number]) continue;
        if (const std::int64_t earlier = find_equal(fingerprints[number]); earlier >= 0)
            repeats_.add(static_cast<std::uint32_t>(earlier), static_cast<std::uint32_t>(number));
        else
            insert_one(fingerprints[number], static_cast<std::uint32_t>(number));
    }
}

// All buckets are walked side by side, a chunk of each at a time, and each is asked for before anything
// depends on it, those that a query begins with while the one before is at work: so the processor waits for many at
// once.
void HammingIndex::search(std::span<const std::uint64_t> queries, std::span<const std::uint8_t> is_short,
                          std::size_t most_equal, Candidates& found) const {
    const ScanChunks scan = lanes().scan_chunks;
    const bool has_repeats = !repeats_.empty() && most_equal != 1;
    std::vector<Walk> walks(layout_.flips.size()), coming(layout_.flips.size());
    std::vector<std::uint32_t> numbers;
    const auto begin_next = [&](std::size_t q) {
        while (q < queries.size() && is_short[q]) q++;
        if (q == queries.size()) return;
        begin_walks(layout_, queries[q], coming);
        fetch(pool.data(), coming, 0, PIECE);
    };
    const auto look = [&](const Walk& walk, std::uint64_t query) {
        for (std::uint32_t near = walk.near; near != 0; near &= near - 1) {
            const std::uint32_t entry = pool[walk.chunk].entries[std::countr_zero(near)];
            if (entry == 0) continue;
            const std::uint64_t difference = query ^ fingerprints[entry - 1];
            if (std::popcount(difference) <= layout_.distance && !is_seen(layout_, difference, walk.block))
                numbers.push_back(entry - 1);
        }
    };
    begin_next(0);
    for (std::size_t q = 0; q < queries.size(); q++) {
        const std::uint64_t query = queries[q];
        numbers.clear();
        std::size_t open = 0, going = 0;
        if (!is_short[q]) {
            std::swap(walks, coming);
            begin_next(q + 1);
            open = walks.size();
        }
        for (bool is_first = true; open > 0; open = std::exchange(going, 0), is_first = false) {
            for (std::size_t start = 0; start < open; start += PIECE) {
                const auto piece = std::span(walks).subspan(start, std::min(PIECE, open - start));
                if (is_first) fetch(pool.data(), walks, start + PIECE, start + 2 * PIECE);
                scan(pool.data(), piece);
                for (const Walk walk : piece) {
                    look(walk, query);
                    if (walk.next == 0) continue;
                    __builtin_prefetch(&pool[walk.next]);
                    walks[going] = walk;
                    walks[going++].chunk = walk.next;
                }
            }
        }
        if (has_repeats) {
            for (std::size_t i = 0, firsts = numbers.size(); i < firsts; i++) {
                const auto later = repeats_.of(numbers[i]);
                const std::size_t count = most_equal == 0 ? later.size() : std::min(later.size(), most_equal - 1);
                numbers.insert(numbers.end(), later.begin(), later.begin() + static_cast<std::ptrdiff_t>(count));
            }
        }
        std::sort(numbers.begin(), numbers.end());
        for (const std::uint32_t number : numbers) {
            found.add(number, BY_SIMHASH);
            found.distances.push_back(static_cast<std::uint8_t>(std::popcount(query ^ fingerprints[number])));
        }
        found.end_text();
    }
}

Candidates pairs_within(std::span<const std::uint64_t> fingerprints, std::span<const std::uint8_t> is_short,
                        int distance, std::size_t threads) {
    const CountNear count_near = lanes().count_near;
    return gathered(fingerprints.size(), threads, [&](std::size_t first, std::size_t count) {
        Candidates found;
        for (std::size_t i = first; i < first + count; i++) {
            if (!is_short[i] && count_near(fingerprints.first(i), fingerprints[i], distance) != 0) {
                for (std::size_t j = 0; j < i; j++) {
                    const int apart = std::popcount(fingerprints[i] ^ fingerprints[j]);
                    if (is_short[j] || apart > distance) continue;
                    found.add(static_cast<std::int64_t>(j), BY_SIMHASH);
                    found.distances.push_back(static_cast<std::uint8_t>(apart));
                }
            }
            found.end_text();
        }
        return found;
    });
}

}  // namespace dedup
