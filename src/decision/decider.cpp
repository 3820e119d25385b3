#include "decision/decider.hpp"

namespace dedup {
namespace {

using judgment::Judging;
using judgment::Verdict;

constexpr std::int64_t CROWDED = 4;                 // pairs a text that share a key, from which on texts are many alike
constexpr std::size_t EVERY = 4;                    // columns of which one is looked at for that
constexpr std::uint8_t SIMHASH = 1, BY_TEXT = 1 << 4;  // bits for CHANNELS
constexpr double NOT_KNOWN = NAN;

// Sketches whose bits are compared: how many have to be equal. Two texts of Jaccard similarity J agree in (1 + J) / 2 of
// the bits, binomially (Li and König, WWW 2010).
std::int64_t least_bits(double similarity, double deviations) {
    const double share = (1 + similarity) / 2, deviation = std::sqrt(share * (1 - share) / BINS);
    return static_cast<std::int64_t>(std::floor((share - deviations * deviation) * BINS));
}

// About how many pairs of texts share a key, or a fingerprint if there are no keys.
std::int64_t count_meetings(const Prints& texts) {
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

// Some texts of a batch, copied.
struct Chosen {
    std::vector<Fingerprint> texts;
    std::vector<std::uint32_t> keys;
    std::vector<std::uint64_t> bits;
    std::size_t columns, words;

    Chosen(const Prints& from, std::span<const std::size_t> rows) : columns(from.columns), words(from.words) {
        for (const std::size_t row : rows) {
            texts.push_back(from.rows[row]);
            append(keys, from.keys.subspan(row * columns, columns));
            append(bits, from.bits.subspan(row * words, words));
        }
    }
    Prints prints() const { return {texts, keys, bits, columns, words}; }
};

// The same as seen from the other text.
Differences turned(Differences differences) {
    using Kind = judgment::DifferenceKind;
    for (judgment::NamedDifference& one : differences) {
        std::swap(one.text, one.other);
        if (one.kind == Kind::inserted || one.kind == Kind::deleted)
            one.kind = one.kind == Kind::inserted ? Kind::deleted : Kind::inserted;
    }
    return differences;
}

// The channels that columns of keys stand for.
std::uint8_t channels_of(std::uint32_t columns, std::span<const std::uint8_t> key_channels) {
    std::uint8_t channels = columns & BY_SIMHASH ? SIMHASH : 0;
    for (std::size_t c = 0; c < key_channels.size(); c++) channels |= (columns >> c & 1) << key_channels[c];
    return channels;
}

// The canonical forms of one question in two notations, with slightly reworded choices in another order, share three
// grams in five; less alike ones are rarely joined.
constexpr double LEAST_ALIKE = 0.6, JUDGED_DEVIATIONS = 2, DEVIATIONS = 3.5;

// How many bits of its sketch a candidate of a text has equal, at least; length: characters of the text.
std::int64_t least_agreement(const DecisionRules& rules, std::int64_t length) {
    if (rules.judging == Judging::differences) return least_bits(LEAST_ALIKE, JUDGED_DEVIATIONS);
    if (rules.judging == Judging::none) return 0;
    return least_bits(judgment::required_similarity(rules.similarity, length / 2), DEVIATIONS);  // the form may be so short
}

}  // namespace

// What is known of a batch while its parts are decided. Documents have numbers of the index.
struct Decider::Course {
    struct Replacement {
        std::int64_t number;    // of the superseded document
        bool is_here;           // of the same part as the one that supersedes it, so its own decision tells the rest
        Superseded superseded;
    };

    const Batch& batch;
    BatchTexts texts;
    std::size_t begun;                 // documents in the index before the batch
    std::vector<std::size_t> added;    // rows, in the order of their numbers
    std::vector<std::int64_t> own;     // of each row, if it was added
    std::vector<std::int64_t> others;  // of the other document of each row's pair
    std::vector<Replacement> replacements;
    Decisions decisions;

    Course(const Batch& batch, std::size_t begun)
        : batch(batch), texts{batch.texts, batch.read}, begun(begun), own(batch.size(), Part::NONE),
          others(batch.size(), Part::NONE) {
        decisions.rows.resize(batch.size());
        for (std::size_t row = 0; row < batch.size(); row++) {
            decisions.rows[row].fingerprint = batch.prints.rows[row].value;
            decisions.rows[row].is_short = batch.prints.rows[row].is_short;
        }
    }
};

Decisions Decider::decide(const Batch& batch, const KeptTexts::Fetch& fetch, const Copies::Stored& stored,
                          std::int64_t batches_stored) {
    const Timer timer(seconds_.all);
    const KeptTexts::Fetch timed = [&](StringBuffer ids) {
        const Timer waiting(seconds_.waiting);
        return fetch(std::move(ids));
    };
    kept_.begin_batch(timed, batches_stored);
    copies_.begin_batch(stored, batches_stored);
    Course course(batch, index_.size());
    const bool is_crowded = count_meetings(batch.prints) > CROWDED * static_cast<std::int64_t>(batch.size());
    const std::size_t size = std::max(is_crowded ? rules_.part / 5 : rules_.part, std::size_t{1});  // pairs grow with the square
    for (std::size_t first = 0; first < batch.size(); first += size) {
        Part part = look_up(batch, first, std::min(size, batch.size() - first));
        PairTexts texts(kept_, judge_, rules_.judging == Judging::differences, rules_.threads, seconds_.parallel,
                        course.texts, part);
        find_twins(batch, part);
        find_alike(batch, part);
        if (batch.ranks) compare_ranks(part);
        decide_in_rounds(texts, part);
        add_to_index(course, part);
        enter_pairs(course, texts, part);
        enter_missing(course, part);
        let_supersede(course, part);
    }
    finish(course);
    return std::move(course.decisions);
}

Part Decider::look_up(const Batch& batch, std::size_t first, std::size_t count) {
    kept_.begin_part();
    const Timer timer(seconds_.parallel);
    const Prints texts = batch.prints.part(first, count);
    std::vector<std::int64_t> least(count);
    for (std::size_t row = 0; row < count; row++) least[row] = least_agreement(rules_, batch.lengths[first + row]);
    Part part(first, static_cast<std::int64_t>(index_.size()), texts.rows, index_.look_up(texts, least, rules_.threads));
    part.equal = index_.find_equal(texts);
    if (batch.ranks) {
        for (std::size_t row = 0; row < count; row++) part.ranks.push_back((*batch.ranks)[first + row]);
    }
    return part;
}

// Finds the kept document with the same text as each.
void Decider::find_twins(const Batch& batch, Part& part) {
    std::vector<std::int64_t> numbers;
    part.twins.assign(part.size(), Part::NONE);
    for (std::size_t row = 0; row < part.size(); row++) {
        if (part.equal[row] < 0 || index_.is_gone(part.equal[row])) continue;
        part.twins[row] = part.equal[row];
        numbers.push_back(part.equal[row]);
    }
    const FoundTexts found = kept_.get(std::move(numbers));
    for (std::size_t row = 0; row < part.size(); row++) {
        if (part.twins[row] < 0) continue;
        const auto known = std::ranges::lower_bound(found.rows, part.twins[row]);
        const bool is_there = known != found.rows.end() && *known == part.twins[row];
        const auto same = [&] { return found.texts[static_cast<std::size_t>(known - found.rows.begin())]; };
        part.twin_is_gone[row] = !is_there;
        if (!is_there || !std::ranges::equal(same(), batch.texts[part.first + row])) part.twins[row] = Part::NONE;
    }
}

// Finds the first text of the part that is the same as each open one.
void Decider::find_alike(const Batch& batch, Part& part) {
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> firsts;  // by digest
    for (std::size_t row = 0; row < part.size(); row++) {
        part.alike[row] = row;
        if (part.found.alone[row] && part.equal[row] < 0) continue;
        part.open.push_back(row);
        std::vector<std::size_t>& same = firsts[batch.prints.rows[part.first + row].digest];
        const Bytes text = batch.texts[part.first + row];
        const auto first = std::ranges::find_if(
            same, [&](std::size_t other) { return std::ranges::equal(batch.texts[part.first + other], text); });
        if (first == same.end())
            same.push_back(row);
        else
            part.alike[row] = *first;
    }
}

void Decider::compare_ranks(Part& part) {
    std::vector<std::int64_t> twins;
    std::ranges::copy_if(part.twins, std::back_inserter(twins), [](std::int64_t twin) { return twin >= 0; });
    const Ranks ranks = copies_.ranks(twins);
    for (std::size_t row = 0; row < part.size(); row++) {
        if (part.twins[row] >= 0) part.beats[row] = part.is_better(row, bytes_of(ranks.at(part.twins[row])));
    }
    for (std::size_t pair = 0; pair < part.pairs(); pair++) {
        if (part.is_here(part.number(pair)))
            part.pair_beats[pair] = part.is_better(part.owners[pair], part.ranks[part.row_of(part.number(pair))]);
    }
}

// Decides in turn, until every pair that is needed is judged.
void Decider::decide_in_rounds(PairTexts& texts, Part& part) {
    Groups groups(index_, copies_, judge_, part, rules_.most_candidates);
    const auto most = static_cast<std::int64_t>(rules_.most_candidates);
    const auto needed = [&] { return Turns(part, most, rules_.judging != Judging::differences).decide(); };
    for (std::int64_t unlike = 0; unlike != Part::NONE;) {
        for (auto open = needed(); !open.empty(); open = needed()) {
            std::vector<PairOf> pairs;
            for (const std::size_t pair : open) pairs.push_back({part.owners[pair], part.number(pair)});
            const std::vector<Verdict> verdicts = texts.judge(pairs);
            std::vector<std::int64_t> joined;
            for (std::size_t i = 0; i < open.size(); i++) {
                part.verdicts[open[i]] = verdicts[i];
                const bool is_joined = verdicts[i].state == judgment::State::joined && !part.is_here(pairs[i].number);
                if (part.is_ranked() && is_joined) joined.push_back(pairs[i].number);
            }
            if (joined.empty()) continue;
            const Ranks ranks = copies_.ranks(joined);
            for (std::size_t i = 0; i < open.size(); i++) {
                if (const auto rank = ranks.find(pairs[i].number); rank != ranks.end() && verdicts[i].state == judgment::State::joined)
                    part.pair_beats[open[i]] = part.is_better(pairs[i].row, bytes_of(rank->second));
            }
        }
        unlike = part.is_ranked() ? groups.first_unlike(texts) : Part::NONE;
        if (unlike != Part::NONE) part.pair_beats[static_cast<std::size_t>(unlike)] = 0;
    }
}

// Adds the texts that are kept, or were until a better copy came.
void Decider::add_to_index(Course& course, Part& part) {
    const Batch& batch = course.batch;
    std::vector<std::uint8_t> is_added(part.size());
    for (std::size_t row = 0; row < part.size(); row++) is_added[row] = part.states[row] == TextState::kept;
    for (const std::int64_t number : part.superseded) {
        if (number >= part.held) is_added[part.row_of(number)] = 1;
    }
    BatchVisibility& visibility = part.found.visibility;
    visibility.store_columns(is_added);
    std::vector<std::size_t> rows;
    std::vector<std::uint32_t> stored;
    StringBuffer ids, texts;
    const std::size_t first = index_.size();
    for (std::size_t row = 0; row < part.size(); row++) {
        if (!is_added[row]) continue;
        const std::size_t of_batch = part.first + row;
        course.own[of_batch] = static_cast<std::int64_t>(first + rows.size());
        course.added.push_back(of_batch);
        if (batch.ranks) copies_.add_rank(course.own[of_batch], part.ranks[row]);
        rows.push_back(of_batch);
        stored.push_back(visibility.stored()[row]);
        ids.add(batch.ids[of_batch]);
        texts.add(batch.texts[of_batch]);
        if (part.equal[row] >= 0) index_.supersede(static_cast<std::size_t>(part.equal[row]));
    }
    kept_.add(first, std::move(texts));
    const Timer timer(seconds_.parallel);
    index_.add(ids.view(), Chosen(batch.prints, rows).prints(), stored, rules_.threads);
    if (visibility.most_same() > 1) index_.count_unindexed(static_cast<std::int64_t>(visibility.count_unseen()));
    index_.found_groups(first);
}

// Enters the pair that was chosen for each text, if there is one.
void Decider::enter_pairs(Course& course, PairTexts& texts, Part& part) {
    const Candidates& candidates = part.found.candidates;
    const std::span<const std::uint32_t> visible = part.found.visibility.visible();
    const auto number_of = [&](std::int64_t number) {
        return part.is_here(number) ? course.own[part.first + part.row_of(number)] : number;
    };
    // says of a text what is known of its pair with another one
    const auto tell = [&](Decision& decision, std::size_t pair, double similarity) {
        std::uint32_t columns = part.columns_of(pair);
        if (part.is_here(part.number(pair))) columns &= visible[part.row_of(part.number(pair))] | BY_SIMHASH;
        decision.distance = candidates.distances[pair];
        decision.similarity = similarity;
        decision.probability = part.verdicts[pair].probability;
        decision.channels = channels_of(columns, course.batch.key_channels);
        decision.left_out = part.verdicts[pair].left_out;
    };
    std::vector<std::size_t> rows, near;
    std::vector<PairOf> pairs, joined;
    for (std::size_t row = 0; row < part.size(); row++) {
        Decision& decision = course.decisions.rows[part.first + row];
        const TextState state = part.states[row];
        if (state == TextState::twin || state == TextState::repeated) {  // it is found without its candidates
            decision.outcome = Outcome::exact;
            decision.similarity = 1;
            decision.channels = BY_TEXT;
            const std::int64_t same = state == TextState::twin ? part.twins[row] : part.held + part.chosen[row];
            course.others[part.first + row] = number_of(same);
            continue;
        }
        decision.outcome = state == TextState::near ? Outcome::near : Outcome::kept;
        decision.candidates = part.totals[row];
        if (part.chosen[row] < 0) continue;
        const auto pair = static_cast<std::size_t>(part.chosen[row]);
        rows.push_back(row);
        pairs.push_back({part.owners[pair], part.number(pair)});
        if (state == TextState::near) near.push_back(row), joined.push_back(pairs.back());
    }
    const std::vector<double> similarities = texts.measure(pairs);
    for (std::size_t i = 0; i < rows.size(); i++) {
        const std::size_t row = rows[i], owner = pairs[i].row;  // another one if the row is superseded
        const auto pair = static_cast<std::size_t>(part.chosen[row]);
        const std::int64_t number = pairs[i].number;
        const Verdict& verdict = part.verdicts[pair];
        Decision& decision = course.decisions.rows[part.first + row];
        tell(decision, pair, similarities[i]);
        decision.apart = verdict.apart;
        decision.richer = owner == row ? verdict.richer : 0;
        course.others[part.first + row] = owner == row ? number_of(number) : course.own[part.first + owner];
    }
    std::vector<Differences> differences = texts.differences(joined);
    for (std::size_t i = 0; i < near.size(); i++) {
        if (joined[i].row != near[i]) differences[i] = turned(std::move(differences[i]));
        course.decisions.differences[part.first + near[i]] = std::move(differences[i]);
    }
    for (std::size_t row = 0; row < part.size(); row++) {
        if (part.superseded[row] < 0) continue;
        const bool is_here = part.is_here(part.superseded[row]);
        Course::Replacement made{number_of(part.superseded[row]), is_here, {part.first + row, {}, {}, {}, {}}};
        Decision& decision = made.superseded.decision;
        decision.outcome = part.by[row] < 0 ? Outcome::exact : Outcome::near;
        decision.channels = BY_TEXT;
        decision.similarity = 1;
        if (part.by[row] >= 0 && !is_here) {
            const auto pair = static_cast<std::size_t>(part.by[row]);
            const PairOf both[] = {{row, part.superseded[row]}};
            tell(decision, pair, texts.measure(both)[0]);
            made.superseded.differences = turned(std::move(texts.differences(both)[0]));
        }
        course.replacements.push_back(std::move(made));
    }
}

// Enters the kept documents whose texts are gone.
void Decider::enter_missing(Course& course, const Part& part) {
    std::map<std::size_t, std::vector<std::int64_t>> gone;
    for (std::size_t row = 0; row < part.size(); row++) {
        if (part.twin_is_gone[row]) gone[row].push_back(part.equal[row]);
    }
    for (std::size_t pair = 0; pair < part.pairs(); pair++) {
        if (part.gone[pair]) gone[part.owners[pair]].push_back(part.number(pair));
    }
    for (const auto& [row, numbers] : gone) {
        if (part.states[row] == TextState::repeated) continue;
        std::vector<std::string>& ids = course.decisions.missing[part.first + row];
        for (const std::int64_t number : numbers) {
            std::string id = index_.id_of(static_cast<std::size_t>(number));
            if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
        }
    }
}

// Lets better copies stand for the documents that they supersede, in their groups.
void Decider::let_supersede(Course& course, const Part& part) {
    for (Course::Replacement& one : course.replacements) {
        if (one.superseded.row < part.first) continue;  // of an earlier part
        const auto number = static_cast<std::size_t>(one.number);
        const std::size_t heir = static_cast<std::size_t>(course.own[one.superseded.row]);
        index_.set_gone(number, true);
        const std::int64_t group = index_.group_of(number);
        index_.join(heir, group);
        const Bytes of = course.batch.ids[one.superseded.row];
        one.superseded.id = index_.id_of(number);
        one.superseded.of = {of.begin(), of.end()};
        one.superseded.decision.group = group;
        if (!one.is_here && one.superseded.decision.outcome == Outcome::near) copies_.add_near(group, one.superseded.id);
    }
    if (!part.is_ranked()) return;
    for (std::size_t row = part.first; row < part.first + part.size(); row++) {
        if (course.decisions.rows[row].outcome != Outcome::near) continue;
        const Bytes id = course.batch.ids[row];
        copies_.add_near(index_.group_of(static_cast<std::size_t>(course.others[row])), {id.begin(), id.end()});
    }
}

void Decider::finish(Course& course) {
    Decisions& decisions = course.decisions;
    const auto row_of = [&](std::int64_t number) { return course.added[static_cast<std::size_t>(number) - course.begun]; };
    const auto is_new = [&](std::int64_t number) { return number >= static_cast<std::int64_t>(course.begun); };
    std::unordered_map<std::int64_t, std::size_t> heirs;  // rows, by the numbers of what they supersede
    for (const Course::Replacement& one : course.replacements) {
        heirs[one.number] = one.superseded.row;
        if (one.is_here || !is_new(one.number)) continue;
        Decision& own = decisions.rows[row_of(one.number)];  // kept in an earlier part of the batch
        const Decision before = std::exchange(own, one.superseded.decision);
        own.fingerprint = before.fingerprint;
        own.is_short = before.is_short;
        own.candidates = before.candidates;
        course.others[row_of(one.number)] = course.own[one.superseded.row];
        if (!one.superseded.differences.empty()) decisions.differences[row_of(one.number)] = one.superseded.differences;
    }
    for (Course::Replacement& one : course.replacements) {
        if (is_new(one.number)) continue;
        std::size_t& last = one.superseded.row;
        for (auto heir = heirs.find(course.own[last]); heir != heirs.end(); heir = heirs.find(course.own[last]))
            last = heir->second;
        decisions.superseded.push_back(std::move(one.superseded));
    }
    const std::vector<std::string> places = index_.places();
    for (std::size_t row = 0; row < decisions.rows.size(); row++) {
        Decision& decision = decisions.rows[row];
        const std::int64_t other = course.others[row];
        decision.cut = std::max(decision.candidates - static_cast<std::int64_t>(rules_.most_candidates), std::int64_t{0});
        if (other >= 0) {
            const auto number = static_cast<std::size_t>(other);
            decisions.of.add(bytes_of(index_.id_of(number)));
            decision.group = index_.group_of(number);
            decision.place = static_cast<std::uint8_t>(std::ranges::find(places, index_.place_of(number)) - places.begin());
            if (decision.place > 0) decision.group = 0;
            decision.is_superseded = decision.outcome != Outcome::kept && is_new(other) && row_of(other) > row;
        } else {
            decisions.of.add({});
        }
        if (course.own[row] >= 0) decision.group = index_.group_of(static_cast<std::size_t>(course.own[row]));
    }
    if (rules_.judging == Judging::differences) return;
    const auto hide = [&](Decision& decision) {
        decision.probability = NOT_KNOWN;
        if (rules_.judging == Judging::none && decision.outcome == Outcome::near) decision.similarity = NOT_KNOWN;
    };
    std::ranges::for_each(decisions.rows, hide);
    for (Superseded& one : decisions.superseded) hide(one.decision);
}

}  // namespace dedup
