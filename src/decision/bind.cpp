// Entry points of the decision room.
#include "core/bind.hpp"

#include "decision/rounds.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

Out<std::int64_t> decide_round(BatchVisibility& visibility, std::int64_t held, In<std::int64_t> offsets,
                               In<std::int64_t> numbers, In<std::uint32_t> columns, In<std::uint8_t> distances,
                               In<std::uint8_t> agreements, In<std::int64_t> rows, In<std::int64_t> twins,
                               In<std::int64_t> alike, In<std::int64_t> places, In<bool> beats,
                               In<std::uint8_t> verdicts, In<double> cost, In<bool> pair_beats, std::int64_t most,
                               bool by_distance, InOut<std::uint8_t> state, InOut<std::int64_t> chosen,
                               InOut<std::int64_t> totals, InOut<std::int64_t> replaced, InOut<std::int64_t> by, InOut<bool> voids) {
    const std::size_t n = visibility.size(), count = numbers.size();
    const std::span<const Verdict> said{reinterpret_cast<const Verdict*>(verdicts.data()), count};
    const Outcome outcome{{reinterpret_cast<State*>(state.data()), n},
                          view(chosen),
                          view(totals),
                          view(replaced),
                          view(by),
                          {reinterpret_cast<std::uint8_t*>(voids.data()), count}};
    std::vector<std::int64_t> needed;
    {
        Unlocked unlocked;
        needed = decide({view(offsets), view(numbers), view(columns), view(distances), view(agreements), {}}, held,
                        visibility, {view(rows), view(twins), view(alike), view(places), flags(beats)},
                        {said, view(cost), flags(pair_beats)}, {most, by_distance}, outcome);
    }
    return give(std::move(needed));
}

}  // namespace

void bind_decision(nb::module_& m) {
    m.def("decide", &decide_round, "visibility"_a, "held"_a, "offsets"_a.noconvert(), "numbers"_a.noconvert(),
          "columns"_a.noconvert(), "distances"_a.noconvert(), "agreements"_a.noconvert(), "rows"_a.noconvert(),
          "twins"_a.noconvert(), "alike"_a.noconvert(), "places"_a.noconvert(), "beats"_a.noconvert(),
          "verdicts"_a.noconvert(), "cost"_a.noconvert(), "pair_beats"_a.noconvert(), "most"_a, "by_distance"_a,
          "state"_a.noconvert(), "chosen"_a.noconvert(), "totals"_a.noconvert(), "replaced"_a.noconvert(), "by"_a.noconvert(),
          "voids"_a.noconvert(),
          "Decide rows of a batch in turn; return the pairs still to be judged, int64 (p,).");
}

}  // namespace dedup
