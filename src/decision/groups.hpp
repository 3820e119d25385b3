// Which of two documents is the better copy, by their ranks, and the near duplicates of kept documents.
#pragma once
#include <map>
#include <set>

#include "decision/kept_texts.hpp"

namespace dedup {

// Ranks, the better copy has the larger one, byte by byte.
using Ranks = std::unordered_map<std::int64_t, std::string>;
using IdsByGroup = std::map<std::int64_t, std::vector<std::string>>;
using TextsByGroup = std::map<std::int64_t, StringBuffer>;

// What is known of the copies of kept documents: held until they are stored, else fetched.
class Copies {
public:
    // Returns the ranks of documents by their `_id` fields; of one that is gone an empty one, which no document has.
    using FetchRanks = std::function<std::vector<std::string>(StringBuffer ids)>;
    // Returns texts of near duplicates by group, given `_id` fields of some that may not be stored yet. Of a group with
    // more than `most` any that are more.
    using FetchNear = std::function<TextsByGroup(IdsByGroup ids, std::size_t most)>;

    // Where what is stored is asked for.
    struct Stored {
        FetchRanks ranks;
        FetchNear near;
    };

    explicit Copies(const Index& index) : index_(index) {}

    // Begins the next batch; stored: valid while it is decided, of so many batches.
    void begin_batch(const Stored& stored, std::int64_t batches) {
        stored_ = &stored;
        for (; forgotten_ < batches; forgotten_++) batches_.pop_front();
        batches_.emplace_back();
    }
    void add_rank(std::int64_t number, Bytes rank) { batches_.back().ranks[number] = {rank.begin(), rank.end()}; }
    void add_near(std::int64_t group, std::string id) { batches_.back().near[group].push_back(std::move(id)); }

    Ranks ranks(std::span<const std::int64_t> numbers) {
        Ranks found;
        std::vector<std::int64_t> missing;
        StringBuffer ids;
        for (const std::int64_t number : numbers) {
            if (found.contains(number)) continue;
            for (const Batch& batch : batches_) {
                if (const auto known = batch.ranks.find(number); known != batch.ranks.end()) found[number] = known->second;
            }
            if (found.contains(number)) continue;
            found[number] = {};
            missing.push_back(number);
            ids.add(bytes_of(index_.id_of(static_cast<std::size_t>(number))));
        }
        if (missing.empty()) return found;
        const std::vector<std::string> fetched = stored_->ranks(std::move(ids));
        for (std::size_t i = 0; i < missing.size(); i++) found[missing[i]] = fetched.at(i);
        return found;
    }

    TextsByGroup near(std::span<const std::int64_t> groups, std::size_t most) {
        IdsByGroup held;
        for (const std::int64_t group : groups) {
            std::vector<std::string>& ids = held[group];
            if (!ids.empty()) continue;
            for (const Batch& batch : batches_) {
                if (const auto own = batch.near.find(group); own != batch.near.end()) append(ids, own->second);
            }
        }
        return held.empty() ? TextsByGroup{} : stored_->near(std::move(held), most);
    }

private:
    struct Batch {
        Ranks ranks;
        std::unordered_map<std::int64_t, std::vector<std::string>> near;  // `_id` fields by group
    };

    const Index& index_;
    const Stored* stored_ = nullptr;
    std::deque<Batch> batches_;
    std::int64_t forgotten_ = 0;  // batches
};

// The near duplicates of kept documents, while a part is decided.
//
// A better copy supersedes a kept document only if it is like all others of its group. Else versions that differ a
// little, each from the one before, end as one, whose first and last have nothing in common.
class Groups {
public:
    // most: near duplicates that a text is compared with; with more the kept document stays.
    Groups(const Index& index, Copies& copies, const judgment::Judge* judge, const Part& part, std::size_t most)
        : index_(index), copies_(copies), judge_(judge), part_(part), most_(most) {}

    // The first pair by which a text supersedes a document whose group it is unlike, or NONE.
    std::int64_t first_unlike(PairTexts& texts) {
        std::vector<Asked> every = asked();
        std::set<std::int64_t> founders;
        for (const Asked& one : every) {
            if (!part_.is_here(one.founder) && !earlier_.contains(one.founder)) founders.insert(one.founder);
        }
        fetch(std::move(founders));
        std::vector<std::pair<std::size_t, Member>> pairs;
        for (Asked& one : every) {
            if (const auto earlier = earlier_.find(one.founder); earlier != earlier_.end())
                one.group.insert(one.group.begin(), earlier->second.begin(), earlier->second.end());
            if (one.group.size() > most_) continue;
            for (const Member other : one.group) {
                if (!are_alike_.contains({one.row, other})) pairs.emplace_back(one.row, other);
            }
        }
        compare(texts, pairs);
        for (const auto& [row, founder, group] : every) {
            const auto is_alike = [&](Member other) { return are_alike_.at({row, other}); };
            if (group.size() > most_ || !std::ranges::all_of(group, is_alike)) return part_.by[row];
        }
        return Part::NONE;
    }

private:
    // A document by its number, or ~i: text i of `texts_`, which an earlier part of the run decided.
    using Member = std::int64_t;
    struct Asked {
        std::size_t row;
        std::int64_t founder;
        std::vector<Member> group;
    };

    // The texts that supersede a document which they are no copy of, and what came to its group in this part before.
    std::vector<Asked> asked() const {
        std::map<std::int64_t, std::vector<Member>> near;     // by founder
        std::map<std::int64_t, std::int64_t> founders;
        std::vector<Asked> asked;
        for (std::size_t row = 0; row < part_.size(); row++) {
            const bool leads = part_.superseded[row] >= 0;
            if (!leads && part_.states[row] != TextState::near) continue;
            const std::int64_t pair = leads ? part_.by[row] : part_.chosen[row];
            if (!leads && part_.owners[static_cast<std::size_t>(pair)] != row) continue;  // it was kept until it was superseded
            const std::int64_t number = leads ? part_.superseded[row] : part_.number(static_cast<std::size_t>(pair));
            const std::int64_t own = part_.held + static_cast<std::int64_t>(row);
            const auto known = founders.find(number);
            const std::int64_t founder = founders[own] = known == founders.end() ? number : known->second;
            std::vector<Member>& group = near[founder];
            if (pair < 0) continue;  // the texts are equal
            if (leads) asked.push_back({row, founder, group});
            group.push_back(leads ? number : own);
        }
        return asked;
    }

    void fetch(std::set<std::int64_t> founders) {
        std::vector<std::int64_t> groups;
        for (const std::int64_t number : founders) groups.push_back(index_.group_of(static_cast<std::size_t>(number)));
        TextsByGroup found = copies_.near(groups, most_);
        std::size_t i = 0;
        for (const std::int64_t number : founders) {
            const StringBuffer& texts = found[groups[i++]];
            std::vector<Member>& members = earlier_[number];
            read_.push_back(judge_ ? judge_->read(texts.view()) : nullptr);
            for (std::size_t row = 0; row < texts.size(); row++) {
                members.push_back(~static_cast<Member>(texts_.size()));
                texts_.push_back({read_.back().get(), row});
            }
        }
    }

    void compare(PairTexts& texts, const std::vector<std::pair<std::size_t, Member>>& pairs) {
        std::vector<PairOf> known;
        std::vector<judgment::Pair> fetched;
        for (const auto& [row, other] : pairs) {
            if (other >= 0)
                known.push_back({row, other});
            else
                fetched.push_back({texts.own(row), texts_[static_cast<std::size_t>(~other)]});
        }
        const std::vector<judgment::Verdict> of_known = texts.judge(known), of_fetched = texts.judge(fetched);
        std::size_t i = 0, j = 0;
        for (const auto& pair : pairs) {
            const judgment::Verdict& verdict = pair.second >= 0 ? of_known[i++] : of_fetched[j++];
            are_alike_[pair] = verdict.state != judgment::State::refused;
        }
    }

    const Index& index_;
    Copies& copies_;
    const judgment::Judge* judge_;
    const Part& part_;
    const std::size_t most_;
    std::vector<std::shared_ptr<judgment::ReadTexts>> read_;
    std::vector<judgment::TextRef> texts_;
    std::map<std::int64_t, std::vector<Member>> earlier_;             // by founder
    std::map<std::pair<std::size_t, Member>, bool> are_alike_;
};

}  // namespace dedup
