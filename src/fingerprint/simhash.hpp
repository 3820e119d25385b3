// 64-bit simhash (Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002).
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hash.hpp"
#include "fingerprint/features.hpp"

namespace dedup {

using Hashes = std::span<const std::uint64_t>;
using Weights = std::span<const double>;

inline std::uint64_t sum_up(Hashes hashes, Weights weights) {
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
inline std::uint64_t majority(Hashes hashes) {
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
inline std::uint64_t simhash(Hashes hashes, Weights weights) {
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
        : lexicon_(lexicon), words_(lexicon, options), ngrams_(options) {}

    // The fingerprint of a text, if it has enough features.
    std::optional<std::uint64_t> fingerprint(Points text) {
        route_ = words_.choose(text, features_) ? WORDS : ngrams_.choose(text, features_) ? NGRAMS : WHOLE_TEXT;
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
    std::span<const Token> tokens() const { return words_.tokens(); }

private:
    std::uint64_t hash_of(const Feature& feature) {
        if (feature.node >= 0 && lexicon_.words[feature.node].hash != 0) return lexicon_.words[feature.node].hash;
        return hash_word(features_.characters(feature), bytes_);
    }

    const Lexicon& lexicon_;
    Words words_;
    Ngrams ngrams_;
    Features features_;
    std::string_view route_;
    std::vector<std::uint64_t> hashes_;
    std::vector<double> weights_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace dedup
