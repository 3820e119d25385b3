// Entry points of the index room.
//
// What comes out of a file is checked as it is loaded. Calls give arrays that were filled here or by our own code, see
// _core.pyi.
#include "core/bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "index/bands.hpp"
#include "index/candidates.hpp"
#include "index/chunk.hpp"
#include "index/equal.hpp"
#include "index/hamming.hpp"
#include "index/keys.hpp"
#include "index/look_up.hpp"
#include "index/sharing.hpp"

using namespace nanobind::literals;

namespace dedup {

template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Chunks = Rows<std::uint32_t>;  // a chunk in each row

constexpr std::int64_t MOST = 0xFFFFFFFE;  // texts and chunks: both are numbered in 32 bits

// Arrays of candidates, as CandidateView has them.
using CandidateArrays = std::tuple<In<std::int64_t>, In<std::int64_t>, In<std::uint32_t>, In<std::uint8_t>,
                                   In<std::uint8_t>, In<std::uint64_t>>;
using CandidateOut = std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::uint32_t>, Out<std::uint8_t>,
                                Out<std::uint8_t>, Out<std::uint64_t>>;

inline void expect(const char* name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
        refuse(std::string(name) + " has " + std::to_string(found) + " elements, not " + std::to_string(wanted));
}

template <class T>
std::span<const T> view(const Rows<const T>& array) {
    return {aligned(array.data()), array.size()};
}

inline std::span<Chunk> chunks(const Chunks& array) {
    if (array.shape(1) * sizeof(std::uint32_t) != sizeof(Chunk)) refuse("a chunk has 16 words");
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(Chunk)) refuse("chunks do not begin at a cache line");
    return {reinterpret_cast<Chunk*>(array.data()), array.shape(0)};
}

inline CandidateView view(const CandidateArrays& arrays) {
    const auto& [offsets, numbers, columns, distances, agreements, values] = arrays;
    return {view(offsets), view(numbers), view(columns), view(distances), view(agreements), view(values)};
}

inline CandidateOut give(Candidates&& found) {
    return {give(std::move(found.offsets)),   give(std::move(found.numbers)),    give(std::move(found.columns)),
            give(std::move(found.distances)), give(std::move(found.agreements)), give(std::move(found.values))};
}

class Hamming {
public:
    // blocks: offset, bits and radius of each.
    Hamming(const std::vector<std::tuple<int, int, int>>& blocks, int distance) : index_(layout_of(blocks, distance)) {}

    void insert(Chunks pool, In<std::uint64_t> fingerprints, In<bool> searchable, std::size_t stop) {
        Unlocked unlocked;
        index_.insert(chunks(pool), view(fingerprints), flags(searchable), stop);
    }

    void load(Chunks pool, In<std::uint64_t> fingerprints, In<bool> searchable, Rows<const std::uint32_t> repeats) {
        const std::size_t size = fingerprints.size();
        expect("searchable", searchable.size(), size);
        aligned(fingerprints.data());
        if (size > MOST || pool.shape(0) > MOST) refuse("there are more fingerprints than it can number");
        if (index_.size() > 0 || repeats.shape(1) != 2) refuse("it holds something, or these are no pairs");
        if (chunks(pool).size() < index_.layout().buckets) refuse("the pool has fewer chunks than buckets");
        index_.adopt(pool.shape(0), size, view(repeats));
    }

    Out<std::uint32_t> repeats() const { return give(index_.repeats().pairs()); }

    const HammingIndex& index() const { return index_; }

private:
    static HammingLayout layout_of(const std::vector<std::tuple<int, int, int>>& blocks, int distance) {
        HammingLayout layout(distance);
        for (const auto& [offset, bits, radius] : blocks) layout.add(offset, bits, radius);
        return layout;
    }

    HammingIndex index_;
};

inline PackedForm form_of(int address_bits, int number_bits) {
    if (address_bits < 0 || address_bits > KEY_BITS || number_bits < 0 || number_bits > 32 ||
        KEY_BITS - address_bits + number_bits > 57)  // as many are read at once
        refuse("no such form of entries");
    return {address_bits, number_bits};
}

// A packed column with the arrays that it refers to.
class Packed {
public:
    Packed(In<std::uint32_t> starts, In<std::uint64_t> words, int address_bits, int number_bits, std::size_t size)
        : starts_(starts), words_(words), column_(checked(starts, words, form_of(address_bits, number_bits), size)) {}

    const PackedColumn& column() const { return column_; }

private:
    static PackedColumn checked(const In<std::uint32_t>& starts, const In<std::uint64_t>& words, PackedForm form,
                                std::size_t size) {
        expect("starts", starts.size(), form.addresses() + 1);
        if (size >> form.number_bits) refuse("numbers have more bits than was said");
        expect("words", words.size(), form.words(view(starts).back()));
        return {view(starts), view(words), form, size};
    }

    In<std::uint32_t> starts_;
    In<std::uint64_t> words_;
    PackedColumn column_;
};

// A column that grows, with its arrays: a bucket, 64 words, in each row of `buckets`.
class Growing {
public:
    Growing(Rows<std::uint32_t> buckets, InOut<std::uint64_t> slots, int number_bits)
        : buckets_(buckets),
          slots_(slots),
          column_({reinterpret_cast<Bucket*>(buckets.data()), buckets.shape(0)}, view(slots), number_bits) {}

    GrowingColumn& column() { return column_; }
    const GrowingColumn& column() const { return column_; }
    std::size_t nbytes() const { return buckets_.nbytes() + slots_.nbytes(); }

private:
    Rows<std::uint32_t> buckets_;
    InOut<std::uint64_t> slots_;
    GrowingColumn column_;
};

// The index of keys with the arrays that it refers to.
class Bands {
public:
    using Columns = std::vector<std::variant<Packed, Growing>>;

    Bands(Columns columns, std::size_t size) : columns_(std::move(columns)), index_(index_of(columns_, size)) {}

    const BandIndex& index() const { return index_; }

    void insert(Rows<const std::uint32_t> keys, In<std::uint32_t> stored, std::size_t most_equal,
                InOut<std::int64_t> dropped) {
        Unlocked unlocked;
        index_.insert(view(keys), view(stored), most_equal, view(dropped));
    }

    // The columns as they are now.
    Columns columns() const {
        Columns now = columns_;
        for (std::size_t c = 0; c < now.size(); c++) {
            if (auto* growing = std::get_if<Growing>(&now[c])) growing->column() = std::get<GrowingColumn>(index_.column(c));
        }
        return now;
    }

private:
    static BandIndex index_of(const Columns& columns, std::size_t size) {
        std::vector<BandIndex::Column> held;
        for (const auto& one : columns)
            held.push_back(std::visit([](const auto& each) { return BandIndex::Column(each.column()); }, one));
        return {std::move(held), size};
    }

    Columns columns_;
    BandIndex index_;
};

namespace {

bool take(Growing& one, const Growing& other) {
    Unlocked unlocked;
    return one.column().take(other.column());
}

void pack_column(const std::vector<const Bands*>& sources, std::size_t column, int address_bits, int number_bits,
                 InOut<std::uint32_t> starts, InOut<std::uint64_t> words) {
    const PackedForm form = form_of(address_bits, number_bits);
    std::vector<const BandIndex*> indexes;
    for (const Bands* source : sources) indexes.push_back(&source->index());
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
    Unlocked unlocked;
    FormerRows rows(n);
    std::vector<std::int32_t> former(n);
    std::vector<std::int64_t> before(n);
    std::int64_t count = 0;
    for (std::size_t c = 0; c < columns; c += every)
        count += count_pairs(rows, [&](std::size_t i) { return held[i * columns + c]; }, former, before);
    return count;
}

void equal_insert(InOut<std::uint32_t> table, In<std::uint64_t> digests, std::size_t start, std::size_t stop) {
    Unlocked unlocked;
    EqualTable(view(table), view(digests)).insert(start, stop);
}

Out<std::int64_t> equal_find(InOut<std::uint32_t> table, In<std::uint64_t> digests, In<std::uint64_t> fingerprints,
                             In<std::uint64_t> values, In<std::uint64_t> sought) {
    std::vector<std::int64_t> found(values.size());
    {
        Unlocked unlocked;
        EqualTable(view(table), view(digests)).find(view(fingerprints), view(values), view(sought), found);
    }
    return give(std::move(found));
}

// What n texts find in one segment. bits: of the kept ones by number; a text has as many words, or none where they
// are not compared.
std::tuple<CandidateOut, CandidateOut, Out<std::int64_t>> find(const Hamming* near, Chunks pool,
                                                               const Bands* sharing, In<std::uint64_t> fingerprints,
                                                               Rows<const std::uint64_t> kept_bits,
                                                               In<std::uint64_t> values, In<bool> is_short,
                                                               std::optional<Rows<const std::uint32_t>> keys,
                                                               Rows<const std::uint64_t> bits, In<std::int64_t> least,
                                                               std::size_t most_same) {
    const std::size_t n = values.size(), words = bits.shape(1);
    Candidates one = Candidates::none(n), other = Candidates::none(n), all;
    std::vector<std::int64_t> twins(n);
    {
        Unlocked unlocked;
        if (near) {
            one = {};
            near->index().search(chunks(pool), view(fingerprints), view(values), flags(is_short), most_same, one);
        }
        if (sharing && keys) {
            other = {};
            sharing->index().search(view(*keys), other);
        }
        const Measures earlier{view(fingerprints), view(kept_bits), words}, own{view(values), view(bits), words};
        for (std::size_t row = 0; row < n; row++) {
            for (std::int64_t i = one.offsets[row]; i < one.offsets[row + 1]; i++) twins[row] += one.distances[i] == 0;
            unite(one, other, earlier, own, row, view(least)[row], 0, all);
            all.end_text();
        }
    }
    return {give(std::move(all)), give(std::move(other)), give(std::move(twins))};
}

std::tuple<CandidateOut, CandidateOut, Out<std::int64_t>> limit(const std::vector<CandidateArrays>& parts,
                                                                In<std::int64_t> least, std::int64_t most_equal,
                                                                std::int64_t most_same) {
    std::vector<CandidateView> seen;
    for (const CandidateArrays& part : parts) seen.push_back(view(part));
    Found found;
    {
        Unlocked unlocked;
        found = found_together(seen, view(least), most_equal, most_same);
    }
    return {give(std::move(found.candidates)), give(std::move(found.held)), give(std::move(found.twins))};
}

std::tuple<CandidateOut, BatchVisibility, Out<bool>> look_up_in_batch(
    const CandidateArrays& found, const CandidateArrays& held, In<std::int64_t> twins, In<std::uint64_t> values,
    In<bool> is_short, std::optional<Rows<const std::uint32_t>> keys, Rows<const std::uint64_t> bits,
    In<std::int64_t> least, std::tuple<std::size_t, std::int64_t, std::int64_t> limits, std::int64_t count,
    int distance) {
    const std::size_t n = values.size();
    const auto [columns, equal, same] = limits;
    std::span<const std::uint32_t> rows;
    if (keys && columns > 0) rows = view(*keys);
    const CandidateView before = view(found), shared = view(held);
    std::optional<LookUp> made;
    std::unique_ptr<bool[]> alone(new bool[n]);
    {
        Unlocked unlocked;
        made = look_up_among(before, shared, view(twins),
                             {{view(values), view(bits), bits.shape(1)}, flags(is_short), rows, view(least)},
                             {columns, equal, same}, count, distance);
        std::copy(made->alone.begin(), made->alone.end(), alone.get());
    }
    return {give(std::move(made->candidates)), std::move(made->visibility), give(std::move(alone), n)};
}

// An array of what an object holds; as a property's value it keeps the object alive.
Out<std::uint32_t> shown(std::span<std::uint32_t> values) {
    return {values.data(), {values.size()}};
}

}  // namespace

void bind_index(nb::module_& m) {
    nb::class_<Hamming>(m, "HammingIndex", "Buckets of fingerprints; pool and fingerprints are given to each call.")
        .def(nb::init<const std::vector<std::tuple<int, int, int>>&, int>(), "blocks"_a, "distance"_a)
        .def("insert", &Hamming::insert, "pool"_a.noconvert(), "fingerprints"_a.noconvert(), "searchable"_a.noconvert(),
             "stop"_a, "Insert the fingerprints that come after those inserted.")
        .def("load", &Hamming::load, "pool"_a.noconvert(), "fingerprints"_a.noconvert(), "searchable"_a.noconvert(),
             "repeats"_a.noconvert(), "Use a pool that was filled before. Raises ValueError where it leads outside.")
        .def("repeats", &Hamming::repeats,
             "Return pairs of a number and a later one with the same fingerprint, in a row.")
        .def_prop_ro("used", [](const Hamming& one) { return one.index().used(); });
    nb::class_<Packed>(m, "PackedColumn", "A column of keys, packed; see index/packed.py.")
        .def(nb::init<In<std::uint32_t>, In<std::uint64_t>, int, int, std::size_t>(), "starts"_a.noconvert(),
             "words"_a.noconvert(), "address_bits"_a, "number_bits"_a, "size"_a);
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
    m.def("equal_insert", &equal_insert, "table"_a.noconvert(), "digests"_a.noconvert(), "start"_a, "stop"_a);
    m.def("equal_find", &equal_find, "table"_a.noconvert(), "digests"_a.noconvert(), "fingerprints"_a.noconvert(),
          "values"_a.noconvert(), "sought"_a.noconvert(),
          "Return the number of the first text with each value and digest, or -1; int64 (n,).");
    nb::class_<BatchVisibility>(m, "BatchVisibility", "By what later texts of a batch find those that are kept.")
        .def("keep", &BatchVisibility::keep, "row"_a)
        .def(
            "store_columns", [](BatchVisibility& one, In<bool> kept) { one.store_columns(flags(kept)); },
            "kept"_a.noconvert())
        .def("count_unseen", &BatchVisibility::count_unseen)
        .def_prop_ro("most_same", [](const BatchVisibility& one) { return one.limits().same; })
        .def_prop_ro("stored", [](BatchVisibility& one) { return shown(one.stored()); })
        .def_prop_ro("visible", [](BatchVisibility& one) { return shown(one.visible()); });
    m.def("find", &find, "near"_a.none(), "pool"_a.noconvert(), "sharing"_a.none(), "fingerprints"_a.noconvert(),
          "kept_bits"_a.noconvert(), "values"_a.noconvert(), "is_short"_a.noconvert(), "keys"_a.noconvert().none(),
          "bits"_a.noconvert(), "least"_a.noconvert(), "most_same"_a,
          "Look n texts up in all channels; return candidates, whatever shares a key, and how many have the same "
          "fingerprint.");
    m.def("limit", &limit, "parts"_a.noconvert(), "least"_a.noconvert(), "most_equal"_a, "most_same"_a,
          "Return as `find` what one index would find, of what several find that hold a part of the texts each.");
    m.def("look_up_in_batch", &look_up_in_batch, "found"_a.noconvert(), "held"_a.noconvert(), "twins"_a.noconvert(),
          "values"_a.noconvert(), "is_short"_a.noconvert(), "keys"_a.noconvert().none(), "bits"_a.noconvert(),
          "least"_a.noconvert(), "limits"_a, "count"_a, "distance"_a,
          "Return candidates, those of the batch among them, the visibility of its texts, and which are alone.");
}

}  // namespace dedup
