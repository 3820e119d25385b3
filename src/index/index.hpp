// The index of kept documents: look-up, ids, tombstones and groups.
//
// Documents are numbered from 0 in the order in which they were kept, after reference collections. They lie in
// segments, of which the last one grows. Several segments find the same as one of all documents: limits hold in the order
// of arrival.
#pragma once
#include <mutex>

#include "core/bind.hpp"
#include "index/segment.hpp"

namespace dedup {

// The most documents that one key of a column finds, the first ones; that one fingerprint finds; and that it finds if there
// are sketches, which find the others.
struct IndexLimits {
    using Values = std::tuple<std::size_t, std::int64_t, std::int64_t>;  // as they come from Python

    std::size_t equal;
    std::int64_t same, same_sketched;
};

class Index {
public:
    static constexpr std::int64_t NONE = -1;

    // The name of a reference collection, and its index.
    using Reference = std::pair<std::string, Index*>;

    // references: their documents count as kept before all others; this takes over their segments.
    Index(int distance, bool by_simhash, const IndexLimits::Values& limits, const std::vector<Reference>& references)
        : distance_(distance), by_simhash_(by_simhash), limits_(std::make_from_tuple<IndexLimits>(limits)), segments_{new_segment()} {
        for (const auto& [name, reference] : references) {
            for (std::size_t number = 0; number < reference->marks_.size(); number++) {
                if (reference->marks_[number] != 0) mark(referenced_ + number) = reference->marks_[number];
            }
            for (const auto& segment : reference->segments_) {
                if (segment->size() == 0) continue;
                segment->collection = name;
                segments_.insert(segments_.end() - 1, segment);
                reference_segments_++;
            }
            referenced_ += reference->size();
            count_bases();
        }
    }

    // All documents, replaced ones included; of reference collections; own ones that are still kept.
    std::size_t size() const { return bases_.back() + segments_.back()->size(); }
    std::size_t referenced() const { return referenced_; }
    std::size_t live() const { return size() - referenced_ - gone_; }
    // How often a kept document is not found by a key or a fingerprint, since too many have the same.
    std::int64_t unindexed() const {
        std::int64_t sum = unindexed_;
        for (const auto& segment : own_segments()) {
            if (segment->bands) {
                for (const std::int64_t dropped : segment->bands->dropped) sum += dropped;
            }
        }
        return sum;
    }

    // The names of reference collections by code; code 0 is the target, "".
    std::vector<std::string> collections() const {
        std::vector<std::string> names{""};
        for (const auto& segment : segments_) {
            if (std::ranges::find(names, segment->collection) == names.end()) names.push_back(segment->collection);
        }
        return names;
    }

    // Adds documents by their `_id` fields and texts; stored: see KeyIndex::add. Raises std::overflow_error.
    void add(const Strings& fields, const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads) {
        {
            const std::scoped_lock lock(adding_);
            for (std::size_t i = 0; i < fields.size(); i++) segments_.back()->ids.add(fields[i]);
        }
        if (size() > MOST_DOCUMENTS) throw std::overflow_error("an index holds 4,294,967,294 documents at most");
        segments_.back()->add(texts, stored, threads);
    }

    void count_unindexed(std::int64_t count) { unindexed_ += count; }

    // Returns the number of the first live document with the same text; if all are gone or superseded, of one of them; or NONE.
    std::vector<std::int64_t> find_equal(const Prints& texts) const {
        std::vector<std::int64_t> numbers(texts.size(), NONE);
        for (std::size_t s = 0; s < segments_.size(); s++) {
            const auto base = static_cast<std::int64_t>(bases_[s]);
            const auto is_live = [&](std::int64_t number) { return number >= 0 && !has(number, GONE) && !has(number, SUPERSEDED); };
            segments_[s]->equal.find(segments_[s]->near.fingerprints, texts.rows,
                                     [&](std::size_t i, std::int64_t number) {
                                         if (!is_live(numbers[i])) numbers[i] = base + number;
                                         return is_live(numbers[i]);
                                     });
        }
        return numbers;
    }

    // Returns the candidates of n texts in all channels. least: equal bits of the sketches, of each text.
    LookUp look_up(const Prints& texts, std::span<const std::int64_t> least, std::size_t threads) const {
        const bool has_bits = texts.words > 0 && std::ranges::all_of(segments_, [&](const auto& segment) {
            return segment->size() == 0 || segment->words == texts.words;
        });
        const std::int64_t most = has_bits ? limits_.same_sketched : limits_.same;
        Found found = gathered(texts.size(), threads, [&](std::size_t first, std::size_t count) {
            return find_in_segments(texts.range(first, count), has_bits, least.subspan(first, count), most);
        });
        const std::size_t n = texts.size();
        Candidates within = by_simhash_ ? pairs_within(texts.rows, distance_, threads) : Candidates(n);
        Candidates pairs = texts.keys.empty() ? Candidates(n) : pairs_sharing(texts, threads);
        const Candidates in_batch = united(within, pairs, texts, texts.column(&Fingerprint::value), texts.bits, has_bits, least);

        std::vector<std::uint8_t> alone(n, 1);
        const auto meet = [&](std::size_t row, std::int64_t earlier) { alone[row] = alone[earlier] = 0; };
        auto same = former_rows(n, [&](std::size_t i) { return texts.rows[i].value; });  // becomes the first row below
        for (std::size_t row = 0; row < n; row++) {
            if (same[row] == NO_ROW) {
                same[row] = static_cast<std::int32_t>(row);
            } else {
                meet(row, same[row]);
                same[row] = same[same[row]];
            }
        }
        Candidates all;
        for (std::size_t row = 0; row < n; row++) {
            for (const Candidates* each : {&within, &pairs}) {
                for (const Candidate& one : (*each)[row]) meet(row, one.number);
            }
            for (const Candidate& one : found.candidates[row]) {
                if (!is_gone(one.number)) all.all.push_back(one);
            }
            for (Candidate one : in_batch[row]) {
                one.number += static_cast<std::int64_t>(size());
                all.all.push_back(one);
            }
            all.end_text();
            if (all.offsets[row + 1] > all.offsets[row]) alone[row] = 0;
        }
        return {std::move(all),
                BatchVisibility({texts.rows, texts.columns, static_cast<std::int64_t>(limits_.equal), most,
                                 std::move(found.by_key), std::move(pairs), std::move(found.equal), std::move(same)}),
                std::move(alone), by_simhash_ ? distance_ : -1};
    }

    // Returns the number of the last document of this collection with each `_id` field, or NONE; live: of one that is
    // not gone. Safe while another thread adds.
    std::vector<std::int64_t> find_ids(const Strings& fields, bool live) {
        std::vector<std::int64_t> numbers(fields.size(), NONE);
        if (numbers.empty()) return numbers;
        const std::scoped_lock lock(adding_);
        if (id_table_.reserve(size())) entered_ = referenced_;
        Ids::Buffer buffer;
        for (; entered_ < size(); entered_++) {  // added since the last call
            const auto [segment, own] = locate(entered_);
            id_table_.add(hash_id(segment.ids.get(own, buffer)), entered_);
        }
        for (std::size_t i = 0; i < fields.size(); i++) {
            const Bytes field = fields[i];
            id_table_.find(hash_id(field), [&](std::int64_t number) {
                const auto [segment, own] = locate(static_cast<std::size_t>(number));
                const bool counts = number > numbers[i] && !(live && is_gone(number));
                if (counts && std::ranges::equal(segment.ids.get(own, buffer), field)) numbers[i] = number;
                return false;
            });
        }
        return numbers;
    }

    // Returns the `_id` field of a document; that of a reference collection has its name in place of `_id`.
    std::string id_of(std::size_t number) const {
        if (number >= size()) throw std::out_of_range("there are " + std::to_string(size()) + " documents, not number " + std::to_string(number));
        const auto [segment, own] = locate(number);
        Ids::Buffer buffer;
        const Bytes field = segment.ids.get(own, buffer);
        const auto* text = reinterpret_cast<const char*>(field.data());
        if (segment.collection.empty()) return {text, field.size()};
        return std::string(text, 1) + segment.collection + std::string(text + ID_NAME_END, field.size() - ID_NAME_END);
    }

    // Returns the name of the reference collection of a document, empty for the target.
    const std::string& collection_of(std::size_t number) const { return locate(number).segment.collection; }
    std::uint64_t fingerprint_of(std::size_t number) const {
        const auto [segment, own] = locate(number);
        return segment.near.fingerprints[own];
    }

    // A document that is gone is found as equal only; one that is superseded is not. Clearing `gone` restores both.
    bool is_gone(std::int64_t number) const { return has(number, GONE); }
    void set_gone(std::size_t number, bool gone) {
        std::uint8_t& own = mark(number);
        const bool was_gone = own & GONE;
        own = gone ? own | GONE : 0;
        if (was_gone == gone) return;
        if (number >= referenced_) gone_ += gone ? 1 : -1;
        const auto member = groups_.find(static_cast<std::int64_t>(number));
        if (member != groups_.end()) members_[member->second] += gone ? -1 : 1;
    }

    void supersede(std::size_t number) { mark(number) |= SUPERSEDED; }
    std::vector<std::int64_t> gone() const { return marked(GONE); }
    std::vector<std::int64_t> superseded() const { return marked(SUPERSEDED); }

    // Returns the group of a document: the hash of its `_id`, or the group that it joined.
    std::int64_t group_of(std::size_t number) const {
        if (const auto joined = groups_.find(static_cast<std::int64_t>(number)); joined != groups_.end()) return joined->second;
        return static_cast<std::int64_t>(hash_id(bytes_of(id_of(number))));
    }

    void join(std::size_t number, std::int64_t group) {
        const auto [joined, is_new] = groups_.try_emplace(static_cast<std::int64_t>(number), group);
        const bool counts = !is_gone(static_cast<std::int64_t>(number));
        if (!is_new && counts) members_[joined->second]--;
        joined->second = group;
        if (counts) members_[group]++;
    }

    // Renumbers the groups of the documents from a number on that other live documents have: a document that is decided
    // again may have founded one before.
    void found_groups(std::size_t first) {
        if (groups_.empty()) return;
        const auto is_in_use = [&](std::int64_t group) {
            const auto members = members_.find(group);
            return members != members_.end() && members->second > 0;
        };
        std::vector<std::pair<std::size_t, std::int64_t>> renumbered;
        for (std::size_t number = first; number < size(); number++) {
            const std::int64_t own = group_of(number);
            if (is_in_use(own)) renumbered.emplace_back(number, own ^ static_cast<std::int64_t>(number + 1));
        }
        for (const auto& [number, group] : renumbered) join(number, group);
    }

    // Sets the marks of all own documents, numbered without reference collections; groups: of the members.
    using Numbers = std::span<const std::int64_t>;
    void restore(Numbers gone, Numbers superseded, Numbers members, Numbers groups) {
        marks_.resize(std::min(marks_.size(), referenced_));
        gone_ = 0;
        groups_.clear();
        members_.clear();
        const auto number_of = [&](std::int64_t own) { return referenced_ + static_cast<std::size_t>(own); };
        for (const std::int64_t own : gone) set_gone(number_of(own), true);
        for (const std::int64_t own : superseded) supersede(number_of(own));
        for (std::size_t i = 0; i < members.size(); i++) join(number_of(members[i]), groups[i]);
    }

    // Replaces the own segments from `first` on by one that does not grow, and begins another.
    void seal(std::size_t first, std::shared_ptr<Segment> segment) {
        const std::scoped_lock lock(adding_);
        segments_.resize(reference_segments_ + first);
        segments_.push_back(std::move(segment));
        segments_.push_back(new_segment());
        count_bases();
    }
    const std::unordered_map<std::int64_t, std::int64_t>& groups() const { return groups_; }
    std::span<const std::shared_ptr<Segment>> own_segments() const { return std::span(segments_).subspan(reference_segments_); }
    std::shared_ptr<Segment> new_segment() const { return std::make_shared<Segment>(distance_, by_simhash_, limits_.equal); }

private:
    static constexpr std::size_t MOST_DOCUMENTS = 0xFFFFFFFE;  // they are numbered in 32 bits
    static constexpr std::size_t ID_NAME_END = 4;              // end of the name in an `_id` field

    enum Mark : std::uint8_t { GONE = 1, SUPERSEDED = 2 };
    struct Location {
        const Segment& segment;
        std::size_t number;
    };

    Found find_in_segments(const Prints& texts, bool compares, std::span<const std::int64_t> least, std::int64_t same) const {
        std::vector<std::size_t> filled;
        for (std::size_t s = 0; s < segments_.size(); s++) {
            if (segments_[s]->size() > 0) filled.push_back(s);
        }
        if (filled.size() < 2) return segments_[filled.empty() ? 0 : filled[0]]->find(texts, compares, least, same);
        const std::vector<std::int64_t> none(texts.size());
        std::vector<Candidates> found;
        for (const std::size_t s : filled) {
            found.push_back(segments_[s]->find(texts, compares, none, same).candidates);
            for (Candidate& one : found.back().all) one.number += static_cast<std::int64_t>(bases_[s]);
        }
        return merged_segments(found, compares ? least : none, static_cast<std::int64_t>(limits_.equal), same);
    }

    Location locate(std::size_t number) const {
        const auto after = std::upper_bound(bases_.begin(), bases_.end(), number);
        const auto s = static_cast<std::size_t>(after - bases_.begin()) - 1;
        return {*segments_[s], number - bases_[s]};
    }

    bool has(std::int64_t number, Mark mark) const {
        return number >= 0 && static_cast<std::size_t>(number) < marks_.size() && (marks_[number] & mark) != 0;
    }
    std::uint8_t& mark(std::size_t number) {
        if (number >= marks_.size()) marks_.resize(std::max(number + 1, size()));
        return marks_[number];
    }

    std::vector<std::int64_t> marked(Mark which) const {
        std::vector<std::int64_t> numbers;
        for (std::size_t number = referenced_; number < marks_.size(); number++) {
            if (marks_[number] & which) numbers.push_back(static_cast<std::int64_t>(number - referenced_));
        }
        return numbers;
    }

    void count_bases() {
        bases_.assign(1, 0);
        for (std::size_t s = 0; s + 1 < segments_.size(); s++) bases_.push_back(bases_[s] + segments_[s]->size());
    }

    int distance_;
    bool by_simhash_;
    IndexLimits limits_;
    std::vector<std::shared_ptr<Segment>> segments_;
    std::vector<std::size_t> bases_{0};  // the number of the first document of each segment
    std::size_t referenced_ = 0, reference_segments_ = 0;
    std::int64_t unindexed_ = 0;         // fingerprints, since this process began
    std::vector<std::uint8_t> marks_;    // by number, up to the last marked one
    std::size_t gone_ = 0;               // own documents
    std::unordered_map<std::int64_t, std::int64_t> groups_;   // that documents joined, by number
    std::unordered_map<std::int64_t, std::int64_t> members_;  // live documents that joined, by group
    std::mutex adding_;
    NumberTable id_table_;               // by the hash of the `_id` field, built on demand
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
