// An exact Hamming index: multi-index hashing (Norouzi, Punjani, Fleet, "Fast search in Hamming space
// with multi-index hashing", CVPR 2012).
//
// Disjoint blocks of a fingerprint are keys. Fingerprints within distance k differ, in at least one of the blocks, by no
// more than its radius, if the sum of (radius + 1) is greater than k; so a query looks up all keys within the radius: at
// distance 3, 31 keys of each half. Beyond it, three blocks are looked up in a tenth of the time of two.
#pragma once
#include <map>

#include "index/key_index.hpp"

namespace dedup {

// Finds fingerprints within a distance of 0 to 7; they are numbered from 0.
class HammingIndex {
public:
    explicit HammingIndex(int distance)
        : blocks(distance < 4 ? 2 : 3, 0), distance_(distance), width_(64 / count()), bits_(std::min(width_, KEY_BITS)) {}

    Pages<std::uint64_t> fingerprints;  // by number
    Pages<std::uint8_t> is_searchable;  // by number
    KeyIndex blocks;                    // of those that are searchable, each value once
    std::map<std::uint32_t, std::vector<std::uint32_t>> repeats;  // the later ones of equal fingerprints, by the first

    std::size_t size() const { return fingerprints.size(); }
    std::size_t nbytes() const { return fingerprints.nbytes() + is_searchable.nbytes() + blocks.nbytes(); }
    int distance() const { return distance_; }

    // Appends fingerprints, those that are short without finding them later.
    void add(std::span<const Fingerprint> more, std::size_t threads) {
        const std::size_t first = size(), n = more.size();
        const std::vector<std::int64_t> earlier = find_equal(more);
        const std::vector<std::int32_t> former = former_rows(n, [&](std::size_t i) { return more[i].value; });
        fingerprints.resize(first + n);
        is_searchable.resize(first + n);
        std::vector<std::int64_t> firsts(n);  // the first searchable one with each value, below 0 if there is none
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

    void append(const HammingIndex& other) {
        std::vector<Fingerprint> rows(other.size());
        for (std::size_t i = 0; i < rows.size(); i++) rows[i] = {other.fingerprints[i], 0, !other.is_searchable[i]};
        add(rows, 1);
    }

    // Returns what is within the distance of each query that is not short, ascending, with distances. most_equal: of
    // equal ones the first so many, 0 for all.
    Candidates search(std::span<const Fingerprint> queries, std::size_t most_equal) const {
        Candidates found;
        std::vector<std::vector<std::uint32_t>> flips_of;
        for (std::size_t block = 0; block < blocks.columns.size(); block++) flips_of.push_back(flips(block));
        const std::size_t at_once = std::max<std::size_t>(KEYS_AT_ONCE / flips_of[0].size(), 1);
        Matches matches;
        std::vector<std::uint32_t> keys;
        std::vector<std::size_t> rows;
        std::vector<std::int64_t> numbers;
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
            Candidates near;
            matches.enter(some.size(), size(), near);
            for (std::size_t row = 0; row < some.size(); row++) {
                numbers.assign(near.numbers.begin() + near.offsets[row], near.numbers.begin() + near.offsets[row + 1]);
                for (std::size_t i = 0, firsts = numbers.size(); i < firsts && !repeats.empty() && most_equal != 1; i++) {
                    const auto later = repeats.find(static_cast<std::uint32_t>(numbers[i]));
                    if (later == repeats.end()) continue;
                    const std::size_t count = most_equal == 0 ? later->second.size() : std::min(later->second.size(), most_equal - 1);
                    numbers.insert(numbers.end(), later->second.begin(), later->second.begin() + static_cast<std::ptrdiff_t>(count));
                }
                std::ranges::sort(numbers);
                for (const std::int64_t number : numbers) {
                    found.add(number, BY_SIMHASH);
                    found.distances.push_back(static_cast<std::uint8_t>(std::popcount(some[row].value ^ fingerprints[number])));
                }
                found.end_text();
            }
        }
        return found;
    }

private:
    static constexpr std::size_t KEYS_AT_ONCE = 1 << 13;

    // The bits of the block, and its lowest ones again where it has fewer than a key, whose ends both have to tell keys apart.
    std::uint32_t key_of(std::uint64_t fingerprint, std::size_t block) const {
        const auto bits = static_cast<std::uint32_t>(fingerprint >> width_ * block & ones(bits_));
        const int rest = KEY_BITS - bits_;
        return bits << rest | (bits & static_cast<std::uint32_t>(ones(rest)));
    }

    // The changes of a key within the radius of a block, ascending: those of low bits only lie in one bucket.
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

    int distance_, width_, bits_;  // bits of a block, and those of its key
};

// For each of n fingerprints the earlier ones within the distance, none of or with those that are short; with distances.
inline Candidates pairs_within(std::span<const Fingerprint> texts, int distance, std::size_t threads) {
    HammingIndex all(distance);
    all.add(texts, threads);
    return gathered(texts.size(), threads, [&](std::size_t first, std::size_t count) {
        const Candidates near = all.search(texts.subspan(first, count), 0);
        Candidates earlier;
        for (std::size_t row = 0; row < count; row++) {
            for (std::int64_t i = near.offsets[row]; i < near.offsets[row + 1]; i++) {
                if (near.numbers[i] >= static_cast<std::int64_t>(first + row)) break;
                earlier.add(near.numbers[i], BY_SIMHASH);
                earlier.distances.push_back(near.distances[i]);
            }
            earlier.end_text();
        }
        return earlier;
    });
}

}  // namespace dedup
