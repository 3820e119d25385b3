// Entry points of the index room.
//
// Files are checked as a whole before they are loaded; here it is only seen that their arrays fit each other.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "index/index.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

constexpr std::size_t THREADS = 1;  // where the index is filled from a target, which takes longer

void make_index(Index* made, int distance, bool by_simhash, std::tuple<std::size_t, std::int64_t, std::int64_t> limits,
                const std::vector<Index::Other>& others) {
    const auto [equal, same, same_sketched] = limits;
    new (made) Index(distance, by_simhash, {equal, same, same_sketched}, others);
}

void add(Index& index, const StringArrays& fields, const PrintArrays& arrays, const nb::dict& groups) {
    const Prints texts = prints_of(arrays);
    const Strings ids = strings_of(fields);
    if (ids.size() != texts.size()) refuse("as many ids as fingerprints are needed");
    const std::size_t first = index.size();
    {
        Unlocked unlocked;
        std::vector<std::uint32_t> stored;
        if (index.own_segments().size() > 1) {  // limits hold over all of them
            const std::vector<std::int64_t> least(texts.size());
            BatchVisibility visibility = index.look_up(texts, least, THREADS).visibility;
            visibility.store_columns(std::vector<std::uint8_t>(texts.size(), 1));
            stored.assign(visibility.stored().begin(), visibility.stored().end());
        }
        index.add(ids, texts, stored, THREADS);
    }
    for (const auto& [row, group] : groups) index.join(first + nb::cast<std::size_t>(row), nb::cast<std::int64_t>(group));
}

// A kept document that a text finds.
struct FoundDocument {
    std::int64_t row, number;
    std::uint8_t distance, agreement;
    bool is_equal;
};

Out<std::uint8_t> find(const Index& index, const PrintArrays& arrays) {
    const Prints texts = prints_of(arrays);
    return give_records(unlocked([&] {
        std::vector<FoundDocument> found;
        const std::vector<std::int64_t> least(texts.size()), equal = index.find_equal(texts);
        const Candidates candidates = index.look_up(texts, least, THREADS).candidates;
        for (std::size_t row = 0; row < texts.size(); row++) {
            const auto text = static_cast<std::int64_t>(row);
            bool is_known = equal[row] < 0 || index.is_gone(equal[row]);
            for (std::int64_t i = candidates.offsets[row]; i < candidates.offsets[row + 1]; i++) {
                const std::int64_t number = candidates.numbers[i];
                if (number >= static_cast<std::int64_t>(index.size())) continue;  // among the texts themselves
                found.push_back({text, number, candidates.distances[i], candidates.agreements[i], number == equal[row]});
                is_known |= number == equal[row];
            }
            if (!is_known) found.push_back({text, equal[row], 0, 0, true});
        }
        return found;
    }));
}

Out<std::int64_t> find_ids(Index& index, const StringArrays& fields) {
    const Strings ids = strings_of(fields);
    return give(unlocked([&] { return index.find_ids(ids, true); }));
}

std::tuple<StringsOut, Out<std::uint64_t>> documents(const Index& index, In<std::int64_t> numbers) {
    StringBuffer ids;
    std::vector<std::uint64_t> values;
    for (const std::int64_t number : view(numbers)) {
        ids.add(bytes_of(index.id_of(static_cast<std::size_t>(number))));
        values.push_back(index.fingerprint_of(static_cast<std::size_t>(number)));
    }
    return {give(std::move(ids)), give(std::move(values))};
}

// Forgets documents by their ids, or finds the last ones of these ids again.
void set_gone(Index& index, const StringArrays& fields, bool gone) {
    const Strings ids = strings_of(fields);
    Unlocked unlocked;
    for (const std::int64_t number : index.find_ids(ids, gone)) {
        if (number >= 0) index.set_gone(static_cast<std::size_t>(number), gone);
    }
}

std::string array_of(const std::string& name, std::size_t column, const char* array) {
    return name + "." + std::to_string(column) + "." + array;
}

// What an array of a file holds, writable: the file is mapped privately.
template <class T>
Pages<T> pages_of(const Tables& tables, const std::string& name) {
    const auto found = tables.view<std::uint8_t>(name);
    if (found.size() % sizeof(T) != 0) refuse("table `" + name + "` is cut off");
    return Pages<T>(std::span(reinterpret_cast<T*>(const_cast<std::uint8_t*>(found.data())), found.size() / sizeof(T)));
}

// Spilled, number bits and left out of each column, as a file names them.
using ColumnFacts = std::vector<std::tuple<std::size_t, int, std::int64_t>>;

void load_columns(KeyIndex& made, const Tables& tables, const std::string& name, const ColumnFacts& facts, std::size_t size) {
    for (std::size_t c = 0; c < facts.size(); c++) {
        Column& column = made.columns[c];
        column.buckets = pages_of<Bucket>(tables, array_of(name, c, "buckets"));
        column.slots = pages_of<std::uint64_t>(tables, array_of(name, c, "slots"));
        std::tie(column.spilled, column.number_bits, made.dropped[c]) = facts[c];
        if (column.buckets.empty() || column.slots.empty()) refuse("a column of the index is empty");
    }
    made.set_size(size);
}

std::shared_ptr<Segment> segment_of(const Index& index, const nb::dict& facts, const nb::dict& arrays) {
    auto made = index.new_segment();
    const Tables tables(arrays);
    const auto columns = [&](const char* name) { return nb::cast<ColumnFacts>(facts[name]); };
    made->ids.short_ = pages_of<Ids::Short>(tables, "ids.short");
    made->ids.is_long = pages_of<std::uint8_t>(tables, "ids.is_long");
    made->ids.long_ = pages_of<std::uint8_t>(tables, "ids.long");
    made->equal.digests = pages_of<std::uint64_t>(tables, "equal.digests");
    made->equal.table.slots = pages_of<std::uint32_t>(tables, "equal.table");
    made->near.fingerprints = pages_of<std::uint64_t>(tables, "near.fingerprints");
    made->near.is_searchable = pages_of<std::uint8_t>(tables, "near.searchable");
    made->bits = pages_of<std::uint64_t>(tables, "bits");
    made->words = nb::cast<std::size_t>(facts["words"]);
    const ColumnFacts blocks = columns("near"), bands = columns("bands");
    const std::size_t size = made->size();
    if (made->equal.size() != size || made->near.size() != size || made->ids.is_long.size() != size ||
        made->near.is_searchable.size() != size || made->bits.size() != size * made->words ||
        std::popcount(made->equal.table.slots.size()) > 1 || blocks.size() != made->near.blocks.columns.size())
        refuse("the arrays of the index do not fit each other");
    const auto pairs = pages_of<std::uint32_t>(tables, "near.repeats");
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) made->near.repeats[pairs[i]].push_back(pairs[i + 1]);
    load_columns(made->near.blocks, tables, "near", blocks, size);
    if (!bands.empty()) load_columns(made->bands.emplace(bands.size(), made->most_equal), tables, "bands", bands, size);
    made->file = std::shared_ptr<nb::dict>(new nb::dict(arrays), [](nb::dict* held) {
        const nb::gil_scoped_acquire locked;
        delete held;
    });
    return made;
}

// Adds what `dump` gave away. first: of the segments in whose place it is put, below 0: behind all, and its marks count.
void load(Index& index, const nb::dict& facts, const nb::dict& arrays, std::int64_t first) {
    const auto own = index.own_segments();
    const std::size_t behind = own.size() - (own.back()->size() == 0);
    index.seal(first < 0 ? behind : static_cast<std::size_t>(first), segment_of(index, facts, arrays));
    if (first >= 0) return;
    const Tables tables(arrays);
    const auto numbers = [&](const char* name) { return std::span<const std::int64_t>(pages_of<std::int64_t>(tables, name)); };
    index.restore({numbers("gone"), numbers("superseded"), numbers("members"), numbers("groups")});
}

using Write = nb::callable;  // takes the name and the bytes of an array, which are valid as long as it runs

void write_array(const Write& write, const std::string& name, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    write(name, nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(bytes.data(), {bytes.size()}, nb::handle()));
}

using SegmentList = std::vector<const Segment*>;  // they follow one another

// Calls write(part) for a part of the only segment, or for those of several as one, which is made of `all`.
template <class Part>
void write_part(const SegmentList& segments, Part Segment::* part, auto write, Part all = {}) {
    if (segments.size() == 1) return write(segments[0]->*part);
    unlocked([&] {
        for (const Segment* one : segments) all.append(one->*part);
    });
    write(all);
}

// Writes the columns of several indexes as one, without spare slots; returns their facts.
nb::list write_columns(const Write& write, const std::string& name, std::span<const KeyIndex* const> parts) {
    nb::list facts;
    for (std::size_t c = 0; c < parts[0]->columns.size(); c++) {
        const Column column = unlocked([&] { return KeyIndex::merged(parts, c); });
        write_array(write, array_of(name, c, "buckets"), column.buckets);
        write_array(write, array_of(name, c, "slots"), column.slots);
        std::int64_t dropped = 0;
        for (const KeyIndex* part : parts) dropped += part->dropped[c];
        facts.append(nb::make_tuple(column.spilled, column.number_bits, dropped));
    }
    return facts;
}

// Gives away what became of all own documents.
void dump_marks(const Index& index, const Write& write) {
    const std::vector<std::int64_t> gone = index.gone(), superseded = index.superseded();
    std::vector<std::int64_t> members, groups;
    for (const auto& [number, group] : index.groups()) {
        members.push_back(number - static_cast<std::int64_t>(index.others()));
        groups.push_back(group);
    }
    write_array(write, "gone", gone);
    write_array(write, "superseded", superseded);
    write_array(write, "members", members);
    write_array(write, "groups", groups);
}

// Gives away the segments from `first` on as one, array by array, so that one of them is in memory at a time, and the
// marks; returns its facts.
nb::dict dump(const Index& index, std::size_t first, const Write& write) {
    SegmentList segments;
    for (const auto& segment : index.own_segments().subspan(first)) {
        if (segment->size() > 0 || segments.empty()) segments.push_back(segment.get());
    }
    if (segments.size() > 1 && segments[0]->size() == 0) segments.erase(segments.begin());
    nb::dict facts;
    std::size_t documents = 0;
    std::vector<const KeyIndex*> bands;
    for (const Segment* one : segments) {
        documents += one->size();
        if (one->bands) bands.push_back(&*one->bands);
    }
    facts["documents"] = documents;
    facts["words"] = segments[0]->words;
    const auto write_near = [&](const HammingIndex& near) {
        write_array(write, "near.fingerprints", near.fingerprints);
        write_array(write, "near.searchable", near.is_searchable);
        std::vector<std::uint32_t> repeats;
        for (const auto& [number, later] : near.repeats) {
            for (const std::uint32_t other : later) repeats.insert(repeats.end(), {number, other});
        }
        write_array(write, "near.repeats", repeats);
        facts["near"] = write_columns(write, "near", std::vector{&near.blocks});
    };
    write_part(segments, &Segment::near, write_near, HammingIndex(segments[0]->near.distance()));
    write_part(segments, &Segment::equal, [&](const EqualTexts& equal) {
        write_array(write, "equal.digests", equal.digests);
        write_array(write, "equal.table", equal.table.slots);
    });
    write_part(segments, &Segment::ids, [&](const Ids& ids) {
        write_array(write, "ids.short", ids.short_);
        write_array(write, "ids.is_long", ids.is_long);
        write_array(write, "ids.long", ids.long_);
    });
    write_part(segments, &Segment::bits, [&](const Pages<std::uint64_t>& bits) { write_array(write, "bits", bits); });
    facts["bands"] = bands.empty() ? nb::list() : write_columns(write, "bands", bands);
    dump_marks(index, write);
    return facts;
}

}  // namespace

void bind_index(nb::module_& m) {
    nb::class_<Index>(m, "Index", "The kept documents, and what finds them; see index.py.")
        .def("__init__", &make_index, "distance"_a, "by_simhash"_a, "limits"_a, "others"_a = std::vector<Index::Other>(),
             "others: names of other collections with their documents, which count as kept before all.")
        .def("add", &add, "ids"_a.noconvert(), "prints"_a.noconvert(), "groups"_a,
             "Add n documents by their `_id` fields; groups: by row, of those that did not found theirs.")
        .def("find", &find, "prints"_a.noconvert(), "Return the kept documents that n texts find, records of FOUND.")
        .def("find_ids", &find_ids, "ids"_a.noconvert(),
             "Return the number of the live document of this collection with each `_id` field, -1 if there is none.")
        .def("documents", &documents, "numbers"_a.noconvert(), "Return `_id` fields and fingerprints of documents.")
        .def("set_gone", &set_gone, "ids"_a.noconvert(), "gone"_a,
             "Find documents no more, but as equal; or find the last ones with these `_id` fields again.")
        .def("load", &load, "facts"_a, "arrays"_a, "first"_a = -1,
             "Add the documents of a dump behind all, with its marks, or in the place of the segments from `first` on.")
        .def("dump", &dump, "first"_a, "write"_a,
             "Give the arrays of the segments from `first` on, as one, and the marks of all documents to write(name, bytes);\n"
             "return its facts.")
        .def_prop_ro("counts", [](const Index& index) {  // documents known, of other collections, kept still; see `unindexed`
            return nb::make_tuple(index.size(), index.others(), index.live(), index.unindexed());
        })
        .def_prop_ro("places", &Index::places)
        .def_prop_ro("gone", [](const Index& index) { return give(index.gone()); }, nb::rv_policy::move)
        .def_prop_ro("segments", [](const Index& index) {
            std::vector<std::pair<std::size_t, std::size_t>> sizes;
            for (const auto& segment : index.own_segments()) sizes.emplace_back(segment->size(), segment->nbytes());
            return sizes;
        });
    m.attr("FOUND") = fields({{"row", "i8"}, {"number", "i8"}, {"distance", "u1"}, {"agreement", "u1"}, {"is_equal", "?"}});
}

}  // namespace dedup
