// Entry points of the decision module.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "decision/decider.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

constexpr std::size_t MOST_NAMED = 8, MOST_SHOWN = 40;  // differences of a pair, characters of each side

nb::list bytes_list(std::span<const std::string> strings) {
    nb::list made;
    for (const std::string& one : strings) made.append(nb::bytes(one.data(), one.size()));
    return made;
}

nb::str shown(Points text) { return str_of(text.first(std::min(text.size(), MOST_SHOWN))); }

// Returns code of the kind, code of the part, words of the other text and words of the text, of each.
nb::tuple tuples_of(const Differences& differences) {
    nb::list made;
    for (std::size_t i = 0; i < std::min(differences.size(), MOST_NAMED); i++) {
        const auto& [kind, part, text, other] = differences[i];
        made.append(nb::make_tuple(static_cast<int>(kind), static_cast<int>(part), shown(other), shown(text)));
    }
    return nb::tuple(made);
}

// Returns functions that call Python, with the interpreter's lock; see Decider.decide.
KeptCache::TargetReads target_of(nb::callable texts_of, nb::object ranks_of, nb::object near_of) {
    KeptCache::TargetReads target;
    target.texts = [texts_of](StringBuffer ids) {
        const nb::gil_scoped_acquire locked;
        const auto [rows, texts] = nb::cast<std::tuple<In<std::int64_t>, StringArrays>>(texts_of(give(std::move(ids))));
        const Strings strings = strings_of(texts);
        NumberedTexts found;
        found.numbers.assign(view(rows).begin(), view(rows).end());
        for (std::size_t i = 0; i < strings.size(); i++) found.texts.add(strings[i]);
        if (found.numbers.size() != found.texts.size()) refuse("as many rows as texts are needed");
        return found;
    };
    target.ranks = [ranks_of](StringBuffer ids) {
        const nb::gil_scoped_acquire locked;
        std::vector<std::string> ranks;
        for (const nb::handle rank : ranks_of(give(std::move(ids)))) {
            const auto bytes = nb::cast<nb::bytes>(rank);
            ranks.emplace_back(bytes.c_str(), bytes.size());
        }
        return ranks;
    };
    target.near = [near_of](IdsByGroup ids, std::size_t most) {
        const nb::gil_scoped_acquire locked;
        nb::dict groups;
        for (const auto& [group, own] : ids) groups[nb::int_(group)] = bytes_list(own);
        TextsByGroup found;
        for (const auto& [group, texts] : nb::cast<nb::dict>(near_of(groups, most))) {
            StringBuffer& own = found[nb::cast<std::int64_t>(group)];
            for (const nb::handle text : texts) {
                const auto bytes = nb::cast<nb::bytes>(text.attr("encode")("utf-8", "surrogatepass"));
                own.add({static_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
            }
        }
        return found;
    };
    return target;
}

void make_decider(Decider* made, Index& index, const judgment::Judge* judge, std::uint8_t judging, double similarity,
                  std::size_t most_candidates, std::size_t threads, std::size_t part, std::size_t memory) {
    const DecisionRules rules{static_cast<judgment::Judging>(judging), similarity, most_candidates, threads, part, memory};
    if (judging >= std::size(judgment::JUDGINGS)) refuse("unknown judging");
    if ((judge == nullptr) != (rules.judging == judgment::Judging::none)) refuse("a judge is needed if texts are compared, and only then");
    new (made) Decider(index, judge, rules);
}

// Returns the tuple that Decider.decide unpacks; see _core.pyi.
nb::tuple decide(Decider& decider, const StringArrays& ids, const StringArrays& texts, In<std::int64_t> lengths,
                 const PrintArrays& arrays, In<std::uint8_t> key_channels, std::shared_ptr<judgment::ReadTexts> parsed,
                 const std::optional<StringArrays>& ranks, nb::callable texts_of, nb::object ranks_of, nb::object near_of,
                 std::int64_t stored) {
    Batch batch{strings_of(ids), strings_of(texts), view(lengths), prints_of(arrays), view(key_channels), std::move(parsed), {}};
    if (ranks) batch.ranks = strings_of(*ranks);
    const std::size_t n = batch.size();
    if (batch.ids.size() != n || batch.texts.size() != n || batch.lengths.size() != n || (ranks && batch.ranks->size() != n) ||
        batch.key_channels.size() != batch.prints.columns || (batch.parsed && batch.parsed->size() < n))
        refuse("as many ids, texts, lengths, ranks and parsed texts as fingerprints are needed");
    const KeptCache::TargetReads target = target_of(std::move(texts_of), std::move(ranks_of), std::move(near_of));
    Decisions made = unlocked([&] { return decider.decide(batch, target, stored); });
    nb::dict differences, missing, superseded_differences;
    for (const auto& [row, found] : made.differences) {
        if (!found.empty()) differences[nb::int_(row)] = tuples_of(found);
    }
    for (const auto& [row, found] : made.missing) missing[nb::int_(row)] = nb::tuple(bytes_list(found));
    std::vector<std::int64_t> rows;
    StringBuffer superseded, original_ids;
    std::vector<Decision> decisions;
    for (const Superseded& one : made.superseded) {
        if (!one.differences.empty()) superseded_differences[nb::int_(rows.size())] = tuples_of(one.differences);
        rows.push_back(static_cast<std::int64_t>(one.row));
        superseded.add(bytes_of(one.id));
        original_ids.add(bytes_of(one.original_id));
        decisions.push_back(one.decision);
    }
    return nb::make_tuple(give_records(std::move(made.rows)), give(std::move(made.original_ids)), differences, missing,
                          nb::make_tuple(give(std::move(rows)), give(std::move(superseded)), give(std::move(original_ids)),
                                         give_records(std::move(decisions)), superseded_differences));
}

}  // namespace

void bind_decision(nb::module_& m) {
    nb::class_<Decider>(m, "Decider", "Decides documents one after the other; see decision/decider.py.")
        .def("__init__", &make_decider, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), "index"_a, "judge"_a.none(),
             nb::kw_only(), "judging"_a, "similarity"_a, "most_candidates"_a, "threads"_a, "part"_a, "memory"_a)
        .def("decide", &decide, "ids"_a.noconvert(), "texts"_a.noconvert(), "lengths"_a.noconvert(), "prints"_a.noconvert(),
             "key_channels"_a.noconvert(), "parsed"_a.none(), "ranks"_a.noconvert().none(), "texts_of"_a, "ranks_of"_a.none(),
             "near_of"_a.none(), "stored"_a, "Decide a batch of documents; stored: how many batches the target holds.")
        .def_prop_ro("seconds", [](const Decider& decider) {
            const Decider::Seconds& seconds = decider.seconds();
            return nb::make_tuple(seconds.all, seconds.parallel, seconds.waiting);
        });
    m.attr("MOST_NAMED") = MOST_NAMED;
    m.attr("MOST_SHOWN") = MOST_SHOWN;
    m.attr("CHANNELS") = names_of(CHANNELS);
    m.attr("DECISION") = fields({{"fingerprint", "u8"}, {"candidates", "i8"}, {"cut", "i8"}, {"group", "i8"}, {"similarity", "f8"},
                                 {"probability", "f8"}, {"outcome", "u1"}, {"short", "?"}, {"distance", "u1"}, {"channels", "u1"},
                                 {"apart", "u1"}, {"richer", "u1"}, {"left_out", "u1"}, {"collection", "u1"}, {"superseded", "?"}});
}

}  // namespace dedup
