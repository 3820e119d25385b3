// The dictionary, and jieba's hidden Markov model for words that are not in it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "fingerprint/trie.hpp"

namespace dedup {

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
