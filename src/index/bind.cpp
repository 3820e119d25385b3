// Entry points of the index room.
//
// An index that grows in memory is what was inserted here: of its arrays the sizes are checked at each call. What
// comes from a file was checked when it was loaded, `load` and `is_sound`, so that no number in it leads outside;
// the numbers in packed columns are compared when they are read.
#include "core/bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "index/bands.hpp"
#include "index/candidates.hpp"
#include "index/equal.hpp"
#include "index/hamming.hpp"
#include "index/lanes.hpp"
#include "index/look_up.hpp"
#include "index/packed.hpp"
#include "index/sharing.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

using dedup::give, dedup::view;  // beside those of candidates and rows

template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Chunks = Rows<std::uint32_t>;  // a chunk in each row

constexpr std::int64_t MOST = 0xFFFFFFFE;  // texts and chunks: both are numbered in 32 bits

// Arrays of candidates, as CandidateView has them.
using CandidateArrays = std::tuple<In<std::int64_t>, In<std::int64_t>, In<std::uint32_t>, In<std::uint8_t>,
                                   In<std::uint8_t>, In<std::uint64_t>>;
using CandidateOut = std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::uint32_t>, Out<std::uint8_t>,
                                Out<std::uint8_t>, Out<std::uint64_t>>;

void expect(const char* name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
        refuse(std::string(name) + " has " + std::to_string(found) + " elements, not " + std::to_string(wanted));
}

template <class T>
std::span<const T> view(const Rows<const T>& array) {
    return {array.data(), array.size()};
}

std::span<Chunk> chunks(const Chunks& array) {
    if (array.shape(1) * sizeof(std::uint32_t) != sizeof(Chunk)) refuse("a chunk has 16 words");
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(Chunk)) refuse("chunks do not begin at a cache line");
    return {reinterpret_cast<Chunk*>(array.data()), array.shape(0)};
}

CandidateView view(const CandidateArrays& arrays, std::size_t texts, bool is_measured) {
    const auto& [offsets, numbers, columns, distances, agreements, values] = arrays;
    const CandidateView seen{view(offsets),   view(numbers),    view(columns),
                             view(distances), view(agreements), view(values)};
    expect("offsets", offsets.size(), texts + 1);
    if (seen.offsets.front() != 0 || seen.offsets.back() != static_cast<std::int64_t>(numbers.size()) ||
        !std::is_sorted(seen.offsets.begin(), seen.offsets.end()))
        refuse("offsets do not ascend to the number of candidates");
    expect("columns", columns.size(), numbers.size());
    if (!is_measured) return seen;
    expect("distances", distances.size(), numbers.size());
    expect("agreements", agreements.size(), numbers.size());
    expect("values", values.size(), numbers.size());
    return seen;
}

CandidateOut give(Candidates&& found) {
    return {give(std::move(found.offsets)),   give(std::move(found.numbers)),    give(std::move(found.columns)),
            give(std::move(found.distances)), give(std::move(found.agreements)), give(std::move(found.values))};
}

std::span<const std::uint32_t> keys_of(const Rows<const std::uint32_t>& keys, std::size_t columns) {
    expect("a row of keys", keys.shape(1), columns);
    std::uint32_t all = 0;
    for (const std::uint32_t key : view(keys)) all |= key;
    if (all >> KEY_BITS) refuse("a key is not below 2**" + std::to_string(KEY_BITS));
    return view(keys);
}

// ---- by fingerprint

class Hamming {
public:
    // blocks: offset, bits and radius of each.
    Hamming(const std::vector<std::tuple<int, int, int>>& blocks, int distance) : index_(layout_of(blocks, distance)) {}

    void insert(Chunks pool, In<std::uint64_t> fingerprints, In<bool> searchable, std::size_t stop) {
        const std::size_t blocks = index_.layout().blocks.size();
        if (stop < index_.size() || stop > MOST || stop > fingerprints.size() || stop > searchable.size())
            refuse("there are not as many fingerprints as are to be inserted");
        const auto room = chunks(pool);
        if (room.size() < index_.layout().buckets + blocks * (stop / Chunk::ENTRIES + 1) || room.size() > MOST)
            refuse("the pool has not as much room as is needed");
        Unlocked unlocked;
        index_.insert(room, view(fingerprints), flags(searchable), stop);
    }

    std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::uint32_t>, Out<std::uint8_t>> search(
        Chunks pool, In<std::uint64_t> fingerprints, In<std::uint64_t> queries, std::size_t most_equal) const {
        Candidates found;
        const auto held = held_in(pool, fingerprints);
        {
            Unlocked unlocked;
            index_.search(held, view(fingerprints), view(queries), {}, most_equal, found);
        }
        return {give(std::move(found.offsets)), give(std::move(found.numbers)), give(std::move(found.columns)),
                give(std::move(found.distances))};
    }

    void load(Chunks pool, In<std::uint64_t> fingerprints, In<bool> searchable, Rows<const std::uint32_t> repeats) {
        const std::size_t size = fingerprints.size();
        expect("searchable", searchable.size(), size);
        if (size > MOST || pool.shape(0) > MOST) refuse("there are more fingerprints than it can number");
        if (index_.size() > 0 || repeats.shape(1) != 2) refuse("it holds something, or these are no pairs");
        const auto held = chunks(pool);
        bool is_sound;
        {
            Unlocked unlocked;
            is_sound = index_.adopt(held, size, view(repeats));
        }
        if (!is_sound) refuse("a chunk or a pair leads outside");
    }

    std::span<const Chunk> held_in(const Chunks& pool, const In<std::uint64_t>& fingerprints) const {
        if (pool.shape(0) < index_.used() || fingerprints.size() < index_.size())
            refuse("these are not the arrays that were filled");
        return chunks(pool);
    }

    Out<std::uint32_t> repeats() const { return give(index_.repeats().pairs()); }

    // What a block's addresses are changed by, for tests.
    Out<std::uint64_t> flips(std::size_t block) const {
        const Block& one = index_.layout().blocks.at(block);
        std::vector<std::uint64_t> flips;
        for (std::size_t f = one.begin; f < one.end; f++) flips.push_back(index_.layout().flips[f].bits);
        return give(std::move(flips));
    }

    const HammingIndex& index() const { return index_; }

private:
    static HammingLayout layout_of(const std::vector<std::tuple<int, int, int>>& blocks, int distance) {
        constexpr int most_distance = 7, most_bits = 28, bits_of_all = 64;
        if (distance < 0 || distance > most_distance) refuse("distance is not 0 to 7");
        if (blocks.empty() || blocks.size() > bits_of_all) refuse("there are no blocks, or too many");
        HammingLayout layout(distance);
        for (const auto& [offset, bits, radius] : blocks) {
            if (bits < 1 || bits > most_bits || offset < 0 || offset > bits_of_all - bits || radius < 0)
                refuse("a block is not of 1 to 28 bits of 64");
            layout.add(offset, bits, radius);
        }
        return layout;
    }

    HammingIndex index_;
};

std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::uint32_t>, Out<std::uint8_t>> find_pairs_within(
    In<std::uint64_t> fingerprints, In<bool> is_short, int distance) {
    expect("is_short", is_short.size(), fingerprints.size());
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

// ---- by keys

// A form of the index of keys, with the arrays that it refers to.
class KeyArrays {
public:
    virtual ~KeyArrays() = default;
    virtual const KeyIndex& index() const = 0;

    std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::uint32_t>> search(Rows<const std::uint32_t> keys) const {
        const auto asked = keys_of(keys, index().columns());
        Candidates found;
        {
            Unlocked unlocked;
            index().search(asked, found);
        }
        return {give(std::move(found.offsets)), give(std::move(found.numbers)), give(std::move(found.columns))};
    }
};

class Bands final : public KeyArrays {
public:
    Bands(Chunks heads, Chunks more, std::size_t buckets, std::size_t columns, std::size_t size)
        : heads_(heads), more_(more), index_(checked(heads, more, buckets, columns, size)), buckets_(buckets) {}

    const KeyIndex& index() const override { return index_; }
    void insert(Rows<const std::uint32_t> keys, In<std::uint32_t> stored, std::size_t most_equal,
                InOut<std::int64_t> dropped) {
        const auto rows = keys_of(keys, index_.columns());
        expect("stored", stored.size(), keys.shape(0));
        expect("dropped", dropped.size(), index_.columns());
        if (index_.size() + stored.size() > MOST) refuse("there are more texts than it can number");
        if (more_.shape(0) < index_.used() + rows.size()) refuse("there is not as much room as is needed");
        Unlocked unlocked;
        index_.insert(rows, view(stored), most_equal, view(dropped));
    }

    void split(std::size_t stop) {
        if (stop < buckets_ || stop > std::size_t{1} << KEY_BITS || heads_.shape(0) < stop * index_.columns())
            refuse("there is not as much room as is needed");
        Unlocked unlocked;
        index_.split(stop);
        buckets_ = stop;
    }

    void column(std::size_t column, InOut<std::uint64_t> items) const {
        if (column >= index_.columns()) refuse("there is no such column");
        std::size_t held;
        {
            Unlocked unlocked;
            held = index_.collect_column(column, view(items));
        }
        expect("items", items.size(), held);
    }

private:
    static BandIndex checked(const Chunks& heads, const Chunks& more, std::size_t buckets, std::size_t columns,
                             std::size_t size) {
        if (columns < 1 || columns > MOST_COLUMNS) refuse("an index has 1 to 32 columns");
        if (buckets < std::size_t{1} << BandIndex::ADDRESS_BITS || buckets > std::size_t{1} << KEY_BITS ||
            heads.shape(0) < buckets * columns)
            refuse("there are fewer heads than buckets");
        if (more.shape(0) < 1 || more.shape(0) > MOST || size > MOST)
            refuse("there are more chunks than it can number");
        const BandIndex index(chunks(heads), chunks(more), buckets, columns, size);
        if (index.used() < 1 || index.used() > more.shape(0)) refuse("these are not the arrays that were filled");
        return index;
    }

    Chunks heads_, more_;
    BandIndex index_;
    std::size_t buckets_;
};

PackedForm form_of(int address_bits, int number_bits) {
    if (address_bits < 0 || address_bits > KEY_BITS || number_bits < 0 || number_bits > 32 ||
        KEY_BITS - address_bits + number_bits > 57)  // as many are read at once
        refuse("no such form of entries");
    return {address_bits, number_bits};
}

class Packed final : public KeyArrays {
public:
    Packed(Rows<const std::uint32_t> starts, In<std::uint64_t> words, int address_bits, int number_bits,
           std::size_t size)
        : starts_(starts), words_(words), index_(checked(starts, words, form_of(address_bits, number_bits), size)) {
        bool is_sound;
        {
            Unlocked unlocked;
            is_sound = index_.is_sound();
        }
        if (!is_sound) refuse("columns of other sizes than was said");
    }

    const KeyIndex& index() const override { return index_; }

    void column(std::size_t column, InOut<std::uint64_t> items) const {
        if (column >= index_.columns()) refuse("there is no such column");
        expect("items", items.size(), index_.held(column));
        Unlocked unlocked;
        index_.collect_column(column, view(items));
    }

private:
    static PackedColumns checked(const Rows<const std::uint32_t>& starts, const In<std::uint64_t>& words,
                                 PackedForm form, std::size_t size) {
        if (starts.shape(0) < 1 || starts.shape(0) > MOST_COLUMNS) refuse("an index has 1 to 32 columns");
        expect("starts of a column", starts.shape(1), form.addresses() + 1);
        if (size >> form.number_bits) refuse("numbers have more bits than was said");
        return {view(starts), view(words), form, starts.shape(0), size};
    }

    Rows<const std::uint32_t> starts_;
    In<std::uint64_t> words_;
    PackedColumns index_;
};

void pack(In<std::uint64_t> items, int address_bits, int number_bits, InOut<std::uint32_t> starts,
          InOut<std::uint64_t> words) {
    const PackedForm form = form_of(address_bits, number_bits);
    expect("starts", starts.size(), form.addresses() + 1);
    expect("words", words.size(), form.words(items.size()));
    Unlocked unlocked;
    PackedColumns::pack(view(items), form, view(starts), view(words));
}

std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::uint32_t>> find_pairs_sharing(
    Rows<const std::uint32_t> keys) {
    if (keys.shape(1) > MOST_COLUMNS) refuse("rows have up to 32 keys");
    if (keys.shape(0) > std::size_t{1} << 30) refuse("there are more than 2**30 rows");
    Candidates found;
    {
        Unlocked unlocked;
        found = pairs_sharing(view(keys), keys.shape(0), keys.shape(1));
    }
    return {give(std::move(found.offsets)), give(std::move(found.numbers)), give(std::move(found.columns))};
}

template <class Key>
std::int64_t count_meetings(Rows<const Key> keys, std::size_t every) {
    const std::size_t n = keys.shape(0), columns = keys.shape(1);
    if (every < 1) refuse("every is below 1");
    if (n > std::size_t{1} << 30) refuse("there are more than 2**30 rows");
    Unlocked unlocked;
    FormerRows rows(n);
    std::vector<std::int32_t> former(n);
    std::vector<std::int64_t> before(n);
    std::int64_t count = 0;
    for (std::size_t c = 0; c < columns; c += every)
        count += count_pairs(rows, [&](std::size_t i) { return keys.data()[i * columns + c]; }, former, before);
    return count;
}

// ---- equal texts

void check_table(const InOut<std::uint32_t>& table, const In<std::uint64_t>& digests, std::size_t size) {
    if (!std::has_single_bit(table.size()) || size >= table.size() || size > digests.size() || size > MOST)
        refuse("a table of another size than its texts take");
}

void equal_insert(InOut<std::uint32_t> table, In<std::uint64_t> digests, std::size_t start, std::size_t stop) {
    check_table(table, digests, stop);
    Unlocked unlocked;
    EqualTable(view(table), view(digests)).insert(start, stop);
}

bool is_equal_table(InOut<std::uint32_t> table, In<std::uint64_t> digests) {
    Unlocked unlocked;
    return EqualTable::is_sound(view(table), digests.size());
}

Out<std::int64_t> equal_find(InOut<std::uint32_t> table, In<std::uint64_t> digests, In<std::uint64_t> fingerprints,
                             In<std::uint64_t> values, In<std::uint64_t> sought) {
    check_table(table, digests, digests.size());
    if (fingerprints.size() < digests.size()) refuse("there are fewer fingerprints than digests");
    expect("digests", sought.size(), values.size());
    std::vector<std::int64_t> found(values.size());
    {
        Unlocked unlocked;
        EqualTable(view(table), view(digests)).find(view(fingerprints), view(values), view(sought), found);
    }
    return give(std::move(found));
}

// ---- all channels

// What n texts find in one segment. bits: of the kept ones by number; a text has as many words, or none where they
// are not compared.
std::tuple<CandidateOut, CandidateOut, Out<std::int64_t>> find(const Hamming* near, std::optional<Chunks> pool,
                                                               const KeyArrays* sharing, In<std::uint64_t> fingerprints,
                                                               Rows<const std::uint64_t> kept_bits,
                                                               In<std::uint64_t> values, In<bool> is_short,
                                                               std::optional<Rows<const std::uint32_t>> keys,
                                                               Rows<const std::uint64_t> bits, In<std::int64_t> least,
                                                               std::size_t most_same) {
    const std::size_t n = values.size(), words = bits.shape(1);
    expect("is_short", is_short.size(), n);
    expect("bits", bits.shape(0), n);
    expect("least", least.size(), n);
    std::size_t held = 0;
    if (near) held = near->index().size();
    if (sharing) held = std::max(held, sharing->index().size());
    if (fingerprints.size() < held) refuse("there are fewer fingerprints than kept texts");
    if (words > 0 && held > 0 && (kept_bits.shape(0) < held || kept_bits.shape(1) != words))
        refuse("kept texts have no such sketches");
    std::span<const Chunk> room;
    if (near) {
        if (!pool) refuse("there is no pool");
        room = near->held_in(*pool, fingerprints);
    }
    std::span<const std::uint32_t> asked;
    if (sharing && keys) {
        asked = keys_of(*keys, sharing->index().columns());
        expect("keys", keys->shape(0), n);
    }
    Candidates one = Candidates::none(n), other = Candidates::none(n), all;
    std::vector<std::int64_t> twins(n);
    {
        Unlocked unlocked;
        if (near) {
            one = {};
            near->index().search(room, view(fingerprints), view(values), flags(is_short), most_same, one);
        }
        if (sharing && keys) {
            other = {};
            sharing->index().search(asked, other);
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

std::vector<CandidateView> views(const std::vector<CandidateArrays>& parts, std::size_t texts) {
    if (parts.empty()) refuse("there are no parts");
    std::vector<CandidateView> seen;
    for (const CandidateArrays& part : parts) seen.push_back(view(part, texts, true));
    return seen;
}

CandidateOut join(const std::vector<CandidateArrays>& parts) {
    const auto seen = views(parts, parts.empty() ? 0 : std::get<0>(parts[0]).size() - 1);
    Candidates all;
    {
        Unlocked unlocked;
        all = joined(seen);
    }
    return give(std::move(all));
}

std::tuple<CandidateOut, CandidateOut, Out<std::int64_t>> limit(const std::vector<CandidateArrays>& parts,
                                                                In<std::int64_t> least, std::int64_t most_equal,
                                                                std::int64_t most_same) {
    const auto seen = views(parts, least.size());
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
    expect("twins", twins.size(), n);
    expect("is_short", is_short.size(), n);
    expect("bits", bits.shape(0), n);
    expect("least", least.size(), n);
    if (n > std::size_t{1} << 30) refuse("there are more than 2**30 texts");
    const auto [columns, equal, same] = limits;
    if (columns > MOST_COLUMNS) refuse("an index has up to 32 columns");
    std::span<const std::uint32_t> rows;
    if (keys && columns > 0) {
        rows = keys_of(*keys, columns);
        expect("keys", keys->shape(0), n);
    }
    const CandidateView before = view(found, n, true), shared = view(held, n, false);
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

    nb::class_<KeyArrays>(m, "KeyIndex")
        .def("search", &KeyArrays::search, "keys"_a.noconvert(),
             "Return offsets, numbers and columns of those that share a key with each of n rows.");
    nb::class_<Bands, KeyArrays>(m, "BandIndex", "Keys in buckets that grow; see index/bands.py.")
        .def(nb::init<Chunks, Chunks, std::size_t, std::size_t, std::size_t>(), "heads"_a.noconvert(),
             "more"_a.noconvert(), "buckets"_a, "columns"_a, "size"_a)
        .def("insert", &Bands::insert, "keys"_a.noconvert(), "stored"_a.noconvert(), "most_equal"_a,
             "dropped"_a.noconvert())
        .def("split", &Bands::split, "stop"_a)
        .def("column", &Bands::column, "column"_a, "items"_a.noconvert(), "Write what a column holds.");
    nb::class_<Packed, KeyArrays>(m, "PackedColumns", "Keys in packed columns; see index/packed.py.")
        .def(nb::init<Rows<const std::uint32_t>, In<std::uint64_t>, int, int, std::size_t>(), "starts"_a.noconvert(),
             "words"_a.noconvert(), "address_bits"_a, "number_bits"_a, "size"_a)
        .def("column", &Packed::column, "column"_a, "items"_a.noconvert(), "Write what a column holds.");
    m.def("pack", &pack, "items"_a.noconvert(), "address_bits"_a, "number_bits"_a, "starts"_a.noconvert(),
          "words"_a.noconvert(), "Pack a column.");
    m.def("pairs_sharing", &find_pairs_sharing, "keys"_a.noconvert(),
          "Return offsets, numbers and columns of the earlier rows that share a key with each.");
    m.def("count_meetings", &count_meetings<std::uint32_t>, "keys"_a.noconvert(), "every"_a,
          "Count the pairs of rows with the same key, in each column or every so many.");
    m.def("count_meetings", &count_meetings<std::uint64_t>, "keys"_a.noconvert(), "every"_a);

    m.def("equal_insert", &equal_insert, "table"_a.noconvert(), "digests"_a.noconvert(), "start"_a, "stop"_a);
    m.def("equal_find", &equal_find, "table"_a.noconvert(), "digests"_a.noconvert(), "fingerprints"_a.noconvert(),
          "values"_a.noconvert(), "sought"_a.noconvert(),
          "Return the number of the first text with each value and digest, or -1; int64 (n,).");
    m.def("is_equal_table", &is_equal_table, "table"_a.noconvert(), "digests"_a.noconvert(),
          "Tell whether all that stands in a table are numbers of these texts, and every search ends.");

    nb::class_<BatchVisibility>(m, "BatchVisibility", "By what later texts of a batch find those that are kept.")
        .def(
            "keep",
            [](BatchVisibility& one, std::size_t row) {
                if (row >= one.size()) refuse("there is no such row");
                one.keep(row);
            },
            "row"_a)
        .def(
            "store_columns",
            [](BatchVisibility& one, In<bool> kept) {
                expect("kept", kept.size(), one.size());
                one.store_columns(flags(kept));
            },
            "kept"_a.noconvert())
        .def("count_unseen", &BatchVisibility::count_unseen)
        .def_prop_ro("most_same", [](const BatchVisibility& one) { return one.limits().same; })
        .def_prop_ro("stored", [](BatchVisibility& one) { return shown(one.stored()); })
        .def_prop_ro("visible", [](BatchVisibility& one) { return shown(one.visible()); });
    m.def("find", &find, "near"_a.none(), "pool"_a.noconvert().none(), "sharing"_a.none(), "fingerprints"_a.noconvert(),
          "kept_bits"_a.noconvert(), "values"_a.noconvert(), "is_short"_a.noconvert(), "keys"_a.noconvert().none(),
          "bits"_a.noconvert(), "least"_a.noconvert(), "most_same"_a,
          "Look n texts up in all channels; return candidates, whatever shares a key, and how many have the same "
          "fingerprint.");
    m.def("join", &join, "parts"_a, "Return what n texts find in several places, one behind the other.");
    m.def("limit", &limit, "parts"_a, "least"_a.noconvert(), "most_equal"_a, "most_same"_a,
          "Return as `find` what one index would find, of what several find that hold a part of the texts each.");
    m.def("look_up_in_batch", &look_up_in_batch, "found"_a, "held"_a, "twins"_a.noconvert(), "values"_a.noconvert(),
          "is_short"_a.noconvert(), "keys"_a.noconvert().none(), "bits"_a.noconvert(), "least"_a.noconvert(),
          "limits"_a, "count"_a, "distance"_a,
          "Return candidates, those of the batch among them, the visibility of its texts, and which are alone.");
}

}  // namespace dedup
