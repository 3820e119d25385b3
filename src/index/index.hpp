// The index of kept documents: what finds them, their ids, and what became of them.
//
// Documents are numbered from 0 in the order in which they were kept, those of other collections before all. They lie in
// segments, of which the last one grows. What several segments find is what one with all documents would: limits hold
// in the order of arrival.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/candidates.hpp"
#include "index/tables.hpp"
#include "index/hamming.hpp"
#include "index/key_index.hpp"
#include "index/look_up.hpp"

namespace dedup {

// A part of the kept documents, with all that finds them; their numbers begin at 0. It grows in memory, or it is one of a
// file, mapped, and does not grow.
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

// How many documents are found by the same: held under a key in each column; found by one fingerprint, the first ones,
// and where there are sketches, which find the others.
struct IndexLimits {
    std::size_t equal;
    std::int64_t same, same_sketched;
};

class Index {
public:
    static constexpr std::int64_t NONE = -1;

    // Another index, and the name of its collection.
    using Other = std::pair<std::string, Index*>;

    // others: whose documents count as kept before all; they are of no use for themselves afterwards.
    Index(int distance, bool by_simhash, IndexLimits limits, std::span<const Other> others = {});

    // Documents known, of other collections and replaced ones included; those of other collections; those kept still.
    std::size_t size() const { return bases_.back() + segments_.back()->size(); }
    std::size_t others() const { return others_; }
    std::size_t live() const;
    // How often a kept document is not found by a key or a fingerprint that many share.
    std::int64_t unindexed() const;
    // The names of other collections by code; the first one is empty.
    std::vector<std::string> places() const;

    // Adds documents by their `_id` fields and texts. stored: the columns of keys by which each is found, as bits; if it
    // is empty, they are those with fewer documents under the key than the limit.
    void add(const auto& fields, const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads) {
        add_ids(fields);
        add_texts(texts, stored, threads);
    }
    void count_unindexed(std::int64_t count) { unindexed_ += count; }

    // Returns the number of the first kept document with the same text that nothing has superseded; else of one that
    // something has, or NONE.
    std::vector<std::int64_t> find_equal(const Prints& texts) const;
    // Looks the candidates of n texts up, in all channels. least: equal bits of the sketches.
    LookUp look_up(const Prints& texts, std::span<const std::int64_t> least, std::size_t threads) const;
    // Returns the number of the last document of this collection with each `_id` field, or NONE; live: of one that is
    // not gone. Safe while another thread adds.
    std::vector<std::int64_t> find_ids(const auto& fields, bool live) {
        const std::scoped_lock lock(adding_);
        std::vector<std::int64_t> numbers(fields.size());
        for (std::size_t i = 0; i < fields.size(); i++) numbers[i] = find_id(fields[i], live);
        return numbers;
    }

    // The `_id` field of a document; of another collection that names it in place of `_id`.
    std::string id_of(std::size_t number) const;
    // The name of the other collection that a document is of, empty if none.
    const std::string& place_of(std::size_t number) const;
    std::uint64_t fingerprint_of(std::size_t number) const;

    // A document that is gone is not found any more, but as equal; one that is superseded not as equal.
    bool is_gone(std::int64_t number) const { return has(number, GONE); }
    void forget(std::size_t number);
    void recall(std::size_t number);
    void supersede(std::size_t number);
    std::vector<std::int64_t> gone() const { return marked(GONE); }

    // The group of a document: the hash of its `_id`, or that of another one which it has joined.
    std::int64_t group_of(std::size_t number) const;
    void join(std::size_t number, std::int64_t group);
    // Gives the documents from a number on other groups where theirs is borne by another live one: a document that is
    // decided again may have founded it before.
    void found_groups(std::size_t first);

    // Adds a segment of a file, which goes behind all; marks: of all own documents until then, by number without the
    // others.
    struct Marks {
        std::span<const std::int64_t> gone, superseded, members, groups;
    };
    void load(std::shared_ptr<Segment> segment);
    void restore(const Marks& marks);
    // Puts a segment of a file in the place of those from `first` on, counted without the others.
    void seal(std::size_t first, std::shared_ptr<Segment> segment);
    std::vector<std::int64_t> superseded() const { return marked(SUPERSEDED); }
    const std::unordered_map<std::int64_t, std::int64_t>& groups() const { return groups_; }
    std::span<const std::shared_ptr<Segment>> own_segments() const { return std::span(segments_).subspan(other_segments_); }
    std::shared_ptr<Segment> new_segment() const;

private:
    enum Mark : std::uint8_t { GONE = 1, SUPERSEDED = 2 };
    struct Location {
        const Segment& segment;
        std::size_t number;
    };

    void add_ids(const auto& fields) {
        adding_.lock();
        for (std::size_t i = 0; i < fields.size(); i++) segments_.back()->ids.add(fields[i]);
        adding_.unlock();
    }
    void add_texts(const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads);
    Found find(const Prints& texts, std::span<const std::int64_t> least, std::size_t threads) const;
    Found find_in_segments(const Prints& texts, bool compares, std::span<const std::int64_t> least, std::int64_t same) const;
    bool compares(const Prints& texts) const;
    std::int64_t most_same(bool has_bits) const { return has_bits ? limits_.same_sketched : limits_.same; }
    Location locate(std::size_t number) const;
    std::int64_t find_id(Bytes field, bool live);
    void enter_ids();
    bool has(std::int64_t number, Mark mark) const {
        return number >= 0 && static_cast<std::size_t>(number) < marks_.size() && (marks_[number] & mark) != 0;
    }
    std::uint8_t& mark(std::size_t number);
    std::vector<std::int64_t> marked(Mark mark) const;
    void count_bases();
    void add_other(const std::string& place, Index& other);

    int distance_;
    bool by_simhash_;
    IndexLimits limits_;
    std::vector<std::shared_ptr<Segment>> segments_;
    std::vector<std::size_t> bases_{0};  // the number of the first document of each segment
    std::size_t others_ = 0, other_segments_ = 0;
    std::int64_t unindexed_ = 0;         // fingerprints, since this process began
    std::vector<std::uint8_t> marks_;    // by number, as far as one is marked
    std::size_t gone_ = 0;               // own documents
    std::unordered_map<std::int64_t, std::int64_t> groups_;   // of those that joined one, by number
    std::unordered_map<std::int64_t, std::int64_t> members_;  // live ones of these, by group
    std::mutex adding_;
    NumberTable id_table_;               // by the hash of the `_id` field, made when needed
    std::size_t entered_ = 0;            // documents in it
};

}  // namespace dedup
