// 64-bit simhash (Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/hash.hpp"
#include "fingerprint/ngrams.hpp"
#include "fingerprint/words.hpp"

namespace dedup {

// Of token hashes and their weights: a weight counts where the bit of the hash is set and against it
// elsewhere; a bit of the fingerprint is set where the sum is positive. Additions run in order, so ties
// do not depend on the machine.
std::uint64_t simhash(std::span<const std::uint64_t> hashes, std::span<const double> weights);

// What the features of a text may be, in the order in which it is tried.
using Routes = std::tuple<Words, Ngrams>;
// What a text is made of that has too few: itself.
constexpr std::string_view WHOLE_TEXT = "whole text";

template <class... Route>
constexpr auto names_of(const std::tuple<Route...>*) {
    return std::array{Route::NAME..., WHOLE_TEXT};
}
constexpr auto ROUTE_NAMES = names_of(static_cast<const Routes*>(nullptr));

// Fingerprints texts one after the other.
class Fingerprinter {
public:
    Fingerprinter(const Lexicon& lexicon, const FeatureOptions& options)
        : lexicon_(lexicon), routes_(made(static_cast<Routes*>(nullptr), lexicon, options)) {}

    // The fingerprint of a text, if it has enough features.
    std::optional<std::uint64_t> fingerprint(Points text) {
        route_ = WHOLE_TEXT;
        const auto choose = [&](auto& route) {
            const bool found = route.choose(text, features_);
            if (found) route_ = route.NAME;
            return found;
        };
        if (!std::apply([&](auto&... route) { return (choose(route) || ...); }, routes_)) return std::nullopt;
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
    std::span<const Token> tokens() const { return std::get<Words>(routes_).tokens(); }

private:
    template <class... Route>
    static Routes made(std::tuple<Route...>*, const Lexicon& lexicon, const FeatureOptions& options) {
        return {Route(lexicon, options)...};
    }

    std::uint64_t hash_of(const Feature& feature) {
        if (feature.node >= 0 && lexicon_.words[feature.node].hash != 0) return lexicon_.words[feature.node].hash;
        return hash_word(features_.characters(feature), bytes_);
    }

    const Lexicon& lexicon_;
    Routes routes_;
    Features features_;
    std::string_view route_;
    std::vector<std::uint64_t> hashes_;
    std::vector<double> weights_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace dedup
