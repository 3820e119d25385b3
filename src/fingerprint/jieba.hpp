// jieba's words: the dictionary, a hidden Markov model for unknown words, and the segmentation (`jieba.lcut`, HMM on),
// token for token.
//
// jieba takes runs of Han, ASCII letters, digits and +#&._%- as blocks. In a block the path of greatest probability through
// the dictionary's words is found from right to left; ties go to the longer word. Runs of single characters on that path
// go to a hidden Markov model, unless the run is a word of the dictionary. All other characters are tokens of their own.
// Float additions run in jieba's order, or ties would break differently.
#pragma once
#include <limits>
#include <numeric>

#include "core/text.hpp"

namespace dedup {

constexpr std::size_t BUCKET = 8;
constexpr double NO_WORD = -std::numeric_limits<double>::infinity();  // in place of a log probability

// Words as a trie in flat arrays: the first character by a direct table, then the children of each node side by side.
//
// Nodes are numbered from 0, all first characters before the others. Each has a slot: an entry, and the character that
// leads to it. The children of a node lie in buckets of eight slots, up to eight children in a single bucket of just their
// number; so a step looks at one cache line of characters, and at an entry only if the character is found. No word holds
// characters beyond the basic plane: jieba segments none.
class Trie {
public:
    static constexpr std::int32_t ABSENT = -1;
    static constexpr std::uint32_t ONE_BUCKET = 16;        // its shift, see Entry
    static constexpr std::uint16_t NO_CHARACTER = 0xFFFF;  // of a free slot; no word holds it

    // A node, and the slots of its children. Fields share words, so that four entries fit into a cache line.
    struct Entry {
        double probability;       // the logarithm for a word of the dictionary, else NO_WORD
        std::int32_t node : 24;   // ABSENT in a free slot
        std::uint32_t shift : 8;  // of a character's hash: the bucket's number times BUCKET
        std::uint32_t slot : 24;  // of the first child
        std::uint32_t used : 8;   // a bit for each slot of a bucket that may be used, 0 without children

        std::size_t bucket_of(std::uint32_t point) const {
            return slot + ((point * 0x9E37u & 0xFFFF) >> shift & ~(BUCKET - 1));
        }
    };
    static_assert(sizeof(Entry) == 16);

    // first: slots, PLANE; characters, entries: by slot, and of the former a bucket more.
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

// The arrays of a trie, and the node of each word.
class TrieBuilder {
public:
    std::vector<std::int32_t> first, nodes;
    std::vector<std::uint16_t> characters;
    std::vector<Trie::Entry> entries;
    std::size_t count = 0;  // of nodes

    // Takes words that are not empty, each valid until the next one; false if they take too many nodes.
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

    // Numbers the nodes in the order of the words, so that frequent words lie together.
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

    // Puts children into as few buckets as hold them; returns the number of their slots.
    std::size_t put(std::span<const Edge> edges, std::size_t slot, Trie::Entry& parent) {
        const bool is_one = edges.size() <= BUCKET;
        parent.slot = static_cast<std::uint32_t>(slot);
        parent.used = is_one ? (1u << edges.size()) - 1 : 0xFF;
        std::size_t buckets = 1;
        while (!fill(edges, parent, buckets)) {  // it ends: eight characters fall into each of 8192 buckets
            buckets *= 2;
            parent.shift = static_cast<std::uint32_t>(16 - std::countr_zero(BUCKET * buckets));
        }
        characters.resize(slot + (is_one ? edges.size() : BUCKET * buckets), Trie::NO_CHARACTER);
        for (const Edge& edge : edges) characters[slots_[edge.child]] = static_cast<std::uint16_t>(edge.point);
        return characters.size() - slot;
    }

    // Whether no bucket overflows.
    bool fill(std::span<const Edge> edges, const Trie::Entry& parent, std::size_t buckets) {
        std::vector<std::size_t> filled(buckets);
        return std::ranges::all_of(edges, [&](const Edge& edge) {
            const std::size_t bucket = parent.bucket_of(edge.point), number = filled[(bucket - parent.slot) / BUCKET]++;
            slots_[edge.child] = bucket + number;
            return number < BUCKET;
        });
    }

    static constexpr std::size_t LINE = 64 / sizeof(std::uint16_t), MOST_NODES = 1 << 23, MOST_SLOTS = 1 << 24;

    std::vector<Edge> edges_;
    std::vector<std::size_t> slots_;  // by node
};

constexpr std::uint32_t HAN_FIRST = 0x4E00, HAN_LAST = 0x9FD5;  // jieba's own bounds
constexpr std::uint32_t ASCII = 128;
constexpr double STOP_WORD = -1.0;  // in place of an IDF

// Of a character for jieba; letter: letters and digits that it does not segment.
enum class Class : std::uint8_t { separator, han, alphanumeric, symbol, letter };

// States of the hidden Markov model: begin, end, middle of a word, single character.
enum State : std::int8_t { B, E, M, S };
constexpr std::string_view STATE_NAMES = "BEMS";  // as jieba's files call them
constexpr std::size_t STATES = STATE_NAMES.size();

inline bool is_upper(std::uint32_t point) { return 'A' <= point && point <= 'Z'; }
inline bool is_digit(std::uint32_t point) { return '0' <= point && point <= '9'; }

struct Lexicon {
    // idf: the median if the file has no entry; hash: 0 for a node that is no listed word.
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

    // The node of a word, or Trie::ABSENT; lower: with its ASCII letters in lower case.
    std::int32_t find(Points word, bool lower = false) const {
        const std::int32_t slot = slot_of(word, lower);
        return slot == Trie::ABSENT ? slot : trie[slot].node;
    }

    // Whether a word is in the dictionary.
    bool holds(Points word) const {
        const std::int32_t slot = slot_of(word);
        return slot != Trie::ABSENT && trie[slot].probability != NO_WORD;
    }

    // Viterbi over Han characters (`jieba.finalseg.viterbi`): the state of character i is written to back[i][0]. Each
    // state has two predecessors; ties go to the one with the greater letter.
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

// A token ends at the start of the next one, the last one with the text.
struct Token {
    // nodes of tokens that are not looked up: one character in a block of jieba's, and outside of blocks
    static constexpr std::int32_t SINGLE = -2, OUTSIDE = -3;

    std::int32_t start;
    std::int32_t node;  // Trie::ABSENT for an unlisted word
};

class Segmenter {
public:
    explicit Segmenter(const Lexicon& lexicon) : lexicon_(lexicon) {}

    // The tokens of a text, and one more that starts at its end; valid until the next call.
    std::span<const Token> segment(Points text) {
        text_ = text;
        if (tokens_.size() < text.size() + 1) tokens_.resize(text.size() + 1);
        count_ = 0;
        const std::size_t stop = text.size();
        for (std::size_t i = 0, end; i < stop; i = end) {
            if (!in_block(text[i])) {
                emit(i, Token::OUTSIDE);
                end = i + (text[i] == '\r' && i + 1 < stop && text[i + 1] == '\n' ? 2 : 1);
                continue;
            }
            end = i + 1;
            bool no_word = text[i] < ASCII;  // ASCII, and no two characters begin a word
            bool alphanumeric = lexicon_.classes[text[i]] == Class::alphanumeric;
            while (end < stop && in_block(text[end])) {
                no_word &= text[end] < ASCII;
                alphanumeric &= lexicon_.classes[text[end]] == Class::alphanumeric;
                if (no_word && lexicon_.pairs[ASCII * text[end - 1] + text[end]]) no_word = false;
                end++;
            }
            if (!no_word) emit_block(i, end);
            else if (alphanumeric) emit_token(i, end);  // most English and LaTeX
            else emit_run(i, end);
        }
        emit(stop, Token::OUTSIDE);
        return {tokens_.data(), count_};
    }

private:
    // The best path from a character on: its score, the end of its first word, and that word's slot in the trie.
    struct Step {
        double score;
        std::int32_t end, slot;
    };

    bool in_block(std::uint32_t point) const {
        const Class kind = lexicon_.class_of(point);
        return kind != Class::separator && kind != Class::letter;
    }

    void emit(std::size_t start, std::int32_t node) { tokens_[count_++] = {static_cast<std::int32_t>(start), node}; }

    void emit_token(std::size_t start, std::size_t end) {
        emit(start, end - start > 1 ? lexicon_.find(text_.subspan(start, end - start)) : Token::SINGLE);
    }

    // Emits the words of the best path; single characters on it gather in a run.
    void emit_block(std::size_t start, std::size_t end) {
        const std::size_t size = end - start;
        find_path(text_.subspan(start, size));
        std::size_t run = 0;
        for (std::size_t at = 0;;) {
            const Step& step = path_[at];
            const std::size_t next = static_cast<std::size_t>(step.end);
            if (next - at > 1) {
                if (at - run == 1) emit(start + run, Token::SINGLE);  // nearly always, so no call
                else if (run < at) emit_run(start + run, start + at);
                if (at == size) return;
                const std::int32_t node = lexicon_.trie[step.slot].node;
                __builtin_prefetch(&lexicon_.words[node]);  // for its weight
                emit(start + at, node);
                run = next;
            }
            at = next;
        }
    }

    // `jieba.Tokenizer.get_DAG` and `calc` in one pass, once the first two characters of all words are looked up: these
    // look-ups do not depend on each other, so the processor waits for many of them at once.
    void find_path(Points block) {
        const std::size_t size = block.size();
        if (path_.size() < size + 1) path_.resize(size + 1);
        Step* const path = path_.data();
        const Trie& trie = lexicon_.trie;
        for (std::size_t i = 0; i + 1 < size; i++) {
            const std::int32_t first = trie.first(block[i]);
            path[i].slot = first == Trie::ABSENT ? Trie::ABSENT : trie.child(first, block[i + 1]);
            __builtin_prefetch(&trie[std::max(path[i].slot, 0)]);
        }
        path[size - 1].slot = Trie::ABSENT;
        path[size] = {0.0, static_cast<std::int32_t>(size + 2), 0};  // as if a word began there: it ends a run
        for (std::size_t i = size; i-- > 0;) {
            const std::int32_t single = trie.first(block[i]);
            const std::int32_t behind = static_cast<std::int32_t>(i + 1);
            Step best{NO_WORD, behind, Token::SINGLE};
            if (single != Trie::ABSENT) best = {trie[single].probability + path[i + 1].score, behind, single};
            std::int32_t slot = path[i].slot;
            for (std::size_t next = i + 2; slot != Trie::ABSENT; next++) {
                const double score = trie[slot].probability + path[next].score;
                if (score >= best.score) best = {score, static_cast<std::int32_t>(next), slot};
                if (next == size) break;
                slot = trie.child(slot, block[next]);
            }
            if (best.score == NO_WORD) best = {lexicon_.unknown + path[i + 1].score, behind, Token::SINGLE};
            path[i] = best;
        }
    }

    // Emits the tokens of a run of single characters, as `jieba.finalseg.cut` makes them.
    [[gnu::noinline]] void emit_run(std::size_t start, std::size_t stop) {
        if (stop - start == 1 || lexicon_.holds(text_.subspan(start, stop - start))) {
            for (std::size_t i = start; i < stop; i++) emit(i, Token::SINGLE);
            return;
        }
        for (std::size_t i = start, end; i < stop; i = end) {
            const Class kind = lexicon_.classes[text_[i]];
            end = i + 1;
            while (end < stop && lexicon_.classes[text_[end]] == kind) end++;
            if (kind == Class::han && end - i > 1) {
                if (back_.size() < end - i) back_.resize(end - i);
                lexicon_.find_states(text_.subspan(i, end - i), back_);
                emit_words(i, end);
            } else {
                if (kind == Class::alphanumeric) end = end_of_number(end, stop);
                emit_token(i, end);
            }
        }
    }

    // The end of a number behind its letters and digits: decimals, then a percent sign.
    std::size_t end_of_number(std::size_t end, std::size_t stop) const {
        if (end + 1 < stop && text_[end] == '.' && is_digit(text_[end + 1])) {
            end += 2;
            while (end < stop && is_digit(text_[end])) end++;
        }
        return end + (end < stop && text_[end] == '%');
    }

    void emit_words(std::size_t start, std::size_t stop) {
        std::size_t begin = start;
        for (std::size_t i = start; i < stop; i++) {
            const std::int8_t state = back_[i - start][0];
            if (state == B || state == S) begin = i;
            if (state != E && state != S && i + 1 != stop) continue;
            std::int32_t node = Token::SINGLE;
            if (i + 1 - begin > 1) node = lexicon_.find(text_.subspan(begin, i + 1 - begin));
            emit(begin, node);
            begin = i + 1;
        }
    }

    const Lexicon& lexicon_;
    Points text_;
    std::vector<Token> tokens_;
    std::size_t count_ = 0;
    std::vector<Step> path_;
    std::vector<std::array<std::int8_t, STATES>> back_;
};

}  // namespace dedup
