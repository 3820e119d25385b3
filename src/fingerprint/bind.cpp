// Entry points of the fingerprint room.
#include "core/bind.hpp"

#include <algorithm>
#include <cstring>

#include "core/hash.hpp"
#include "core/text.hpp"
#include "fingerprint/simhash.hpp"
#include "fingerprint/sketch.hpp"
#include "fingerprint/trie.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

// Structs as numbers in a table, and back.
template <class T>
std::span<const T> rows_of(std::span<const std::uint64_t> numbers) {
    static_assert(sizeof(T) == 2 * sizeof(std::uint64_t));
    return {reinterpret_cast<const T*>(numbers.data()), numbers.size() / 2};
}
template <class T>
Out<std::uint64_t> give_numbers(const std::vector<T>& rows) {
    std::vector<std::uint64_t> numbers(2 * rows.size());
    if (!rows.empty()) std::memcpy(numbers.data(), rows.data(), rows.size() * sizeof(T));
    return give(std::move(numbers));
}

constexpr std::size_t HAN = HAN_LAST - HAN_FIRST + 1;

Lexicon lexicon_of(const Tables& tables) {
    const auto entries = rows_of<Trie::Entry>(tables.view<std::uint64_t>("entries"));
    const auto constants = tables.view<double>("constants", 2);
    return {
        .trie = Trie(tables.view<std::int32_t>("first", PLANE),
                     tables.view<std::uint16_t>("characters", entries.size() + BUCKET), entries),
        .words = rows_of<Lexicon::Word>(tables.view<std::uint64_t>("words")),
        .classes = {reinterpret_cast<const Class*>(tables.view<std::uint8_t>("classes", PLANE).data()), PLANE},
        .pairs = tables.view<std::uint8_t>("pairs", ASCII * ASCII),
        .emission = tables.view<double>("emission", STATES * HAN),
        .start = tables.view<double>("start", STATES),
        .transition = tables.view<double>("transition", STATES * STATES),
        .unknown = constants[0],
        .median = constants[1],
    };
}

// What each character of the basic plane is to jieba.
std::vector<std::uint8_t> classes_of_characters() {
    std::vector<std::uint8_t> classes(PLANE);
    for (std::uint32_t point = 0; point < PLANE; point++) {
        Class kind = is_alphanumeric(point) ? Class::letter : Class::separator;
        if (HAN_FIRST <= point && point <= HAN_LAST) kind = Class::han;
        if (point < ASCII && is_alphanumeric(point)) kind = Class::alphanumeric;
        if (point && point < ASCII && std::strchr("+#&._%-", static_cast<int>(point))) kind = Class::symbol;
        classes[point] = static_cast<std::uint8_t>(kind);
    }
    return classes;
}

// Tables of a dictionary's words: not empty, of characters below U+FFFF.
nb::dict build_lexicon(const StringArrays& strings, In<double> probabilities, In<double> weights, double median) {
    TextReader texts(strings_of(strings));
    const auto known = view(probabilities), idf = view(weights);
    if (known.size() != texts.size() || idf.size() != texts.size()) refuse("the tables are not of one size");
    TrieBuilder builder;
    std::vector<Lexicon::Word> words;
    std::vector<std::uint8_t> pairs(ASCII * ASCII);
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < texts.size(); i++) {
            const Points word = texts[i];
            if (word.empty() || std::ranges::any_of(word, [](std::uint32_t point) { return point >= PLANE - 1; }))
                refuse("word " + std::to_string(i) + " is empty, or has characters beyond U+FFFE");
            const bool is_ascii = std::ranges::all_of(word, [](std::uint32_t point) { return point < ASCII; });
            if (word.size() > 1 && is_ascii && known[i] != NO_WORD) pairs[ASCII * word[0] + word[1]] = 1;
        }
        if (!builder.build(texts, known)) refuse("the words need too many nodes");
        words.assign(builder.count, {median, 0});
        for (std::size_t i = 0; i < texts.size(); i++) {
            const auto bytes = texts.utf8(i);
            words[static_cast<std::size_t>(builder.nodes[i])] = {idf[i], XXH64(bytes.data(), bytes.size(), 0)};
        }
    }
    nb::dict tables;
    tables["first"] = give(std::move(builder.first));
    tables["characters"] = give(std::move(builder.characters));
    tables["entries"] = give_numbers(builder.entries);
    tables["words"] = give_numbers(words);
    tables["classes"] = give(classes_of_characters());
    tables["pairs"] = give(std::move(pairs));
    return tables;
}

Out<std::int32_t> find(const Lexicon& lexicon, const StringArrays& strings) {
    TextReader words(strings_of(strings));
    std::vector<std::int32_t> nodes(words.size(), Trie::ABSENT);
    for (std::size_t i = 0; i < words.size(); i++) {
        const Points word = words[i];
        if (!word.empty()) nodes[i] = lexicon.find(word);
    }
    return give(std::move(nodes));
}

Out<std::uint8_t> fingerprint(const Lexicon& lexicon, const StringArrays& strings, const FeatureOptions::Values& options) {
    TextReader texts(strings_of(strings));
    return give_records(unlocked([&] {
        std::vector<Fingerprint> rows(texts.size());
        Fingerprinter one(lexicon, std::make_from_tuple<FeatureOptions>(options));
        for (std::size_t i = 0; i < texts.size(); i++) {
            const auto bytes = texts.utf8(i);
            const auto value = one.fingerprint(texts[i]);
            rows[i] = {value ? *value : XXH64(bytes.data(), bytes.size(), 0), XXH3_64bits(bytes.data(), bytes.size()), !value};
        }
        return rows;
    }));
}

// Route, tokens, and features with their weights, the heaviest first.
nb::tuple explain(const Lexicon& lexicon, nb::str text, const FeatureOptions::Values& options) {
    const std::vector<std::uint32_t> points = points_of(text);
    Fingerprinter one(lexicon, std::make_from_tuple<FeatureOptions>(options));
    one.fingerprint(points);
    nb::list tokens, features;
    for (std::size_t i = 0; i + 1 < one.tokens().size(); i++) {
        const auto start = static_cast<std::size_t>(one.tokens()[i].start);
        tokens.append(str_of(Points(points).subspan(start, static_cast<std::size_t>(one.tokens()[i + 1].start) - start)));
    }
    for (const std::int32_t i : one.features().chosen) {
        const Feature& feature = one.features().at(i);
        features.append(nb::make_tuple(str_of(one.features().characters(feature)), feature.weight));
    }
    return nb::make_tuple(one.route(), tokens, features);
}

}  // namespace

void bind_fingerprint(nb::module_& m) {
    nb::class_<Lexicon>(m, "Lexicon", "The dictionary, in tables by name; see fingerprint.py.")
        .def("__init__", [](Lexicon* self, const nb::dict& tables) { new (self) Lexicon(lexicon_of(Tables(tables))); },
             nb::keep_alive<1, 2>(), "tables"_a)
        .def("find", &find, "words"_a.noconvert(), "Return the nodes of n words, int32 (n,), -1 for words that it does not hold.")
        .def("fingerprint", &fingerprint, "texts"_a.noconvert(), "options"_a,
             "Return the fingerprints of n texts, records of FINGERPRINT; options: see FeatureOptions.")
        .def("explain", &explain, "text"_a, "options"_a, "Return route, tokens and features with weights of a text.")
        .def_prop_ro("nodes", [](const Lexicon& lexicon) { return lexicon.words.size(); });
    m.def("build_lexicon", &build_lexicon, "words"_a.noconvert(), "probabilities"_a.noconvert(), "weights"_a.noconvert(),
          "median"_a,
          "Return tables of n words: first, characters, entries of the trie; words, by node IDF and hash; classes, pairs.\n\n"
          "probabilities, weights: float64 (n,), logarithms, -inf for what is no word of the dictionary, and IDF. ValueError\n"
          "where there are too many words, more than 5 million.");
    m.attr("FINGERPRINT") = fields({{"value", "u8"}, {"digest", "u8"}, {"short", "?"}});
    m.attr("HAN") = nb::make_tuple(HAN_FIRST, HAN_LAST);
    m.attr("HMM_STATES") = STATE_NAMES;
    m.attr("STOP_WORD") = STOP_WORD;
    m.attr("ROUTES") = names_of(std::array{WORDS, NGRAMS, WHOLE_TEXT});
}

}  // namespace dedup
