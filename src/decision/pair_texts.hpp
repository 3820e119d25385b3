// The texts of a part of a batch and those of kept documents, compared in pairs.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/timer.hpp"
#include "decision/kept_texts.hpp"
#include "decision/part.hpp"
#include "judgment/judge.hpp"

namespace dedup {

using Differences = std::vector<judgment::NamedDifference>;

// A text of a part by its row, and another document by its number, see Part.
struct PairOf {
    std::size_t row;
    std::int64_t number;
};

// The texts of a batch, read when they are first needed.
struct BatchTexts {
    Strings texts;
    std::shared_ptr<judgment::ReadTexts> read;
};

class PairTexts {
public:
    // judge: null if texts are not compared; then all pairs are joined.
    // names: whether differences of pairs are named.
    PairTexts(KeptTexts& kept, const judgment::Judge* judge, bool names, std::size_t threads, double& seconds,
              BatchTexts& batch, const Part& part)
        : kept_(kept), judge_(judge), names_(names), threads_(threads), seconds_(seconds), batch_(batch), part_(part) {}

    // The verdicts of pairs; state `gone` if the text of a kept document is.
    std::vector<judgment::Verdict> judge(std::span<const PairOf> pairs) {
        const Resolved found = resolve(pairs);
        const std::vector<judgment::Verdict> known = judge(found.pairs);
        std::vector<judgment::Verdict> verdicts(pairs.size());
        for (judgment::Verdict& verdict : verdicts) verdict.state = judgment::State::gone;
        for (std::size_t i = 0; i < found.at.size(); i++) verdicts[found.at[i]] = known[i];
        return verdicts;
    }
    std::vector<judgment::Verdict> judge(std::span<const judgment::Pair> pairs) const {
        std::vector<judgment::Verdict> verdicts(pairs.size());
        const Timer timer(seconds_);
        if (judge_ != nullptr) judge_->judge(pairs, threads_, verdicts);
        else
            for (judgment::Verdict& verdict : verdicts) verdict = {.similarity = 1, .state = judgment::State::joined};
        return verdicts;
    }
    // How alike pairs are, NaN if a text is gone.
    std::vector<double> measure(std::span<const PairOf> pairs) {
        std::vector<double> values(pairs.size(), NAN);
        const Resolved found = resolve(pairs);
        std::vector<judgment::Verdict> known(found.pairs.size(), {.similarity = 1});
        const Timer timer(seconds_);
        if (judge_ != nullptr) judge_->measure(found.pairs, threads_, known);
        for (std::size_t i = 0; i < found.at.size(); i++) values[found.at[i]] = known[i].similarity;
        return values;
    }
    std::vector<Differences> differences(std::span<const PairOf> pairs) {
        std::vector<Differences> named(pairs.size());
        if (!names_) return named;
        const Resolved found = resolve(pairs);
        const Timer timer(seconds_);
        std::vector<Differences> known = judge_->differences(found.pairs, threads_);
        for (std::size_t i = 0; i < found.at.size(); i++) named[found.at[i]] = std::move(known[i]);
        return named;
    }

    judgment::TextRef own(std::size_t row) {
        if (judge_ != nullptr && !batch_.read) batch_.read = judge_->read(batch_.texts);
        return {batch_.read.get(), part_.first + row};
    }

private:
    // The pairs with a text, and which they are.
    struct Resolved {
        std::vector<judgment::Pair> pairs;
        std::vector<std::size_t> at;
    };
    Resolved resolve(std::span<const PairOf> pairs) {
        std::vector<std::int64_t> kept;
        for (const PairOf& pair : pairs) {
            if (!part_.is_here(pair.number)) kept.push_back(pair.number);
        }
        kept_.read(std::move(kept));
        Resolved found;
        for (std::size_t i = 0; i < pairs.size(); i++) {
            const std::int64_t number = pairs[i].number;
            const std::optional<judgment::TextRef> other = part_.is_here(number) ? own(part_.row_of(number)) : kept_.find(number);
            if (!other) continue;
            found.pairs.push_back({own(pairs[i].row), *other});
            found.at.push_back(i);
        }
        return found;
    }

    KeptTexts& kept_;
    const judgment::Judge* judge_;
    const bool names_;
    const std::size_t threads_;
    double& seconds_;
    BatchTexts& batch_;
    const Part& part_;
};

}  // namespace dedup
