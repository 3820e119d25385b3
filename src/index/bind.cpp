// Entry points of the index. Files are checked whole before they are loaded; `load` only checks that their arrays fit.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "index/index.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

constexpr std::size_t THREADS = 1;  // loading from a target waits for its documents

void add(Index& index, const StringArrays& fields, const PrintArrays& arrays, const nb::dict& groups) {
    const Prints texts = prints_of(arrays);
    const Strings ids = strings_of(fields);
    if (ids.size() != texts.size()) refuse("as many ids as fingerprints are needed");
    const std::size_t first = index.size();
    {
        Unlocked unlocked;
        std::vector<std::uint32_t> stored;
        if (index.own_segments().size() > 1) {  // limits hold over all segments
            const std::vector<std::int64_t> least(texts.size());
            BatchVisibility visibility = index.look_up(texts, least, THREADS).visibility;
            visibility.store_columns(std::vector<std::uint8_t>(texts.size(), 1));
            stored.assign(visibility.stored().begin(), visibility.stored().end());
        }
        index.add(ids, texts, stored, THREADS);
    }
    for (const auto& [row, group] : groups) index.join(first + nb::cast<std::size_t>(row), nb::cast<std::int64_t>(group));
}

// A kept document that a text finds, see FOUND.
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
            for (const Candidate& one : candidates[row]) {
                if (one.number >= static_cast<std::int64_t>(index.size())) break;  // among the texts themselves
                found.push_back({text, one.number, one.distance, one.agreement, one.number == equal[row]});
                is_known |= one.number == equal[row];
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

void set_gone(Index& index, const StringArrays& fields, bool gone) {
    const Strings ids = strings_of(fields);
    Unlocked unlocked;
    for (const std::int64_t number : index.find_ids(ids, gone)) {
        if (number >= 0) index.set_gone(static_cast<std::size_t>(number), gone);
    }
}

std::string array_name(const std::string& name, std::size_t column, const char* array) {
    return name + "." + std::to_string(column) + "." + array;
}

// Returns an array of a file, writable, as the file is mapped privately.
template <class T>
Pages<T> pages_of(const Tables& tables, const std::string& name) {
    const auto found = tables.view<std::uint8_t>(name);
    if (found.size() % sizeof(T) != 0) refuse("table `" + name + "` is cut off");
    return Pages<T>(std::span(reinterpret_cast<T*>(const_cast<std::uint8_t*>(found.data())), found.size() / sizeof(T)));
}

template <class Member>
void each_array(Member& member, auto use) {
    if constexpr (std::is_same_v<const Member, const HammingIndex>) {
        use("near.fingerprints", member.fingerprints);
        use("near.searchable", member.is_searchable);
    } else if constexpr (std::is_same_v<const Member, const EqualTexts>) {
        use("equal.digests", member.digests);
        use("equal.table", member.table.slots);
    } else if constexpr (std::is_same_v<const Member, const Ids>) {
        use("ids.short", member.short_);
        use("ids.is_long", member.is_long);
        use("ids.long", member.long_);
    } else {
        use("bits", member);
    }
}

// `spilled`, `number_bits` and `dropped` of each column.
using ColumnFacts = std::vector<std::tuple<std::size_t, int, std::int64_t>>;

void load_columns(KeyIndex& made, const Tables& tables, const std::string& name, const ColumnFacts& facts, std::size_t size) {
    for (std::size_t c = 0; c < facts.size(); c++) {
        Column& column = made.columns[c];
        column.buckets = pages_of<Bucket>(tables, array_name(name, c, "buckets"));
        column.slots = pages_of<std::uint64_t>(tables, array_name(name, c, "slots"));
        std::tie(column.spilled, column.number_bits, made.dropped[c]) = facts[c];
        if (column.buckets.empty() || column.slots.empty()) refuse("a column of the index is empty");
    }
    made.set_size(size);
}

std::shared_ptr<Segment> segment_of(const Index& index, const nb::dict& facts, const nb::dict& arrays) {
    auto made = index.new_segment();
    const Tables tables{arrays};
    const auto columns = [&](const char* name) { return nb::cast<ColumnFacts>(facts[name]); };
    const auto map = [&]<class T>(const char* name, Pages<T>& to) { to = pages_of<T>(tables, name); };
    each_array(made->ids, map);
    each_array(made->equal, map);
    each_array(made->near, map);
    each_array(made->bits, map);
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
    made->file = std::shared_ptr<nb::dict>(new nb::dict(arrays), [](nb::dict* owned) {
        const nb::gil_scoped_acquire locked;
        delete owned;
    });
    return made;
}

void load(Index& index, const nb::dict& facts, const nb::dict& arrays, std::int64_t first) {
    const auto own = index.own_segments();
    const std::size_t behind = own.size() - (own.back()->size() == 0);
    index.seal(first < 0 ? behind : static_cast<std::size_t>(first), segment_of(index, facts, arrays));
    if (first >= 0) return;
    const Tables tables{arrays};
    const auto numbers = [&](const char* name) { return std::span<const std::int64_t>(pages_of<std::int64_t>(tables, name)); };
    index.restore(numbers("gone"), numbers("superseded"), numbers("members"), numbers("groups"));
}

using Write = nb::callable;  // takes name and bytes of an array, which are valid during the call

void write_array(const Write& write, const std::string& name, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    write(name, nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(bytes.data(), {bytes.size()}, nb::handle()));
}

// Writes the columns of several indexes merged, without spare slots; returns their facts.
nb::list write_columns(const Write& write, const std::string& name, std::span<const KeyIndex* const> indexes) {
    nb::list facts;
    for (std::size_t c = 0; c < indexes[0]->columns.size(); c++) {
        const Column column = unlocked([&] { return KeyIndex::merged(indexes, c); });
        write_array(write, array_name(name, c, "buckets"), column.buckets);
        write_array(write, array_name(name, c, "slots"), column.slots);
        std::int64_t dropped = 0;
        for (const KeyIndex* index : indexes) dropped += index->dropped[c];
        facts.append(nb::make_tuple(column.spilled, column.number_bits, dropped));
    }
    return facts;
}

// Segments are merged member by member, so that the copy of one of them is in memory at a time.
nb::dict dump(const Index& index, std::size_t first, const Write& write) {
    std::vector<const Segment*> segments;
    for (const auto& segment : index.own_segments().subspan(first)) {
        if (segment->size() > 0 || segments.empty()) segments.push_back(segment.get());
    }
    if (segments.size() > 1 && segments[0]->size() == 0) segments.erase(segments.begin());
    const auto with_merged = [&]<class Member>(Member Segment::* member, auto use, Member all = {}) {
        if (segments.size() == 1) return use(segments[0]->*member);
        unlocked([&] {
            for (const Segment* one : segments) all.append(one->*member);
        });
        use(all);
    };
    const auto write_one = [&](const std::string& name, const auto& values) { write_array(write, name, values); };
    const auto write_arrays = [&](const auto& member) { each_array(member, write_one); };
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
        write_arrays(near);
        std::vector<std::uint32_t> repeats;
        for (const auto& [number, later] : near.repeats) {
            for (const std::uint32_t repeat : later) repeats.insert(repeats.end(), {number, repeat});
        }
        write_one("near.repeats", repeats);
        facts["near"] = write_columns(write, "near", std::vector{&near.blocks});
    };
    with_merged(&Segment::near, write_near, HammingIndex(segments[0]->near.distance()));
    with_merged(&Segment::equal, write_arrays);
    with_merged(&Segment::ids, write_arrays);
    with_merged(&Segment::bits, write_arrays);
    facts["bands"] = bands.empty() ? nb::list() : write_columns(write, "bands", bands);
    std::vector<std::int64_t> members, groups;
    for (const auto& [number, group] : index.groups()) {
        members.push_back(number - static_cast<std::int64_t>(index.referenced()));
        groups.push_back(group);
    }
    write_one("gone", index.gone());
    write_one("superseded", index.superseded());
    write_one("members", members);
    write_one("groups", groups);
    return facts;
}

}  // namespace

void bind_index(nb::module_& m) {
    nb::class_<Index>(m, "Index", "The index of kept documents; see index.py.")
        .def(nb::init<int, bool, const IndexLimits::Values&, const std::vector<Index::Reference>&>(), "distance"_a, "by_simhash"_a,
             "limits"_a, "references"_a = std::vector<Index::Reference>())
        .def("add", &add, "ids"_a.noconvert(), "prints"_a.noconvert(), "groups"_a)
        .def("find", &find, "prints"_a.noconvert())
        .def("find_ids", &find_ids, "ids"_a.noconvert(),
             "Return the number of the live document of this collection with each `_id` field, -1 if there is none.")
        .def("documents", &documents, "numbers"_a.noconvert())
        .def("set_gone", &set_gone, "ids"_a.noconvert(), "gone"_a)
        .def("load", &load, "facts"_a, "arrays"_a, "first"_a = -1,
             "Append the segment of a dump, with its marks; or replace the segments from `first` on by it.")
        .def("dump", &dump, "first"_a, "write"_a, "Call write(name, bytes) for the arrays of KeptIndex.dump; return the facts.")
        .def_prop_ro("counts", [](const Index& index) {
            return nb::make_tuple(index.size(), index.referenced(), index.live(), index.unindexed());
        })
        .def_prop_ro("collections", &Index::collections)
        .def_prop_ro("gone", [](const Index& index) { return give(index.gone()); }, nb::rv_policy::move)
        .def_prop_ro("segments", [](const Index& index) {
            std::vector<std::pair<std::size_t, std::size_t>> sizes;
            for (const auto& segment : index.own_segments()) sizes.emplace_back(segment->size(), segment->nbytes());
            return sizes;
        });
    m.attr("FOUND") = fields({{"row", "i8"}, {"number", "i8"}, {"distance", "u1"}, {"agreement", "u1"}, {"is_equal", "?"}});
}

}  // namespace dedup
