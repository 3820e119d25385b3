#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include "decision/part.hpp"

namespace dedup {
namespace {

using judgment::State;

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
    Turns(Part& part, std::int64_t most, bool by_distance)
        : part_(part), candidates_(part.found.candidates), visible_(part.found.visibility.visible()), most_(most),
          by_distance_(by_distance), kept_(part.size(), Part::NONE) {}

    std::vector<std::size_t> decide() {
        part_.found.visibility.begin();
        std::ranges::fill(part_.gone, std::uint8_t{0});
        std::ranges::fill(part_.superseded, Part::NONE);
        for (const std::size_t row : part_.open) decide(row);
        return std::move(needed_);
    }

private:
    void decide(std::size_t row) {
        const std::int64_t kept = kept_[part_.alike[row]], twin = part_.twins[row];
        if (kept >= 0) {
            part_.states[row] = TextState::repeated;
            part_.chosen[row] = kept;
            if (part_.is_ranked() && part_.is_better(row, part_.ranks[kept])) supersede(row, part_.held + kept, Part::NONE);
        } else if (twin >= 0 && !gone_.contains(twin)) {
            part_.states[row] = TextState::twin;
            if (part_.beats[row]) supersede(row, twin, Part::NONE);
        } else {
            choose(row);
            if (part_.states[row] == TextState::kept) return keep(row);
            const std::int64_t pair = part_.chosen[row];
            if (part_.pair_beats[pair]) supersede(row, candidates_.numbers[pair], pair);
        }
    }

    void keep(std::size_t row) {
        part_.states[row] = TextState::kept;
        part_.found.visibility.keep(row);
        kept_[part_.alike[row]] = static_cast<std::int64_t>(row);
    }

    // Lets a text take the place of another one. pair: of both, NONE if the texts are equal.
    void supersede(std::size_t row, std::int64_t number, std::int64_t pair) {
        part_.superseded[row] = number;
        part_.by[row] = pair;
        part_.chosen[row] = Part::NONE;
        gone_.insert(number);
        if (part_.is_here(number)) {
            const std::size_t other = part_.row_of(number);
            std::int64_t& kept = kept_[part_.alike[other]];
            if (kept == static_cast<std::int64_t>(other)) kept = Part::NONE;
            part_.states[other] = pair < 0 ? TextState::repeated : TextState::near;
            part_.chosen[other] = pair < 0 ? static_cast<std::int64_t>(row) : pair;
        }
        keep(row);
    }

    // Finds what a text is a duplicate of, if of anything.
    void choose(std::size_t row) {
        Cut cut = cut_of(row);
        std::int64_t chosen = Part::NONE, refused = Part::NONE;
        double cost = std::numeric_limits<double>::infinity();
        int apart = 0, agreement = -1, nearest = 0;
        for (std::int64_t pair = candidates_.offsets[row]; pair < candidates_.offsets[row + 1]; pair++) {
            const int own = candidates_.agreements[pair], far = candidates_.distances[pair];
            if (!is_seen(pair) || !cut.passes(own, far)) continue;
            const judgment::Verdict& verdict = part_.verdicts[pair];
            const int near = by_distance_ ? far : 0;
            const double own_cost = -(std::isnan(verdict.probability) ? verdict.similarity : verdict.probability);
            switch (verdict.state) {
                case State::unknown:
                    needed_.push_back(static_cast<std::size_t>(pair));
                    break;
                case State::joined:
                    if (own_cost < cost || (own_cost == cost && near < apart)) {
                        chosen = pair;
                        cost = own_cost;
                        apart = near;
                    }
                    break;
                case State::gone:
                    part_.gone[pair] = 1;
                    break;
                case State::refused:
                    if (own > agreement || (own == agreement && far < nearest)) {
                        refused = pair;
                        agreement = own;
                        nearest = far;
                    }
            }
        }
        part_.chosen[row] = chosen >= 0 ? chosen : refused;
        part_.states[row] = chosen >= 0 ? TextState::near : TextState::kept;
    }

    // Whether a text finds the other one of a pair: a kept document, or a text kept by now.
    bool is_seen(std::int64_t pair) const {
        const std::int64_t number = candidates_.numbers[pair];
        const bool is_found = !part_.is_here(number) || (candidates_.columns[pair] & visible_[part_.row_of(number)]) != 0;
        return is_found && (gone_.empty() || !gone_.contains(number));
    }

    // Counts the candidates of a row and returns which of them are compared.
    Cut cut_of(std::size_t row) {
        const std::int64_t start = candidates_.offsets[row], stop = candidates_.offsets[row + 1];
        std::int64_t total = 0;
        for (std::int64_t pair = start; pair < stop; pair++) total += is_seen(pair);
        part_.totals[row] = total;
        if (total <= most_) return {};
        Cut cut{0, 0, most_};
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

    Part& part_;
    const Candidates& candidates_;
    const std::span<const std::uint32_t> visible_;
    const std::int64_t most_;
    const bool by_distance_;
    std::vector<std::int64_t> kept_;         // the kept row of each text
    std::unordered_set<std::int64_t> gone_;  // superseded documents
    std::vector<std::size_t> needed_;
};

}  // namespace

std::vector<std::size_t> decide_in_turn(Part& part, std::int64_t most, bool by_distance) {
    return Turns(part, most, by_distance).decide();
}

}  // namespace dedup
