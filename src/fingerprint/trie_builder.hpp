// A trie built of words; see trie.hpp.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/hash_table.hpp"
#include "fingerprint/trie.hpp"

namespace dedup {

// A trie that is built; of each word its node.
struct TrieArrays {
    std::vector<std::int32_t> first, nodes;
    std::vector<std::uint16_t> characters;
    std::vector<Trie::Entry> entries;
    std::size_t count = 0;  // of nodes
};

class TrieBuilder {
public:
    // Of words that are not empty; false where it would take too many nodes.
    bool build(const TextColumn& words, std::span<const double> probabilities) {
        number(words);
        if (trie.count > MOST_NODES) return false;
        std::vector<Trie::Entry> nodes;
        for (std::size_t i = 0; i < trie.count; i++)
            nodes.push_back({NO_WORD, static_cast<std::int32_t>(i), Trie::ONE_BUCKET, 0, 0});
        for (std::size_t i = 0; i < words.size(); i++) nodes[trie.nodes[i]].probability = probabilities[i];
        return lay_out(nodes);
    }

    TrieArrays trie;

private:
    struct Edge {
        std::int32_t parent, child;
        std::uint32_t point;
    };

    // Numbers the nodes in the order of the words, so that what is used together lies together.
    void number(const TextColumn& words) {
        trie.first.assign(PLANE, Trie::ABSENT);
        for (std::size_t i = 0; i < words.size(); i++) {
            std::int32_t& node = trie.first[words[i][0]];
            if (node == Trie::ABSENT) node = static_cast<std::int32_t>(trie.count++);
        }
        HashTable<std::int32_t> children;
        children.reset(words.size());
        for (std::size_t i = 0; i < words.size(); i++) {
            std::int32_t node = trie.first[words[i][0]];
            for (const std::uint32_t point : words[i].subspan(1)) {
                const auto [child, is_new] = children[static_cast<std::uint64_t>(node + 1) << 16 | point];
                if (is_new) {
                    child = static_cast<std::int32_t>(trie.count++);
                    edges_.push_back({node, child, point});
                }
                node = child;
            }
            trie.nodes.push_back(node);
        }
        std::ranges::stable_sort(edges_, {}, &Edge::parent);
    }

    // Gives the nodes slots: first characters those of their numbers, children others behind them.
    bool lay_out(std::span<Trie::Entry> nodes) {
        std::size_t used = nodes.size() - edges_.size();
        slots_.resize(nodes.size());
        std::iota(slots_.begin(), slots_.end(), std::size_t{0});
        for (std::size_t i = 0, end; i < edges_.size(); i = end) {
            for (end = i + 1; end < edges_.size() && edges_[end].parent == edges_[i].parent;) end++;
            if (used % LINE > LINE - BUCKET) used += LINE - used % LINE;  // no bucket lies in two cache lines
            if (used + PLANE > MOST_SLOTS) return false;
            used += put({&edges_[i], end - i}, used, nodes[edges_[i].parent]);
        }
        trie.characters.resize(used + BUCKET, Trie::NO_CHARACTER);
        trie.entries.assign(used, {NO_WORD, Trie::ABSENT, Trie::ONE_BUCKET, 0, 0});
        for (std::size_t i = 0; i < nodes.size(); i++) trie.entries[slots_[i]] = nodes[i];
        return true;
    }

    // Puts children into as few buckets as hold them; returns how many slots these have.
    std::size_t put(std::span<const Edge> edges, std::size_t slot, Trie::Entry& parent) {
        const bool is_one = edges.size() <= BUCKET;
        parent.slot = static_cast<std::uint32_t>(slot);
        parent.used = is_one ? (1u << edges.size()) - 1 : 0xFF;
        std::size_t buckets = 1;
        while (!fill(edges, parent, buckets)) {  // eight characters fall into each of 8192: so many are enough
            buckets *= 2;
            parent.shift = static_cast<std::uint32_t>(16 - std::countr_zero(BUCKET * buckets));
        }
        trie.characters.resize(slot + (is_one ? edges.size() : BUCKET * buckets), Trie::NO_CHARACTER);
        for (const Edge& edge : edges) trie.characters[slots_[edge.child]] = static_cast<std::uint16_t>(edge.point);
        return trie.characters.size() - slot;
    }

    // Whether no bucket gets more than it holds.
    bool fill(std::span<const Edge> edges, const Trie::Entry& parent, std::size_t buckets) {
        std::vector<std::size_t> filled(buckets);
        return std::ranges::all_of(edges, [&](const Edge& edge) {
            const std::size_t bucket = parent.bucket_of(edge.point), place = filled[(bucket - parent.slot) / BUCKET]++;
            slots_[edge.child] = bucket + place;
            return place < BUCKET;
        });
    }

    static constexpr std::size_t LINE = 64 / sizeof(std::uint16_t), MOST_NODES = 1 << 23, MOST_SLOTS = 1 << 24;

    std::vector<Edge> edges_;
    std::vector<std::size_t> slots_;  // by node
};

}  // namespace dedup
