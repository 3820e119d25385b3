// The index of kept documents: what finds them, their ids, and what became of them.
//
// Documents are numbered from 0 in the order in which they were kept, those of other collections before all. They lie in
// segments, of which the last one grows. What several segments find is what one with all documents would: limits hold
// in the order of arrival.
#pragma once
#include <mutex>

#include "core/bind.hpp"
#include "index/segment.hpp"

namespace dedup {

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
    Index(int distance, bool by_simhash, IndexLimits limits, std::span<const Other> others)
        : distance_(distance), by_simhash_(by_simhash), limits_(limits), segments_{new_segment()} {
        for (const auto& [place, other] : others) {
            std::vector<std::shared_ptr<Segment>> more;
            for (const auto& segment : other->segments_) {
                if (segment->size() == 0) continue;
                segment->place = place;
                more.push_back(segment);
            }
            for (std::size_t number = 0; number < other->marks_.size(); number++) {
                if (other->marks_[number] != 0) mark(others_ + number) = other->marks_[number];
            }
            segments_.insert(segments_.end() - 1, more.begin(), more.end());
            other_segments_ += more.size();
            others_ += other->size();
            count_bases();
        }
    }

    // Documents known, of other collections and replaced ones included; those of other collections; those kept still.
    std::size_t size() const { return bases_.back() + segments_.back()->size(); }
    std::size_t others() const { return others_; }
    std::size_t live() const { return size() - others_ - gone_; }
    // How often a kept document is not found by a key or a fingerprint that many share.
    std::int64_t unindexed() const {
        std::int64_t sum = unindexed_;
        for (const auto& segment : own_segments()) {
            if (segment->bands) {
                for (const std::int64_t dropped : segment->bands->dropped) sum += dropped;
            }
        }
        return sum;
    }

    // The names of other collections by code; the first one is empty.
    std::vector<std::string> places() const {
        std::vector<std::string> names{""};
        for (const auto& segment : segments_) {
            if (std::ranges::find(names, segment->place) == names.end()) names.push_back(segment->place);
        }
        return names;
    }

    // Adds documents by their `_id` fields and texts. stored: the columns of keys by which each is found, as bits; if it
    // is empty, they are those with fewer documents under the key than the limit.
    void add(const Strings& fields, const Prints& texts, std::span<const std::uint32_t> stored, std::size_t threads) {
        {
            const std::scoped_lock lock(adding_);
            for (std::size_t i = 0; i < fields.size(); i++) segments_.back()->ids.add(fields[i]);
        }
        if (size() > MOST_DOCUMENTS) throw std::overflow_error("an index holds 4,294,967,294 documents at most");
        segments_.back()->add(texts, stored, threads);
    }

    void count_unindexed(std::int64_t count) { unindexed_ += count; }

    // Returns the number of the first kept document with the same text that nothing has superseded; else of one that
    // something has, or NONE.
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

    // Looks the candidates of n texts up, in all channels. least: equal bits of the sketches.
    LookUp look_up(const Prints& texts, std::span<const std::int64_t> least, std::size_t threads) const {
        const bool has_bits = compares(texts);
        const std::int64_t most = has_bits ? limits_.same_sketched : limits_.same;
        Found found = gathered(texts.size(), threads, [&](std::size_t first, std::size_t count) {
            return find_in_segments(texts.part(first, count), has_bits, least.subspan(first, count), most);
        });
        const Measures own{texts.values(), texts.bits, has_bits ? texts.words : 0};
        const std::size_t n = texts.size();
        const int distance = by_simhash_ ? distance_ : -1;
        Candidates within = by_simhash_ ? pairs_within(texts.rows, distance_, threads) : Candidates(n);
        Candidates pairs = texts.keys.empty() ? Candidates(n) : pairs_sharing(texts.keys, n, texts.columns, threads);

        std::vector<std::uint8_t> alone(n, 1);
        const auto meet = [&](std::size_t row, std::int64_t other) { alone[row] = alone[other] = 0; };
        auto same = former_rows(n, [&](std::size_t i) { return texts.rows[i].value; });  // made the first row below
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
                for (std::int64_t i = each->offsets[row]; i < each->offsets[row + 1]; i++) meet(row, each->numbers[i]);
            }
            for (std::int64_t i = found.candidates.offsets[row]; i < found.candidates.offsets[row + 1]; i++) {
                if (!is_gone(found.candidates.numbers[i])) all.add(found.candidates, i, found.candidates.columns[i]);
            }
            unite(within, pairs, own, own, row, least[row], static_cast<std::int64_t>(size()), all);
            all.end_text();
            if (all.offsets[row + 1] > all.offsets[row]) alone[row] = 0;
        }
        return {std::move(all),
                BatchVisibility({texts.columns, static_cast<std::int64_t>(limits_.equal), most, std::move(found.held),
                                 std::move(pairs), std::move(found.twins), std::move(same), texts.rows}),
                std::move(alone),
                distance};
    }

    // Returns the number of the last document of this collection with each `_id` field, or NONE; live: of one that is
    // not gone. Safe while another thread adds.
    std::vector<std::int64_t> find_ids(const Strings& fields, bool live) {
        std::vector<std::int64_t> numbers(fields.size(), NONE);
        if (numbers.empty()) return numbers;
        const std::scoped_lock lock(adding_);
        if (id_table_.reserve(size())) entered_ = others_;
        Ids::Buffer buffer;
        for (; entered_ < size(); entered_++) {  // what was added since the last time
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

    // The `_id` field of a document; of another collection that names it in place of `_id`.
    std::string id_of(std::size_t number) const {
        if (number >= size()) throw std::out_of_range("there are " + std::to_string(size()) + " documents, not number " + std::to_string(number));
        const auto [segment, own] = locate(number);
        Ids::Buffer buffer;
        const Bytes field = segment.ids.get(own, buffer);
        const auto* text = reinterpret_cast<const char*>(field.data());
        if (segment.place.empty()) return {text, field.size()};
        return std::string(text, 1) + segment.place + std::string(text + ID_NAME_END, field.size() - ID_NAME_END);
    }

    // The name of the other collection that a document is of, empty if none.
    const std::string& place_of(std::size_t number) const { return locate(number).segment.place; }
    std::uint64_t fingerprint_of(std::size_t number) const {
        const auto [segment, own] = locate(number);
        return segment.near.fingerprints[own];
    }

    // A document that is gone is not found any more, but as equal; one that is superseded not as equal. One that is gone
    // no more is found as before.
    bool is_gone(std::int64_t number) const { return has(number, GONE); }
    void set_gone(std::size_t number, bool gone) {
        std::uint8_t& own = mark(number);
        const bool was_gone = own & GONE;
        own = gone ? own | GONE : 0;
        if (was_gone == gone) return;
        if (number >= others_) gone_ += gone ? 1 : -1;
        const auto member = groups_.find(static_cast<std::int64_t>(number));
        if (member != groups_.end()) members_[member->second] += gone ? -1 : 1;
    }

    void supersede(std::size_t number) { mark(number) |= SUPERSEDED; }
    std::vector<std::int64_t> gone() const { return marked(GONE); }
    std::vector<std::int64_t> superseded() const { return marked(SUPERSEDED); }

    // The group of a document: the hash of its `_id`, or that of another one which it has joined.
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

    // Gives the documents from a number on other groups where theirs is borne by another live one: a document that is
    // decided again may have founded it before.
    void found_groups(std::size_t first) {
        if (groups_.empty()) return;
        const auto is_borne = [&](std::int64_t group) {
            const auto members = members_.find(group);
            return members != members_.end() && members->second > 0;
        };
        std::vector<std::pair<std::size_t, std::int64_t>> others;
        for (std::size_t number = first; number < size(); number++) {
            const std::int64_t own = group_of(number);
            if (is_borne(own)) others.emplace_back(number, own ^ static_cast<std::int64_t>(number + 1));
        }
        for (const auto& [number, group] : others) join(number, group);
    }

    // Marks of all own documents, by number without the others.
    struct Marks {
        std::span<const std::int64_t> gone, superseded, members, groups;
    };
    void restore(const Marks& marks) {
        marks_.resize(std::min(marks_.size(), others_));
        gone_ = 0;
        groups_.clear();
        members_.clear();
        for (const std::int64_t number : marks.gone) set_gone(others_ + static_cast<std::size_t>(number), true);
        for (const std::int64_t number : marks.superseded) supersede(others_ + static_cast<std::size_t>(number));
        for (std::size_t i = 0; i < marks.members.size(); i++)
            join(others_ + static_cast<std::size_t>(marks.members[i]), marks.groups[i]);
    }

    // Puts a segment of a file in the place of those from `first` on, counted without the others.
    void seal(std::size_t first, std::shared_ptr<Segment> segment) {
        const std::scoped_lock lock(adding_);
        segments_.resize(other_segments_ + first);
        segments_.push_back(std::move(segment));
        segments_.push_back(new_segment());
        count_bases();
    }
    const std::unordered_map<std::int64_t, std::int64_t>& groups() const { return groups_; }
    std::span<const std::shared_ptr<Segment>> own_segments() const { return std::span(segments_).subspan(other_segments_); }
    std::shared_ptr<Segment> new_segment() const { return std::make_shared<Segment>(distance_, by_simhash_, limits_.equal); }

private:
    static constexpr std::size_t MOST_DOCUMENTS = 0xFFFFFFFE;  // they are numbered in 32 bits
    static constexpr std::size_t ID_NAME_END = 4;              // where in an `_id` field its name ends

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
        std::vector<Candidates> parts;
        for (const std::size_t s : filled) {
            parts.push_back(segments_[s]->find(texts, compares, none, same).candidates);
            for (std::int64_t& number : parts.back().numbers) number += static_cast<std::int64_t>(bases_[s]);
        }
        return found_together(parts, compares ? least : none, static_cast<std::int64_t>(limits_.equal), same);
    }

    bool compares(const Prints& texts) const {
        return texts.words > 0 && std::ranges::all_of(segments_, [&](const auto& segment) {
                   return segment->size() == 0 || segment->words == texts.words;
               });
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
        for (std::size_t number = others_; number < marks_.size(); number++) {
            if (marks_[number] & which) numbers.push_back(static_cast<std::int64_t>(number - others_));
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
