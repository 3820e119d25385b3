// The texts of kept documents and of a batch, and pairs of them.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/parallel.hpp"
#include "core/strings.hpp"
#include "decision/part.hpp"
#include "index/index.hpp"
#include "judgment/judge.hpp"

namespace dedup {

// Texts of some of many: `rows` ascending.
struct FoundTexts {
    std::vector<std::int64_t> rows;
    StringBuffer texts;
};

class KeptTexts {
public:
    // Returns the texts of documents by their `_id` fields; those that are gone are left out.
    using Fetch = std::function<FoundTexts(StringBuffer ids)>;

    // judge: reads texts, or null where they are not compared.
    // memory: bytes of texts that are held, a quarter as many read.
    KeptTexts(const Index& index, const judgment::Judge* judge, std::size_t memory)
        : index_(index), judge_(judge), memory_(memory) {}

    // Begins the next batch; fetch: valid while it is decided; stored: how many batches the target holds. The oldest texts
    // are forgotten first, but none that the target does not hold yet.
    void begin_batch(const Fetch& fetch, std::int64_t stored);
    // Begins the next part of a batch; forgets texts that were read long ago, or take too much memory.
    void begin_part();
    // Holds texts of the batch that are kept, numbered from `first` on.
    void add(std::size_t first, StringBuffer texts);

    // The texts of some documents, ascending by number; `rows` of the result are their numbers.
    FoundTexts get(std::span<const std::int64_t> numbers) const;
    // Reads the texts of some documents, each once.
    void read(std::vector<std::int64_t> numbers);
    // A text that was read in this part; none if it is gone. Without a judge it only says that it is there.
    std::optional<judgment::TextRef> find(std::int64_t number) const;

private:
    struct Batch {
        std::size_t first;  // number
        StringBuffer texts;
        std::int64_t batch;  // counted from 1
    };
    // Texts that were read together.
    struct Block {
        std::int64_t part;
        std::size_t characters;
        std::shared_ptr<judgment::ReadTexts> texts;
        std::vector<std::int64_t> numbers;
    };

    const Index& index_;
    const judgment::Judge* judge_;
    const std::size_t memory_;
    const Fetch* fetch_ = nullptr;
    std::deque<Batch> batches_;
    std::deque<Block> blocks_;
    std::unordered_map<std::int64_t, std::optional<judgment::TextRef>> read_;  // by number; none: gone, as far as this part asked
    std::int64_t begun_ = 0, part_ = 0;
};

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

// The texts of a part of a batch and those of kept documents, compared in pairs.
class PairTexts {
public:
    // judge: null if texts are not compared; then all pairs are joined.
    // names: whether differences of pairs are named.
    PairTexts(KeptTexts& kept, const judgment::Judge* judge, bool names, std::size_t threads, double& seconds,
              BatchTexts& batch, const Part& part)
        : kept_(kept), judge_(judge), names_(names), threads_(threads), seconds_(seconds), batch_(batch), part_(part) {}

    // The verdicts of pairs; state `gone` if the text of a kept document is.
    std::vector<judgment::Verdict> judge(std::span<const PairOf> pairs) {
        return of_each(pairs, judgment::Verdict{.state = judgment::State::gone}, [&](const auto& there) { return judge(there); });
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
        return of_each(pairs, static_cast<double>(NAN), [&](const std::vector<judgment::Pair>& there) {
            std::vector<judgment::Verdict> known(there.size(), {.similarity = 1});
            const Timer timer(seconds_);
            if (judge_ != nullptr) judge_->measure(there, threads_, known);
            std::vector<double> values;
            std::ranges::transform(known, std::back_inserter(values), &judgment::Verdict::similarity);
            return values;
        });
    }
    std::vector<Differences> differences(std::span<const PairOf> pairs) {
        if (!names_) return std::vector<Differences>(pairs.size());
        return of_each(pairs, Differences{}, [&](const std::vector<judgment::Pair>& there) {
            const Timer timer(seconds_);
            return judge_->differences(there, threads_);
        });
    }

    judgment::TextRef own(std::size_t row) {
        if (judge_ != nullptr && !batch_.read) batch_.read = judge_->read(batch_.texts);
        return {batch_.read.get(), part_.first + row};
    }

private:
    // What `take` returns of the pairs whose texts are there; `otherwise` for the others.
    template <class T>
    std::vector<T> of_each(std::span<const PairOf> pairs, const T& otherwise, auto take) {
        std::vector<std::int64_t> kept;
        for (const PairOf& pair : pairs) {
            if (!part_.is_here(pair.number)) kept.push_back(pair.number);
        }
        kept_.read(std::move(kept));
        std::vector<judgment::Pair> there;
        std::vector<std::size_t> at;
        for (std::size_t i = 0; i < pairs.size(); i++) {
            const std::int64_t number = pairs[i].number;
            const std::optional<judgment::TextRef> other = part_.is_here(number) ? own(part_.row_of(number)) : kept_.find(number);
            if (!other) continue;
            there.push_back({own(pairs[i].row), *other});
            at.push_back(i);
        }
        std::vector<T> found = take(there), all(pairs.size(), otherwise);
        for (std::size_t i = 0; i < at.size(); i++) all[at[i]] = std::move(found[i]);
        return all;
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
