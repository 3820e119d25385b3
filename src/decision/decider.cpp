#include "decision/decider.hpp"

namespace dedup {
namespace {

using judgment::Judging;
using judgment::Verdict;

constexpr std::int64_t CROWDED = 4;                    // pairs per text with a key in common, above which parts are smaller
constexpr std::size_t EVERY = 4;                       // one in n columns is counted for that
constexpr std::uint8_t SIMHASH = 1, BY_TEXT = 1 << 4;  // bits of CHANNELS

// Two texts of Jaccard similarity J agree in (1 + J) / 2 of the bits of their sketches, binomially (Li and König, WWW 2010).
std::int64_t least_bits(double similarity, double deviations) {
    const double share = (1 + similarity) / 2, deviation = std::sqrt(share * (1 - share) / BINS);
    return static_cast<std::int64_t>(std::floor((share - deviations * deviation) * BINS));
}

// Returns about how many pairs of texts have a key in common, or a fingerprint if there are no keys.
std::int64_t estimate_pairs(const Prints& texts) {
    const std::size_t n = texts.size();
    std::vector<std::int64_t> before(n);
    std::int64_t count = 0;
    const auto add = [&](auto key_of) {
        const std::vector<std::int32_t> former = former_rows(n, key_of);
        for (std::size_t i = 0; i < n; i++) count += before[i] = former[i] == NO_ROW ? 0 : before[former[i]] + 1;
    };
    for (std::size_t c = 0; c < texts.columns; c += EVERY) add([&](std::size_t i) { return texts.keys[i * texts.columns + c]; });
    if (texts.columns > 0) return static_cast<std::int64_t>(EVERY) * count;
    add([&](std::size_t i) { return texts.rows[i].value; });
    return count;
}

struct PrintRows {
    std::vector<Fingerprint> texts;
    std::vector<std::uint32_t> keys;
    std::vector<std::uint64_t> bits;
    std::size_t columns, words;

    PrintRows(const Prints& from, std::span<const std::size_t> rows) : columns(from.columns), words(from.words) {
        for (const std::size_t row : rows) {
            texts.push_back(from.rows[row]);
            append(keys, from.keys.subspan(row * columns, columns));
            append(bits, from.bits.subspan(row * words, words));
        }
    }
    Prints prints() const { return {texts, keys, bits, columns, words}; }
};

// Returns differences as seen from the other text.
Differences turned(Differences differences) {
    using Kind = judgment::DifferenceKind;
    for (judgment::NamedDifference& one : differences) {
        std::swap(one.text, one.other);
        if (one.kind == Kind::inserted || one.kind == Kind::deleted)
            one.kind = one.kind == Kind::inserted ? Kind::deleted : Kind::inserted;
    }
    return differences;
}

std::uint8_t channels_of(std::uint32_t columns, std::span<const std::uint8_t> key_channels) {
    std::uint8_t channels = columns & BY_SIMHASH ? SIMHASH : 0;
    for (std::size_t c = 0; c < key_channels.size(); c++) channels |= (columns >> c & 1) << key_channels[c];
    return channels;
}

// The canonical forms of one question in two notations, with slightly reworded choices in another order, share three
// grams in five; less alike ones are rarely joined.
constexpr double LEAST_ALIKE = 0.6, JUDGED_DEVIATIONS = 2, DEVIATIONS = 3.5;

// Returns the least number of equal bits of a candidate's sketch; length: characters of the text.
std::int64_t least_agreement(const DecisionRules& rules, std::int64_t length) {
    if (rules.judging == Judging::differences) return least_bits(LEAST_ALIKE, JUDGED_DEVIATIONS);
    if (rules.judging == Judging::none) return 0;
    return least_bits(judgment::required_similarity(rules.similarity, length / 2), DEVIATIONS);  // the form may be as short as that
}

}  // namespace

// The state of a batch while its parts are decided. Documents have numbers of the index.
struct Decider::BatchState {
    Batch& batch;
    std::size_t begin;                 // documents in the index before the batch
    std::vector<std::size_t> added;    // rows, by number - begin
    std::vector<std::int64_t> own;     // the number of each row, if it was added
    std::vector<std::int64_t> others;  // the other document of each row's pair
    std::unordered_map<std::int64_t, std::size_t> replacing;  // rows, by the number of the superseded document
    Decisions decisions;

    BatchState(Batch& batch, std::size_t begin)
        : batch(batch), begin(begin), own(batch.size(), BatchPart::NONE), others(batch.size(), BatchPart::NONE) {
        decisions.rows.resize(batch.size());
        for (std::size_t row = 0; row < batch.size(); row++) {
            decisions.rows[row].fingerprint = batch.prints.rows[row].value;
            decisions.rows[row].is_short = batch.prints.rows[row].is_short;
        }
    }
    bool is_new(std::int64_t number) const { return number >= static_cast<std::int64_t>(begin); }
    std::size_t row_of(std::int64_t number) const { return added[static_cast<std::size_t>(number) - begin]; }
    // Returns the number of a document that a part names.
    std::int64_t number_of(const BatchPart& part, std::int64_t number) const {
        return part.is_here(number) ? own[part.first + part.row_of(number)] : number;
    }
    // Enters the values of a pair in the decision on one of its texts.
    void enter(const BatchPart& part, std::size_t pair, double similarity, Decision& decision) const {
        std::uint32_t columns = part.columns_of(pair);
        const std::int64_t number = part.number(pair);
        if (part.is_here(number)) columns &= part.found.visibility.visible()[part.row_of(number)] | BY_SIMHASH;
        decision.distance = part.found.candidates.all[pair].distance;
        decision.similarity = similarity;
        decision.probability = part.pairs[pair].verdict.probability;
        decision.channels = channels_of(columns, batch.key_channels);
        decision.left_out = part.pairs[pair].verdict.left_out;
    }
    // Replaces the decision on a document that was kept in an earlier part.
    void replace(Superseded&& one, std::int64_t number) {
        const std::size_t row = row_of(number);
        const Decision before = std::exchange(decisions.rows[row], one.decision);
        decisions.rows[row].fingerprint = before.fingerprint;
        decisions.rows[row].is_short = before.is_short;
        decisions.rows[row].candidates = before.candidates;
        others[row] = own[one.row];
        if (!one.differences.empty()) decisions.differences[row] = std::move(one.differences);
    }
};

Decisions Decider::decide(Batch& batch, const KeptCache::TargetReads& target, std::int64_t stored) {
    const Timer timer(seconds_.all);
    kept_.begin_batch(target, stored);
    BatchState state(batch, index_.size());
    const bool is_crowded = estimate_pairs(batch.prints) > CROWDED * static_cast<std::int64_t>(batch.size());
    const std::size_t size = std::max(is_crowded ? rules_.part / 5 : rules_.part, std::size_t{1});  // pairs grow with the square
    for (std::size_t first = 0; first < batch.size(); first += size) {
        BatchPart part = look_up(batch, first, std::min(size, batch.size() - first));
        PairTexts texts(kept_, judge_, rules_.judging == Judging::differences, rules_.threads, seconds_.parallel, batch.texts,
                        batch.parsed, part);
        find_twins(batch, part);
        find_alike(batch, part);
        if (batch.ranks) compare_ranks(part);
        decide_in_rounds(texts, part);
        add_to_index(state, part);
        enter_pairs(state, texts, part);
        enter_missing(state, part);
        enter_superseded(state, texts, part);
    }
    finish(state);
    return std::move(state.decisions);
}

BatchPart Decider::look_up(const Batch& batch, std::size_t first, std::size_t count) {
    kept_.begin_part();
    const Timer timer(seconds_.parallel);
    const Prints texts = batch.prints.range(first, count);
    std::vector<std::int64_t> least(count);
    for (std::size_t row = 0; row < count; row++) least[row] = least_agreement(rules_, batch.lengths[first + row]);
    BatchPart part(first, static_cast<std::int64_t>(index_.size()), batch.ranks.has_value(), texts.rows,
              index_.look_up(texts, least, rules_.threads));
    const std::vector<std::int64_t> equal = index_.find_equal(texts);
    for (std::size_t row = 0; row < count; row++) {
        part.rows[row].equal = equal[row];
        if (batch.ranks) part.rows[row].rank = (*batch.ranks)[first + row];
    }
    return part;
}

void Decider::find_twins(const Batch& batch, BatchPart& part) {
    std::vector<std::int64_t> numbers;
    for (BatchPart::Row& row : part.rows) {
        if (row.equal < 0 || index_.is_gone(row.equal)) continue;
        row.twin = row.equal;
        numbers.push_back(row.equal);
    }
    const NumberedTexts found = kept_.texts(std::move(numbers));
    for (std::size_t i = 0; i < part.size(); i++) {
        BatchPart::Row& row = part.rows[i];
        if (row.twin < 0) continue;
        const auto known = std::ranges::lower_bound(found.numbers, row.twin);
        row.twin_is_missing = known == found.numbers.end() || *known != row.twin;
        const auto text = [&] { return found.texts[static_cast<std::size_t>(known - found.numbers.begin())]; };
        if (row.twin_is_missing || !std::ranges::equal(text(), batch.texts[part.first + i])) row.twin = BatchPart::NONE;
    }
}

void Decider::find_alike(const Batch& batch, BatchPart& part) {
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> firsts;  // by digest
    for (std::size_t row = 0; row < part.size(); row++) {
        part.rows[row].alike = row;
        if (part.found.alone[row] && part.rows[row].equal < 0) continue;
        part.open.push_back(row);
        std::vector<std::size_t>& same = firsts[batch.prints.rows[part.first + row].digest];
        const Bytes text = batch.texts[part.first + row];
        const auto first = std::ranges::find_if(
            same, [&](std::size_t earlier) { return std::ranges::equal(batch.texts[part.first + earlier], text); });
        if (first == same.end()) same.push_back(row);
        else part.rows[row].alike = *first;
    }
}

void Decider::compare_ranks(BatchPart& part) {
    std::vector<std::int64_t> twins;
    for (const BatchPart::Row& row : part.rows) {
        if (row.twin >= 0) twins.push_back(row.twin);
    }
    const Ranks ranks = kept_.ranks(twins);
    for (std::size_t row = 0; row < part.size(); row++) {
        BatchPart::Row& own = part.rows[row];
        own.beats_twin = own.twin >= 0 && part.is_better(row, bytes_of(ranks.at(own.twin)));
    }
    for (std::size_t pair = 0; pair < part.pairs.size(); pair++) {
        const std::int64_t number = part.number(pair);
        if (part.is_here(number)) part.pairs[pair].is_better = part.is_better(part.pairs[pair].row, part.rows[part.row_of(number)].rank);
    }
}

void Decider::decide_in_rounds(PairTexts& texts, BatchPart& part) {
    Groups groups(index_, kept_, judge_, part, rules_.most_candidates);
    const auto most = static_cast<std::int64_t>(rules_.most_candidates);
    const auto needed = [&] { return Turns(part, most, rules_.judging != Judging::differences).decide_all(); };
    for (std::int64_t unlike = 0; unlike != BatchPart::NONE;) {
        for (auto open = needed(); !open.empty(); open = needed()) {
            std::vector<RowPair> pairs;
            for (const std::size_t pair : open) pairs.push_back({part.pairs[pair].row, part.number(pair)});
            const std::vector<Verdict> verdicts = texts.judge(pairs);
            std::vector<std::int64_t> joined;  // kept documents
            const auto needs_rank = [&](std::size_t i) {
                return part.is_ranked && verdicts[i].state == judgment::State::joined && !part.is_here(pairs[i].number);
            };
            for (std::size_t i = 0; i < open.size(); i++) {
                part.pairs[open[i]].verdict = verdicts[i];
                if (needs_rank(i)) joined.push_back(pairs[i].number);
            }
            const Ranks ranks = kept_.ranks(joined);
            for (std::size_t i = 0; i < open.size(); i++) {
                if (needs_rank(i)) part.pairs[open[i]].is_better = part.is_better(pairs[i].row, bytes_of(ranks.at(pairs[i].number)));
            }
        }
        unlike = part.is_ranked ? groups.first_unlike(texts) : BatchPart::NONE;
        if (unlike != BatchPart::NONE) part.pairs[unlike].is_better = false;
    }
}

// Adds the texts that are kept, or were until a better copy came.
void Decider::add_to_index(BatchState& state, BatchPart& part) {
    const Batch& batch = state.batch;
    std::vector<std::uint8_t> is_added(part.size());
    for (std::size_t row = 0; row < part.size(); row++) {
        is_added[row] |= part.rows[row].state == TextState::kept;
        if (part.rows[row].superseded >= part.held) is_added[part.row_of(part.rows[row].superseded)] = 1;
    }
    BatchVisibility& visibility = part.found.visibility;
    visibility.store_columns(is_added);
    std::vector<std::size_t> rows;
    std::vector<std::uint32_t> stored;
    StringBuffer ids, texts, ranks;
    const std::size_t first = index_.size();
    for (std::size_t row = 0; row < part.size(); row++) {
        if (!is_added[row]) continue;
        const std::size_t of_batch = part.first + row;
        state.own[of_batch] = static_cast<std::int64_t>(first + rows.size());
        state.added.push_back(of_batch);
        rows.push_back(of_batch);
        stored.push_back(visibility.stored()[row]);
        ids.add(batch.ids[of_batch]);
        texts.add(batch.texts[of_batch]);
        if (batch.ranks) ranks.add(part.rows[row].rank);
        if (part.rows[row].equal >= 0) index_.supersede(static_cast<std::size_t>(part.rows[row].equal));
    }
    kept_.add(first, std::move(texts), std::move(ranks));
    const Timer timer(seconds_.parallel);
    index_.add(ids.view(), PrintRows(batch.prints, rows).prints(), stored, rules_.threads);
    index_.count_unindexed(visibility.unseen());
    index_.found_groups(first);
}

void Decider::enter_pairs(BatchState& state, PairTexts& texts, BatchPart& part) {
    std::vector<std::size_t> rows;
    std::vector<RowPair> pairs, joined;
    for (std::size_t row = 0; row < part.size(); row++) {
        const BatchPart::Row& own = part.rows[row];
        Decision& decision = state.decisions.rows[part.first + row];
        if (own.state == TextState::twin || own.state == TextState::repeated) {  // found without its candidates
            decision.outcome = Outcome::exact;
            decision.similarity = 1;
            decision.channels = BY_TEXT;
            const std::int64_t same = own.state == TextState::twin ? own.twin : part.held + own.chosen;
            state.others[part.first + row] = state.number_of(part, same);
            continue;
        }
        decision.outcome = own.state == TextState::near ? Outcome::near : Outcome::kept;
        decision.candidates = own.candidates;
        if (own.chosen < 0) continue;
        rows.push_back(row);
        pairs.push_back({part.pairs[own.chosen].row, part.number(own.chosen)});
        if (own.state == TextState::near) joined.push_back(pairs.back());
    }
    const std::vector<Verdict> measured = texts.measure(pairs);
    std::vector<Differences> differences = texts.differences(joined);
    for (std::size_t i = 0, j = 0; i < rows.size(); i++) {
        const BatchPart::Row& own = part.rows[rows[i]];
        const std::size_t row = part.first + rows[i], owner = part.first + pairs[i].row;  // another one if the row is superseded
        const Verdict& verdict = part.pairs[own.chosen].verdict;
        Decision& decision = state.decisions.rows[row];
        state.enter(part, own.chosen, measured[i].similarity, decision);
        decision.apart = verdict.apart;
        decision.richer = owner == row ? verdict.richer : 0;
        state.others[row] = owner == row ? state.number_of(part, pairs[i].number) : state.own[owner];
        if (own.state != TextState::near) continue;
        Differences& found = differences[j++];
        state.decisions.differences[row] = owner == row ? std::move(found) : turned(std::move(found));
    }
}

// Enters better copies in the groups of the documents that they supersede, and near duplicates in theirs.
void Decider::enter_superseded(BatchState& state, PairTexts& texts, const BatchPart& part) {
    for (std::size_t row = 0; row < part.size(); row++) {
        const std::int64_t superseded = part.rows[row].superseded, pair = part.rows[row].superseding;
        if (superseded < 0) continue;
        const std::size_t of_batch = part.first + row;
        const auto number = static_cast<std::size_t>(state.number_of(part, superseded));
        state.replacing[static_cast<std::int64_t>(number)] = of_batch;
        index_.set_gone(number, true);
        const std::int64_t group = index_.group_of(number);
        index_.join(static_cast<std::size_t>(state.own[of_batch]), group);
        if (part.is_here(superseded)) continue;  // its own decision has the values of the pair
        const Bytes id = state.batch.ids[of_batch];
        Superseded made{of_batch, index_.id_of(number), {id.begin(), id.end()}, {}, {}};
        made.decision.outcome = pair < 0 ? Outcome::exact : Outcome::near;
        made.decision.channels = BY_TEXT;
        made.decision.similarity = 1;
        made.decision.group = group;
        if (pair >= 0) {
            const RowPair both[] = {{row, superseded}};
            state.enter(part, static_cast<std::size_t>(pair), texts.measure(both)[0].similarity, made.decision);
            made.differences = turned(std::move(texts.differences(both)[0]));
            kept_.add_near(group, made.id);
        }
        if (state.is_new(superseded)) state.replace(std::move(made), superseded);
        else state.decisions.superseded.push_back(std::move(made));
    }
    if (!part.is_ranked) return;
    for (std::size_t row = part.first; row < part.first + part.size(); row++) {
        if (state.decisions.rows[row].outcome != Outcome::near) continue;
        const Bytes id = state.batch.ids[row];
        kept_.add_near(index_.group_of(static_cast<std::size_t>(state.others[row])), {id.begin(), id.end()});
    }
}

void Decider::enter_missing(BatchState& state, const BatchPart& part) {
    const auto enter = [&](std::size_t row, std::int64_t number) {
        if (part.rows[row].state == TextState::repeated) return;
        std::vector<std::string>& ids = state.decisions.missing[part.first + row];
        std::string id = index_.id_of(static_cast<std::size_t>(number));
        if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
    };
    for (std::size_t row = 0; row < part.size(); row++) {
        if (part.rows[row].twin_is_missing) enter(row, part.rows[row].equal);
    }
    for (std::size_t pair = 0; pair < part.pairs.size(); pair++) {
        if (part.pairs[pair].is_missing) enter(part.pairs[pair].row, part.number(pair));
    }
}

void Decider::finish(BatchState& state) {
    Decisions& decisions = state.decisions;
    for (Superseded& one : decisions.superseded) {
        const auto next = [&] { return state.replacing.find(state.own[one.row]); };
        for (auto row = next(); row != state.replacing.end(); row = next()) one.row = row->second;
    }
    const std::vector<std::string> collections = index_.collections();
    for (std::size_t row = 0; row < decisions.rows.size(); row++) {
        Decision& decision = decisions.rows[row];
        const std::int64_t other = state.others[row];
        decision.cut = std::max(decision.candidates - static_cast<std::int64_t>(rules_.most_candidates), std::int64_t{0});
        decisions.original_ids.add(other < 0 ? Bytes{} : bytes_of(index_.id_of(static_cast<std::size_t>(other))));
        if (other >= 0) {
            const auto number = static_cast<std::size_t>(other);
            decision.collection = static_cast<std::uint8_t>(std::ranges::find(collections, index_.collection_of(number)) - collections.begin());
            decision.group = decision.collection > 0 ? 0 : index_.group_of(number);
            decision.is_superseded = decision.outcome != Outcome::kept && state.is_new(other) && state.row_of(other) > row;
        }
        if (state.own[row] >= 0) decision.group = index_.group_of(static_cast<std::size_t>(state.own[row]));
    }
    if (rules_.judging == Judging::differences) return;
    const auto hide = [&](Decision& decision) {
        decision.probability = NAN;
        if (rules_.judging == Judging::none && decision.outcome == Outcome::near) decision.similarity = NAN;
    };
    std::ranges::for_each(decisions.rows, hide);
    for (Superseded& one : decisions.superseded) hide(one.decision);
}

}  // namespace dedup
