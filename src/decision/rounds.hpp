// Texts decided in turn, round by round, by the verdicts so far.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/candidates.hpp"
#include "index/look_up.hpp"

namespace dedup {

enum class Verdict : std::uint8_t { unknown, joined, refused, void_ };  // void: the kept document is gone
enum class State : std::uint8_t { kept, twin, repeated, near };

// The texts that are not decided yet, ascending. twins: of each text of the batch the kept one with
// the same text, below 0 if there is none; alike: the first of the batch with the same text. places: of each text
// among all of the batch, the better copy last, or none where the first copy stays; beats: whether a text is a better
// copy than its twin.
struct OpenTexts {
    std::span<const std::int64_t> rows, twins, alike, places;
    std::span<const std::uint8_t> beats;
};

// What is known of each pair. Of the joined ones the least cost is chosen. beats: whether the text takes the place of
// the other one.
struct PairVerdicts {
    std::span<const Verdict> verdicts;
    std::span<const double> cost;
    std::span<const std::uint8_t> beats;
};

// How many candidates of a text are compared; whether of equal costs the nearest is chosen.
struct Rules {
    std::int64_t most;
    bool by_distance;
};

// chosen: the other row of a repeated text, the pair of a near one, of a kept one the pair with the nearest
// candidate that was compared, or -1; totals: how many candidates there were; replaced: what a text that is a better
// copy takes the place of, a held document or `held` and a row, or -1; by: the pair of both, -1 where their texts are
// equal; voids: compared pairs with a kept document that is gone.
// A row that is replaced is a repeated or near one: of the text that replaced it, by the pair of that one.
struct Outcome {
    std::span<State> state;
    std::span<std::int64_t> chosen, totals, replaced, by;
    std::span<std::uint8_t> voids;
};

// Decides the open rows in turn; returns the pairs still to be judged. A pair that is not judged yet counts as
// refused: most are, so the next time few are needed. With none needed the outcome holds.
// held: number of the first text of the batch among the candidates.
std::vector<std::int64_t> decide(const CandidateView& candidates, std::int64_t held, BatchVisibility& visibility,
                                 const OpenTexts& texts, const PairVerdicts& pairs, Rules rules,
                                 const Outcome& outcome);

}  // namespace dedup
