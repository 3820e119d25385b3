// The distinct features of a text, with their weights: what a fingerprint is made of.
#pragma once
#include <cstdint>
#include <vector>

#include "core/hash_table.hpp"
#include "fingerprint/lexicon.hpp"

namespace dedup {

struct FeatureOptions {
    std::int64_t top_k;  // the heaviest so many count, 0 for all
    std::int64_t min_features;
    bool is_uniform;  // each chosen word weighs 1, else as jieba says
    std::int64_t ngram;  // characters of an n-gram, 0 for none
};

// Where a feature first stands, its node in the lexicon, how often it occurs and what it weighs.
struct Feature {
    std::int32_t start = 0, end = 0;
    std::int32_t node = Trie::ABSENT;
    double count = 0, idf = 0, weight = 0;
};

class Features {
public:
    std::vector<Feature> all;
    std::vector<std::int32_t> chosen;  // of all, the heaviest first

    // Begins anew, with at most so many; source: what their places refer to, valid as long as they.
    void begin(Points source, std::size_t most) {
        source_ = source;
        all.clear();
        chosen.clear();
        places_.reset(most);
    }

    // The feature under a key, and whether it is new; valid until the next one.
    struct Entry {
        Feature& feature;
        bool is_new;
    };
    Entry operator[](std::uint64_t key) {
        const auto [place, is_new] = places_[key];
        if (is_new) {
            place = static_cast<std::uint32_t>(all.size());
            all.emplace_back();
        }
        return {all[place], is_new};
    }
    Feature& at(std::int32_t i) { return all[static_cast<std::size_t>(i)]; }

    Points part(std::int32_t start, std::int32_t end) const {
        return source_.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
    }
    Points characters(const Feature& feature) const { return part(feature.start, feature.end); }

    // A key that is no node: FNV-1a over code points, 63 bits (Fowler, Noll, Vo). Only the chosen ones get the slower hash.
    static std::uint64_t key_of(Points characters) {
        std::uint64_t key = 0xCBF29CE484222325;
        for (const std::uint32_t point : characters) key = (key ^ point) * 0x100000001B3;
        return (key ^ key >> 32) | std::uint64_t{1} << 63;
    }

private:
    Points source_;
    HashTable<std::uint32_t> places_;
};

}  // namespace dedup
