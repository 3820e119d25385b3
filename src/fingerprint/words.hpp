// The route of words: those of jieba with their TF-IDF, where there are enough and jieba segments most of the text.
#pragma once
#include <algorithm>
#include <vector>

#include "fingerprint/features.hpp"
#include "fingerprint/segmentation.hpp"

namespace dedup {

class Words {
public:
    static constexpr std::string_view NAME = "words";

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
    const FeatureOptions& options_;
    Segmenter segmenter_;
    std::span<const Token> tokens_;
};

}  // namespace dedup
