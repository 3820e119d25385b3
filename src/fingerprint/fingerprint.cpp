// The distinct features of a text with their weights, and the fingerprint that is made of them: a 64-bit simhash (Charikar,
// "Similarity estimation techniques from rounding algorithms", STOC 2002).
#include <cmath>
#include <cstring>
#include <optional>

#include "core/bind.hpp"
#include "fingerprint/segmentation.hpp"
#include "fingerprint/sketch.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

struct FeatureOptions {
    using Values = std::tuple<std::int64_t, std::int64_t, bool, std::int64_t>;  // as they come from Python

    std::int64_t top_k;  // the heaviest so many count, 0 for all
    std::int64_t min_features;
    bool is_uniform;  // each chosen word weighs 1, else as jieba says
    std::int64_t ngram;  // characters of an n-gram, 0 for none
};

// Where a feature first stands, its node in the lexicon, how often it occurs and what it weighs.
struct Feature {
    std::int32_t start = 0, end = 0;
    std::int32_t node = Trie::ABSENT;
    double count = 0, idf = 0, weight = 0;
};

class Features {
public:
    std::vector<Feature> all;
    std::vector<std::int32_t> chosen;  // of all, the heaviest first

    // Begins anew, with at most so many; source: what their places refer to, valid as long as they.
    void begin(Points source, std::size_t most) {
        source_ = source;
        all.clear();
        chosen.clear();
        places_.reset(most);
    }

    // The feature under a key, and whether it is new; valid until the next one.
    std::pair<Feature&, bool> operator[](std::uint64_t key) {
        const auto [place, is_new] = places_[key];
        if (is_new) {
            place = static_cast<std::uint32_t>(all.size());
            all.emplace_back();
        }
        return {all[place], is_new};
    }
    Feature& at(std::int32_t i) { return all[static_cast<std::size_t>(i)]; }

    Points part(std::int32_t start, std::int32_t end) const {
        return source_.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
    }
    Points characters(const Feature& feature) const { return part(feature.start, feature.end); }

    // A key that is no node: FNV-1a over code points, 63 bits (Fowler, Noll, Vo). Only the chosen ones get the slower hash.
    static std::uint64_t key_of(Points characters) {
        std::uint64_t key = 0xCBF29CE484222325;
        for (const std::uint32_t point : characters) key = (key ^ point) * 0x100000001B3;
        return (key ^ key >> 32) | std::uint64_t{1} << 63;
    }

private:
    Points source_;
    HashTable<std::uint32_t> places_;
};

using Hashes = std::span<const std::uint64_t>;
using Weights = std::span<const double>;

std::uint64_t sum_up(Hashes hashes, Weights weights) {
    double sums[64] = {};
    for (std::size_t i = 0; i < hashes.size(); i++) {
        // the sign by arithmetic: half of the branches on it would be foretold wrongly
        const auto plus = std::bit_cast<std::uint64_t>(weights[i]);
        const std::uint64_t unset = ~hashes[i];
        for (std::uint64_t bit = 0; bit < 64; bit++)
            sums[bit] += std::bit_cast<double>(plus ^ (unset >> bit & 1) << 63);
    }
    std::uint64_t value = 0;
    for (int bit = 0; bit < 64; bit++) value |= std::uint64_t{sums[bit] > 0.0} << bit;
    return value;
}

// The same where each weight is 1: bits that more than half of the hashes have. The 64 counts are kept as planes,
// plane k with bit k of each, so an addition is one of all (Harley and Seal; Knuth, TAOCP 4A, 7.1.3).
std::uint64_t majority(Hashes hashes) {
    std::array<std::uint64_t, 65> planes{};
    const auto levels = static_cast<std::size_t>(std::bit_width(hashes.size()));
    for (std::size_t i = 0; i < hashes.size(); i += 2) {
        const std::uint64_t one = hashes[i], other = i + 1 < hashes.size() ? hashes[i + 1] : 0, odd = planes[0] ^ one;
        std::uint64_t carry = (planes[0] & one) | (odd & other);
        planes[0] = odd ^ other;
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

// Of token hashes and their weights: a weight counts where the bit of the hash is set and against it
// elsewhere; a bit of the fingerprint is set where the sum is positive. Additions run in order, so ties
// do not depend on the machine.
std::uint64_t simhash(Hashes hashes, Weights weights) {
    if (std::ranges::all_of(weights, [](double weight) { return weight == 1.0; })) return majority(hashes);
    if (!std::ranges::all_of(weights, [](double weight) { return weight == std::floor(weight); })) return sum_up(hashes, weights);
    std::vector<std::uint64_t> repeated;  // they are counts
    for (std::size_t i = 0; i < hashes.size(); i++) repeated.insert(repeated.end(), static_cast<std::size_t>(weights[i]), hashes[i]);
    return majority(repeated);
}

// What the features of a text are, in the order in which it is tried; a text that has too few is made of itself.
constexpr std::string_view WORDS = "words", NGRAMS = "n-grams", WHOLE_TEXT = "whole text";

// Fingerprints texts one after the other.
class Fingerprinter {
public:
    Fingerprinter(const Lexicon& lexicon, const FeatureOptions& options)
        : lexicon_(lexicon), options_(options), segmenter_(lexicon) {}

    // The fingerprint of a text, if it has enough features.
    std::optional<std::uint64_t> fingerprint(Points text) {
        route_ = choose_words(text) ? WORDS : choose_ngrams(text) ? NGRAMS : WHOLE_TEXT;
        if (route_ == WHOLE_TEXT) return std::nullopt;
        hashes_.clear();
        weights_.clear();
        for (const std::int32_t i : features_.chosen) {
            const Feature& feature = features_.at(i);
            hashes_.push_back(hash_of(feature));
            weights_.push_back(feature.weight);
        }
        return simhash(hashes_, weights_);
    }

    // Of the last text.
    std::string_view route() const { return route_; }
    Features& features() { return features_; }
    std::span<const Token> tokens() const { return tokens_; }

private:
    // The words of jieba with their TF-IDF, where there are enough and jieba segments most of the text.
    bool choose_words(Points text) {
        tokens_ = segmenter_.segment(text);
        features_.begin(text, tokens_.size());
        count();
        weigh();
        const bool enough = static_cast<std::int64_t>(features_.chosen.size()) >= options_.min_features;
        return enough && (options_.ngram == 0 || is_jiebas(text));
    }

    void count() {
        for (std::size_t i = 0; i + 1 < tokens_.size(); i++) {
            const Token& token = tokens_[i];
            const std::int32_t end = tokens_[i + 1].start;
            if (end - token.start == 1 || token.node == Token::OUTSIDE) continue;
            const Points word = features_.part(token.start, end);
            const auto key = token.node >= 0 ? static_cast<std::uint64_t>(token.node) + 1 : Features::key_of(word);
            const auto [feature, is_new] = features_[key];
            if (is_new) feature = {token.start, end, token.node, 0.0, idf_of(word, token.node), 0.0};
            feature.count += 1.0;
        }
    }

    double idf_of(Points word, std::int32_t node) const {
        if (std::any_of(word.begin(), word.end(), is_upper)) {
            // stop words are looked up in lower case, weights as written
            const std::int32_t lower = lexicon_.find(word, true);
            if (lower >= 0 && lexicon_.words[lower].idf == STOP_WORD) return STOP_WORD;
        }
        return node >= 0 ? lexicon_.words[node].idf : lexicon_.median;
    }

    // Weighs the words and chooses the heaviest: TF-IDF as in `jieba.analyse.extract_tags`, count *
    // (idf / number of all words counted), ties in order of first appearance. `uniform` gives all that
    // were chosen the same.
    void weigh() {
        double total = 0.0;
        for (const Feature& feature : features_.all) {
            if (feature.idf != STOP_WORD) total += feature.count;
        }
        std::vector<std::int32_t>& chosen = features_.chosen;
        for (std::size_t i = 0; i < features_.all.size(); i++) {
            Feature& feature = features_.all[i];
            if (feature.idf == STOP_WORD) continue;
            feature.weight = feature.count * (feature.idf / total);
            chosen.push_back(static_cast<std::int32_t>(i));
        }
        const auto top_k = static_cast<std::size_t>(options_.top_k);
        const std::size_t most = top_k == 0 || chosen.size() < top_k ? chosen.size() : top_k;
        const auto weight = [&](std::int32_t i) { return features_.at(i).weight; };
        if (most < chosen.size() || !options_.is_uniform)
            std::ranges::stable_sort(chosen, std::ranges::greater{}, weight);
        chosen.resize(most);
        if (!options_.is_uniform) return;
        for (const std::int32_t i : chosen) features_.at(i).weight = 1.0;
    }

    // Whether at least half of the letters are of scripts that jieba segments; without branches on
    // what a character is, which the processor foretells badly.
    bool is_jiebas(Points text) const {
        std::int64_t inside = 0, outside = 0;
        for (const std::uint32_t point : text) {
            const Class kind = lexicon_.class_of(point);
            outside += kind == Class::letter;
            inside += (kind != Class::letter) & (kind != Class::separator);
        }
        return inside >= outside;
    }

    // The distinct n-grams of the characters other than white space, with their counts.
    bool choose_ngrams(Points text) {
        constexpr std::size_t LEAST = 16;  // below, one changed character moves too many bits
        const auto n = static_cast<std::int32_t>(options_.ngram);
        if (n == 0) return false;
        packed_.clear();
        std::ranges::copy_if(text, std::back_inserter(packed_), [](std::uint32_t point) { return !is_white_space(point); });
        features_.begin(packed_, packed_.size());
        const auto stop = static_cast<std::int32_t>(packed_.size());
        for (std::int32_t i = 0; i + n <= stop; i++) {
            const auto [feature, is_new] = features_[Features::key_of(features_.part(i, i + n))];
            if (is_new) {
                feature = {.start = i, .end = i + n};
                features_.chosen.push_back(static_cast<std::int32_t>(features_.chosen.size()));
            }
            feature.count = feature.weight += 1.0;
        }
        if (features_.chosen.size() >= LEAST) return true;
        features_.chosen.clear();
        return false;
    }

    std::uint64_t hash_of(const Feature& feature) {
        if (feature.node >= 0 && lexicon_.words[feature.node].hash != 0) return lexicon_.words[feature.node].hash;
        const Points word = features_.characters(feature);
        if (bytes_.size() < MOST_UTF8_BYTES * word.size()) bytes_.resize(MOST_UTF8_BYTES * word.size());
        return XXH64(bytes_.data(), encode_utf8(word, bytes_.data()), 0);
    }

    const Lexicon& lexicon_;
    const FeatureOptions options_;
    Segmenter segmenter_;
    std::span<const Token> tokens_;
    std::vector<std::uint32_t> packed_;
    Features features_;
    std::string_view route_;
    std::vector<std::uint64_t> hashes_;
    std::vector<double> weights_;
    std::vector<std::uint8_t> bytes_;
};

// Structs of numbers in a table.
template <class T>
std::span<const T> rows_of(std::span<const std::uint64_t> numbers) {
    static_assert(sizeof(T) == 2 * sizeof(std::uint64_t));
    return {reinterpret_cast<const T*>(numbers.data()), numbers.size() / 2};
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
        Class kind = Py_UNICODE_ISALNUM(point) ? Class::letter : Class::separator;
        if (HAN_FIRST <= point && point <= HAN_LAST) kind = Class::han;
        if (point < ASCII && Py_UNICODE_ISALNUM(point)) kind = Class::alphanumeric;
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
