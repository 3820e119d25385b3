// 64-bit simhash (Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fingerprint/features.hpp"

namespace dedup {

// Of token hashes and their weights: a weight counts where the bit of the hash is set and against it
// elsewhere; a bit of the fingerprint is set where the sum is positive. Additions run in order, so ties
// do not depend on the machine.
std::uint64_t simhash(std::span<const std::uint64_t> hashes, std::span<const double> weights);

// Fingerprints texts one after the other.
class Fingerprinter {
public:
    Fingerprinter(const Lexicon& lexicon, const FeatureOptions& options)
        : lexicon_(lexicon), options_(options), features_(lexicon, options) {}

    struct Fingerprint {
        std::uint64_t value;  // 0 of a text that stands for itself
        Route route;
    };
    Fingerprint fingerprint(Points text) {
        const Route route = features_.choose(text);
        if (route == Route::whole) return {0, route};
        hashes_.clear();
        weights_.clear();
        for (const std::int32_t i : features_.chosen()) {
            const Feature& feature = features_.feature(i);
            hashes_.push_back(hash_of(feature));
            weights_.push_back(feature.weight);
        }
        return {simhash(hashes_, weights_), route};
    }

    const FeatureChooser& features() const { return features_; }  // of the last text

private:
    std::uint64_t hash_of(const Feature& feature) {
        if (feature.node >= 0 && lexicon_.words[feature.node].hash != 0) return lexicon_.words[feature.node].hash;
        const Points word = features_.source().subspan(static_cast<std::size_t>(feature.start),
                                                       static_cast<std::size_t>(feature.end - feature.start));
        return hash_word(word, bytes_);
    }

    const Lexicon& lexicon_;
    const FeatureOptions& options_;
    FeatureChooser features_;
    std::vector<std::uint64_t> hashes_;
    std::vector<double> weights_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace dedup
