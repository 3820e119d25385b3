// Entry points of the index by fingerprint.
#include "index/bind.hpp"

#include <nanobind/stl/vector.h>

using namespace nanobind::literals;

namespace dedup {

void bind_hamming(nb::module_& m) {
    nb::class_<Hamming>(m, "HammingIndex", "Buckets of fingerprints; pool and fingerprints are given to each call.")
        .def(nb::init<const std::vector<std::tuple<int, int, int>>&, int>(), "blocks"_a, "distance"_a)
        .def("insert", &Hamming::insert, "pool"_a.noconvert(), "fingerprints"_a.noconvert(), "searchable"_a.noconvert(),
             "stop"_a, "Insert the fingerprints that come after those inserted.")
        .def("load", &Hamming::load, "pool"_a.noconvert(), "fingerprints"_a.noconvert(), "searchable"_a.noconvert(),
             "repeats"_a.noconvert(), "Use a pool that was filled before. Raises ValueError where it leads outside.")
        .def("repeats", &Hamming::repeats,
             "Return pairs of a number and a later one with the same fingerprint, in a row.")
        .def_prop_ro("used", [](const Hamming& one) { return one.index().used(); });
}

}  // namespace dedup
