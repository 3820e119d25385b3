// A part of a batch, decided in turn, and the cache of kept documents.
#pragma once
#include <deque>
#include <functional>
#include <unordered_set>

#include "index/index.hpp"
#include "judgment/judge.hpp"

namespace dedup {

// Texts by number, ascending.
struct NumberedTexts {
    std::vector<std::int64_t> numbers;
    StringBuffer texts;
};

// Ranks by number; the better copy has the larger one, byte by byte.
using Ranks = std::unordered_map<std::int64_t, std::string>;
using IdsByGroup = std::map<std::int64_t, std::vector<std::string>>;
using TextsByGroup = std::map<std::int64_t, StringBuffer>;

// Texts, ranks and near duplicates of kept documents: cached until they are stored, then fetched from the target.
class KeptCache {
public:
    // Reads from the target. texts: by position in `ids`, missing documents are omitted; ranks: one for each id, empty for
    // a missing document; near: texts of near duplicates by group, of a group with more than `most` any that are more.
    // `ids` of `near` are near duplicates that may not be stored yet.
    struct TargetReads {
        std::function<NumberedTexts(StringBuffer ids)> texts;
        std::function<std::vector<std::string>(StringBuffer ids)> ranks;
        std::function<TextsByGroup(IdsByGroup ids, std::size_t most)> near;
    };

    // judge: parses texts, null if texts are not compared. memory: most bytes of stored texts, a quarter as many parsed.
    // waiting: gets the seconds that texts are waited for.
    KeptCache(const Index& index, const judgment::Judge* judge, std::size_t memory, double& waiting)
        : index_(index), judge_(judge), memory_(memory), waiting_(waiting) {}

    // Begins the next batch; target: valid during the batch; stored: batches that the target holds. The oldest texts are
    // dropped first, but none that is not stored.
    void begin_batch(const TargetReads& target, std::int64_t stored) {
        target_ = &target;
        batch_++;
        std::size_t bytes = 0;
        for (Chunk& chunk : chunks_) {
            bytes += chunk.texts.data.size();
            if (chunk.batch > stored) continue;
            chunk.ranks = {};
            chunk.near.clear();
        }
        for (; bytes > memory_ && chunks_.front().batch <= stored; chunks_.pop_front()) bytes -= chunks_.front().texts.data.size();
        std::erase_if(chunks_, [&](const Chunk& chunk) { return chunk.batch <= stored && chunk.texts.size() == 0; });
    }

    // Begins the next part of a batch; drops parsed texts that are old or take too much memory.
    void begin_part() {
        part_++;
        std::erase_if(refs_, [](const auto& one) { return !one.second; });
        std::size_t bytes = 0;
        for (const Parsed& some : parsed_) bytes += some.bytes;
        while (!parsed_.empty() && (bytes > memory_ / 4 || parsed_.front().part <= part_ - MOST_PARTS)) {
            bytes -= parsed_.front().bytes;
            for (const std::int64_t number : parsed_.front().numbers) refs_.erase(number);
            parsed_.pop_front();
        }
    }

    // Adds the kept texts of a part, numbered from `first` on, and their ranks, if any.
    void add(std::size_t first, StringBuffer texts, StringBuffer ranks) {
        chunks_.push_back({first, batch_, std::move(texts), std::move(ranks), {}});
    }
    // Adds a near duplicate of the same part.
    void add_near(std::int64_t group, std::string id) { chunks_.back().near[group].push_back(std::move(id)); }

    // Returns the texts of documents, each once; missing ones are omitted.
    NumberedTexts texts(std::vector<std::int64_t> numbers) const {
        std::ranges::sort(numbers);
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        std::vector<std::pair<const StringBuffer*, std::size_t>> sources(numbers.size());
        StringBuffer ids;
        std::vector<std::size_t> positions;  // of these
        for (std::size_t i = 0; i < numbers.size(); i++) {
            if (const Chunk* chunk = chunk_of(numbers[i])) {
                sources[i] = {&chunk->texts, static_cast<std::size_t>(numbers[i]) - chunk->first};
            } else {
                positions.push_back(i);
                ids.add(bytes_of(index_.id_of(static_cast<std::size_t>(numbers[i]))));
            }
        }
        NumberedTexts fetched, found;
        if (!positions.empty()) {
            const Timer timer(waiting_);
            fetched = target_->texts(std::move(ids));
        }
        for (std::size_t k = 0; k < fetched.numbers.size(); k++)
            sources[positions[static_cast<std::size_t>(fetched.numbers[k])]] = {&fetched.texts, k};
        for (std::size_t i = 0; i < numbers.size(); i++) {
            const auto [texts, row] = sources[i];
            if (texts == nullptr) continue;
            found.numbers.push_back(numbers[i]);
            found.texts.add((*texts)[row]);
        }
        return found;
    }

    // Parses the texts of documents, each once.
    void parse(std::vector<std::int64_t> numbers) {
        std::erase_if(numbers, [&](std::int64_t number) { return refs_.contains(number); });
        for (const std::int64_t number : numbers) refs_[number] = std::nullopt;
        NumberedTexts found = texts(std::move(numbers));
        if (found.numbers.empty()) return;
        const auto parsed = judge_ ? judge_->read(found.texts.view()) : nullptr;
        for (std::size_t row = 0; row < found.numbers.size(); row++) refs_[found.numbers[row]] = judgment::TextRef{parsed.get(), row};
        parsed_.push_back({part_, found.texts.data.size(), parsed, std::move(found.numbers)});
    }

    // Returns a text parsed in this part, none if it is missing. Without a judge the reference is empty.
    std::optional<judgment::TextRef> find(std::int64_t number) const {
        const auto found = refs_.find(number);
        return found == refs_.end() ? std::nullopt : found->second;
    }

    // Returns the ranks of documents; that of a missing one is empty, which no document has.
    Ranks ranks(std::span<const std::int64_t> numbers) const {
        Ranks found;
        std::vector<std::int64_t> missing;
        StringBuffer ids;
        for (const std::int64_t number : numbers) {
            const auto [rank, is_new] = found.try_emplace(number);
            if (!is_new) continue;
            const Chunk* chunk = chunk_of(number);
            if (chunk != nullptr && chunk->ranks.size() > 0) {
                const Bytes bytes = chunk->ranks[static_cast<std::size_t>(number) - chunk->first];
                rank->second.assign(bytes.begin(), bytes.end());
            } else {
                missing.push_back(number);
                ids.add(bytes_of(index_.id_of(static_cast<std::size_t>(number))));
            }
        }
        if (missing.empty()) return found;
        const std::vector<std::string> fetched = target_->ranks(std::move(ids));
        for (std::size_t i = 0; i < missing.size(); i++) found[missing[i]] = fetched.at(i);
        return found;
    }

    // Returns the texts of the near duplicates of groups; see `TargetReads::near`.
    TextsByGroup near(std::span<const std::int64_t> groups, std::size_t most) const {
        IdsByGroup ids;
        for (const std::int64_t group : groups) {
            const auto [own, is_new] = ids.try_emplace(group);
            for (const Chunk& chunk : chunks_) {
                const auto near = chunk.near.find(group);
                if (is_new && near != chunk.near.end()) append(own->second, near->second);
            }
        }
        return ids.empty() ? TextsByGroup{} : target_->near(std::move(ids), most);
    }

private:
    static constexpr std::int64_t MOST_PARTS = 16;  // of batches, for which texts stay parsed

    // The kept texts of a part; ranks and near duplicates until they are stored.
    struct Chunk {
        std::size_t first;   // number
        std::int64_t batch;  // 1-based
        StringBuffer texts, ranks;
        std::unordered_map<std::int64_t, std::vector<std::string>> near;  // `_id` fields by group
    };
    // Texts that were parsed together.
    struct Parsed {
        std::int64_t part;
        std::size_t bytes;
        std::shared_ptr<judgment::ReadTexts> texts;
        std::vector<std::int64_t> numbers;
    };

    const Chunk* chunk_of(std::int64_t number) const {
        const auto after = std::ranges::upper_bound(chunks_, static_cast<std::size_t>(number), {}, &Chunk::first);
        if (after == chunks_.begin()) return nullptr;
        const Chunk& chunk = *std::prev(after);
        return static_cast<std::size_t>(number) - chunk.first < chunk.texts.size() ? &chunk : nullptr;
    }

    const Index& index_;
    const judgment::Judge* judge_;
    const std::size_t memory_;
    double& waiting_;
    const TargetReads* target_ = nullptr;
    std::deque<Chunk> chunks_;
    std::deque<Parsed> parsed_;
    std::unordered_map<std::int64_t, std::optional<judgment::TextRef>> refs_;  // by number; none if missing
    std::int64_t batch_ = 0, part_ = 0;
};

// kept; twin: equal to a document kept before the part; repeated: equal to an earlier text of the part; near: duplicate.
enum class TextState : std::uint8_t { kept, twin, repeated, near };

// n texts of a batch, by row. Documents have numbers: kept ones their own, texts of the part `held` + row.
struct BatchPart {
    static constexpr std::int64_t NONE = -1;

    struct Row {
        Bytes rank{};               // empty if the first copy stays
        std::int64_t equal = NONE;  // a document with the same hashes
        std::int64_t twin = NONE;   // a kept document with the same text
        std::size_t alike = 0;      // the first row with the same text
        bool twin_is_missing = false, beats_twin = false;

        TextState state = TextState::kept;
        std::int64_t chosen = NONE;        // of a repeated text a row, else a pair: that joins it, or of its nearest candidate
        std::int64_t candidates = 0;       // how many
        std::int64_t superseded = NONE;    // the document that the text supersedes
        std::int64_t superseding = NONE;   // their pair, NONE if the texts are equal
    };
    // A text and a candidate.
    struct Pair {
        std::size_t row;
        judgment::Verdict verdict{};
        bool is_better = false;   // whether the text is the better copy
        bool is_missing = false;  // whether the candidate was compared and its text is missing
    };

    std::size_t first;  // of the batch
    std::int64_t held;  // documents in the index
    bool is_ranked;
    std::span<const Fingerprint> prints;
    LookUp found;
    std::vector<Row> rows;
    std::vector<Pair> pairs;         // as found.candidates.all
    std::vector<std::size_t> open;   // rows that may be duplicates or have candidates, ascending

    BatchPart(std::size_t first, std::int64_t held, bool is_ranked, std::span<const Fingerprint> prints, LookUp&& look_up)
        : first(first), held(held), is_ranked(is_ranked), prints(prints), found(std::move(look_up)), rows(prints.size()) {
        pairs.reserve(found.candidates.all.size());
        for (std::size_t row = 0; row < size(); row++) pairs.resize(static_cast<std::size_t>(found.candidates.offsets[row + 1]), {row});
    }

    std::size_t size() const { return rows.size(); }
    bool is_better(std::size_t row, Bytes rank) const { return std::ranges::lexicographical_compare(rank, rows[row].rank); }
    std::int64_t number(std::size_t pair) const { return found.candidates.all[pair].number; }
    // Returns the columns of keys that find a pair, and BY_SIMHASH. A near fingerprint counts even if an equal one hid it:
    // that depends on superseded documents, which a rebuilt index does not know.
    std::uint32_t columns_of(std::size_t pair) const {
        const Candidate& one = found.candidates.all[pair];
        const bool is_near = one.distance <= found.distance && !prints[pairs[pair].row].is_short;
        return one.columns | (is_near ? BY_SIMHASH : 0);
    }
    bool is_here(std::int64_t number) const { return number >= held; }
    std::size_t row_of(std::int64_t number) const { return static_cast<std::size_t>(number - held); }
};

// Decides the open rows of a part in turn. Pairs without a verdict count as refused, as most are; they are judged, and the
// part is decided again, until no pair without a verdict is needed.
class Turns {
public:
    // most: candidates of a text that are compared; by_distance: whether distance breaks ties between joined pairs.
    Turns(BatchPart& part, std::int64_t most, bool by_distance)
        : part_(part), candidates_(part.found.candidates), visible_(part.found.visibility.visible()), most_(most),
          by_distance_(by_distance), kept_(part.size(), BatchPart::NONE) {}

    // Returns the pairs to be judged.
    std::vector<std::size_t> decide_all() {
        part_.found.visibility.reset();
        for (BatchPart::Pair& pair : part_.pairs) pair.is_missing = false;
        for (BatchPart::Row& row : part_.rows) row.superseded = BatchPart::NONE;
        for (const std::size_t row : part_.open) decide(row);
        return std::move(needed_);
    }

private:
    // The candidates that are compared: those with an order below `last`, and the first `count` with this order.
    struct Cut {
        int last = std::numeric_limits<int>::max();
        std::int64_t count = 0;
    };

    // More equal bits come first, then nearer fingerprints.
    int order_of(std::int64_t pair) const { return candidates_.all[pair].distance - 256 * candidates_.all[pair].agreement; }

    void decide(std::size_t row) {
        BatchPart::Row& own = part_.rows[row];
        const std::int64_t kept = kept_[own.alike];
        if (kept >= 0) {
            own.state = TextState::repeated;
            own.chosen = kept;
            if (part_.is_ranked && part_.is_better(row, part_.rows[kept].rank)) supersede(row, part_.held + kept, BatchPart::NONE);
        } else if (own.twin >= 0 && !superseded_.contains(own.twin)) {
            own.state = TextState::twin;
            if (own.beats_twin) supersede(row, own.twin, BatchPart::NONE);
        } else {
            choose(row);
            if (own.state == TextState::kept) return keep(row);
            if (part_.pairs[own.chosen].is_better) supersede(row, part_.number(own.chosen), own.chosen);
        }
    }

    void keep(std::size_t row) {
        part_.rows[row].state = TextState::kept;
        part_.found.visibility.keep(row);
        kept_[part_.rows[row].alike] = static_cast<std::int64_t>(row);
    }

    // pair: of the text and the document that it supersedes, NONE if their texts are equal.
    void supersede(std::size_t row, std::int64_t number, std::int64_t pair) {
        BatchPart::Row& own = part_.rows[row];
        own.superseded = number;
        own.superseding = pair;
        own.chosen = BatchPart::NONE;
        superseded_.insert(number);
        if (part_.is_here(number)) {
            const auto former = static_cast<std::int64_t>(part_.row_of(number));
            std::int64_t& kept = kept_[part_.rows[former].alike];
            if (kept == former) kept = BatchPart::NONE;
            part_.rows[former].state = pair < 0 ? TextState::repeated : TextState::near;
            part_.rows[former].chosen = pair < 0 ? static_cast<std::int64_t>(row) : pair;
        }
        keep(row);
    }

    void choose(std::size_t row) {
        Cut cut = cut_of(row);
        std::int64_t chosen = BatchPart::NONE, refused = BatchPart::NONE;
        std::pair surest{std::numeric_limits<double>::infinity(), 0};
        int nearest = 0;
        for (std::int64_t pair = candidates_.offsets[row]; pair < candidates_.offsets[row + 1]; pair++) {
            const int order = order_of(pair);
            if (!is_visible(pair) || order > cut.last || (order == cut.last && cut.count-- <= 0)) continue;
            const judgment::Verdict& verdict = part_.pairs[pair].verdict;
            const double confidence = std::isnan(verdict.probability) ? verdict.similarity : verdict.probability;
            const std::pair rank{-confidence, by_distance_ ? candidates_.all[pair].distance : 0};
            if (verdict.state == judgment::State::unknown) {
                needed_.push_back(static_cast<std::size_t>(pair));
            } else if (verdict.state == judgment::State::gone) {
                part_.pairs[pair].is_missing = true;
            } else if (verdict.state == judgment::State::joined && rank < surest) {
                chosen = pair;
                surest = rank;
            } else if (verdict.state == judgment::State::refused && (refused < 0 || order < nearest)) {
                refused = pair;
                nearest = order;
            }
        }
        part_.rows[row].chosen = chosen >= 0 ? chosen : refused;
        part_.rows[row].state = chosen >= 0 ? TextState::near : TextState::kept;
    }

    // Whether the text of a pair finds the candidate: it is kept, and not superseded.
    bool is_visible(std::int64_t pair) const {
        const Candidate& one = candidates_.all[pair];
        const bool is_found = !part_.is_here(one.number) || (one.columns & visible_[part_.row_of(one.number)]) != 0;
        return is_found && (superseded_.empty() || !superseded_.contains(one.number));
    }

    Cut cut_of(std::size_t row) {
        orders_.clear();
        for (std::int64_t pair = candidates_.offsets[row]; pair < candidates_.offsets[row + 1]; pair++) {
            if (is_visible(pair)) orders_.push_back(order_of(pair));
        }
        part_.rows[row].candidates = std::ssize(orders_);
        if (std::ssize(orders_) <= most_) return {};
        const auto last = orders_.begin() + std::max(most_ - 1, std::int64_t{0});
        std::ranges::nth_element(orders_, last);
        return {*last, most_ - std::count_if(orders_.begin(), last, [&](int order) { return order < *last; })};
    }

    BatchPart& part_;
    const Candidates& candidates_;
    const std::span<const std::uint32_t> visible_;
    const std::int64_t most_;
    const bool by_distance_;
    std::vector<std::int64_t> kept_;  // the kept row of each text, by its first row
    std::unordered_set<std::int64_t> superseded_;
    std::vector<std::size_t> needed_;
    std::vector<int> orders_;  // of the candidates of one text
};

}  // namespace dedup
