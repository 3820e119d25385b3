// The lexicon at the border to Python: other rooms take it, too.
#pragma once
#include "core/bind.hpp"

#include <algorithm>

#include "fingerprint/lexicon.hpp"

namespace dedup {

// A lexicon that holds the arrays it refers to, which the dictionary made.
class LexiconArrays {
public:
    LexiconArrays(In<std::int32_t> first, In<std::uint16_t> characters, In<std::uint64_t> entries,
                  In<std::uint8_t> words, In<std::uint8_t> classes, In<bool> pairs,
                  In<double> emission, In<double> start, In<double> transition, double unknown, double median)
        : held_{first, characters, entries, words, classes, pairs, emission, start, transition} {
        const std::size_t count = words.size() / sizeof(Lexicon::Word), slots = entries.size() * sizeof(std::uint64_t) / sizeof(Trie::Entry);
        const std::span<const Trie::Entry> known{reinterpret_cast<const Trie::Entry*>(view(entries).data()), slots};
        value.trie = Trie(view(first), view(characters), known);
        value.words = {reinterpret_cast<const Lexicon::Word*>(words.data()), count};
        value.classes = {reinterpret_cast<const Class*>(classes.data()), PLANE};
        value.pairs = flags(pairs);
        value.emission = view(emission);
        value.start = view(start);
        value.transition = view(transition);
        value.unknown = unknown;
        value.median = median;
    }

    Out<std::int32_t> find(In<std::uint32_t> points, In<std::int64_t> offsets) const {
        const TextColumn words = texts_of(points, offsets);
        std::vector<std::int32_t> nodes(words.size(), Trie::ABSENT);
        for (std::size_t i = 0; i < words.size(); i++) {
            const Points word = words[i];
            const bool in_plane = std::all_of(word.begin(), word.end(), [](std::uint32_t point) { return point < PLANE; });
            if (!word.empty() && in_plane) nodes[i] = value.find(word);
        }
        return give(std::move(nodes));
    }

    Lexicon value;

private:
    std::tuple<In<std::int32_t>, In<std::uint16_t>, In<std::uint64_t>, In<std::uint8_t>, In<std::uint8_t>,
               In<bool>, In<double>, In<double>, In<double>>
        held_;
};

}  // namespace dedup
