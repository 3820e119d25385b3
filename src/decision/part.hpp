// A part of a batch while it is decided.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/strings.hpp"
#include "index/look_up.hpp"
#include "judgment/judge.hpp"

namespace dedup {

// What a text is: kept; equal to a document that was kept before the batch; equal to an earlier text of the part; a near
// duplicate.
enum class TextState : std::uint8_t { kept, twin, repeated, near };

// n texts, by row. Other documents are named by numbers: kept ones by their own, texts of the part by `held` and a row.
struct Part {
    static constexpr std::int64_t NONE = -1;

    std::size_t first;  // of the batch
    std::int64_t held;  // documents in the index
    std::span<const Fingerprint> prints;
    LookUp found;
    std::vector<Bytes> ranks;               // none where the first copy stays
    std::vector<std::int64_t> equal;        // a document with the same hashes, or NONE
    std::vector<std::int64_t> twins;        // a kept one with the same text, or NONE
    std::vector<std::uint8_t> twin_is_gone; // the text of a kept one with the same hashes
    std::vector<std::size_t> alike;         // the first text of the part that is the same
    std::vector<std::size_t> open;          // rows that are not surely kept, ascending
    std::vector<std::uint8_t> beats;        // whether it is a better copy than its twin

    // By pair: of a text and a candidate.
    std::vector<std::size_t> owners;        // the row of the text
    std::vector<judgment::Verdict> verdicts;
    std::vector<std::uint8_t> pair_beats;   // whether the text is the better copy

    std::vector<TextState> states;
    // The other row of a repeated text, the pair of a near one, of a kept one the pair with the nearest candidate that was
    // compared, or NONE.
    std::vector<std::int64_t> chosen;
    std::vector<std::int64_t> totals;       // candidates
    std::vector<std::int64_t> superseded;   // the document that a text takes the place of, or NONE
    std::vector<std::int64_t> by;           // the pair of both, NONE if their texts are equal
    std::vector<std::uint8_t> gone;         // by pair: compared, and the text of the kept document is gone

    Part(std::size_t first, std::int64_t held, std::span<const Fingerprint> prints, LookUp&& look_up)
        : first(first), held(held), prints(prints), found(std::move(look_up)) {
        const std::size_t n = found.alone.size(), pairs = found.candidates.numbers.size();
        alike.resize(n);
        twin_is_gone.resize(n);
        beats.resize(n);
        states.resize(n);
        chosen.resize(n, NONE);
        totals.resize(n);
        superseded.resize(n, NONE);
        by.resize(n, NONE);
        owners.reserve(pairs);
        for (std::size_t row = 0; row < n; row++)
            owners.resize(static_cast<std::size_t>(found.candidates.offsets[row + 1]), row);
        verdicts.resize(pairs);
        pair_beats.resize(pairs);
        gone.resize(pairs);
    }

    std::size_t size() const { return states.size(); }
    bool is_ranked() const { return !ranks.empty(); }
    bool is_better(std::size_t row, Bytes rank) const { return std::ranges::lexicographical_compare(rank, ranks[row]); }
    std::int64_t number(std::size_t pair) const { return found.candidates.numbers[pair]; }
    // The columns of keys that find a pair, and BY_SIMHASH. A near one counts as found by its fingerprint, also if an equal
    // one hid it: what hides depends on superseded documents, which an index that is built again does not know.
    std::uint32_t columns_of(std::size_t pair) const {
        const bool is_near = found.candidates.distances[pair] <= found.distance && !prints[owners[pair]].is_short;
        return found.candidates.columns[pair] | (is_near ? BY_SIMHASH : 0);
    }
    bool is_here(std::int64_t number) const { return number >= held; }
    std::size_t row_of(std::int64_t number) const { return static_cast<std::size_t>(number - held); }
};

// Decides the open rows in turn; returns the pairs still to be judged. most: candidates of a text that are compared;
// by_distance: whether of pairs that are as sure the nearest is chosen. A pair that is not judged yet counts as refused:
// most are, so the next time few are needed. With none needed the outcome holds.
std::vector<std::size_t> decide_in_turn(Part& part, std::int64_t most, bool by_distance);

}  // namespace dedup
