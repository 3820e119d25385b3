// A better copy supersedes a kept document only if it is like all others of its group.
//
// Else versions that differ a little, each from the one before, end as one, whose first and last have nothing in common.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "decision/copies.hpp"
#include "decision/pair_texts.hpp"
#include "decision/part.hpp"

namespace dedup {

// The near duplicates of kept documents, while a part is decided.
class Groups {
public:
    // most: near duplicates that a text is compared with; with more the kept document stays.
    Groups(const Index& index, Copies& copies, const judgment::Judge* judge, const Part& part, std::size_t most)
        : index_(index), copies_(copies), judge_(judge), part_(part), most_(most) {}

    // The first pair by which a text supersedes a document whose group it is unlike, or NONE.
    std::int64_t first_unlike(PairTexts& texts);

private:
    // A document by its number, or ~i: text i of `texts_`, which an earlier part of the run decided.
    using Member = std::int64_t;
    struct Asked {
        std::size_t row;
        std::int64_t founder;
        std::vector<Member> group;
    };
    std::vector<Asked> asked() const;
    void fetch(std::set<std::int64_t> founders);
    void compare(PairTexts& texts, const std::vector<std::pair<std::size_t, Member>>& pairs);

    const Index& index_;
    Copies& copies_;
    const judgment::Judge* judge_;
    const Part& part_;
    const std::size_t most_;
    std::vector<std::shared_ptr<judgment::ReadTexts>> read_;
    std::vector<judgment::TextRef> texts_;
    std::map<std::int64_t, std::vector<Member>> earlier_;             // by founder
    std::map<std::pair<std::size_t, Member>, bool> are_alike_;
};

}  // namespace dedup
