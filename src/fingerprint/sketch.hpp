// Sketches of texts: one-permutation MinHash of character 3-grams, in bands and in bits; and a hash of the longest sentences.
//
// Each gram goes to one of the bins, which keep their least hash (Li, Owen, Zhang, "One permutation hashing", NIPS 2012); a
// bin that stays empty is filled from further rounds.
#pragma once
#include "core/text.hpp"

namespace dedup {

constexpr std::size_t GRAM = 3, BINS = 128, BANDS = 20, ROWS = 5;
constexpr int KEY_BITS = 30;
constexpr std::size_t SENTENCES = 3, LEAST_SENTENCE = 8;

// The simhash of a text, or if it is short a hash of itself, and a second, independent hash.
struct Fingerprint {
    std::uint64_t value, digest;
    std::uint8_t is_short = 0, unused[7] = {};
};

class Sketcher {
public:
    // keys: BANDS, a hash of ROWS bins each; bits: one of each bin (Li and König, "b-bit minwise hashing", WWW 2010).
    void sketch(Points text, std::span<std::uint32_t> keys, std::span<std::uint64_t> bits) {
        fill_bins(text);
        for (std::size_t word = 0; word < BINS / 64; word++) {
            std::uint64_t ones = 0;
            for (std::size_t b = 0; b < 64; b++) ones |= (bins_[64 * word + b] & 1) << b;
            bits[word] = ones;
        }
        for (std::size_t band = 0; band < BANDS; band++) {
            std::uint64_t key = 0;
            for (std::size_t b = band * ROWS; b < (band + 1) * ROWS; b++) key = key * GOLDEN + bins_[b];
            keys[band] = static_cast<std::uint32_t>(mix(key) >> (64 - KEY_BITS));
        }
    }

private:
    // A value is the round, 8 bits, before 56 of the hash, so the least is one of the first round. Round r hashes a gram to the
    // r-th output of SplitMix64 with the gram as seed. From round BINS on all grams fall into one bin, so none stays empty.
    void fill_bins(Points text) {
        bins_.fill(EMPTY);
        std::size_t empty = BINS, count = text.size() < GRAM ? 1 : text.size() - GRAM + 1;
        bool is_made = false;  // all grams are in `grams_`
        for (std::size_t round = 0; round < 2 * BINS && empty > 0; round++) {
            const std::uint64_t step = (round + 1) * GOLDEN, high = std::uint64_t{round} << 56;
            const std::uint64_t mask = round < BINS ? BINS - 1 : 0, only = round < BINS ? 0 : round - BINS;
            for (std::size_t start = 0; start < count; start += AT_ONCE) {
                const std::size_t n = std::min(AT_ONCE, count - start);
                if (!is_made) make_grams(text, start, n);
                is_made = count <= AT_ONCE;
                // a loop of its own, so that the processor hashes several at a time
                for (std::size_t i = 0; i < n; i++) hashes_[i] = mix(grams_[i] + step);
                for (std::size_t i = 0; i < n; i++) {
                    std::uint64_t& bin = bins_[(hashes_[i] & mask) | only];
                    bin = std::min(bin, high | hashes_[i] >> 8);
                }
            }
            empty = static_cast<std::size_t>(std::count(bins_.begin(), bins_.end(), EMPTY));
            // none changes if all bins were filled
            if (round == 0 && count > MANY && empty > 0) is_made |= keep_distinct(text, count);
        }
    }

    static constexpr std::uint64_t EMPTY = ~std::uint64_t{0};
    static constexpr int POINT_BITS = 21;
    static constexpr std::uint64_t NO_POINT = (1 << POINT_BITS) - 1;  // pads a text of one or two characters
    static constexpr std::size_t AT_ONCE = 1 << 11;  // grams in memory
    static constexpr std::size_t MANY = 1 << 10;

    static std::uint64_t gram_of(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
        return first << 2 * POINT_BITS | second << POINT_BITS | third;  // 63 bits
    }

    // A text of fewer characters than a gram has one.
    void make_grams(Points text, std::size_t start, std::size_t n) {
        if (text.size() < GRAM) {
            const auto at = [&](std::size_t k) { return k < text.size() ? std::uint64_t{text[k]} : NO_POINT; };
            grams_[0] = gram_of(at(0), at(1), at(2));
            return;
        }
        const Points from = text.subspan(start, n + GRAM - 1);
        for (std::size_t i = 0; i < n; i++) grams_[i] = gram_of(from[i], from[i + 1], from[i + 2]);
    }

    // Puts the distinct grams into `grams_` and their number into `count`; false, with `count` unchanged, if they are too many.
    bool keep_distinct(Points text, std::size_t& count) {
        std::size_t found = 0;
        distinct_.reset(AT_ONCE);
        for (std::size_t i = 0; i < count; i++) {
            const std::uint64_t gram = gram_of(text[i], text[i + 1], text[i + 2]);
            if (!distinct_[gram + 1].is_new) continue;
            if (found == AT_ONCE) return false;
            grams_[found++] = gram;
        }
        count = found;
        return true;
    }

    std::array<std::uint64_t, AT_ONCE> grams_, hashes_;
    std::array<std::uint64_t, BINS> bins_;
    HashTable<bool> distinct_;
};

// A hash of the longest SENTENCES sentences of a text, below 2**KEY_BITS. A sentence ends at 。！？； or their ASCII forms, or
// with the line (`ends_paragraph`). White space, width and case do not count, nor does the order of the sentences: blocks of a
// page come in any order, so of equally long ones the greater hash goes first, not the earlier sentence. If none has
// LEAST_SENTENCE characters, the whole text without sentence ends is hashed. folded: `folded_characters`.
inline std::uint32_t sentence_key(Points text, std::span<const std::uint16_t> folded) {
    struct Sentence {
        std::int64_t length;
        std::uint64_t hash;
    };
    std::array<Sentence, SENTENCES> longest{};
    const auto offer = [&](Sentence one) {
        for (Sentence& held : longest) {
            if (one.length > held.length || (one.length == held.length && one.hash > held.hash)) std::swap(one, held);
        }
    };
    Sentence sentence{};
    std::uint64_t whole = 0;
    for (std::uint32_t point : text) {
        if (point < PLANE) {
            const std::uint16_t plain = folded[point];
            if (ends_paragraph(point) || plain == 0x3002 || plain == '!' || plain == '?' || plain == ';') {
                offer(sentence);
                sentence = {};
                continue;
            }
            if (is_white_space(point)) continue;
            point = plain;
        }
        sentence = {sentence.length + 1, (sentence.hash + point + 1) * GOLDEN};
        whole = (whole + point + 1) * GOLDEN;
    }
    offer(sentence);
    std::uint64_t key = whole;
    if (longest[0].length >= static_cast<std::int64_t>(LEAST_SENTENCE)) {
        key = 0;
        for (const Sentence& one : longest) key += mix(one.hash);
    }
    return static_cast<std::uint32_t>(mix(key) >> (64 - KEY_BITS));
}

}  // namespace dedup
