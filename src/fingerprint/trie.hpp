// Words as a trie in flat arrays: the first character by a direct table, then open addressing.
//
// Nodes are numbered from 0, all first characters before the others. An edge is one word of 64 bits:
// parent + 1 (24 bits), code point (16), child (24); 0 is a free slot. Only characters of the basic
// plane lead anywhere: jieba segments no others.
#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "core/hash.hpp"
#include "core/text.hpp"

namespace dedup {

class Trie {
public:
    static constexpr std::int32_t ABSENT = -1;

    // first: PLANE nodes; edges: a power of two; filter: two bits finer than the edges, four bits
    // for each, set where an edge hashes to. Most steps lead nowhere, and this half megabyte that
    // says so stays in the processor's cache.
    Trie() = default;
    Trie(std::span<const std::int32_t> first, std::span<const std::uint64_t> edges,
         std::span<const std::uint8_t> filter)
        : first_(first), edges_(edges), filter_(filter), shift_(64 - std::countr_zero(edges.size())) {}

    std::int32_t first(std::uint32_t point) const { return first_[point]; }

    // The node that `point` leads to from `node`, or ABSENT.
    std::int32_t child(std::int32_t node, std::uint32_t point) const {
        const std::uint64_t key = edge_key(node, point);
        const std::uint64_t bit = key * GOLDEN >> (shift_ - 2);
        if (!(filter_[bit >> 3] >> (bit & 7) & 1)) return ABSENT;
        const std::uint64_t mask = edges_.size() - 1;
        for (std::uint64_t place = bit >> 2;; place = (place + 1) & mask) {
            const std::uint64_t edge = edges_[place];
            if (edge >> CHILD_BITS == key) return static_cast<std::int32_t>(edge & CHILD);
            if (edge == 0) return ABSENT;
        }
    }

    // Inserts words, of one character or more, into empty arrays; nodes: of each word. Returns how
    // many nodes there are, or -1 where there would be more than `most`.
    static std::int64_t build(const TextColumn& words, std::span<std::int32_t> first,
                              std::span<std::uint64_t> edges, std::span<std::int32_t> nodes,
                              std::int64_t most) {
        const int shift = 64 - std::countr_zero(edges.size());
        const std::uint64_t mask = edges.size() - 1;
        std::int64_t count = 0;
        for (std::size_t i = 0; i < words.size(); i++) {  // side by side: they are used most
            std::int32_t& node = first[words[i][0]];
            if (node == ABSENT) node = static_cast<std::int32_t>(count++);
        }
        if (count > most) return -1;
        for (std::size_t i = 0; i < words.size(); i++) {
            const Points word = words[i];
            std::int32_t node = first[word[0]];
            for (const std::uint32_t point : word.subspan(1)) {
                const std::uint64_t key = edge_key(node, point);
                std::uint64_t place = key * GOLDEN >> shift;
                while (edges[place] != 0 && edges[place] >> CHILD_BITS != key) place = (place + 1) & mask;
                if (edges[place] == 0) {
                    if (count >= most) return -1;
                    edges[place] = key << CHILD_BITS | static_cast<std::uint64_t>(count++);
                }
                node = static_cast<std::int32_t>(edges[place] & CHILD);
            }
            nodes[i] = node;
        }
        return count;
    }

    static void build_filter(std::span<const std::uint64_t> edges, std::span<std::uint8_t> filter) {
        const int shift = 64 - std::countr_zero(edges.size());
        for (const std::uint64_t edge : edges) {
            if (edge == 0) continue;
            const std::uint64_t bit = (edge >> CHILD_BITS) * GOLDEN >> (shift - 2);
            filter[bit >> 3] |= static_cast<std::uint8_t>(1 << (bit & 7));
        }
    }

private:
    static constexpr int CHILD_BITS = 24;
    static constexpr std::uint64_t CHILD = 0xFFFFFF;

    static std::uint64_t edge_key(std::int32_t node, std::uint32_t point) {
        return static_cast<std::uint64_t>(node + 1) << 16 | point;
    }

    std::span<const std::int32_t> first_;
    std::span<const std::uint64_t> edges_;
    std::span<const std::uint8_t> filter_;
    int shift_ = 64;
};

}  // namespace dedup
