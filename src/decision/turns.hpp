// A part of a batch, and its documents decided in turn.
#pragma once
#include <limits>
#include <unordered_set>

#include "index/candidates.hpp"
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
        : first(first), held(held), prints(prints), found(std::move(look_up)), twin_is_gone(size()), alike(size()),
          beats(size()), verdicts(pairs()), pair_beats(pairs()), states(size()), chosen(size(), NONE), totals(size()),
          superseded(size(), NONE), by(size(), NONE), gone(pairs()) {
        owners.reserve(pairs());
        for (std::size_t row = 0; row < size(); row++)
            owners.resize(static_cast<std::size_t>(found.candidates.offsets[row + 1]), row);
    }

    std::size_t size() const { return prints.size(); }
    std::size_t pairs() const { return found.candidates.numbers.size(); }
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

// Decides the open rows in turn. A pair that is not judged yet counts as refused: most are, so the next time few are
// needed. With none needed the outcome holds.
class Turns {
public:
    // most: candidates of a text that are compared; by_distance: whether of pairs that are as sure the nearest is chosen.
    Turns(Part& part, std::int64_t most, bool by_distance)
        : part_(part), candidates_(part.found.candidates), visible_(part.found.visibility.visible()), most_(most),
          by_distance_(by_distance), kept_(part.size(), Part::NONE) {}

    // Returns the pairs still to be judged.
    std::vector<std::size_t> decide() {
        part_.found.visibility.begin();
        std::ranges::fill(part_.gone, std::uint8_t{0});
        std::ranges::fill(part_.superseded, Part::NONE);
        for (const std::size_t row : part_.open) decide(row);
        return std::move(needed_);
    }

private:
    // Candidates that are compared: those that come before `last`, and the first `left` that are like it.
    struct Cut {
        int last = std::numeric_limits<int>::max();
        std::int64_t left = 0;
    };

    // Those with more equal bits come first, of those with as many the nearer ones.
    int order_of(std::int64_t pair) const { return candidates_.distances[pair] - 256 * candidates_.agreements[pair]; }

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

    void choose(std::size_t row) {
        Cut cut = cut_of(row);
        std::int64_t chosen = Part::NONE, refused = Part::NONE;
        std::pair surest{std::numeric_limits<double>::infinity(), 0};
        int nearest = 0;
        for (std::int64_t pair = candidates_.offsets[row]; pair < candidates_.offsets[row + 1]; pair++) {
            const int order = order_of(pair);
            if (!is_seen(pair) || order > cut.last || (order == cut.last && cut.left-- <= 0)) continue;
            const judgment::Verdict& verdict = part_.verdicts[pair];
            const double sure = std::isnan(verdict.probability) ? verdict.similarity : verdict.probability;
            const std::pair own{-sure, by_distance_ ? candidates_.distances[pair] : 0};
            if (verdict.state == judgment::State::unknown) {
                needed_.push_back(static_cast<std::size_t>(pair));
            } else if (verdict.state == judgment::State::gone) {
                part_.gone[pair] = 1;
            } else if (verdict.state == judgment::State::joined && own < surest) {
                chosen = pair;
                surest = own;
            } else if (verdict.state == judgment::State::refused && (refused < 0 || order < nearest)) {
                refused = pair;
                nearest = order;
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

    Cut cut_of(std::size_t row) {
        orders_.clear();
        for (std::int64_t pair = candidates_.offsets[row]; pair < candidates_.offsets[row + 1]; pair++) {
            if (is_seen(pair)) orders_.push_back(order_of(pair));
        }
        part_.totals[row] = std::ssize(orders_);
        if (std::ssize(orders_) <= most_) return {};
        const auto last = orders_.begin() + std::max(most_ - 1, std::int64_t{0});
        std::ranges::nth_element(orders_, last);
        return {*last, most_ - std::count_if(orders_.begin(), last, [&](int order) { return order < *last; })};
    }

    Part& part_;
    const Candidates& candidates_;
    const std::span<const std::uint32_t> visible_;
    const std::int64_t most_;
    const bool by_distance_;
    std::vector<std::int64_t> kept_;         // the kept row of each text
    std::unordered_set<std::int64_t> gone_;  // superseded documents
    std::vector<std::size_t> needed_;
    std::vector<int> orders_;  // of the candidates of one text
};

}  // namespace dedup
