// First wins: a document is kept unless a kept document is its duplicate.
//
// A document is compared with kept documents only, never with a dropped one, so unlike texts are not chained together.
// Documents are looked up and compared in batches, in threads, and decided as if one by one. If documents have ranks, a
// better copy supersedes a kept document that it is a duplicate of.
//
// The rule itself is `Turns::decide` in turns.hpp. An example: documents 0 to 6 are kept (`held` is 7), and a part has four rows.
// Row 0 has the text of document 3: twin. Row 1 is like none: kept, as document 7 + 1 while the part is decided. Row 2 has the
// text of row 1: repeated. Row 3 differs from row 1 by a comma: their pair is judged, joined: near, of document 8.
#pragma once
#include <set>

#include "decision/turns.hpp"

namespace dedup {

using Differences = std::vector<judgment::NamedDifference>;

// A text of a part by its row, and a document by its number, see BatchPart.
struct RowPair {
    std::size_t row;
    std::int64_t number;
};

// Compares texts of a part with each other and with kept documents.
class PairTexts {
public:
    // judge: null if texts are not compared; then all pairs are joined. names_differences: else differences are empty.
    // texts: of the batch; parsed: the same, set at the first use.
    PairTexts(KeptCache& kept, const judgment::Judge* judge, bool names_differences, std::size_t threads, double& seconds,
              const Strings& texts, std::shared_ptr<judgment::ReadTexts>& parsed, const BatchPart& part)
        : kept_(kept), judge_(judge), names_(names_differences), threads_(threads), seconds_(seconds), texts_(texts),
          parsed_(parsed), part_(part) {}

    // Returns the verdicts of pairs; state `gone` if the text of a kept document is missing.
    std::vector<judgment::Verdict> judge(std::span<const RowPair> pairs) {
        return of_each(pairs, judgment::Verdict{.state = judgment::State::gone}, [&](const auto& there) { return judge(there); });
    }
    std::vector<judgment::Verdict> judge(std::span<const judgment::Pair> pairs) const {
        return verdicts(pairs, &judgment::Judge::judge);
    }
    // Returns verdicts with the similarities of pairs, NaN if a text is missing.
    std::vector<judgment::Verdict> measure(std::span<const RowPair> pairs) {
        return of_each(pairs, judgment::Verdict{}, [&](const auto& there) { return verdicts(there, &judgment::Judge::measure); });
    }
    std::vector<Differences> differences(std::span<const RowPair> pairs) {
        if (!names_) return std::vector<Differences>(pairs.size());
        return of_each(pairs, Differences{}, [&](const std::vector<judgment::Pair>& there) {
            const Timer timer(seconds_);
            return judge_->differences(there, threads_);
        });
    }

    judgment::TextRef own(std::size_t row) {
        if (judge_ != nullptr && !parsed_) parsed_ = judge_->read(texts_);
        return {parsed_.get(), part_.first + row};
    }

private:
    // Returns the verdicts that a method of the judge sets; without a judge all pairs are joined.
    std::vector<judgment::Verdict> verdicts(std::span<const judgment::Pair> pairs, auto method) const {
        std::vector<judgment::Verdict> made(pairs.size(), {.similarity = 1, .state = judgment::State::joined});
        const Timer timer(seconds_);
        if (judge_ != nullptr) (judge_->*method)(pairs, threads_, made);
        return made;
    }

    // Returns the results of `compare` for the pairs without a missing text, `otherwise` for the others.
    template <class T>
    std::vector<T> of_each(std::span<const RowPair> pairs, const T& otherwise, auto compare) {
        std::vector<std::int64_t> kept;
        for (const RowPair& pair : pairs) {
            if (!part_.is_here(pair.number)) kept.push_back(pair.number);
        }
        kept_.parse(std::move(kept));
        std::vector<judgment::Pair> there;
        std::vector<std::size_t> positions;
        for (std::size_t i = 0; i < pairs.size(); i++) {
            const auto [row, number] = pairs[i];
            const std::optional<judgment::TextRef> reference = part_.is_here(number) ? own(part_.row_of(number)) : kept_.find(number);
            if (!reference) continue;
            there.push_back({own(row), *reference});
            positions.push_back(i);
        }
        std::vector<T> found = compare(there), all(pairs.size(), otherwise);
        for (std::size_t i = 0; i < positions.size(); i++) all[positions[i]] = std::move(found[i]);
        return all;
    }

    KeptCache& kept_;
    const judgment::Judge* judge_;
    const bool names_;
    const std::size_t threads_;
    double& seconds_;
    const Strings& texts_;
    std::shared_ptr<judgment::ReadTexts>& parsed_;
    const BatchPart& part_;
};

// The groups of near duplicates of kept documents, while a part is decided.
//
// A better copy supersedes a kept document only if it is a duplicate of all members of its group. Else versions that
// differ a little, each from the one before, would end as one, whose first and last have nothing in common.
class Groups {
public:
    // most: near duplicates that a text is compared with; the kept document of a larger group stays.
    Groups(const Index& index, const KeptCache& kept, const judgment::Judge* judge, const BatchPart& part, std::size_t most)
        : index_(index), kept_(kept), judge_(judge), part_(part), most_(most) {}

    // Returns the first pair by which a text supersedes a document whose group it is unlike, or NONE.
    std::int64_t first_unlike(PairTexts& texts) {
        std::vector<Check> checks = open_checks();
        std::set<std::int64_t> founders;
        for (const Check& check : checks) {
            if (!part_.is_here(check.founder) && !stored_.contains(check.founder)) founders.insert(check.founder);
        }
        fetch(founders);
        std::vector<std::pair<std::size_t, Member>> pairs;
        for (Check& check : checks) {
            if (const auto stored = stored_.find(check.founder); stored != stored_.end())
                check.group.insert(check.group.begin(), stored->second.begin(), stored->second.end());
            if (check.group.size() > most_) continue;
            for (const Member member : check.group) {
                if (!are_alike_.contains({check.row, member})) pairs.emplace_back(check.row, member);
            }
        }
        compare(texts, pairs);
        for (const auto& [row, founder, group] : checks) {
            const auto is_alike = [&](Member member) { return are_alike_.at({row, member}); };
            if (group.size() > most_ || !std::ranges::all_of(group, is_alike)) return part_.rows[row].superseding;
        }
        return BatchPart::NONE;
    }

private:
    // A document by its number, or ~i: text i of `texts_`, which an earlier part of the run decided.
    using Member = std::int64_t;
    struct Check {
        std::size_t row;
        std::int64_t founder;
        std::vector<Member> group;
    };

    // Returns the texts that supersede a near duplicate, with the earlier members of its group in this part.
    std::vector<Check> open_checks() const {
        std::map<std::int64_t, std::vector<Member>> near;  // by founder
        std::map<std::int64_t, std::int64_t> founders;
        std::vector<Check> checks;
        for (std::size_t row = 0; row < part_.size(); row++) {
            const BatchPart::Row& one = part_.rows[row];
            const bool supersedes = one.superseded >= 0;
            if (!supersedes && one.state != TextState::near) continue;
            const std::int64_t pair = supersedes ? one.superseding : one.chosen;
            if (!supersedes && part_.pairs[pair].row != row) continue;  // it was kept until it was superseded
            const std::int64_t number = supersedes ? one.superseded : part_.number(pair);
            const std::int64_t own = part_.held + static_cast<std::int64_t>(row);
            const auto known = founders.find(number);
            const std::int64_t founder = founders[own] = known == founders.end() ? number : known->second;
            std::vector<Member>& group = near[founder];
            if (pair < 0) continue;  // the texts are equal
            if (supersedes) checks.push_back({row, founder, group});
            group.push_back(supersedes ? number : own);
        }
        return checks;
    }

    void fetch(const std::set<std::int64_t>& founders) {
        std::vector<std::int64_t> groups;
        for (const std::int64_t number : founders) groups.push_back(index_.group_of(static_cast<std::size_t>(number)));
        TextsByGroup found = kept_.near(groups, most_);
        std::size_t i = 0;
        for (const std::int64_t number : founders) {
            const StringBuffer& texts = found[groups[i++]];
            std::vector<Member>& members = stored_[number];
            parsed_.push_back(judge_ ? judge_->read(texts.view()) : nullptr);
            for (std::size_t row = 0; row < texts.size(); row++) {
                members.push_back(~static_cast<Member>(texts_.size()));
                texts_.push_back({parsed_.back().get(), row});
            }
        }
    }

    void compare(PairTexts& texts, const std::vector<std::pair<std::size_t, Member>>& pairs) {
        std::vector<RowPair> known;
        std::vector<judgment::Pair> fetched;
        for (const auto& [row, member] : pairs) {
            if (member >= 0) known.push_back({row, member});
            else fetched.push_back({texts.own(row), texts_[static_cast<std::size_t>(~member)]});
        }
        const std::vector<judgment::Verdict> of_known = texts.judge(known), of_fetched = texts.judge(fetched);
        std::size_t i = 0, j = 0;
        for (const auto& pair : pairs) {
            const judgment::Verdict& verdict = pair.second >= 0 ? of_known[i++] : of_fetched[j++];
            are_alike_[pair] = verdict.state != judgment::State::refused;
        }
    }

    const Index& index_;
    const KeptCache& kept_;
    const judgment::Judge* judge_;
    const BatchPart& part_;
    const std::size_t most_;
    std::vector<std::shared_ptr<judgment::ReadTexts>> parsed_;
    std::vector<judgment::TextRef> texts_;
    std::map<std::int64_t, std::vector<Member>> stored_;  // by founder
    std::map<std::pair<std::size_t, Member>, bool> are_alike_;
};

// The ways in which candidates are found, by bit.
constexpr std::string_view CHANNELS[] = {"simhash", "minhash", "sentences", "form", "text"};
enum class Outcome : std::uint8_t { kept, exact, near };  // CODES of dedup_job/columns.py

// The decision on a text, a record DECISION of columns.py. The values of a pair are of a duplicate with the kept document, of
// a kept text with its nearest candidate; without a pair they are 0, and probability is NaN.
struct Decision {
    std::uint64_t fingerprint = 0;
    std::int64_t candidates = 0, cut = 0;  // found; not compared, as there were too many
    std::int64_t group = 0;                // 0 if that is in a reference collection
    double similarity = 0;                 // NaN if texts are not compared
    double probability = std::numeric_limits<double>::quiet_NaN();  // NaN if the model does not decide
    Outcome outcome = Outcome::kept;
    bool is_short = false;
    std::uint8_t distance = 0;
    std::uint8_t channels = 0;    // bits of CHANNELS
    std::uint8_t apart = 0;       // of a kept text: why it is no duplicate of its nearest candidate
    std::uint8_t richer = 0;      // bits of RICHER: contents that the other text lacks
    std::uint8_t left_out = 0;    // percentage
    std::uint8_t collection = 0;  // code of the reference collection of the other document
    bool is_superseded = false;   // by a later, better copy
};

// A document kept before the batch, as a duplicate of the better copy that supersedes it.
struct Superseded {
    std::size_t row;              // of the better copy, or of the last one that superseded it in turn
    std::string id, original_id;  // `_id` fields of the document and of the better copy
    Decision decision;
    Differences differences;
};

struct Decisions {
    std::vector<Decision> rows;
    StringBuffer original_ids;  // `_id` fields of the other documents of pairs, or empty
    std::map<std::size_t, Differences> differences;
    std::map<std::size_t, std::vector<std::string>> missing;  // `_id` fields of kept documents without a text
    std::vector<Superseded> superseded;
};

// n documents with texts. ids, texts in UTF-8; lengths: characters; parsed: the texts, or null; ranks: none if the first
// copy stays.
struct Batch {
    Strings ids, texts;
    std::span<const std::int64_t> lengths;
    Prints prints;
    std::span<const std::uint8_t> key_channels;  // of each column of keys, an index of CHANNELS
    std::shared_ptr<judgment::ReadTexts> parsed;
    std::optional<Strings> ranks;

    std::size_t size() const { return prints.size(); }
};

struct DecisionRules {
    judgment::Judging judging = judgment::Judging::differences;
    double similarity = 1;             // least of a duplicate, if it decides
    std::size_t most_candidates = 64;  // of a text that are compared
    std::size_t threads = 1;
    std::size_t part = 5000;           // documents looked up and compared at once, a fifth if many are alike
    std::size_t memory = 3 << 24;      // bytes of kept texts that stay cached once they are stored
};

class Decider {
public:
    // judge: null if texts are not compared.
    Decider(Index& index, const judgment::Judge* judge, const DecisionRules& rules)
        : index_(index), judge_(judge), rules_(rules), kept_(index, judge, rules.memory, seconds_.waiting) {}
    Decider(const Decider&) = delete;

    // Decides documents in their order, and adds kept ones to the index. stored: how many batches the target holds.
    Decisions decide(Batch& batch, const KeptCache::TargetReads& target, std::int64_t stored);

    // Seconds so far: in all, in several threads, and waiting for texts of the target.
    struct Seconds {
        double all = 0, parallel = 0, waiting = 0;
    };
    const Seconds& seconds() const { return seconds_; }

private:
    struct BatchState;

    BatchPart look_up(const Batch& batch, std::size_t first, std::size_t count);
    void find_twins(const Batch& batch, BatchPart& part);
    void find_alike(const Batch& batch, BatchPart& part);
    void compare_ranks(BatchPart& part);
    void decide_in_rounds(PairTexts& texts, BatchPart& part);
    void add_to_index(BatchState& state, BatchPart& part);
    void enter_pairs(BatchState& state, PairTexts& texts, BatchPart& part);
    void enter_superseded(BatchState& state, PairTexts& texts, const BatchPart& part);
    void enter_missing(BatchState& state, const BatchPart& part);
    void finish(BatchState& state);

    Index& index_;
    const judgment::Judge* const judge_;
    const DecisionRules rules_;
    Seconds seconds_;
    KeptCache kept_;
};

}  // namespace dedup
