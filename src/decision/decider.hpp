// First wins: a document is kept unless an earlier kept document is its duplicate.
//
// A document is compared with kept documents only, never with a dropped one, so unlike texts are not chained together
// over a row of likenesses. Documents are looked up and compared all at once, in threads, and decided as if it were one
// after the other. Where documents have ranks, a better copy supersedes a kept document that it is a duplicate of.
#pragma once
#include "decision/groups.hpp"

namespace dedup {

// A way in which candidates are found, by bit.
constexpr std::string_view CHANNELS[] = {"simhash", "minhash", "sentences", "form", "text"};
enum class Outcome : std::uint8_t { kept, exact, near };

// What is decided of a text. Of a duplicate the pair with the kept document, of a kept one with its nearest candidate;
// without a pair the values are 0, and probability is NaN.
struct Decision {
    std::uint64_t fingerprint = 0;
    std::int64_t candidates = 0, cut = 0;  // found; left aside, because there were too many
    std::int64_t group = 0;                // 0 if that is of another collection
    double similarity = 0;                 // NaN if texts are not compared
    double probability = std::numeric_limits<double>::quiet_NaN();  // NaN if the model does not say
    Outcome outcome = Outcome::kept;
    bool is_short = false;
    std::uint8_t distance = 0;
    std::uint8_t channels = 0;    // bits for CHANNELS
    std::uint8_t apart = 0;       // of a kept one: what keeps it apart from its nearest candidate
    std::uint8_t richer = 0;      // bits: what it has and the other lacks
    std::uint8_t left_out = 0;    // a percentage
    std::uint8_t place = 0;       // code of the other collection that the other document is of
    bool is_superseded = false;   // by a later, better copy
};

// A document that was kept before the batch, as a duplicate of the better copy that supersedes it.
struct Superseded {
    std::size_t row;     // of the document that stands for it now
    std::string id, of;  // its own `_id` field, and that of the copy that superseded it
    Decision decision;
    Differences differences;
};

struct Decisions {
    std::vector<Decision> rows;
    StringBuffer of;  // `_id` fields of the other documents of pairs, or empty
    std::map<std::size_t, Differences> differences;
    std::map<std::size_t, std::vector<std::string>> missing;  // `_id` fields of kept documents that are gone
    std::vector<Superseded> superseded;
};

// n documents with texts. ids, texts in UTF-8; lengths in characters; read: the texts, if that is done; ranks: none
// where the first copy stays.
struct Batch {
    Strings ids, texts;
    std::span<const std::int64_t> lengths;
    Prints prints;
    std::span<const std::uint8_t> key_channels;  // of each column of keys, a place in CHANNELS
    std::shared_ptr<judgment::ReadTexts> read;
    std::optional<Strings> ranks;

    std::size_t size() const { return prints.size(); }
};

struct DecisionRules {
    judgment::Judging judging = judgment::Judging::differences;
    double similarity = 1;            // least one, where it decides
    std::size_t most_candidates = 64; // of a text that are compared
    std::size_t threads = 1;
    std::size_t part = 5000;          // documents looked up and compared at once, a fifth of it where many are alike
    std::size_t memory = 3 << 24;     // bytes of kept texts that are held, once they are stored
};

class Decider {
public:
    // judge: null if texts are not compared.
    Decider(Index& index, const judgment::Judge* judge, const DecisionRules& rules)
        : index_(index), judge_(judge), rules_(rules), kept_(index, judge, rules.memory), copies_(index) {}
    Decider(const Decider&) = delete;

    // Decides documents in their order; what is kept is added to the index. Texts are held until their batch is one of
    // those `batches_stored` that lie in the target.
    Decisions decide(const Batch& batch, const KeptTexts::Fetch& fetch, const Copies::Stored& stored, std::int64_t batches_stored);

    // Seconds so far: all, those spent in several threads, and those spent waiting for texts of the target.
    struct Seconds {
        double all = 0, parallel = 0, waiting = 0;
    };
    const Seconds& seconds() const { return seconds_; }

private:
    struct Course;

    Part look_up(const Batch& batch, std::size_t first, std::size_t count);
    void find_twins(const Batch& batch, Part& part);
    void find_alike(const Batch& batch, Part& part);
    void compare_ranks(Part& part);
    void decide_in_rounds(PairTexts& texts, Part& part);
    void enter_pairs(Course& course, PairTexts& texts, Part& part);
    void enter_missing(Course& course, const Part& part);
    void add_to_index(Course& course, Part& part);
    void let_supersede(Course& course, const Part& part);
    void finish(Course& course);

    Index& index_;
    const judgment::Judge* const judge_;
    const DecisionRules rules_;
    Seconds seconds_;
    KeptTexts kept_;
    Copies copies_;
};

}  // namespace dedup
