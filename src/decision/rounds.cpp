#include "decision/rounds.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/hash_table.hpp"

namespace dedup {
namespace {

constexpr std::size_t VALUES = 256;  // of agreements and distances, bytes
using Counts = std::array<std::uint32_t, VALUES>;

// Which candidates of a text are compared: those with more equal bits than `agreement`, of those with as many the
// ones nearer than `distance`, and the first `left` at that distance.
struct Cut {
    int agreement = -1, distance = 0;
    std::int64_t left = 0;

    bool passes(int own, int far) {
        if (own != agreement || far != distance) return own > agreement || (own == agreement && far < distance);
        return left > 0 && left-- > 0;
    }
};

// The value up to which there are `left`, from one on up or down; leaves how many of it.
int edge(const Counts& counts, std::int64_t& left, int value, int step) {
    while (std::int64_t{counts[value]} < left) {
        left -= counts[value];
        value += step;
    }
    return value;
}

class Turns {
public:
    Turns(const CandidateView& candidates, std::int64_t held, std::span<const std::uint32_t> visible,
          const PairVerdicts& pairs, Rules rules, const Outcome& outcome)
        : candidates_(candidates), held_(held), visible_(visible), pairs_(pairs), rules_(rules), outcome_(outcome) {
        gone_.reset(0);
    }

    // What a text is a duplicate of, if of anything.
    void choose(std::size_t row) {
        Cut cut = cut_of(row);
        std::int64_t chosen = -1, refused = -1;
        double cost = std::numeric_limits<double>::infinity();
        int apart = 0, agreement = -1, nearest = 0;
        for (std::int64_t pair = candidates_.offsets[row]; pair < candidates_.offsets[row + 1]; pair++) {
            const int own = candidates_.agreements[pair], far = candidates_.distances[pair];
            if (!is_seen(pair) || !cut.passes(own, far)) continue;
            const int near = rules_.by_distance ? far : 0;
            switch (pairs_.verdicts[pair]) {
                case Verdict::unknown:
                    needed.push_back(pair);
                    break;
                case Verdict::joined:
                    if (pairs_.cost[pair] < cost || (pairs_.cost[pair] == cost && near < apart)) {
                        chosen = pair;
                        cost = pairs_.cost[pair];
                        apart = near;
                    }
                    break;
                case Verdict::void_:
                    outcome_.voids[pair] = 1;
                    break;
                case Verdict::refused:
                    if (own > agreement || (own == agreement && far < nearest)) {
                        refused = pair;
                        agreement = own;
                        nearest = far;
                    }
            }
        }
        outcome_.chosen[row] = chosen >= 0 ? chosen : refused;
        outcome_.state[row] = chosen >= 0 ? State::near : State::kept;
    }

    // Lets no later text find what was replaced.
    void forget(std::int64_t number) { gone_[key_of(number)].value = true; }
    bool is_gone(std::int64_t number) const { return gone_.size() && gone_.find(key_of(number)); }

    std::vector<std::int64_t> needed;

private:
    // Whether a text finds the other one of a pair: a kept document, or a text kept by now.
    bool is_seen(std::int64_t pair) const {
        const std::int64_t row = candidates_.numbers[pair] - held_;
        return (row < 0 || (candidates_.columns[pair] & visible_[row]) != 0) && !is_gone(candidates_.numbers[pair]);
    }

    // Counts the candidates of a row and says which of them are compared.
    Cut cut_of(std::size_t row) {
        const std::int64_t start = candidates_.offsets[row], stop = candidates_.offsets[row + 1];
        std::int64_t total = 0;
        for (std::int64_t pair = start; pair < stop; pair++) total += is_seen(pair);
        outcome_.totals[row] = total;
        if (total <= rules_.most) return {};
        Cut cut{0, 0, rules_.most};
        Counts counts{};
        int most = 0;
        for (std::int64_t pair = start; pair < stop; pair++) {
            most = std::max<int>(most, candidates_.agreements[pair]);
            counts[candidates_.agreements[pair]] += is_seen(pair);
        }
        cut.agreement = edge(counts, cut.left, most, -1);
        counts = {};
        for (std::int64_t pair = start; pair < stop; pair++) {
            if (candidates_.agreements[pair] == cut.agreement) counts[candidates_.distances[pair]] += is_seen(pair);
        }
        cut.distance = edge(counts, cut.left, 0, 1);
        return cut;
    }

    const CandidateView candidates_;
    const std::int64_t held_;
    const std::span<const std::uint32_t> visible_;
    const PairVerdicts pairs_;
    const Rules rules_;
    const Outcome outcome_;
    HashTable<bool> gone_;  // numbers of what was replaced
};

}  // namespace

std::vector<std::int64_t> decide(const CandidateView& candidates, std::int64_t held, BatchVisibility& visibility,
                                 const OpenTexts& texts, const PairVerdicts& pairs, Rules rules,
                                 const Outcome& outcome) {
    visibility.begin();
    std::fill(outcome.voids.begin(), outcome.voids.end(), std::uint8_t{0});
    std::fill(outcome.replaced.begin(), outcome.replaced.end(), std::int64_t{-1});
    std::vector<std::int64_t> first(texts.twins.size(), -1);  // the kept row of each text
    Turns turns(candidates, held, visibility.visible(), pairs, rules, outcome);
    const auto keep = [&](std::int64_t row) {
        outcome.state[row] = State::kept;
        visibility.keep(row);
        first[texts.alike[row]] = row;
    };
    // Lets a text take the place of another one. pair: of both, -1 where the texts are equal.
    const auto replace = [&](std::int64_t row, std::int64_t number, std::int64_t pair) {
        outcome.replaced[row] = number;
        outcome.by[row] = pair;
        outcome.chosen[row] = -1;
        turns.forget(number);
        if (const std::int64_t other = number - held; other >= 0) {
            std::int64_t& kept = first[texts.alike[other]];
            if (kept == other) kept = -1;
            outcome.state[other] = pair < 0 ? State::repeated : State::near;
            outcome.chosen[other] = pair < 0 ? row : pair;
        }
        keep(row);
    };
    const auto is_better = [&](std::int64_t row, std::int64_t other) {
        return !texts.places.empty() && texts.places[row] > texts.places[other];
    };
    for (const std::int64_t row : texts.rows) {
        const std::int64_t kept = first[texts.alike[row]], twin = texts.twins[row];
        if (kept >= 0) {
            outcome.state[row] = State::repeated;
            outcome.chosen[row] = kept;
            if (is_better(row, kept)) replace(row, held + kept, -1);
        } else if (twin >= 0 && !turns.is_gone(twin)) {
            outcome.state[row] = State::twin;
            if (!texts.beats.empty() && texts.beats[row]) replace(row, twin, -1);
        } else {
            turns.choose(row);
            if (outcome.state[row] == State::kept) {
                keep(row);
                continue;
            }
            const std::int64_t pair = outcome.chosen[row];
            if (!pairs.beats.empty() && pairs.beats[pair]) replace(row, candidates.numbers[pair], pair);
        }
    }
    return std::move(turns.needed);
}

}  // namespace dedup
