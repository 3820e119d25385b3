#include "index/bands.hpp"

#include <bit>

namespace dedup {
namespace {

// Rows: their heads are asked for first, then, once these are there, the chunks after them.
constexpr std::size_t HEADS_AHEAD = 4, SECONDS_AHEAD = 2;
constexpr std::size_t BUCKETS_AHEAD = 16;  // of a column

// Calls `take` with entry and check bits of all texts of a chunk.
template <class Take>
void each_entry(const Chunk& chunk, Take take) {
    for (std::size_t i = 0; i < Chunk::ENTRIES; i++) {
        if (chunk.entries[i] != 0) take(chunk.entries[i], chunk.checks[i]);
    }
}

}  // namespace

BandIndex::BandIndex(std::span<Chunk> heads, std::span<Chunk> more, std::size_t buckets, std::size_t columns,
                     std::size_t size)
    : heads_(heads), more_(more), buckets_(buckets), columns_(columns), size_(size) {
    while (mask_ < buckets - 1) mask_ = mask_ << 1 | 1;
}

void BandIndex::insert(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> stored,
                       std::size_t most_equal, std::span<std::int64_t> dropped) {
    const std::size_t n = stored.size();
    const auto row_of = [&](std::size_t i) { return keys.subspan(i * columns_, columns_); };
    for (std::size_t i = 0; i < n; i++) {
        if (i + HEADS_AHEAD < n) fetch_heads(row_of(i + HEADS_AHEAD));
        if (most_equal > 0 && i + SECONDS_AHEAD < n) fetch_seconds(row_of(i + SECONDS_AHEAD));
        const auto row = row_of(i);
        for (std::size_t c = 0; c < columns_; c++) {
            Chunk& head = heads_[head_of(row[c], c)];
            const std::uint16_t check = check_of(row[c]);
            if ((stored[i] >> c & 1) != 0 && (most_equal == 0 || has_room(head, check, most_equal)))
                put(head, static_cast<std::uint32_t>(size_ + 1), check);
            else
                dropped[c]++;
        }
        size_++;
    }
}

// Nearly always a bucket holds fewer than `most_equal` under all keys together.
bool BandIndex::has_room(const Chunk& head, std::uint16_t check, std::size_t most_equal) const {
    std::size_t entries = head.count();
    for (std::uint32_t at = head.next; at != 0; at = more_[at].next) entries += Chunk::ENTRIES;
    if (entries < most_equal) return true;
    std::size_t equal = 0;
    each_entry(head, [&](std::uint32_t, std::uint16_t own) { equal += own == check; });
    for (std::uint32_t at = head.next; at != 0; at = more_[at].next)
        equal += static_cast<std::size_t>(std::popcount(equal_checks(more_[at], check)));
    return equal < most_equal;
}

void BandIndex::put(Chunk& head, std::uint32_t entry, std::uint16_t check) {
    if (head.is_full()) {
        Chunk& none = more_[0];
        std::uint32_t chunk = none.next;
        if (chunk != 0)
            none.next = more_[chunk].next;
        else
            chunk = none.entries[0]++;
        more_[chunk] = head;
        head = Chunk{};
        head.next = chunk;
    }
    head.put(head.count(), entry, check);
}

void BandIndex::split(std::size_t stop) {
    for (std::size_t bucket = buckets_; bucket < stop; bucket++) {
        const int level = static_cast<int>(std::bit_width(bucket)) - 1;
        const std::size_t former = bucket - (std::size_t{1} << level);
        for (std::size_t c = 0; c < columns_; c++) {
            Chunk &low = heads_[former * columns_ + c], &high = heads_[bucket * columns_ + c];
            Chunk moved = low;
            low = Chunk{};
            while (true) {
                each_entry(moved, [&](std::uint32_t entry, std::uint16_t check) {
                    put(check >> (level - ADDRESS_BITS) & 1 ? high : low, entry, check);
                });
                const std::uint32_t chunk = moved.next;
                if (chunk == 0) break;
                moved = more_[chunk];
                more_[chunk].next = more_[0].next;
                more_[0].next = chunk;
            }
        }
    }
    buckets_ = stop;
    while (mask_ < buckets_ - 1) mask_ = mask_ << 1 | 1;
}

std::size_t BandIndex::collect_column(std::size_t column, std::span<std::uint64_t> items) const {
    constexpr std::size_t low = (std::size_t{1} << ADDRESS_BITS) - 1;
    std::size_t count = 0;
    for (std::size_t bucket = 0; bucket < buckets_; bucket++) {
        if (bucket + BUCKETS_AHEAD < buckets_)
            __builtin_prefetch(&heads_[(bucket + BUCKETS_AHEAD) * columns_ + column]);
        if (bucket + BUCKETS_AHEAD / 2 < buckets_)
            __builtin_prefetch(&more_[heads_[(bucket + BUCKETS_AHEAD / 2) * columns_ + column].next]);
        const Chunk* chunk = &heads_[bucket * columns_ + column];
        while (true) {
            const std::size_t held = chunk->count();
            for (std::size_t i = 0; i < held && count + i < items.size(); i++) {
                const std::uint64_t key = std::uint64_t{chunk->checks[i]} << ADDRESS_BITS | (bucket & low);
                items[count + i] = key << 32 | (chunk->entries[i] - 1);
            }
            count += held;
            if (chunk->next == 0) break;
            chunk = &more_[chunk->next];
        }
    }
    return count;
}

// All chains are walked side by side, and each chunk is asked for before anything depends on it.
void BandIndex::collect(std::span<const std::uint32_t> row, std::vector<Walk>& walks, Matches& matches) const {
    std::size_t open = 0;
    const auto look = [&](const Chunk& chunk, std::uint16_t check, std::uint16_t column) {
        for (std::uint32_t equal = equal_checks(chunk, check); equal != 0; equal &= equal - 1) {
            const std::uint32_t entry = chunk.entries[std::countr_zero(equal)];
            if (entry != 0) matches.add(entry - 1, column);
        }
        if (chunk.next == 0) return;
        __builtin_prefetch(&more_[chunk.next]);
        walks[open++] = {chunk.next, check, column};
    };
    matches.reserve(columns_ * Chunk::ENTRIES);
    for (std::size_t c = 0; c < columns_; c++)
        look(heads_[head_of(row[c], c)], check_of(row[c]), static_cast<std::uint16_t>(c));
    while (open > 0) {
        const std::size_t count = std::exchange(open, 0);
        matches.reserve(count * Chunk::ENTRIES);
        for (std::size_t w = 0; w < count; w++) {
            const Walk walk = walks[w];
            look(more_[walk.chunk], walk.check, walk.column);
        }
    }
}

void BandIndex::search(std::span<const std::uint32_t> keys, Candidates& found) const {
    const std::size_t n = keys.size() / columns_;
    const auto row_of = [&](std::size_t i) { return keys.subspan(i * columns_, columns_); };
    std::vector<Walk> walks(columns_);
    Matches matches;
    for (std::size_t i = 0; i < n; i++) {
        if (i + HEADS_AHEAD < n) fetch_heads(row_of(i + HEADS_AHEAD));
        if (i + SECONDS_AHEAD < n) fetch_seconds(row_of(i + SECONDS_AHEAD));
        collect(row_of(i), walks, matches);
        matches.enter(size_, found);
    }
}

}  // namespace dedup
