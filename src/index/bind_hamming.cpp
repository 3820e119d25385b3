// Entry points of the index by fingerprint.
#include "index/bind.hpp"

#include <nanobind/stl/vector.h>

#include "index/lanes.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::uint32_t>, Out<std::uint8_t>> find_pairs_within(
    In<std::uint64_t> fingerprints, In<bool> is_short, int distance) {
    expect("is_short", is_short.size(), fingerprints.size());
    if (distance < 0 || distance > 64) refuse("distance is not 0 to 64");
    Candidates found;
    {
        Unlocked unlocked;
        found = pairs_within(view(fingerprints), flags(is_short), distance);
    }
    return {give(std::move(found.offsets)), give(std::move(found.numbers)), give(std::move(found.columns)),
            give(std::move(found.distances))};
}

// What each kind of code that this processor runs says, for tests: of each chunk the entries that are near and the next
// one, and how many fingerprints are near.
std::vector<std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, std::size_t>> lanes_say(Chunks pool, std::uint16_t check,
                                                                                       std::uint16_t limit,
                                                                                       In<std::uint64_t> fingerprints) {
    const auto held = chunks(pool);
    if (limit > 64) refuse("limit is above 64");
    std::vector<std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, std::size_t>> said;
    for (const Lanes& lanes : all_lanes()) {
        std::vector<Walk> walks;
        for (std::uint32_t i = 0; i < held.size(); i++) walks.push_back({i, check, limit, 0, 0, 0});
        lanes.scan_chunks(held.data(), walks);
        std::vector<std::uint32_t> near, next;
        for (const Walk& walk : walks) {
            near.push_back(walk.near);
            next.push_back(walk.next);
        }
        said.emplace_back(give(std::move(near)), give(std::move(next)),
                          lanes.count_near(view(fingerprints), check, limit));
    }
    return said;
}

}  // namespace

void bind_hamming(nb::module_& m) {
    nb::class_<Hamming>(m, "HammingIndex", "Buckets of fingerprints; pool and fingerprints are given to each call.")
        .def(nb::init<const std::vector<std::tuple<int, int, int>>&, int>(), "blocks"_a, "distance"_a)
        .def("insert", &Hamming::insert, "pool"_a.noconvert(), "fingerprints"_a.noconvert(), "searchable"_a.noconvert(),
             "stop"_a, "Insert the fingerprints that come after those inserted.")
        .def("search", &Hamming::search, "pool"_a.noconvert(), "fingerprints"_a.noconvert(), "queries"_a.noconvert(),
             "most_equal"_a,
             "Return offsets, numbers, columns and distances of what is within the distance of n queries.")
        .def("load", &Hamming::load, "pool"_a.noconvert(), "fingerprints"_a.noconvert(), "searchable"_a.noconvert(),
             "repeats"_a.noconvert(), "Use a pool that was filled before. Raises ValueError where it leads outside.")
        .def("flips", &Hamming::flips, "block"_a)
        .def("repeats", &Hamming::repeats,
             "Return pairs of a number and a later one with the same fingerprint, in a row.")
        .def_prop_ro("used", [](const Hamming& one) { return one.index().used(); });
    m.def("pairs_within", &find_pairs_within, "fingerprints"_a.noconvert(), "is_short"_a.noconvert(), "distance"_a,
          "Return offsets, numbers, columns and distances of the earlier ones within the distance of each.");

    m.def("lanes_say", &lanes_say, "pool"_a.noconvert(), "check"_a, "limit"_a, "fingerprints"_a.noconvert());
}

}  // namespace dedup
