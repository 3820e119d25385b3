// Tables, relations and models at the border to Python: each holds the arrays that it refers to.
#pragma once
#include <any>

#include "core/bind.hpp"
#include "judgment/features.hpp"
#include "judgment/form.hpp"
#include "judgment/model.hpp"

namespace dedup::judgment {

class TableArrays {
public:
    TableArrays(const Lexicon& lexicon, In<std::uint32_t> folded, In<std::int64_t> folded_offsets,
                In<std::uint32_t> scripts, In<std::uint8_t> classes, In<std::uint8_t> proper, In<float> weights,
                In<std::uint32_t> phrases, In<std::int64_t> phrase_offsets, In<std::uint16_t> phrase_kinds,
                In<std::uint32_t> words, In<std::int64_t> word_offsets, In<std::uint32_t> word_flags,
                In<std::uint32_t> word_numbers, In<std::uint32_t> negating)
        : held_(std::tuple(folded, folded_offsets, scripts, classes, proper, weights, phrases, phrase_offsets,
                           phrase_kinds, negating)) {
        value.lexicon = &lexicon;
        value.folded = texts_of(folded, folded_offsets);
        value.scripts = view(scripts);
        value.classes = {reinterpret_cast<const Class*>(classes.data()), PLANE};
        value.proper = view(proper);
        value.weights = view(weights);
        value.phrases = texts_of(phrases, phrase_offsets);
        value.phrase_kinds = view(phrase_kinds);
        value.negating = view(negating);
        value.index();
        const TextColumn names = texts_of(words, word_offsets);
        const auto flags = view(word_flags), numbers = view(word_numbers);
        value.words.reset(names.size());
        for (std::size_t i = 0; i < names.size(); i++)
            value.words[key_of(digest(names[i]))].value = {flags[i], numbers[i]};
    }

    FormTables value;

private:
    const std::any held_;
};

class RelationArrays {
public:
    RelationArrays(In<std::uint64_t> opposites, In<std::uint32_t> opposite_groups, In<std::uint64_t> alike,
                   In<std::uint32_t> alike_groups, In<std::uint64_t> spellings, In<std::uint8_t> uses,
                   In<std::uint32_t> points, In<std::int64_t> offsets, std::int64_t longest_unit,
                   In<std::uint32_t> unit_starts)
        : value{{view(opposites), view(opposite_groups)}, {view(alike), view(alike_groups)}, {}},
          held_(std::tuple(opposite_groups, alike_groups, points, unit_starts)) {
        const TextColumn texts = texts_of(points, offsets);
        value.spellings.longest_unit = static_cast<std::size_t>(longest_unit);
        value.spellings.unit_starts = view(unit_starts);
        value.spellings.words.reset(texts.size());
        for (std::size_t i = 0; i < texts.size(); i++)
            value.spellings.words[key_of(spellings(i))].value = {uses(i), texts[i]};
    }

    Relations value;

private:
    const std::any held_;
};

class ModelArrays {
public:
    ModelArrays(In<std::int32_t> feature, In<double> threshold, In<std::int32_t> left, In<std::int32_t> right,
                In<double> value, In<std::int32_t> roots, In<double> scores, In<double> probabilities)
        : model{view(feature),   view(left),  view(right),  view(roots),
                view(threshold), view(value), view(scores), view(probabilities)},
          held_(std::tuple(feature, left, right, roots, threshold, value, scores, probabilities)) {
        if (!model.is_sound(std::size(FEATURES))) refuse("the model is damaged");
    }

    // Scores of rows of features, and their probabilities.
    std::tuple<Out<double>, Out<double>> evaluate(In<double> features) const {
        constexpr std::size_t width = std::size(FEATURES);
        const auto rows = view(features);
        std::vector<double> scores(rows.size() / width), probabilities(scores.size());
        {
            Unlocked unlocked;
            for (std::size_t i = 0; i < scores.size(); i++) {
                scores[i] = model.score(rows.subspan(i * width, width));
                probabilities[i] = model.probability(scores[i]);
            }
        }
        return {give(std::move(scores)), give(std::move(probabilities))};
    }

    // What each feature adds to the score of one row.
    Out<double> weigh(In<double> features) const {
        std::vector<double> weights(std::size(FEATURES));
        model.weigh(view(features), weights);
        return give(std::move(weights));
    }

    const Model model;

private:
    const std::any held_;
};

}  // namespace dedup::judgment
