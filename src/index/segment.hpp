// A part of the kept documents, with all that finds them; their numbers begin at 0.
//
// A segment grows in memory, or it is one of a file, mapped, and does not grow.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "index/key_index.hpp"
#include "index/candidates.hpp"
#include "index/equal.hpp"
#include "index/hamming.hpp"
#include "index/ids.hpp"

namespace dedup {

// What n texts are found by: fingerprints, digests, whether they are short, and sketches: rows of `columns` keys and
// of `words` words of bits, 0 where there are none.
struct Prints {
    std::span<const std::uint64_t> values, digests;
    std::span<const std::uint8_t> is_short;
    std::span<const std::uint32_t> keys;
    std::span<const std::uint64_t> bits;
    std::size_t columns = 0, words = 0;

    std::size_t size() const { return values.size(); }
    Prints part(std::size_t first, std::size_t count) const {
        return {values.subspan(first, count),           digests.subspan(first, count), is_short.subspan(first, count),
                keys.subspan(columns * first, columns * count), bits.subspan(words * first, words * count), columns, words};
    }
};

class Segment {
public:
    Segment(int distance, bool by_simhash, std::size_t most_equal)
        : near(distance), by_simhash(by_simhash), most_equal(most_equal) {}

    HammingIndex near;
    EqualTexts equal;
    Ids ids;
    std::optional<KeyIndex> bands;
    Pages<std::uint64_t> bits;  // of sketches, by number
    std::size_t words = 0;      // of each
    bool by_simhash;            // whether fingerprints find documents
    std::size_t most_equal;     // see KeyIndex
    std::string place;          // the other collection that it is of, or empty
    std::shared_ptr<void> file; // what its arrays lie in, if it is one of a file

    std::size_t size() const { return ids.size(); }
    std::size_t nbytes() const {
        return near.nbytes() + equal.nbytes() + ids.nbytes() + bits.nbytes() + (bands ? bands->nbytes() : 0);
    }

    // Adds texts, not their ids; stored: as in KeyIndex::add.
    void add(const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads);

    // Looks n texts up; of equal fingerprints the first `most_same` are found. compares: whether at least `least` bits
    // of the sketches have to be equal.
    Found find(const Prints& texts, bool compares, std::span<const std::int64_t> least, std::size_t most_same) const;
};

// Parts of segments that follow one another, as parts of one.
using SegmentList = std::vector<const Segment*>;
HammingIndex merge_near(const SegmentList& segments);
EqualTexts merge_equal(const SegmentList& segments);
Ids merge_ids(const SegmentList& segments);
Pages<std::uint64_t> merge_bits(const SegmentList& segments);

}  // namespace dedup
