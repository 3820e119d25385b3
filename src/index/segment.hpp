// A segment of the index: the ids, fingerprints and keys of a range of the kept documents, by number.
#pragma once
#include <map>
#include <optional>

#include "index/key_index.hpp"

namespace dedup {

// An exact Hamming index for distances of 0 to 7: multi-index hashing (Norouzi, Punjani, Fleet, "Fast search in Hamming
// space with multi-index hashing", CVPR 2012).
//
// Disjoint blocks of a fingerprint are keys. Fingerprints within distance k differ, in at least one of the blocks, by no
// more than its radius, if the sum of (radius + 1) is greater than k; so a query looks up all keys within the radius: at
// distance 3, 31 keys of each half. Beyond it, three blocks are looked up in a tenth of the time of two.
class HammingIndex {
public:
    explicit HammingIndex(int distance)
        : blocks(distance < 4 ? 2 : 3, 0), distance_(distance), width_(64 / count()), bits_(std::min(width_, KEY_BITS)) {}

    Pages<std::uint64_t> fingerprints;  // by number
    Pages<std::uint8_t> is_searchable;  // by number
    KeyIndex blocks;                    // of searchable fingerprints, each value once
    std::map<std::uint32_t, std::vector<std::uint32_t>> repeats;  // later numbers of equal fingerprints, by the first

    std::size_t size() const { return fingerprints.size(); }
    std::size_t nbytes() const { return fingerprints.nbytes() + is_searchable.nbytes() + blocks.nbytes(); }
    int distance() const { return distance_; }

    // Appends fingerprints; short ones are not searchable.
    void add(std::span<const Fingerprint> more, std::size_t threads) {
        const std::size_t first = size(), n = more.size();
        const std::vector<std::int64_t> earlier = find_equal(more);
        const std::vector<std::int32_t> former = former_rows(n, [&](std::size_t i) { return more[i].value; });
        fingerprints.resize(first + n);
        is_searchable.resize(first + n);
        std::vector<std::int64_t> firsts(n);  // the first searchable number with each value, or -1
        std::vector<std::uint32_t> keys, stored(n);
        for (std::size_t i = 0; i < n; i++) {
            const auto number = static_cast<std::uint32_t>(first + i);
            fingerprints[number] = more[i].value;
            is_searchable[number] = !more[i].is_short;
            firsts[i] = former[i] == NO_ROW ? earlier[i] : firsts[former[i]];
            for (std::size_t block = 0; block < blocks.columns.size(); block++) keys.push_back(key_of(more[i].value, block));
            if (more[i].is_short) continue;
            if (firsts[i] >= 0) {
                repeats[static_cast<std::uint32_t>(firsts[i])].push_back(number);
            } else {
                firsts[i] = number;
                stored[i] = static_cast<std::uint32_t>(ones(KEY_BITS));
            }
        }
        blocks.add(keys, stored, threads);
    }

    void append(const HammingIndex& more) {
        std::vector<Fingerprint> rows(more.size());
        for (std::size_t i = 0; i < rows.size(); i++) rows[i] = {more.fingerprints[i], 0, !more.is_searchable[i]};
        add(rows, 1);
    }

    // Returns the fingerprints within the distance of each query, none for short ones. most_equal: of equal fingerprints
    // the first n, 0 for all.
    Candidates search(std::span<const Fingerprint> queries, std::size_t most_equal) const {
        Candidates found;
        std::vector<std::vector<std::uint32_t>> flips_of;
        for (std::size_t block = 0; block < blocks.columns.size(); block++) flips_of.push_back(flips(block));
        const std::size_t at_once = std::max<std::size_t>(KEYS_AT_ONCE / flips_of[0].size(), 1);
        Matches matches;
        std::vector<std::uint32_t> keys;
        std::vector<std::size_t> rows;
        for (std::size_t start = 0; start < queries.size(); start += at_once) {
            const auto some = queries.subspan(start, std::min(at_once, queries.size() - start));
            for (std::size_t block = 0; block < blocks.columns.size() && size() > 0; block++) {
                keys.clear();
                rows.clear();
                for (std::size_t row = 0; row < some.size(); row++) {
                    if (some[row].is_short) continue;
                    rows.push_back(row);
                    const std::uint32_t key = key_of(some[row].value, block);
                    for (const std::uint32_t flip : flips_of[block]) keys.push_back(key ^ flip);
                }
                blocks.columns[block].search(keys, [&](std::size_t i, std::uint64_t number) {
                    const std::size_t row = rows[i / flips_of[block].size()];
                    if (std::popcount(some[row].value ^ fingerprints[number]) <= distance_) matches.add(row, number, block);
                });
            }
            const Candidates near = matches.take(some.size(), size());
            for (std::size_t row = 0; row < some.size(); row++) {
                const std::ptrdiff_t first = std::ssize(found.all);
                for (const Candidate& one : near[row]) {
                    const auto distance = static_cast<std::uint8_t>(std::popcount(some[row].value ^ fingerprints[one.number]));
                    found.all.push_back({one.number, BY_SIMHASH, distance});
                    if (repeats.empty()) continue;
                    const auto later = repeats.find(static_cast<std::uint32_t>(one.number));
                    if (later == repeats.end()) continue;
                    for (const std::uint32_t number : std::span(later->second).first(std::min(later->second.size(), most_equal - 1)))
                        found.all.push_back({number, BY_SIMHASH, distance});
                }
                std::ranges::sort(found.all.begin() + first, found.all.end(), {}, &Candidate::number);
                found.end_text();
            }
        }
        return found;
    }

private:
    static constexpr std::size_t KEYS_AT_ONCE = 1 << 13;

    // The bits of the block, and its lowest ones again if it has fewer bits than a key: both ends of a key have to vary.
    std::uint32_t key_of(std::uint64_t fingerprint, std::size_t block) const {
        const auto bits = static_cast<std::uint32_t>(fingerprint >> width_ * block & ones(bits_));
        const int rest = KEY_BITS - bits_;
        return bits << rest | (bits & static_cast<std::uint32_t>(ones(rest)));
    }

    // The changes of a key within the radius of a block, ascending: changes of low bits stay in one bucket.
    std::vector<std::uint32_t> flips(std::size_t block) const {
        std::vector<std::uint32_t> made{0};
        std::size_t first = 0;
        for (int radius = (distance_ - static_cast<int>(block)) / count(); radius > 0; radius--) {
            const std::size_t stop = made.size();
            for (; first < stop; first++) {
                for (int bit = std::bit_width(made[first]); bit < bits_; bit++)
                    made.push_back(made[first] | 1u << bit);
            }
        }
        std::ranges::transform(made, made.begin(), [&](std::uint32_t flip) { return key_of(flip, 0); });
        std::ranges::sort(made);
        return made;
    }

    std::vector<std::int64_t> find_equal(std::span<const Fingerprint> queries) const {
        std::vector<std::int64_t> numbers(queries.size(), -1);
        if (size() == 0) return numbers;
        std::vector<std::uint32_t> keys(queries.size());
        std::ranges::transform(queries, keys.begin(), [&](const Fingerprint& query) { return key_of(query.value, 0); });
        blocks.columns[0].search(keys, [&](std::size_t i, std::uint64_t number) {
            if (fingerprints[number] == queries[i].value) numbers[i] = static_cast<std::int64_t>(number);
        });
        return numbers;
    }

    int count() const { return static_cast<int>(blocks.columns.size()); }

    int distance_, width_, bits_;  // bits of a block, and of its key
};

// Returns the earlier fingerprints within the distance of each of n, short ones left out.
inline Candidates pairs_within(std::span<const Fingerprint> texts, int distance, std::size_t threads) {
    HammingIndex all(distance);
    all.add(texts, threads);
    return gathered(texts.size(), threads, [&](std::size_t first, std::size_t count) {
        const Candidates near = all.search(texts.subspan(first, count), 0);
        Candidates earlier;
        for (std::size_t row = 0; row < count; row++) {
            for (const Candidate& one : near[row]) {
                if (one.number < static_cast<std::int64_t>(first + row)) earlier.all.push_back(one);
            }
            earlier.end_text();
        }
        return earlier;
    });
}

// Numbers by a hash: open addressing with linear probing, a number + 1 in each slot, 0: free. Numbers with equal hashes
// are found in their order.
class NumberTable {
public:
    Pages<std::uint32_t> slots;  // a power of two

    // Grows for n numbers in all. Returns whether the table is empty now, so that all have to be added again.
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
    // Calls take(number) for each number that may have the hash, until it returns true.
    void find(std::uint64_t hash, auto take) const {
        for (std::size_t at = hash & mask(); slots[at] != 0; at = (at + 1) & mask()) {
            if (take(slots[at] - 1)) return;
        }
    }

private:
    static constexpr std::size_t LEAST = 1 << 10;

    std::size_t mask() const { return slots.size() - 1; }
};

// Documents with equal texts, by the 128 bits of fingerprint and digest.
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

    void append(const EqualTexts& more) { add(std::span(more.digests)); }

    // Calls take(i, number) for each document equal to the i-th text, in their order, until it returns true; fingerprints:
    // of the documents, by number.
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
        std::uint8_t bytes[12];  // an ObjectId, or offset and length of the field in `long_`
    };
    // The begin of an `_id` field that is an ObjectId, in BSON.
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
    void append(const Ids& more) {
        Buffer buffer;
        for (std::size_t number = 0; number < more.size(); number++) add(more.get(number, buffer));
    }

    // Returns the field of a document; `buffer` holds the bytes of an ObjectId.
    Bytes get(std::size_t number, Buffer& buffer) const {
        const std::uint8_t* own = short_[number].bytes;
        if (!is_long[number]) {
            std::ranges::copy(OBJECT_ID, buffer.begin());
            std::memcpy(buffer.data() + OBJECT_ID.size(), own, sizeof(Short));
            return buffer;
        }
        const auto start = read_word<std::uint64_t>(own);
        const auto length = read_word<std::uint32_t>(own + sizeof start);
        if (start > long_.size() || length > long_.size() - start) return {};  // a damaged file
        return Bytes(long_).subspan(start, length);
    }
};

// Returns the hash of a field, which is the number of the group that the document founds, see docs/design.md. Two of 50
// million collide with probability 0.0001, which no decision depends on.
inline std::uint64_t hash_id(Bytes field) { return XXH3_64bits(field.data(), field.size()); }

// A range of the kept documents, numbered from 0: in memory, where it grows, or mapped from a file.
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
    bool by_simhash;            // whether near fingerprints make candidates
    std::size_t most_equal;     // see KeyIndex
    std::string collection;     // the reference collection, empty for the target
    std::shared_ptr<void> file; // owner of mapped arrays

    std::size_t size() const { return ids.size(); }
    std::size_t nbytes() const {
        return near.nbytes() + equal.nbytes() + ids.nbytes() + bits.nbytes() + (bands ? bands->nbytes() : 0);
    }

    // Adds texts without their ids; stored: see KeyIndex::add.
    void add(const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads) {
        near.add(texts.rows, threads);
        equal.add(texts.column(&Fingerprint::digest));
        if (texts.columns == 0) return;
        if (!bands) bands.emplace(texts.columns, most_equal);
        bands->add(texts.keys, stored, threads);
        words = texts.words;
        bits.append(texts.bits);
    }

    // Looks up n texts; of equal fingerprints the first `most_same` are found. compares: whether candidates need `least`
    // equal bits of their sketches.
    Found find(const Prints& texts, bool compares, std::span<const std::int64_t> least, std::size_t most_same) const {
        const std::size_t n = texts.size();
        const Candidates by_print = by_simhash ? near.search(texts.rows, most_same) : Candidates(n);
        Candidates by_key = bands && texts.columns > 0 ? bands->search(texts.keys) : Candidates(n);
        std::vector<std::int64_t> equal_prints(n);
        for (std::size_t row = 0; row < n; row++) equal_prints[row] = std::ranges::count(by_print[row], 0, &Candidate::distance);
        Candidates found = united(by_print, by_key, texts, std::span(near.fingerprints), bits, compares, least);
        return {std::move(found), std::move(by_key), std::move(equal_prints)};
    }
};

}  // namespace dedup
