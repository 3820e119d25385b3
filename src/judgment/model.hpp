// Gradient-boosted trees over features, and the probability that their sum stands for.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dedup::judgment {

// Nodes of all trees. A leaf has the feature -1 and a value; others lead left where the feature is at most the
// threshold. scores and probabilities: points of the calibration, ascending; between them it is a line.
struct Model {
    std::span<const std::int32_t> feature, left, right, roots;
    std::span<const double> threshold, value, scores, probabilities;

    static constexpr std::size_t MOST_NODES = 1 << 16, MOST_DEPTH = 64;

    // What is wrong with it, "" where nothing is; only a sound one may be evaluated.
    std::string flaw(std::size_t features) const {
        const std::size_t nodes = feature.size();
        const auto finite = [](std::span<const double> those) { return std::ranges::all_of(those, [](double x) { return std::isfinite(x); }); };
        if (left.size() != nodes || right.size() != nodes || threshold.size() != nodes || value.size() != nodes)
            return "its arrays of nodes differ in length";
        if (nodes > MOST_NODES || roots.size() > MOST_NODES) return "it has more than " + std::to_string(MOST_NODES) + " nodes";
        if (scores.empty() || scores.size() != probabilities.size()) return "its calibration has no points, or of unequal number";
        if (!finite(threshold) || !finite(value) || !finite(scores) || !finite(probabilities)) return "it holds what is no number";
        if (!std::ranges::is_sorted(scores, std::less_equal<>{}) || !std::ranges::is_sorted(probabilities) || probabilities.front() < 0 || probabilities.back() > 1)
            return "its calibration does not ascend from 0 to 1";
        const auto leads = [&](std::int32_t node, std::int64_t after) { return after < node && node < static_cast<std::int64_t>(nodes); };
        std::vector<std::size_t> depth(nodes, 0);
        for (std::size_t i = 0; i < nodes; i++) {
            if (feature[i] == -1) continue;
            if (feature[i] < 0 || feature[i] >= static_cast<std::int64_t>(features)) return "node " + std::to_string(i) + " asks for a feature that is not there";
            for (const std::int32_t next : {left[i], right[i]}) {
                if (!leads(next, static_cast<std::int64_t>(i))) return "node " + std::to_string(i) + " leads to no later node";  // no cycles
                depth[next] = std::max(depth[next], depth[i] + 1);
                if (depth[next] > MOST_DEPTH) return "it is deeper than " + std::to_string(MOST_DEPTH);
            }
        }
        return std::ranges::all_of(roots, [&](std::int32_t root) { return leads(root, -1); }) ? "" : "a tree begins at no node";
    }

    // The sum of the leaves that the features lead to.
    double score(std::span<const double> features) const {
        double sum = 0;
        for (std::int32_t node : roots) {
            while (feature[node] >= 0) node = features[feature[node]] <= threshold[node] ? left[node] : right[node];
            sum += value[node];
        }
        return sum;
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
