// The dictionary, and jieba's hidden Markov model for words that are not in it.
#pragma once
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

#include "core/hash.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dedup {

constexpr std::size_t BUCKET = 8;
constexpr double NO_WORD = -std::numeric_limits<double>::infinity();  // in place of a log probability

// Words as a trie in flat arrays: the first character by a direct table, then the children of each node side by side.
//
// Nodes are numbered from 0, all first characters before the others. Each has a slot: an entry, and the character that
// leads to it. The children of a node lie in buckets of eight slots, in one bucket as many as there are; so a step
// looks at one cache line of characters, and at an entry only where it leads somewhere. Only characters of the basic
// plane lead anywhere: jieba segments no others.
class Trie {
public:
    static constexpr std::int32_t ABSENT = -1;
    static constexpr std::uint32_t ONE_BUCKET = 16;        // its shift, see Entry
    static constexpr std::uint16_t NO_CHARACTER = 0xFFFF;  // of a slot that is free; no word holds it

    // A node: what it stands for, and where its children are. Fields share words, so that four fit into a cache line.
    struct Entry {
        double probability;       // the logarithm for a word of the dictionary, else NO_WORD
        std::int32_t node : 24;   // ABSENT in a slot that is free
        std::uint32_t shift : 8;  // of a character's hash, which makes it the number of a bucket, times BUCKET
        std::uint32_t slot : 24;  // of the first child
        std::uint32_t used : 8;   // a bit for each slot of a bucket that may be in use, 0 without children

        std::size_t bucket_of(std::uint32_t point) const {
            return slot + ((point * 0x9E37u & 0xFFFF) >> shift & ~(BUCKET - 1));
        }
    };
    static_assert(sizeof(Entry) == 16);

    // first: slots, PLANE; characters, entries: by slot, and of the former a bucket more.
    Trie() = default;
    Trie(std::span<const std::int32_t> first, std::span<const std::uint16_t> characters, std::span<const Entry> entries)
        : first_(first), characters_(characters), entries_(entries) {}

    // Slots, or ABSENT.
    std::int32_t first(std::uint32_t point) const { return first_[point]; }
    std::int32_t child(std::int32_t slot, std::uint32_t point) const {
        const Entry& entry = (*this)[slot];
        const std::size_t bucket = entry.bucket_of(point);
        const unsigned equal = equal_in(&characters_[bucket], static_cast<std::uint16_t>(point)) & entry.used;
        return equal ? static_cast<std::int32_t>(bucket) + std::countr_zero(equal) : ABSENT;
    }

    const Entry& operator[](std::int32_t slot) const { return entries_[static_cast<std::size_t>(slot)]; }

private:
    // A bit for each of a bucket's characters.
    static unsigned equal_in(const std::uint16_t* characters, std::uint16_t point) {
#if defined(__SSE2__)
        const __m128i bucket = _mm_loadu_si128(reinterpret_cast<const __m128i*>(characters));
        const __m128i equal = _mm_cmpeq_epi16(bucket, _mm_set1_epi16(static_cast<short>(point)));
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(equal, equal))) & 0xFF;
#else
        unsigned equal = 0;
        for (unsigned k = 0; k < BUCKET; k++) equal |= unsigned{characters[k] == point} << k;
        return equal;
#endif
    }

    std::span<const std::int32_t> first_;
    std::span<const std::uint16_t> characters_;
    std::span<const Entry> entries_;
};

// A trie that is built; of each word its node.
class TrieBuilder {
public:
    std::vector<std::int32_t> first, nodes;
    std::vector<std::uint16_t> characters;
    std::vector<Trie::Entry> entries;
    std::size_t count = 0;  // of nodes

    // Of words that are not empty, each valid until the next one; false where it would take too many nodes.
    bool build(auto& words, std::span<const double> probabilities) {
        number(words);
        if (count > MOST_NODES) return false;
        std::vector<Trie::Entry> by_node;
        for (std::size_t i = 0; i < count; i++)
            by_node.push_back({NO_WORD, static_cast<std::int32_t>(i), Trie::ONE_BUCKET, 0, 0});
        for (std::size_t i = 0; i < words.size(); i++) by_node[nodes[i]].probability = probabilities[i];
        return lay_out(by_node);
    }

private:
    struct Edge {
        std::int32_t parent, child;
        std::uint32_t point;
    };

    // Numbers the nodes in the order of the words, so that what is used together lies together.
    void number(auto& words) {
        first.assign(PLANE, Trie::ABSENT);
        for (std::size_t i = 0; i < words.size(); i++) {
            std::int32_t& node = first[words[i][0]];
            if (node == Trie::ABSENT) node = static_cast<std::int32_t>(count++);
        }
        HashTable<std::int32_t> children;
        children.reset(words.size());
        for (std::size_t i = 0; i < words.size(); i++) {
            std::int32_t node = first[words[i][0]];
            for (const std::uint32_t point : words[i].subspan(1)) {
                const auto [child, is_new] = children[static_cast<std::uint64_t>(node + 1) << 16 | point];
                if (is_new) {
                    child = static_cast<std::int32_t>(count++);
                    edges_.push_back({node, child, point});
                }
                node = child;
            }
            nodes.push_back(node);
        }
        std::ranges::stable_sort(edges_, {}, &Edge::parent);
    }

    // Gives the nodes slots: first characters those of their numbers, children others behind them.
    bool lay_out(std::span<Trie::Entry> by_node) {
        std::size_t used = by_node.size() - edges_.size();
        slots_.resize(by_node.size());
        std::iota(slots_.begin(), slots_.end(), std::size_t{0});
        for (std::size_t i = 0, end; i < edges_.size(); i = end) {
            for (end = i + 1; end < edges_.size() && edges_[end].parent == edges_[i].parent;) end++;
            if (used % LINE > LINE - BUCKET) used += LINE - used % LINE;  // no bucket lies in two cache lines
            if (used + PLANE > MOST_SLOTS) return false;
            used += put({&edges_[i], end - i}, used, by_node[edges_[i].parent]);
        }
        characters.resize(used + BUCKET, Trie::NO_CHARACTER);
        entries.assign(used, {NO_WORD, Trie::ABSENT, Trie::ONE_BUCKET, 0, 0});
        for (std::size_t i = 0; i < by_node.size(); i++) entries[slots_[i]] = by_node[i];
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
        characters.resize(slot + (is_one ? edges.size() : BUCKET * buckets), Trie::NO_CHARACTER);
        for (const Edge& edge : edges) characters[slots_[edge.child]] = static_cast<std::uint16_t>(edge.point);
        return characters.size() - slot;
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

constexpr std::uint32_t HAN_FIRST = 0x4E00;  // jieba's own bounds
constexpr std::uint32_t HAN_LAST = 0x9FD5;
constexpr std::uint32_t ASCII = 128;
constexpr double STOP_WORD = -1.0;                                    // in place of an IDF

// What a character is to jieba; letter: letters and digits that it does not segment.
enum class Class : std::uint8_t { separator, han, alphanumeric, symbol, letter };

// States of the hidden Markov model: begin, end, middle of a word, single character.
enum State : std::int8_t { B, E, M, S };
constexpr std::string_view STATE_NAMES = "BEMS";  // as jieba's files call them
constexpr std::size_t STATES = STATE_NAMES.size();

inline bool is_upper(std::uint32_t point) { return 'A' <= point && point <= 'Z'; }
inline bool is_digit(std::uint32_t point) { return '0' <= point && point <= '9'; }

struct Lexicon {
    // What a word is weighed by: the median IDF where the file has no entry; 0 where there is no hash.
    struct Word {
        double idf;
        std::uint64_t hash;
    };

    Trie trie;
    std::span<const Word> words;            // by node
    std::span<const Class> classes;         // PLANE
    std::span<const std::uint8_t> pairs;    // ASCII * ASCII: how a word of ASCII alone begins
    std::span<const double> emission;       // each Han character in each state, log probabilities
    std::span<const double> start;          // STATES
    std::span<const double> transition;     // STATES * STATES
    double unknown = 0;                     // log probability of a character that is no word
    double median = 0;                      // of the IDF

    Class class_of(std::uint32_t point) const { return point < PLANE ? classes[point] : Class::letter; }

    // The node of some characters, or Trie::ABSENT, as where one is beyond the basic plane; lower: of ASCII letters in
    // lower case.
    std::int32_t find(Points word, bool lower = false) const {
        const std::int32_t slot = slot_of(word, lower);
        return slot == Trie::ABSENT ? slot : trie[slot].node;
    }

    // Whether some characters are a word of the dictionary.
    bool holds(Points word) const {
        const std::int32_t slot = slot_of(word);
        return slot != Trie::ABSENT && trie[slot].probability != NO_WORD;
    }

    // Viterbi over Han characters (`jieba.finalseg.viterbi`): the state of character i is left in
    // back[i][0]. Each state has two predecessors; ties go to the one with the greater letter.
    void find_states(Points han, std::span<std::array<std::int8_t, STATES>> back) const {
        const auto step = [&](State from, State to) { return transition[STATES * from + to]; };
        const auto row_of = [&](std::uint32_t point) { return &emission[STATES * (point - HAN_FIRST)]; };
        const double e_b = step(E, B), s_b = step(S, B), b_e = step(B, E), m_e = step(M, E);
        const double b_m = step(B, M), m_m = step(M, M), e_s = step(E, S), s_s = step(S, S);
        const double* row = row_of(han[0]);
        double b = start[B] + row[B], e = start[E] + row[E];
        double m = start[M] + row[M], s = start[S] + row[S];
        for (std::size_t i = 1; i < han.size(); i++) {
            row = row_of(han[i]);
            auto& from = back[i];
            const auto better = [&](State to, double one, State a, double two, State z) {
                from[to] = two >= one ? z : a;
                return two >= one ? two : one;
            };
            const double next_b = better(B, e + e_b + row[B], E, s + s_b + row[B], S);
            const double next_e = better(E, b + b_e + row[E], B, m + m_e + row[E], M);
            const double next_m = better(M, b + b_m + row[M], B, m + m_m + row[M], M);
            const double next_s = better(S, e + e_s + row[S], E, s + s_s + row[S], S);
            b = next_b, e = next_e, m = next_m, s = next_s;
        }
        std::int8_t state = s >= e ? S : E;
        for (std::size_t i = han.size(); i-- > 0;) {
            const std::int8_t before = back[i][static_cast<std::size_t>(state)];
            back[i][0] = state;
            state = before;
        }
    }

private:
    std::int32_t slot_of(Points word, bool lower = false) const {
        const auto as = [&](std::uint32_t point) { return lower && is_upper(point) ? point + ('a' - 'A') : point; };
        std::int32_t slot = word[0] < PLANE ? trie.first(as(word[0])) : Trie::ABSENT;
        for (std::size_t i = 1; i < word.size() && slot != Trie::ABSENT; i++)
            slot = word[i] < PLANE ? trie.child(slot, as(word[i])) : Trie::ABSENT;
        return slot;
    }
};

}  // namespace dedup
