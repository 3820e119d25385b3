// Entry points of the index room: all channels together.
#include "index/bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "index/look_up.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

// What n texts find in one segment. bits: of the kept ones by number; a text has as many words, or none where they
// are not compared.
std::tuple<CandidateOut, CandidateOut, Out<std::int64_t>> find(const Hamming* near, std::optional<Chunks> pool,
                                                               const Bands* sharing, In<std::uint64_t> fingerprints,
                                                               Rows<const std::uint64_t> kept_bits,
                                                               In<std::uint64_t> values, In<bool> is_short,
                                                               std::optional<Rows<const std::uint32_t>> keys,
                                                               Rows<const std::uint64_t> bits, In<std::int64_t> least,
                                                               std::size_t most_same) {
    const std::size_t n = values.size(), words = bits.shape(1);
    expect("is_short", is_short.size(), n);
    expect("bits", bits.shape(0), n);
    expect("least", least.size(), n);
    check_sketches(words);
    if (sharing) check_columns(sharing->index().columns());
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

std::tuple<CandidateOut, CandidateOut, Out<std::int64_t>> limit(const std::vector<CandidateArrays>& parts,
                                                                In<std::int64_t> least, std::int64_t most_equal,
                                                                std::int64_t most_same) {
    const auto seen = views(parts, least.size());
    if (most_equal < 0 || most_same < 0) refuse("a limit is below 0");
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
    check_sketches(bits.shape(1));
    check_columns(columns);
    if (equal < 0 || same < 0) refuse("a limit is below 0");
    if (count < 0 || count > MOST) refuse("there are more texts than an index can number");
    if (distance > 64) refuse("distance is above 64");
    for (const std::int64_t twin : view(twins)) {
        if (twin < 0 || twin > MOST) refuse("twins are counts");
    }
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
    bind_hamming(m);
    bind_keys(m);
    bind_equal(m);

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
    m.def("limit", &limit, "parts"_a.noconvert(), "least"_a.noconvert(), "most_equal"_a, "most_same"_a,
          "Return as `find` what one index would find, of what several find that hold a part of the texts each.");
    m.def("look_up_in_batch", &look_up_in_batch, "found"_a.noconvert(), "held"_a.noconvert(), "twins"_a.noconvert(),
          "values"_a.noconvert(), "is_short"_a.noconvert(), "keys"_a.noconvert().none(), "bits"_a.noconvert(),
          "least"_a.noconvert(), "limits"_a, "count"_a, "distance"_a,
          "Return candidates, those of the batch among them, the visibility of its texts, and which are alone.");
}

}  // namespace dedup
