// A part of the kept documents: what is known of them by number, and what finds them.
#pragma once
#include <optional>

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
    void find(std::span<const std::uint64_t> fingerprints, std::span<const Fingerprint> sought, auto take) const {
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
        const auto start = read_word<std::uint64_t>(own);
        const auto length = read_word<std::uint32_t>(own + sizeof start);
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
    void add(const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads) {
        near.add(texts.rows, threads);
        equal.add(texts.digests());
        if (texts.columns == 0) return;
        if (!bands) bands.emplace(texts.columns, most_equal);
        bands->add(texts.keys, stored, threads);
        words = texts.words;
        bits.append(texts.bits);
    }

    // Looks n texts up; of equal fingerprints the first `most_same` are found. compares: whether at least `least` bits
    // of the sketches have to be equal.
    Found find(const Prints& texts, bool compares, std::span<const std::int64_t> least, std::size_t most_same) const {
        const std::size_t n = texts.size();
        const Candidates one = by_simhash ? near.search(texts.rows, most_same) : Candidates(n);
        Candidates other = bands && texts.columns > 0 ? bands->search(texts.keys) : Candidates(n);
        const std::size_t compared = compares ? texts.words : 0;
        const Measures earlier{std::span(near.fingerprints), bits, compared}, own{texts.values(), texts.bits, compared};
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

};

}  // namespace dedup
