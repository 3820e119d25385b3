// What finds texts, at the border to Python.
#pragma once
#include "core/bind.hpp"

#include "index/index.hpp"

namespace dedup {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Values, digests, whether they are short, keys and bits of n texts, see Fingerprints of columns.py.
using PrintArrays = std::tuple<InColumn<std::uint64_t>, InColumn<std::uint64_t>, InColumn<bool>, Rows<std::uint32_t>, Rows<std::uint64_t>>;

class OwnPrints {
public:
    explicit OwnPrints(const PrintArrays& arrays) : arrays_(arrays) {
        const auto& [values, digests, is_short, keys, bits] = arrays_;
        const std::size_t n = values.size();
        if (digests.size() != n || is_short.size() != n || keys.shape(0) != n || bits.shape(0) != n)
            refuse("as many digests, flags, keys and bits as fingerprints are needed");
        if (keys.shape(1) > MOST_COLUMNS) refuse("a sketch has 32 keys at most");
        const auto copy = [n](const auto& column, auto& to) {
            to.resize(n);
            for (std::size_t i = 0; i < n; i++) to[i] = column[i];
        };
        copy(view(values), values_);
        copy(view(digests), digests_);
        copy(view(is_short), is_short_);
    }
    Prints view_all() const {
        const auto& keys = std::get<3>(arrays_);
        const auto& bits = std::get<4>(arrays_);
        return {values_, digests_, is_short_, {aligned(keys.data()), keys.size()}, {aligned(bits.data()), bits.size()},
                keys.shape(1), bits.shape(1)};
    }

private:
    const PrintArrays arrays_;
    std::vector<std::uint64_t> values_, digests_;
    std::vector<std::uint8_t> is_short_;
};

}  // namespace dedup
