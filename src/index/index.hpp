// The index of kept documents: what finds them, their ids, and what became of them.
//
// Documents are numbered from 0 in the order in which they were kept, those of other collections before all. They lie in
// segments, of which the last one grows. What several segments find is what one with all documents would: limits hold
// in the order of arrival.
#pragma once
#include <mutex>
#include <optional>

#include "core/bind.hpp"
#include "index/hamming.hpp"

namespace dedup {

// Numbers by a hash: open addressing with linear probing, a number + 1 in each slot, 0: free. Equal hashes lie in it in
// the order of their numbers.
class NumberTable {
public:
    Pages<std::uint32_t> slots;  // a power of two

    // Makes room for some numbers in all; tells whether it is empty now, so that all have to be added again.
    bool reserve(std::size_t count) {
        std::size_t size = std::max(slots.size(), LEAST);
        while (5 * count > 4 * size) size *= 2;
        if (size == slots.size()) return false;
        slots = {};  // never two tables at once
        slots.resize(size);
        return true;
    }
    void add(std::uint64_t hash, std::size_t number) {
        std::size_t at = hash & mask();
        while (slots[at] != 0) at = (at + 1) & mask();
        slots[at] = static_cast<std::uint32_t>(number + 1);
    }
    // Calls take(number) for each number that may have a hash, until it returns true.
    void find(std::uint64_t hash, auto take) const {
        for (std::size_t at = hash & mask(); slots[at] != 0; at = (at + 1) & mask()) {
            if (take(slots[at] - 1)) return;
        }
    }

private:
    static constexpr std::size_t LEAST = 1 << 10;

    std::size_t mask() const { return slots.size() - 1; }
};

// Equal texts: the 128 bits of a fingerprint and a digest lead to the numbers of the documents that have them.
class EqualTexts {
public:
    Pages<std::uint64_t> digests;  // by number
    NumberTable table;             // of digests

    std::size_t size() const { return digests.size(); }
    std::size_t nbytes() const { return digests.nbytes() + table.slots.nbytes(); }

    void add(ColumnView<std::uint64_t> more) {
        std::size_t start = size();
        digests.resize(start + more.size());
        for (std::size_t i = 0; i < more.size(); i++) digests[start + i] = more[i];
        if (table.reserve(size())) start = 0;
        for (std::size_t number = start; number < size(); number++) table.add(digests[number], number);
    }

    void append(const EqualTexts& other) { add(std::span(other.digests)); }

    // Calls take(i, number) for each text with the fingerprint and the digest of the i-th one, in their order, until it
    // returns true; fingerprints: by number.
    template <class Take>
    void find(std::span<const std::uint64_t> fingerprints, std::span<const Fingerprint> sought, Take take) const {
        if (size() == 0) return;
        for (std::size_t i = 0; i < sought.size(); i++) {
            table.find(sought[i].digest, [&](std::uint32_t number) {
                return digests[number] == sought[i].digest && fingerprints[number] == sought[i].value && take(i, number);
            });
        }
    }
};

// The `_id` fields of documents by number: 13 bytes for an ObjectId, 13 and their length for others.
class Ids {
public:
    struct Short {
        std::uint8_t bytes[12];  // an ObjectId; else where in `long_` the field begins, and its length
    };
    // How BSON begins an `_id` that is an ObjectId.
    static constexpr std::array<std::uint8_t, 5> OBJECT_ID{0x07, '_', 'i', 'd', 0};

    using Buffer = std::array<std::uint8_t, OBJECT_ID.size() + sizeof(Short)>;

    Pages<Short> short_;
    Pages<std::uint8_t> is_long, long_;

    std::size_t size() const { return short_.size(); }
    std::size_t nbytes() const { return short_.nbytes() + is_long.nbytes() + long_.nbytes(); }

    void add(Bytes field) {
        const std::size_t number = size();
        short_.resize(number + 1);
        is_long.resize(number + 1);
        const bool is_plain = field.size() == OBJECT_ID.size() + sizeof(Short) &&
                              std::equal(OBJECT_ID.begin(), OBJECT_ID.end(), field.begin());
        if (is_plain) {
            std::memcpy(short_[number].bytes, field.data() + OBJECT_ID.size(), sizeof(Short));
            return;
        }
        const std::uint64_t start = long_.size();
        const auto length = static_cast<std::uint32_t>(field.size());
        is_long[number] = 1;
        std::memcpy(short_[number].bytes, &start, sizeof start);
        std::memcpy(short_[number].bytes + sizeof start, &length, sizeof length);
        long_.append(field);
    }
    void append(const Ids& other) {
        Buffer buffer;
        for (std::size_t number = 0; number < other.size(); number++) add(other.get(number, buffer));
    }

    // The field of a document; `buffer` holds it where it has to be put together.
    Bytes get(std::size_t number, Buffer& buffer) const {
        const std::uint8_t* own = short_[number].bytes;
        if (!is_long[number]) {
            std::ranges::copy(OBJECT_ID, buffer.begin());
            std::memcpy(buffer.data() + OBJECT_ID.size(), own, sizeof(Short));
            return buffer;
        }
        std::uint64_t start;
        std::uint32_t length;
        std::memcpy(&start, own, sizeof start);
        std::memcpy(&length, own + sizeof start, sizeof length);
        if (start > long_.size() || length > long_.size() - start) return {};  // of a file that is not sound
        return Bytes(long_).subspan(start, length);
    }
};

// A hash of a field: the group that a document founds has it as its number, see docs/design.md. Two of 50 million share
// one with probability 0.0001, which nothing depends on.
inline std::uint64_t hash_id(Bytes field) { return XXH3_64bits(field.data(), field.size()); }

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
    void add(const Strings& fields, const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads);
    void count_unindexed(std::int64_t count) { unindexed_ += count; }

    // Returns the number of the first kept document with the same text that nothing has superseded; else of one that
    // something has, or NONE.
    std::vector<std::int64_t> find_equal(const Prints& texts) const;
    // Looks the candidates of n texts up, in all channels. least: equal bits of the sketches.
    LookUp look_up(const Prints& texts, std::span<const std::int64_t> least, std::size_t threads) const;
    // Returns the number of the last document of this collection with each `_id` field, or NONE; live: of one that is
    // not gone. Safe while another thread adds.
    std::vector<std::int64_t> find_ids(const Strings& fields, bool live);

    // The `_id` field of a document; of another collection that names it in place of `_id`.
    std::string id_of(std::size_t number) const;
    // The name of the other collection that a document is of, empty if none.
    const std::string& place_of(std::size_t number) const;
    std::uint64_t fingerprint_of(std::size_t number) const;

    // A document that is gone is not found any more, but as equal; one that is superseded not as equal. One that is gone
    // no more is found as before.
    bool is_gone(std::int64_t number) const { return has(number, GONE); }
    void set_gone(std::size_t number, bool gone);
    void supersede(std::size_t number);
    std::vector<std::int64_t> gone() const { return marked(GONE); }

    // The group of a document: the hash of its `_id`, or that of another one which it has joined.
    std::int64_t group_of(std::size_t number) const;
    void join(std::size_t number, std::int64_t group);
    // Gives the documents from a number on other groups where theirs is borne by another live one: a document that is
    // decided again may have founded it before.
    void found_groups(std::size_t first);

    // Marks of all own documents, by number without the others.
    struct Marks {
        std::span<const std::int64_t> gone, superseded, members, groups;
    };
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

    Found find_in_segments(const Prints& texts, bool compares, std::span<const std::int64_t> least, std::int64_t same) const;
    bool compares(const Prints& texts) const;
    Location locate(std::size_t number) const;
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

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Records of FINGERPRINT, keys and bits of n texts, see Fingerprints of columns.py.
using PrintArrays = std::tuple<In<std::uint8_t>, Rows<std::uint32_t>, Rows<std::uint64_t>>;

inline Prints prints_of(const PrintArrays& arrays) {
    const auto& [rows, keys, bits] = arrays;
    const Prints made{view_records<Fingerprint>(rows), {aligned(keys.data()), keys.size()}, {aligned(bits.data()), bits.size()},
                      keys.shape(1), bits.shape(1)};
    if (keys.shape(0) != made.size() || bits.shape(0) != made.size()) refuse("as many keys and bits as fingerprints are needed");
    if (made.columns > MOST_COLUMNS) refuse("a sketch has 32 keys at most");
    return made;
}

}  // namespace dedup
