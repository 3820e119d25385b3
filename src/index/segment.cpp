#include "index/segment.hpp"

#include <algorithm>

namespace dedup {

void Segment::add(const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads) {
    near.add(texts.values, texts.is_short, threads);
    equal.add(texts.digests);
    if (texts.columns == 0) return;
    if (!bands) bands.emplace(texts.columns, most_equal);
    bands->add(texts.keys, stored, threads);
    words = texts.words;
    const std::size_t first = bits.size();
    bits.resize(first + texts.bits.size());
    std::ranges::copy(texts.bits, bits.data() + first);
}

Found Segment::find(const Prints& texts, bool compares, std::span<const std::int64_t> least, std::size_t most_same) const {
    const std::size_t n = texts.size();
    Candidates one = Candidates::none(n), other = Candidates::none(n);
    if (by_simhash) {
        one = {};
        near.search(texts.values, texts.is_short, most_same, one);
    }
    if (bands && texts.columns > 0) {
        other = {};
        bands->search(texts.keys, other);
    }
    const std::size_t compared = compares ? texts.words : 0;
    const Measures earlier{near.fingerprints.all(), bits.all(), compared}, own{texts.values, texts.bits, compared};
    Found found;
    found.twins.resize(n);
    for (std::size_t row = 0; row < n; row++) {
        for (std::int64_t i = one.offsets[row]; i < one.offsets[row + 1]; i++) found.twins[row] += one.distances[i] == 0;
        unite(one, other, earlier, own, row, least[row], 0, found.candidates);
        found.candidates.end_text();
    }
    found.held = std::move(other);
    return found;
}

HammingIndex merge_near(const SegmentList& segments) {
    HammingIndex made(segments[0]->near.distance());
    for (const Segment* one : segments) {
        std::vector<std::uint8_t> is_short(one->size());
        std::ranges::transform(one->near.is_searchable.all(), is_short.begin(), [](std::uint8_t is) { return is == 0; });
        made.add(one->near.fingerprints.all(), is_short, 1);
    }
    return made;
}

EqualTexts merge_equal(const SegmentList& segments) {
    EqualTexts made;
    for (const Segment* one : segments) made.add(one->equal.digests.all());
    return made;
}

Ids merge_ids(const SegmentList& segments) {
    Ids made;
    Ids::Buffer buffer;
    for (const Segment* one : segments) {
        for (std::size_t number = 0; number < one->size(); number++) made.add(one->ids.get(number, buffer));
    }
    return made;
}

Pages<std::uint64_t> merge_bits(const SegmentList& segments) {
    Pages<std::uint64_t> made;
    for (const Segment* one : segments) {
        const std::size_t first = made.size();
        made.resize(first + one->bits.size());
        std::ranges::copy(one->bits.all(), made.data() + first);
    }
    return made;
}

}  // namespace dedup
