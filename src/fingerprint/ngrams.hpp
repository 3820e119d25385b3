// The route of n-grams: the distinct ones of the characters other than white space, with their counts.
#pragma once
#include <algorithm>
#include <vector>

#include "fingerprint/features.hpp"

namespace dedup {

class Ngrams {
public:
    static constexpr std::string_view NAME = "n-grams";

    Ngrams(const Lexicon&, const FeatureOptions& options) : n_(static_cast<std::int32_t>(options.ngram)) {}

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
