// What the entry points of the index room share.
//
// The sizes of arrays are checked at each call. Their contents are what was inserted here, or the file of such an
// index, whose checksum was compared.
#pragma once
#include "core/bind.hpp"

#include <algorithm>
#include <variant>

#include "index/bands.hpp"
#include "index/candidates.hpp"
#include "index/chunk.hpp"
#include "index/hamming.hpp"
#include "index/keys.hpp"

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

inline CandidateView view(const CandidateArrays& arrays, std::size_t texts, bool is_measured) {
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

inline CandidateOut give(Candidates&& found) {
    return {give(std::move(found.offsets)),   give(std::move(found.numbers)),    give(std::move(found.columns)),
            give(std::move(found.distances)), give(std::move(found.agreements)), give(std::move(found.values))};
}

// Equal bits of two sketches are counted in a byte.
inline void check_sketches(std::size_t words) {
    constexpr std::size_t most = 3;
    if (words > most) refuse("sketches have more than 192 bits");
}

// Beside BY_SIMHASH.
inline void check_columns(std::size_t columns) {
    if (columns >= MOST_COLUMNS) refuse("beside fingerprints there are up to 31 columns");
}

inline std::span<const std::uint32_t> keys_of(const Rows<const std::uint32_t>& keys, std::size_t columns) {
    expect("a row of keys", keys.shape(1), columns);
    std::uint32_t all = 0;
    for (const std::uint32_t key : view(keys)) all |= key;
    if (all >> KEY_BITS) refuse("a key is not below 2**" + std::to_string(KEY_BITS));
    return view(keys);
}

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

    void load(Chunks pool, In<std::uint64_t> fingerprints, In<bool> searchable, Rows<const std::uint32_t> repeats) {
        const std::size_t size = fingerprints.size();
        expect("searchable", searchable.size(), size);
        aligned(fingerprints.data());
        if (size > MOST || pool.shape(0) > MOST) refuse("there are more fingerprints than it can number");
        if (index_.size() > 0 || repeats.shape(1) != 2) refuse("it holds something, or these are no pairs");
        if (chunks(pool).size() < index_.layout().buckets) refuse("the pool has fewer chunks than buckets");
        index_.adopt(pool.shape(0), size, view(repeats));
    }

    std::span<const Chunk> held_in(const Chunks& pool, const In<std::uint64_t>& fingerprints) const {
        if (pool.shape(0) < index_.used() || fingerprints.size() < index_.size())
            refuse("these are not the arrays that were filled");
        return chunks(pool);
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
    std::size_t nbytes() const { return starts_.nbytes() + words_.nbytes(); }

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
        : buckets_(buckets), slots_(slots), column_(checked(buckets, slots, number_bits)) {}

    GrowingColumn& column() { return column_; }
    const GrowingColumn& column() const { return column_; }
    std::size_t nbytes() const { return buckets_.nbytes() + slots_.nbytes(); }

private:
    static GrowingColumn checked(const Rows<std::uint32_t>& buckets, const InOut<std::uint64_t>& slots,
                                 int number_bits) {
        if (buckets.shape(1) * sizeof(std::uint32_t) != sizeof(Bucket)) refuse("a bucket has 64 words");
        if (reinterpret_cast<std::uintptr_t>(buckets.data()) % alignof(Bucket))
            refuse("buckets do not begin at a cache line");
        if (slots.size() == 0) refuse("there are no slots");
        if (!GrowingColumn::is_form(buckets.shape(0), number_bits)) refuse("too few buckets for numbers of so many bits");
        return {{reinterpret_cast<Bucket*>(buckets.data()), buckets.shape(0)}, view(slots), number_bits};
    }

    Rows<std::uint32_t> buckets_;
    InOut<std::uint64_t> slots_;
    GrowingColumn column_;
};

// The index of keys with the arrays that it refers to.
class Bands {
public:
    using Columns = std::vector<std::variant<Packed, Growing>>;

    Bands(Columns columns, std::size_t size) : columns_(std::move(columns)), index_(checked(columns_, size)) {}

    const BandIndex& index() const { return index_; }

    void insert(Rows<const std::uint32_t> keys, In<std::uint32_t> stored, std::size_t most_equal,
                InOut<std::int64_t> dropped) {
        const auto rows = keys_of(keys, index_.columns());
        expect("stored", stored.size(), keys.shape(0));
        expect("dropped", dropped.size(), index_.columns());
        if (stored.size() > index_.room()) refuse("there is not as much room as is needed");
        Unlocked unlocked;
        index_.insert(rows, view(stored), most_equal, view(dropped));
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
    static BandIndex checked(const Columns& columns, std::size_t size) {
        if (columns.empty() || columns.size() > MOST_COLUMNS) refuse("an index has 1 to 32 columns");
        if (size > MOST) refuse("there are more texts than it can number");
        std::vector<BandIndex::Column> held;
        for (const auto& one : columns)
            held.push_back(std::visit([](const auto& each) { return BandIndex::Column(each.column()); }, one));
        return {std::move(held), size};
    }

    Columns columns_;
    BandIndex index_;
};

void bind_hamming(nb::module_& m);
void bind_keys(nb::module_& m);
void bind_equal(nb::module_& m);

}  // namespace dedup
