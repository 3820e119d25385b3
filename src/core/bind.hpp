// The border to Python: arrays in and out, texts read, the interpreter's lock.
//
// A function takes arrays of exactly the type it names, of one dimension and without gaps (nanobind raises TypeError for
// others). Contents of documents and files are checked here, once; arrays of our own code are not checked to fit each other.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <optional>

#include "core/text.hpp"

namespace dedup {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

[[noreturn]] inline void refuse(const std::string& why) { throw nb::value_error(why.c_str()); }

// numpy makes arrays out of bytes from any offset on.
template <class T>
T* aligned(T* data) {
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T))
        refuse("an array does not begin at a multiple of its elements");
    return data;
}

template <class T>
std::span<const T> view(const In<T>& array) {
    return {aligned(array.data()), array.size()};
}

// ... with gaps between its elements, such as a column of a table.
template <class T>
using InColumn = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;

template <class T>
ColumnView<T> view(const InColumn<T>& array) {
    return {aligned(array.data()), array.size(), array.stride(0)};
}

// n strings from Python, a tuple: data, starts, lengths; see native/bytes_column.py.
using StringArrays = std::tuple<In<std::uint8_t>, InColumn<std::int64_t>, InColumn<std::int64_t>>;

inline Strings strings_of(const StringArrays& arrays) {
    const auto& [data, starts, lengths] = arrays;
    if (lengths.size() != starts.size()) refuse("as many lengths as starts are needed");
    return {view(data), view(starts), view(lengths)};
}

// n texts in UTF-8, decoded one after the other into one buffer.
class TextReader {
public:
    static constexpr std::size_t BEHIND = 16;  // characters without meaning that may be read behind each text

    explicit TextReader(const Strings& utf8) : utf8_(utf8) {}
    std::size_t size() const { return utf8_.size(); }
    std::span<const std::uint8_t> utf8(std::size_t i) const { return utf8_[i]; }

    // The characters of text i, valid until the next one. Raises ValueError unless it is UTF-8; lone surrogates pass.
    Points operator[](std::size_t i) {
        const auto bytes = utf8_[i];
        if (bytes.size() >= std::numeric_limits<std::int32_t>::max())
            refuse("text " + std::to_string(i) + " has more than 2**31 - 2 bytes");
        const auto points = buffer_.get(bytes.size() + BEHIND);
        const std::ptrdiff_t count = decode_utf8(bytes, points.data());
        if (count == NOT_UTF8) refuse("text " + std::to_string(i) + " is not UTF-8");
        return points.first(static_cast<std::size_t>(count));
    }

private:
    const Strings utf8_;
    PointBuffer buffer_;
};

// One text to and from Python; lone surrogates pass.
inline nb::str str_of(Points text) {
    const auto size = static_cast<Py_ssize_t>(text.size());
    return nb::steal<nb::str>(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), size));
}
inline std::vector<std::uint32_t> points_of(const nb::str& text) {
    std::vector<std::uint32_t> points(static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr())) + 1);
    if (!PyUnicode_AsUCS4(text.ptr(), points.data(), std::ssize(points), true)) nb::raise_python_error();
    points.pop_back();
    return points;
}

// Tables from Python, arrays by name: what `view` returns is valid as long as the dict.
struct Tables {
    nb::dict arrays;

    // Raises ValueError for an unknown name or another number of elements than `size`, TypeError for another type.
    template <class T>
    std::span<const T> view(const std::string& name, std::optional<std::size_t> size = {}) const {
        if (!arrays.contains(name.c_str())) refuse("there is no table `" + name + "`");
        In<T> found;
        if (!nb::try_cast(arrays[name.c_str()], found, false))
            throw nb::type_error(("table `" + name + "` is an array of another type").c_str());
        if (size && found.size() != *size)
            refuse("table `" + name + "` has " + std::to_string(found.size()) + " elements, not " + std::to_string(*size));
        return dedup::view(found);
    }
};

// A vector as an array of numpy's, which takes it over.
template <class T, class As = T>
Out<As> give(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    auto* const data = reinterpret_cast<As*>(owned->data());
    const std::size_t size = owned->size() * sizeof(T) / sizeof(As);
    nb::capsule owner(owned.release(), [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
    return Out<As>(data, {size}, owner);
}

// Records as the bytes of a structured array, whose aligned fields (`fields`) lie as in C++; and back.
template <class T>
Out<std::uint8_t> give_records(std::vector<T>&& values) {
    return give<T, std::uint8_t>(std::move(values));
}
template <class T>
std::span<const T> view_records(const In<std::uint8_t>& bytes) {
    if (bytes.size() % sizeof(T) != 0) refuse("an array is no row of records");
    return {aligned(reinterpret_cast<const T*>(bytes.data())), bytes.size() / sizeof(T)};
}
inline nb::tuple fields(std::initializer_list<std::pair<const char*, std::string>> all) {  // names and formats
    nb::list made;
    for (const auto& [name, format] : all) made.append(nb::make_tuple(name, format));
    return nb::tuple(made);
}

inline nb::tuple names_of(std::span<const std::string_view> names) {
    nb::list made;
    for (const std::string_view name : names) made.append(name);
    return nb::tuple(made);
}

// Strings as a tuple of arrays, see native/bytes_column.py.
using StringsOut = std::tuple<Out<std::uint8_t>, Out<std::int64_t>, Out<std::int64_t>>;

inline StringsOut give(StringBuffer&& strings) {
    return {give(std::move(strings.data)), give(std::move(strings.starts)), give(std::move(strings.lengths))};
}

// Runs a block without the interpreter's lock.
using Unlocked = nb::gil_scoped_release;

// Returns the result of work that is done without the interpreter's lock.
auto unlocked(auto work) {
    const Unlocked lock;
    return work();
}

void bind_cleaning(nb::module_& m);
void bind_fingerprint(nb::module_& m);
void bind_index(nb::module_& m);
void bind_decision(nb::module_& m);
void bind_judgment(nb::module_& m);

}  // namespace dedup
