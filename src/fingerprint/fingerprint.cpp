// The distinct features of a text with their weights, and the fingerprint made of them: a 64-bit simhash (Charikar,
// "Similarity estimation techniques from rounding algorithms", STOC 2002).
#include <cmath>

#include "core/bind.hpp"
#include "fingerprint/jieba.hpp"
#include "fingerprint/sketch.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

struct FeatureOptions {
    using Values = std::tuple<std::int64_t, std::int64_t, bool, std::int64_t>;  // as they come from Python

    std::int64_t top_k;  // number of the heaviest features that count, 0 for all
    std::int64_t min_features;
    bool is_uniform;  // each chosen word weighs 1, else its TF-IDF
    std::int64_t ngram;  // characters of an n-gram, 0 for none
};

// A word or n-gram: its first occurrence, node in the lexicon, number of occurrences, IDF and weight.
struct Feature {
    std::int32_t start = 0, end = 0, node = Trie::ABSENT;
    double count = 0, idf = 0, weight = 0;
};

// A key of a feature that is no node of the lexicon.
std::uint64_t key_of(Points characters) { return digest(characters) | std::uint64_t{1} << 63; }

using Hashes = std::span<const std::uint64_t>;
using Weights = std::span<const double>;

std::uint64_t sum_up(Hashes hashes, Weights weights) {
    double sums[64] = {};
    for (std::size_t i = 0; i < hashes.size(); i++) {
        // the sign by arithmetic: half of the branches on it would be mispredicted
        const auto plus = std::bit_cast<std::uint64_t>(weights[i]);
        const std::uint64_t unset = ~hashes[i];
        for (std::uint64_t bit = 0; bit < 64; bit++)
            sums[bit] += std::bit_cast<double>(plus ^ (unset >> bit & 1) << 63);
    }
    std::uint64_t value = 0;
    for (int bit = 0; bit < 64; bit++) value |= std::uint64_t{sums[bit] > 0.0} << bit;
    return value;
}

// The simhash of weights 1: bits that more than half of the hashes have. The 64 counts are kept as planes, plane k with bit k
// of each, so one addition adds to all (Harley and Seal; Knuth, TAOCP 4A, 7.1.3).
std::uint64_t majority(Hashes hashes) {
    std::array<std::uint64_t, 65> planes{};
    const auto levels = static_cast<std::size_t>(std::bit_width(hashes.size()));
    for (std::size_t i = 0; i < hashes.size(); i += 2) {
        const std::uint64_t first = hashes[i], second = i + 1 < hashes.size() ? hashes[i + 1] : 0, odd = planes[0] ^ first;
        std::uint64_t carry = (planes[0] & first) | (odd & second);
        planes[0] = odd ^ second;
        for (std::size_t k = 1; k < levels; k++) {
            const std::uint64_t both = planes[k] & carry;
            planes[k] ^= carry;
            carry = both;
        }
    }
    std::uint64_t more = 0, equal = ~std::uint64_t{0};
    for (std::size_t k = levels; k-- > 0;) {
        const std::uint64_t half = -static_cast<std::uint64_t>(hashes.size() / 2 >> k & 1);
        more |= equal & planes[k] & ~half;
        equal &= ~(planes[k] ^ half);
    }
    return more;
}

// A weight counts for the set bits of its hash and against the others; bits of positive sums are set. Additions run in order.
std::uint64_t simhash(Hashes hashes, Weights weights) {
    if (std::ranges::all_of(weights, [](double weight) { return weight == 1.0; })) return majority(hashes);
    if (!std::ranges::all_of(weights, [](double weight) { return weight == std::floor(weight); })) return sum_up(hashes, weights);
    std::vector<std::uint64_t> repeated;  // by counts
    for (std::size_t i = 0; i < hashes.size(); i++) repeated.insert(repeated.end(), static_cast<std::size_t>(weights[i]), hashes[i]);
    return majority(repeated);
}

// Sources of features, in the order in which they are tried.
constexpr std::string_view WORDS = "words", NGRAMS = "n-grams", WHOLE_TEXT = "whole text";

// Fingerprints texts one after the other.
class Fingerprinter {
public:
    Fingerprinter(const Lexicon& lexicon, const FeatureOptions::Values& options)
        : lexicon_(lexicon), options_(std::make_from_tuple<FeatureOptions>(options)), segmenter_(lexicon) {}

    // The fingerprint of a text, nothing if it has too few features.
    std::optional<std::uint64_t> fingerprint(Points text) {
        route = choose_words(text) ? WORDS : choose_ngrams(text) ? NGRAMS : WHOLE_TEXT;
        if (route == WHOLE_TEXT) return std::nullopt;
        hashes_.clear();
        weights_.clear();
        for (const std::int32_t i : chosen) {
            hashes_.push_back(hash_of(features[i]));
            weights_.push_back(features[i].weight);
        }
        return simhash(hashes_, weights_);
    }

    Points part(std::int32_t start, std::int32_t end) const { return source_.subspan(start, end - start); }

    // Of the last text, whose characters `part` returns.
    std::string_view route;
    std::span<const Token> tokens;
    std::vector<Feature> features;
    std::vector<std::int32_t> chosen;  // of the features, the heaviest first

private:
    // Clears the features; source: the text they are in, valid as long as they; most: their number.
    void begin(Points source, std::size_t most) {
        source_ = source;
        features.clear();
        chosen.clear();
        numbers_.reset(most);
    }

    // The feature under a key, and whether it is new; valid until the next one.
    std::pair<Feature&, bool> feature(std::uint64_t key) {
        const auto [number, is_new] = numbers_[key];
        if (is_new) {
            number = static_cast<std::uint32_t>(features.size());
            features.emplace_back();
        }
        return {features[number], is_new};
    }

    // The words of jieba with their TF-IDF; false if they are too few or jieba segments less than half of the text.
    bool choose_words(Points text) {
        tokens = segmenter_.segment(text);
        begin(text, tokens.size());
        for (std::size_t i = 0; i + 1 < tokens.size(); i++) {
            const Token& token = tokens[i];
            const std::int32_t end = tokens[i + 1].start;
            if (end - token.start == 1 || token.node == Token::OUTSIDE) continue;
            const Points word = part(token.start, end);
            const auto [found, is_new] = feature(token.node >= 0 ? static_cast<std::uint64_t>(token.node) + 1 : key_of(word));
            if (is_new) found = {token.start, end, token.node, 0.0, idf_of(word, token.node), 0.0};
            found.count += 1.0;
        }
        weigh();
        const bool is_enough = static_cast<std::int64_t>(chosen.size()) >= options_.min_features;
        return is_enough && (options_.ngram == 0 || is_jiebas(text));
    }

    double idf_of(Points word, std::int32_t node) const {
        if (std::any_of(word.begin(), word.end(), is_upper)) {
            // stop words are looked up in lower case, weights as written
            const std::int32_t lower = lexicon_.find(word, true);
            if (lower >= 0 && lexicon_.words[lower].idf == STOP_WORD) return STOP_WORD;
        }
        return node >= 0 ? lexicon_.words[node].idf : lexicon_.median;
    }

    // Weighs the words and chooses the heaviest: TF-IDF as in `jieba.analyse.extract_tags`, count * (idf / number of all words
    // counted), ties in order of first appearance. `is_uniform`: all chosen ones weigh 1.
    void weigh() {
        double total = 0.0;
        for (const Feature& one : features) {
            if (one.idf != STOP_WORD) total += one.count;
        }
        for (Feature& one : features) {
            if (one.idf == STOP_WORD) continue;
            one.weight = one.count * (one.idf / total);
            chosen.push_back(static_cast<std::int32_t>(&one - features.data()));
        }
        const auto top_k = static_cast<std::size_t>(options_.top_k);
        const std::size_t most = top_k == 0 ? chosen.size() : std::min(top_k, chosen.size());
        if (most < chosen.size() || !options_.is_uniform)
            std::ranges::stable_sort(chosen, std::ranges::greater{}, [&](std::int32_t i) { return features[i].weight; });
        chosen.resize(most);
        if (!options_.is_uniform) return;
        for (const std::int32_t i : chosen) features[i].weight = 1.0;
    }

    // Whether jieba segments at least half of the letters; without branches, which the processor would predict badly.
    bool is_jiebas(Points text) const {
        std::int64_t inside = 0, outside = 0;
        for (const std::uint32_t point : text) {
            const Class kind = lexicon_.class_of(point);
            outside += kind == Class::letter;
            inside += (kind != Class::letter) & (kind != Class::separator);
        }
        return inside >= outside;
    }

    // The distinct n-grams of the characters other than white space, with their counts; false if they are too few.
    bool choose_ngrams(Points text) {
        constexpr std::size_t LEAST = 16;  // below, one changed character moves too many bits
        const auto n = static_cast<std::int32_t>(options_.ngram);
        if (n == 0) return false;
        packed_.clear();
        std::ranges::copy_if(text, std::back_inserter(packed_), [](std::uint32_t point) { return !is_white_space(point); });
        begin(packed_, packed_.size());
        for (std::int32_t i = 0; i + n <= std::ssize(packed_); i++) {
            const auto [found, is_new] = feature(key_of(part(i, i + n)));
            if (is_new) {
                found = {.start = i, .end = i + n};
                chosen.push_back(static_cast<std::int32_t>(chosen.size()));
            }
            found.count = found.weight += 1.0;
        }
        if (chosen.size() >= LEAST) return true;
        chosen.clear();
        return false;
    }

    std::uint64_t hash_of(const Feature& one) {
        if (one.node >= 0 && lexicon_.words[one.node].hash != 0) return lexicon_.words[one.node].hash;
        const Points word = part(one.start, one.end);
        if (bytes_.size() < MOST_UTF8_BYTES * word.size()) bytes_.resize(MOST_UTF8_BYTES * word.size());
        return XXH64(bytes_.data(), encode_utf8(word, bytes_.data()), 0);
    }

    const Lexicon& lexicon_;
    const FeatureOptions options_;
    Segmenter segmenter_;
    Points source_;
    HashTable<std::uint32_t> numbers_;  // of the features
    std::vector<std::uint32_t> packed_;
    std::vector<std::uint64_t> hashes_;
    std::vector<double> weights_;
    std::vector<std::uint8_t> bytes_;
};

// Records of two numbers each, from a table.
template <class T>
std::span<const T> rows_of(std::span<const std::uint64_t> numbers) {
    static_assert(sizeof(T) == 2 * sizeof(std::uint64_t));
    return {reinterpret_cast<const T*>(numbers.data()), numbers.size() / 2};
}

Lexicon lexicon_of(const Tables& tables) {
    constexpr std::size_t HAN = HAN_LAST - HAN_FIRST + 1;
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

std::vector<std::uint8_t> classes_of_characters() {
    std::vector<std::uint8_t> classes(PLANE);
    for (std::uint32_t point = 0; point < PLANE; point++) {
        Class kind = Py_UNICODE_ISALNUM(point) ? Class::letter : Class::separator;
        if (HAN_FIRST <= point && point <= HAN_LAST) kind = Class::han;
        if (point < ASCII && Py_UNICODE_ISALNUM(point)) kind = Class::alphanumeric;
        if (point && point < ASCII && std::strchr("+#&._%-", static_cast<int>(point))) kind = Class::symbol;
        classes[point] = static_cast<std::uint8_t>(kind);
    }
    return classes;
}

// Tables of a dictionary's words. Raises ValueError for words that are empty or have characters beyond U+FFFE.
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
    tables["entries"] = give<Trie::Entry, std::uint64_t>(std::move(builder.entries));
    tables["words"] = give<Lexicon::Word, std::uint64_t>(std::move(words));
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
        Fingerprinter fingerprinter(lexicon, options);
        for (std::size_t i = 0; i < texts.size(); i++) {
            const auto bytes = texts.utf8(i);
            const auto value = fingerprinter.fingerprint(texts[i]);
            rows[i] = {value ? *value : XXH64(bytes.data(), bytes.size(), 0), XXH3_64bits(bytes.data(), bytes.size()), !value};
        }
        return rows;
    }));
}

nb::tuple explain(const Lexicon& lexicon, nb::str text, const FeatureOptions::Values& options) {
    const std::vector<std::uint32_t> points = points_of(text);
    Fingerprinter made(lexicon, options);
    made.fingerprint(points);
    nb::list tokens, features;
    for (std::size_t i = 0; i + 1 < made.tokens.size(); i++) {
        const std::int32_t start = made.tokens[i].start;
        tokens.append(str_of(Points(points).subspan(start, made.tokens[i + 1].start - start)));
    }
    for (const std::int32_t i : made.chosen) {
        const Feature& one = made.features[i];
        features.append(nb::make_tuple(str_of(made.part(one.start, one.end)), one.weight));
    }
    return nb::make_tuple(made.route, tokens, features);
}

}  // namespace

void bind_fingerprint(nb::module_& m) {
    nb::class_<Lexicon>(m, "Lexicon", "The dictionary, in tables by name; see fingerprint.py.")
        .def("__init__", [](Lexicon* self, const nb::dict& tables) { new (self) Lexicon(lexicon_of({tables})); },
             nb::keep_alive<1, 2>(), "tables"_a)
        .def("find", &find, "words"_a.noconvert(), "Return the nodes of n words, int32 (n,), -1 for unknown words.")
        .def("fingerprint", &fingerprint, "texts"_a.noconvert(), "options"_a,
             "Return the fingerprints of n texts, records of FINGERPRINT; options: see FeatureOptions.")
        .def("explain", &explain, "text"_a, "options"_a, "Return route, tokens and features with weights of a text.")
        .def_prop_ro("nodes", [](const Lexicon& lexicon) { return lexicon.words.size(); });
    m.def("build_lexicon", &build_lexicon, "words"_a.noconvert(), "probabilities"_a.noconvert(), "weights"_a.noconvert(),
          "median"_a,
          "Return tables of n words: first, characters, entries of the trie; words, by node IDF and hash; classes, pairs.\n\n"
          "probabilities, weights: float64 (n,), logarithms, -inf for words that the dictionary lacks, and IDF. Raises\n"
          "ValueError for more words than a trie holds, about 5 million.");
    m.attr("FINGERPRINT") = fields({{"value", "u8"}, {"digest", "u8"}, {"short", "?"}});
    m.attr("HAN") = nb::make_tuple(HAN_FIRST, HAN_LAST);
    m.attr("HMM_STATES") = STATE_NAMES;
    m.attr("STOP_WORD") = STOP_WORD;
    m.attr("ROUTES") = names_of(std::array{WORDS, NGRAMS, WHOLE_TEXT});
}

}  // namespace dedup
