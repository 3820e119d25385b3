// What all rooms need at the border to Python: arrays in and out, the interpreter's lock.
//
// A function takes arrays of exactly the type it names, of one dimension and without gaps (nanobind
// raises TypeError for others), and checks here, once, that what they say of each other holds. Behind
// the border nothing is checked but in builds with assertions.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <time.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/text.hpp"

namespace dedup {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::span<const T> view(const In<T>& array) {
    return {array.data(), array.size()};
}
template <class T>
std::span<T> view(const InOut<T>& array) {
    return {array.data(), array.size()};
}

// ... and an array with gaps between its elements, such as a column of a table.
template <class T>
using InColumn = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;

template <class T>
class ColumnView {
public:
    explicit ColumnView(const InColumn<T>& array) : data_(array.data()), size_(array.size()), stride_(array.stride(0)) {}
    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const { return data_[static_cast<std::int64_t>(i) * stride_]; }

private:
    const T* data_;
    std::size_t size_;
    std::int64_t stride_;
};

// A vector as an array of numpy's, which owns it from now on.
template <class T>
Out<T> give(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.release(), [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
    return Out<T>(data, {size}, owner);
}

// ... and the same of an array of bool, of which a vector keeps bits.
inline Out<bool> give(std::unique_ptr<bool[]> values, std::size_t size) {
    bool* data = values.release();
    nb::capsule owner(data, [](void* array) noexcept { delete[] static_cast<bool*>(array); });
    return Out<bool>(data, {size}, owner);
}

[[noreturn]] inline void refuse(const std::string& why) { throw nb::value_error(why.c_str()); }

// Texts at the border: offsets ascend within the points, and no text is too long for 32 bits.
inline TextColumn texts_of(const In<std::uint32_t>& points, const In<std::int64_t>& offsets) {
    const auto ends = view(offsets);
    if (ends.empty()) refuse("offsets is empty: n texts have n + 1 offsets");
    if (ends.front() < 0 || ends.back() > static_cast<std::int64_t>(points.size()))
        refuse("offsets reach beyond the " + std::to_string(points.size()) + " points");
    for (std::size_t i = 1; i < ends.size(); i++) {
        if (ends[i] < ends[i - 1]) refuse("offsets descend at text " + std::to_string(i - 1));
        if (ends[i] - ends[i - 1] >= std::numeric_limits<std::int32_t>::max())
            refuse("text " + std::to_string(i - 1) + " has more than 2**31 - 2 characters");
    }
    return {view(points), ends};
}

// Runs a block without the interpreter's lock; counts the processor time that this thread spends so.
class Unlocked {
public:
    Unlocked() : began_(thread_seconds()) {}
    ~Unlocked() { spent() += thread_seconds() - began_; }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

    static double& spent() {
        thread_local double seconds = 0;
        return seconds;
    }

private:
    static double thread_seconds() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    }
    nb::gil_scoped_release unlocked_;
    double began_;
};

void bind_core(nb::module_& m);
void bind_bson(nb::module_& m);
void bind_cleaning(nb::module_& m);
void bind_fingerprint(nb::module_& m);
void bind_index(nb::module_& m);
void bind_decision(nb::module_& m);
void bind_pairs(nb::module_& m);

}  // namespace dedup
