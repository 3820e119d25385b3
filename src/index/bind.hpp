// What finds texts, at the border to Python.
#pragma once
#include "core/bind.hpp"

#include "index/index.hpp"

namespace dedup {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Records of FINGERPRINT, keys and bits of n texts, see Fingerprints of columns.py.
using PrintArrays = std::tuple<In<std::uint8_t>, Rows<std::uint32_t>, Rows<std::uint64_t>>;

inline Prints prints_of(const PrintArrays& arrays) {
    const auto& [rows, keys, bits] = arrays;
    const Prints made{view_records<Fingerprint>(rows), {aligned(keys.data()), keys.size()}, {aligned(bits.data()), bits.size()},
                      keys.shape(1), bits.shape(1)};
    if (keys.shape(0) != made.size() || bits.shape(0) != made.size()) refuse("as many keys and bits as fingerprints are needed");
    if (made.columns > MOST_COLUMNS) refuse("a sketch has 32 keys at most");
    return made;
}

}  // namespace dedup
