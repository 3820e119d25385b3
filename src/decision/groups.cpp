#include "decision/groups.hpp"

#include <algorithm>

namespace dedup {

// The texts that supersede a document which they are no copy of, and what came to its group in this part before.
std::vector<Groups::Asked> Groups::asked() const {
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

std::int64_t Groups::first_unlike(PairTexts& texts) {
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

void Groups::fetch(std::set<std::int64_t> founders) {
    std::vector<std::int64_t> groups;
    for (const std::int64_t number : founders) groups.push_back(index_.group_of(static_cast<std::size_t>(number)));
    TextsByGroup found = groups.empty() ? TextsByGroup{} : copies_.near(groups, most_);
    std::size_t i = 0;
    for (const std::int64_t number : founders) {
        StringBuffer texts;
        for (const std::string& text : found[groups[i++]]) texts.add(bytes_of(text));
        std::vector<Member>& members = earlier_[number];
        read_.push_back(judge_ ? judge_->read(texts.view()) : nullptr);
        for (std::size_t row = 0; row < texts.size(); row++) {
            members.push_back(~static_cast<Member>(texts_.size()));
            texts_.push_back({read_.back().get(), row});
        }
    }
}

void Groups::compare(PairTexts& texts, const std::vector<std::pair<std::size_t, Member>>& pairs) {
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

}  // namespace dedup
