// Entry points of the fingerprint room.
#include "fingerprint/bind.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "fingerprint/simhash.hpp"
#include "fingerprint/sketch.hpp"
#include "fingerprint/trie_builder.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

// Fingerprints batches; without state between them, so threads may share it.
class BatchFingerprinter {
public:
    BatchFingerprinter(const LexiconArrays& lexicon, std::int64_t top_k, std::int64_t min_features, int weighting,
                       std::int64_t ngram)
        : lexicon_(lexicon.value),
          options_{top_k, min_features, static_cast<Weighting>(weighting), ngram} {}

    std::tuple<Out<std::uint64_t>, Out<std::uint8_t>> fingerprint(In<std::uint32_t> points, In<std::int64_t> offsets) const {
        const TextColumn texts = texts_of(points, offsets);
        std::vector<std::uint64_t> values(texts.size());
        std::vector<std::uint8_t> routes(texts.size());
        {
            Unlocked unlocked;
            Fingerprinter one(lexicon_, options_);
            for (std::size_t i = 0; i < texts.size(); i++) {
                const auto [value, route] = one.fingerprint(texts[i]);
                values[i] = value;
                routes[i] = static_cast<std::uint8_t>(route);
            }
        }
        return {give(std::move(values)), give(std::move(routes))};
    }

    // Of one text: route; where tokens start, and the end; starts, ends, weights of the features, heaviest
    // first; the points that the features' places refer to.
    nb::tuple explain(In<std::uint32_t> points) const {
        Fingerprinter one(lexicon_, options_);
        const auto route = one.fingerprint(view(points)).route;
        const FeatureChooser& features = one.features();
        std::vector<std::int64_t> tokens, starts, ends;
        std::vector<double> weights;
        for (const Token& token : features.tokens()) tokens.push_back(token.start);
        for (const std::int32_t i : features.chosen()) {
            const Feature& feature = features.feature(i);
            starts.push_back(feature.start);
            ends.push_back(feature.end);
            weights.push_back(feature.weight);
        }
        const Points source = features.source();
        return nb::make_tuple(static_cast<int>(route), give(std::move(tokens)), give(std::move(starts)),
                              give(std::move(ends)), give(std::move(weights)),
                              give(std::vector<std::uint32_t>(source.begin(), source.end())));
    }

private:
    const Lexicon& lexicon_;
    FeatureOptions options_;
};

nb::tuple build_trie(In<std::uint32_t> points, In<std::int64_t> offsets, In<double> probabilities) {
    const TextColumn words = texts_of(points, offsets);
    TrieBuilder builder;
    {
        Unlocked unlocked;
        if (!builder.build(words, view(probabilities))) refuse("the words need too many nodes");
    }
    TrieArrays& made = builder.trie;
    const auto entries = std::as_bytes(std::span(made.entries));
    std::vector<std::uint64_t> numbers(entries.size() / sizeof(std::uint64_t));
    std::memcpy(numbers.data(), entries.data(), entries.size());
    return nb::make_tuple(give(std::move(made.first)), give(std::move(made.characters)), give(std::move(numbers)),
                          give(std::move(made.nodes)), made.count);
}

std::tuple<Out<std::uint32_t>, Out<std::uint64_t>> sketch(In<std::uint32_t> points, In<std::int64_t> offsets) {
    const TextColumn texts = texts_of(points, offsets);
    std::vector<std::uint32_t> keys(BANDS * texts.size());
    std::vector<std::uint64_t> bits(BINS / 64 * texts.size());
    {
        Unlocked unlocked;
        Sketcher one;
        for (std::size_t i = 0; i < texts.size(); i++)
            one.sketch(texts[i], std::span(keys).subspan(BANDS * i, BANDS), std::span(bits).subspan(BINS / 64 * i, BINS / 64));
    }
    return {give(std::move(keys)), give(std::move(bits))};
}

Out<std::uint32_t> sentence_keys(In<std::uint32_t> points, In<std::int64_t> offsets, In<std::uint16_t> folded,
                                 In<std::uint8_t> kinds) {
    const TextColumn texts = texts_of(points, offsets);
    const std::span<const Kind> kind{reinterpret_cast<const Kind*>(kinds.data()), PLANE};
    std::vector<std::uint32_t> keys(texts.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < texts.size(); i++) keys[i] = sentence_key(texts[i], view(folded), kind);
    }
    return give(std::move(keys));
}

}  // namespace

void bind_fingerprint(nb::module_& m) {
    nb::class_<LexiconArrays>(m, "Lexicon", "The dictionary's arrays, checked; see fingerprint/lexicon.py.")
        .def(nb::init<In<std::int32_t>, In<std::uint16_t>, In<std::uint64_t>, In<std::uint8_t>,
                      In<std::uint8_t>, In<bool>, In<double>, In<double>, In<double>, double, double>(),
             nb::kw_only(), "first"_a.noconvert(), "characters"_a.noconvert(), "entries"_a.noconvert(),
             "words"_a.noconvert(), "classes"_a.noconvert(), "pairs"_a.noconvert(),
             "emission"_a.noconvert(), "start"_a.noconvert(), "transition"_a.noconvert(), "unknown"_a, "median"_a)
        .def("find", &LexiconArrays::find, "points"_a.noconvert(), "offsets"_a.noconvert(),
             "Return the nodes of n words, int32 (n,), -1 for words that it does not hold.");
    nb::class_<BatchFingerprinter>(m, "Fingerprinter")
        .def(nb::init<const LexiconArrays&, std::int64_t, std::int64_t, int, std::int64_t>(),
             nb::keep_alive<1, 2>(), "lexicon"_a, nb::kw_only(), "top_k"_a, "min_features"_a, "weighting"_a,
             "ngram"_a)
        .def("fingerprint", &BatchFingerprinter::fingerprint, "points"_a.noconvert(), "offsets"_a.noconvert(),
             "Return the fingerprints of n texts, uint64 (n,), and their routes, uint8 (n,).")
        .def("explain", &BatchFingerprinter::explain, "points"_a.noconvert(),
             "Return route, token starts, and starts, ends, weights and source of the features of one text.");
    m.def("build_trie", &build_trie, "points"_a.noconvert(), "offsets"_a.noconvert(), "probabilities"_a.noconvert(),
          "Return a trie of n words, see fingerprint/trie.py: first, characters, entries; the nodes of the words, int32\n"
          "(n,), and how many nodes there are. probabilities: logarithms, -inf for what is no word of the dictionary.");
    m.def("sketch", &sketch, "points"_a.noconvert(), "offsets"_a.noconvert(),
          "Return the keys, uint32 (n * BANDS,), and the bits, uint64 (n * BINS / 64,), of n texts.");
    m.def("sentence_keys", &sentence_keys, "points"_a.noconvert(), "offsets"_a.noconvert(), "folded"_a.noconvert(),
          "kinds"_a.noconvert(), "Return a hash of the longest sentences of n texts, uint32 (n,).");
}

}  // namespace dedup
