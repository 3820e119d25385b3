// The texts of kept documents: those of the latest batches, and with few questions the target's.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/strings.hpp"
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

    // Begins the next batch; fetch: valid while it is decided. The oldest texts are forgotten first, but none that the target does not hold yet.
    void begin_batch(const Fetch& fetch);
    // Begins the next part of a batch; forgets texts that were read long ago, or take too much memory.
    void begin_part();
    // Holds texts of the batch that are kept, numbered from `first` on.
    void add(std::size_t first, StringBuffer texts);
    // Counts one more batch as stored in the target; another thread may call it.
    void count_stored() { stored_++; }

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
    std::atomic<std::int64_t> stored_ = 0;
};

}  // namespace dedup
