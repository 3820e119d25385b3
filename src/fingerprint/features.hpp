// The distinct features of a text, with their weights: what a fingerprint is made of.
#pragma once
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/hash.hpp"
#include "fingerprint/lexicon.hpp"
#include "fingerprint/segmentation.hpp"

namespace dedup {

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
    struct Entry {
        Feature& feature;
        bool is_new;
    };
    Entry operator[](std::uint64_t key) {
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

// The route of words: those of jieba with their TF-IDF, where there are enough and jieba segments most of the text.

class Words {
public:
    Words(const Lexicon& lexicon, const FeatureOptions& options)
        : lexicon_(lexicon), options_(options), segmenter_(lexicon) {}

    bool choose(Points text, Features& features) {
        tokens_ = segmenter_.segment(text);
        features.begin(text, tokens_.size());
        count(features);
        weigh(features);
        const bool enough = static_cast<std::int64_t>(features.chosen.size()) >= options_.min_features;
        return enough && (options_.ngram == 0 || is_jiebas(text));
    }

    // Of the last text.
    std::span<const Token> tokens() const { return tokens_; }

private:
    void count(Features& features) const {
        for (std::size_t i = 0; i + 1 < tokens_.size(); i++) {
            const Token& token = tokens_[i];
            const std::int32_t end = tokens_[i + 1].start;
            if (end - token.start == 1 || token.node == Token::OUTSIDE) continue;
            const Points word = features.part(token.start, end);
            const auto key = token.node >= 0 ? static_cast<std::uint64_t>(token.node) + 1 : Features::key_of(word);
            const auto [feature, is_new] = features[key];
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
    void weigh(Features& features) const {
        double total = 0.0;
        for (const Feature& feature : features.all) {
            if (feature.idf != STOP_WORD) total += feature.count;
        }
        std::vector<std::int32_t>& chosen = features.chosen;
        for (std::size_t i = 0; i < features.all.size(); i++) {
            Feature& feature = features.all[i];
            if (feature.idf == STOP_WORD) continue;
            feature.weight = feature.count * (feature.idf / total);
            chosen.push_back(static_cast<std::int32_t>(i));
        }
        const auto top_k = static_cast<std::size_t>(options_.top_k);
        const std::size_t most = top_k == 0 || chosen.size() < top_k ? chosen.size() : top_k;
        const auto weight = [&](std::int32_t i) { return features.at(i).weight; };
        if (most < chosen.size() || !options_.is_uniform)
            std::ranges::stable_sort(chosen, std::ranges::greater{}, weight);
        chosen.resize(most);
        if (!options_.is_uniform) return;
        for (const std::int32_t i : chosen) features.at(i).weight = 1.0;
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

    const Lexicon& lexicon_;
    const FeatureOptions options_;
    Segmenter segmenter_;
    std::span<const Token> tokens_;
};

// The route of n-grams: the distinct ones of the characters other than white space, with their counts.

class Ngrams {
public:
    explicit Ngrams(const FeatureOptions& options) : n_(static_cast<std::int32_t>(options.ngram)) {}

    bool choose(Points text, Features& features) {
        if (n_ == 0) return false;
        packed_.clear();
        std::ranges::copy_if(text, std::back_inserter(packed_), [](std::uint32_t point) { return !is_white_space(point); });
        features.begin(packed_, packed_.size());
        const auto stop = static_cast<std::int32_t>(packed_.size());
        for (std::int32_t i = 0; i + n_ <= stop; i++) {
            const auto [feature, is_new] = features[Features::key_of(features.part(i, i + n_))];
            if (is_new) {
                feature.start = i;
                feature.end = i + n_;
                features.chosen.push_back(static_cast<std::int32_t>(features.chosen.size()));
            }
            feature.count = feature.weight += 1.0;
        }
        if (features.chosen.size() >= LEAST) return true;
        features.chosen.clear();
        return false;
    }

private:
    static constexpr std::size_t LEAST = 16;  // below, one changed character moves too many bits

    const std::int32_t n_;
    std::vector<std::uint32_t> packed_;
};

}  // namespace dedup
