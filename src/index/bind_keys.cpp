// Entry points of the indexes by keys.
#include "index/bind.hpp"

#include "index/bands.hpp"
#include "index/packed.hpp"
#include "index/sharing.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

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
    if (items.size() > MOST) refuse("there are more entries than it can number");
    std::uint64_t keys = 0, numbers = 0;
    for (const std::uint64_t item : view(items)) {
        keys |= item >> 32;
        numbers |= item & 0xFFFFFFFF;
    }
    if (keys >> KEY_BITS) refuse("a key is not below 2**" + std::to_string(KEY_BITS));
    if (numbers >> form.number_bits) refuse("numbers have more bits than was said");
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
}

}  // namespace dedup
