// Gradient-boosted trees over features, and the probability that their sum stands for.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace dedup::judgment {

// Nodes of all trees. A leaf has the feature -1; its value counts, that of others is their mean. They lead left where
// the feature is at most the threshold. scores and probabilities: points of the calibration, ascending; between them
// it is a line.
struct Model {
    std::vector<std::int32_t> feature{}, left{}, right{}, roots{};
    std::vector<double> threshold{}, value{}, scores{}, probabilities{};

    static constexpr std::size_t MOST_NODES = 1 << 16, MOST_DEPTH = 64;

    // Whether it may be evaluated: each node leads to later ones, and one node alone to it; there are no cycles then.
    bool is_sound(std::size_t features) const {
        const std::size_t nodes = feature.size();
        const auto size = static_cast<std::int32_t>(nodes);
        for (const std::size_t one : {left.size(), right.size(), threshold.size(), value.size()}) {
            if (one != nodes) return false;
        }
        if (std::max(nodes, roots.size()) > MOST_NODES || scores.empty() || scores.size() != probabilities.size())
            return false;
        for (const auto* some : {&threshold, &value, &scores, &probabilities}) {
            if (!std::ranges::all_of(*some, [](double x) { return std::isfinite(x); })) return false;
        }
        if (!std::ranges::is_sorted(scores, std::less_equal<>{}) || !std::ranges::is_sorted(probabilities) ||
            probabilities.front() < 0 || probabilities.back() > 1)
            return false;
        std::vector<std::size_t> depth(nodes, 0);
        for (std::int32_t i = 0; i < size; i++) {
            if (feature[i] == -1) continue;
            if (feature[i] < 0 || feature[i] >= static_cast<std::int64_t>(features)) return false;
            for (const std::int32_t next : {left[i], right[i]}) {
                if (next <= i || next >= size || depth[next] > 0) return false;
                depth[next] = depth[i] + 1;
                if (depth[next] > MOST_DEPTH) return false;
            }
        }
        return std::ranges::all_of(roots, [&](std::int32_t root) { return 0 <= root && root < size; });
    }

    // The node behind one that is no leaf.
    std::int32_t next(std::int32_t node, std::span<const double> features) const {
        return (features[feature[node]] <= threshold[node] ? left : right)[node];  // without a branch: it is hard to foretell
    }

    // The sum of the leaves that the features lead to.
    double score(std::span<const double> features) const {
        double sum = 0;
        for (std::int32_t node : roots) {
            while (feature[node] >= 0) node = next(node, features);
            sum += value[node];
        }
        return sum;
    }

    // What each feature adds to the score: at each node, how far the value moves. Together with the values of
    // the roots it is the score. (Saabas, "Interpreting random forests", 2014.)
    void weigh(std::span<const double> features, std::span<double> to) const {
        for (std::int32_t node : roots) {
            while (feature[node] >= 0) {
                const std::int32_t behind = next(node, features);
                to[feature[node]] += value[behind] - value[node];
                node = behind;
            }
        }
    }

    double probability(double score) const {
        const std::size_t k = std::upper_bound(scores.begin(), scores.end(), score) - scores.begin();
        if (k == 0) return probabilities.front();
        if (k == scores.size()) return probabilities.back();
        const double share = (score - scores[k - 1]) / (scores[k] - scores[k - 1]);
        return probabilities[k - 1] + share * (probabilities[k] - probabilities[k - 1]);
    }
};

}  // namespace dedup::judgment
