// What a fingerprint is made of: distinct words with their weights, or n-grams of characters.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/hash_table.hpp"
#include "core/hash.hpp"
#include "fingerprint/segmentation.hpp"

namespace dedup {

enum class Weighting : std::uint8_t { tfidf, uniform };

// What the features of a text are; whole: there are too few, and the text stands for itself.
enum class Route : std::uint8_t { words, ngrams, whole };

struct FeatureOptions {
    std::int64_t top_k;  // the heaviest so many count, 0 for all
    std::int64_t min_features;
    Weighting weighting;
    std::int64_t ngram;  // characters of an n-gram, 0 for none
};

// A distinct feature: where it first stands, how often, and what it weighs.
struct Feature {
    std::int32_t start, end;
    std::int32_t node;
    double count;
    double idf;
    double weight;
};

class FeatureChooser {
public:
    FeatureChooser(const Lexicon& lexicon, const FeatureOptions& options)
        : lexicon_(lexicon), options_(options), segmenter_(lexicon) {}

    // Chooses the features of a text, the heaviest first.
    //
    // Words where there are enough and jieba segments most of the text; else n-grams of characters
    // where there are enough.
    Route choose(Points text) {
        tokens_ = segmenter_.segment(text);
        source_ = text;
        count_words();
        weigh();
        const bool enough = static_cast<std::int64_t>(chosen_.size()) >= options_.min_features;
        if (enough && (options_.ngram == 0 || is_jiebas(text))) return Route::words;
        if (options_.ngram == 0) return Route::whole;
        count_ngrams(text);
        if (features_.size() >= LEAST_NGRAMS) return Route::ngrams;
        chosen_.clear();
        return Route::whole;
    }

    // Valid until the next text: its tokens; the chosen features; what their places refer to.
    std::span<const Token> tokens() const { return tokens_; }
    std::span<const std::int32_t> chosen() const { return chosen_; }
    const Feature& feature(std::int32_t i) const { return features_[static_cast<std::size_t>(i)]; }
    Points source() const { return source_; }

private:
    static constexpr std::size_t LEAST_NGRAMS = 16;  // below, one changed character moves too many bits
    static constexpr std::uint64_t NOT_A_NODE = std::uint64_t{1} << 63;

    void begin(std::size_t most) {
        features_.clear();
        chosen_.clear();
        places_.reset(most);
    }

    void count_words() {
        begin(tokens_.size());
        for (std::size_t i = 0; i + 1 < tokens_.size(); i++) {
            const Token& token = tokens_[i];
            const std::int32_t end = tokens_[i + 1].start;
            if (end - token.start == 1 || token.node == Token::OUTSIDE) continue;
            const Points word = part(token.start, end);
            const bool known = token.node >= 0;
            const auto [place, is_new] = places_[known ? static_cast<std::uint64_t>(token.node) + 1 : key_of(word)];
            if (!is_new) {
                features_[place].count += 1.0;
                continue;
            }
            place = static_cast<std::uint32_t>(features_.size());
            features_.push_back({token.start, end, token.node, 1.0, idf_of(word, token.node), 0.0});
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

    // Counts the distinct n-grams of the characters other than white space.
    void count_ngrams(Points text) {
        packed_.clear();
        std::copy_if(text.begin(), text.end(), std::back_inserter(packed_),
                     [](std::uint32_t point) { return !is_white_space(point); });
        source_ = packed_;
        const auto n = static_cast<std::int32_t>(options_.ngram), stop = static_cast<std::int32_t>(packed_.size());
        begin(packed_.size());
        for (std::int32_t i = 0; i + n <= stop; i++) {
            const auto [place, is_new] = places_[key_of(part(i, i + n))];
            if (is_new) {
                place = static_cast<std::uint32_t>(features_.size());
                chosen_.push_back(static_cast<std::int32_t>(place));
                features_.push_back({i, i + n, Trie::ABSENT, 0.0, 1.0, 0.0});
            }
            features_[place].count = features_[place].weight += 1.0;
        }
    }

    // Weighs the words and chooses the heaviest: TF-IDF as in `jieba.analyse.extract_tags`, count *
    // (idf / number of all words counted), ties in order of first appearance. `uniform` gives all that
    // were chosen the same.
    void weigh() {
        double total = 0.0;
        for (const Feature& feature : features_) {
            if (feature.idf != STOP_WORD) total += feature.count;
        }
        for (std::size_t i = 0; i < features_.size(); i++) {
            Feature& feature = features_[i];
            if (feature.idf == STOP_WORD) continue;
            feature.weight = feature.count * (feature.idf / total);
            chosen_.push_back(static_cast<std::int32_t>(i));
        }
        const auto top_k = static_cast<std::size_t>(options_.top_k);
        const std::size_t most = top_k == 0 || chosen_.size() < top_k ? chosen_.size() : top_k;
        if (most < chosen_.size() || options_.weighting != Weighting::uniform)
            std::ranges::stable_sort(chosen_, std::ranges::greater{}, [&](std::int32_t i) { return weight(i); });
        chosen_.resize(most);
        if (options_.weighting == Weighting::tfidf) return;
        for (const std::int32_t i : chosen_) features_[static_cast<std::size_t>(i)].weight = 1.0;
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

    // What tells words apart that the trie does not hold: FNV-1a over code points, 63 bits (Fowler,
    // Noll, Vo). Only the chosen ones get the slower hash.
    static std::uint64_t key_of(Points word) {
        std::uint64_t key = 0xCBF29CE484222325;
        for (const std::uint32_t point : word) key = (key ^ point) * 0x100000001B3;
        return (key ^ key >> 32) | NOT_A_NODE;
    }

    Points part(std::int32_t start, std::int32_t end) const {
        return source_.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
    }
    double weight(std::int32_t i) const { return features_[static_cast<std::size_t>(i)].weight; }

    const Lexicon& lexicon_;
    const FeatureOptions& options_;
    Segmenter segmenter_;
    std::span<const Token> tokens_;
    Points source_;
    std::vector<std::uint32_t> packed_;
    std::vector<Feature> features_;
    std::vector<std::int32_t> chosen_;
    HashTable<std::uint32_t> places_;
};

}  // namespace dedup
