// Entry points of the indexes by keys.
#include "index/bind.hpp"

#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "index/sharing.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

bool take(Growing& one, const Growing& other) {
    Unlocked unlocked;
    return one.column().take(other.column());
}

void pack_column(const std::vector<const Bands*>& sources, std::size_t column, int address_bits, int number_bits,
                 InOut<std::uint32_t> starts, InOut<std::uint64_t> words) {
    const PackedForm form = form_of(address_bits, number_bits);
    std::vector<const BandIndex*> indexes;
    std::size_t size = 0;
    for (const Bands* source : sources) {
        if (!source) refuse("a source is none");
        if (column >= source->index().columns()) refuse("there is no such column");
        indexes.push_back(&source->index());
        size += source->index().size();
    }
    if (size > MOST || size >> form.number_bits) refuse("numbers have more bits than was said");
    expect("starts", starts.size(), form.addresses() + 1);
    bool is_packed;
    {
        Unlocked unlocked;
        is_packed = pack(indexes, column, form, view(starts), view(words));
    }
    if (!is_packed) refuse("words are not as many as are needed, or a number is of no text");
}

template <class Key>
std::int64_t count_meetings(Rows<const Key> keys, std::size_t every) {
    const std::size_t n = keys.shape(0), columns = keys.shape(1);
    const auto held = view(keys);
    if (every < 1) refuse("every is below 1");
    if (n > std::size_t{1} << 30) refuse("there are more than 2**30 rows");
    Unlocked unlocked;
    FormerRows rows(n);
    std::vector<std::int32_t> former(n);
    std::vector<std::int64_t> before(n);
    std::int64_t count = 0;
    for (std::size_t c = 0; c < columns; c += every)
        count += count_pairs(rows, [&](std::size_t i) { return held[i * columns + c]; }, former, before);
    return count;
}

}  // namespace

void bind_keys(nb::module_& m) {
    nb::class_<Packed>(m, "PackedColumn", "A column of keys, packed; see index/packed.py.")
        .def(nb::init<In<std::uint32_t>, In<std::uint64_t>, int, int, std::size_t>(), "starts"_a.noconvert(),
             "words"_a.noconvert(), "address_bits"_a, "number_bits"_a, "size"_a)
        .def_prop_ro("nbytes", &Packed::nbytes);
    nb::class_<Growing>(m, "GrowingColumn", "A column of keys that grows; see index/bands.py.")
        .def(nb::init<Rows<std::uint32_t>, InOut<std::uint64_t>, int>(), "buckets"_a.noconvert(), "slots"_a.noconvert(),
             "number_bits"_a)
        .def("take", &take, "other"_a, "Take what another column holds; return whether there was room.")
        .def_prop_ro("spilled", [](const Growing& one) { return one.column().spilled(); })
        .def_prop_ro("nbytes", &Growing::nbytes);
    nb::class_<Bands>(m, "BandIndex", "Columns of keys.")
        .def(nb::init<Bands::Columns, std::size_t>(), "columns"_a, "size"_a)
        .def_prop_ro("columns", &Bands::columns)
        .def_prop_ro("room", [](const Bands& one) { return one.index().room(); })
        .def("insert", &Bands::insert, "keys"_a.noconvert(), "stored"_a.noconvert(), "most_equal"_a,
             "dropped"_a.noconvert());
    m.def("pack", &pack_column, "sources"_a, "column"_a, "address_bits"_a, "number_bits"_a, "starts"_a.noconvert(),
          "words"_a.noconvert(), "Pack a column of several indexes into arrays of zeros.");
    m.def("count_meetings", &count_meetings<std::uint32_t>, "keys"_a.noconvert(), "every"_a,
          "Count the pairs of rows with the same key, in each column or every so many.");
    m.def("count_meetings", &count_meetings<std::uint64_t>, "keys"_a.noconvert(), "every"_a);
}

}  // namespace dedup
