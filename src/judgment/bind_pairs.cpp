// Entry points of the judgment room: pairs and the model.
#include "core/bind.hpp"

#include <nanobind/stl/string.h>

#include "judgment/features.hpp"
#include "judgment/model.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

using namespace judgment;

void expect(bool holds, const char* what) {
    if (!holds) refuse(what);
}

// Relations that hold the arrays they refer to.
class RelationArrays {
public:
    RelationArrays(In<std::uint64_t> opposites, In<std::uint32_t> opposite_groups, In<std::uint64_t> alike,
                   In<std::uint32_t> alike_groups, In<std::uint64_t> spellings, In<std::uint8_t> uses,
                   In<std::uint32_t> points, In<std::int64_t> offsets, std::int64_t longest_unit)
        : held_{opposites, opposite_groups, alike, alike_groups, spellings, uses, points, offsets} {
        for (const auto& keys : {opposites, alike, spellings})
            expect(std::ranges::is_sorted(view(keys)), "keys of relations do not ascend");
        expect(opposites.size() == opposite_groups.size() && alike.size() == alike_groups.size(), "there are not as many groups as keys");
        value.opposites = {view(opposites), view(opposite_groups)};
        value.alike = {view(alike), view(alike_groups)};
        value.spellings = {view(spellings), view(uses), texts_of(points, offsets), static_cast<std::size_t>(longest_unit)};
        expect(uses.size() == spellings.size() && value.spellings.texts.size() == spellings.size(), "there are not as many texts as spellings");
        expect(0 <= longest_unit && longest_unit <= 64, "longest_unit is out of range");
    }

    Relations value;

private:
    std::tuple<In<std::uint64_t>, In<std::uint32_t>, In<std::uint64_t>, In<std::uint32_t>, In<std::uint64_t>, In<std::uint8_t>,
               In<std::uint32_t>, In<std::int64_t>>
        held_;
};

class ModelArrays {
public:
    ModelArrays(In<std::int32_t> feature, In<double> threshold, In<std::int32_t> left, In<std::int32_t> right,
                In<double> value, In<std::int32_t> roots, In<double> scores, In<double> probabilities)
        : held_{feature, left, right, roots, threshold, value, scores, probabilities},
          model{view(feature), view(left), view(right), view(roots), view(threshold), view(value), view(scores), view(probabilities)} {
        if (const std::string flaw = model.flaw(std::size(FEATURES)); !flaw.empty()) refuse(flaw);
    }

    // Scores of rows of features, and their probabilities.
    std::tuple<Out<double>, Out<double>> evaluate(In<double> features) const {
        expect(features.size() % std::size(FEATURES) == 0, "the features are no rows of all of them");
        std::vector<double> scores(features.size() / std::size(FEATURES)), probabilities(scores.size());
        {
            Unlocked unlocked;
            for (std::size_t i = 0; i < scores.size(); i++) {
                scores[i] = model.score(view(features).subspan(i * std::size(FEATURES), std::size(FEATURES)));
                probabilities[i] = model.probability(scores[i]);
            }
        }
        return {give(std::move(scores)), give(std::move(probabilities))};
    }

private:
    std::tuple<In<std::int32_t>, In<std::int32_t>, In<std::int32_t>, In<std::int32_t>, In<double>, In<double>, In<double>, In<double>>
        held_;

public:
    Model model;
};

// Forms from arrays; for tests. tokens: rows of a key and 64 bits of begin and end; of clause, flags and kind.
class FormArrays {
public:
    FormArrays(In<std::uint32_t> points, In<std::uint64_t> keys, In<std::uint32_t> fields, In<float> weights, In<std::uint32_t> ranges) {
        value.points.assign(points.data(), points.data() + points.size());
        const std::size_t tokens = keys.size(), parts = ranges.size() / 2;
        expect(fields.size() == 5 * tokens && weights.size() == tokens && parts >= 4, "arrays of a form do not fit");
        for (std::size_t i = 0; i < tokens; i++) {
            const std::uint32_t* at = fields.data() + 5 * i;
            expect(at[0] <= at[1] && at[1] <= points.size() && at[4] <= 6, "a token is out of range");
            value.tokens.push_back({keys.data()[i], at[0], at[1], weights.data()[i], at[2], 0, static_cast<std::uint16_t>(at[3]), static_cast<Kind>(at[4])});
        }
        const auto range = [&](std::size_t k) {
            const Range found{ranges.data()[2 * k], ranges.data()[2 * k + 1]};
            expect(found.begin <= found.end && found.end <= tokens, "a part is out of range");
            return found;
        };
        for (std::size_t k = 4; k < parts; k++) value.choices.push_back(range(k));
        Forms::Place place{0, 0, 0, range(0), range(1), range(2), static_cast<std::uint8_t>(ranges.data()[6])};
        value.places = {place, {points.size(), tokens, parts - 4, {}, {}, {}, 0}};
    }
    Forms value;
};

class PairComparer {
public:
    explicit PairComparer(const RelationArrays& relations) : relations_(relations.value) {}

    // Features, guards, differences: rows of begin and end in left, and in right, and of flags; left, right.
    nb::tuple compare(const FormArrays& a, const FormArrays& b) const {
        Comparison found;
        {
            Unlocked unlocked;
            Comparer(relations_).compare(a.value[0], b.value[0], found);
        }
        std::vector<std::uint32_t> rows;
        for (const Difference& one : found.differences.differences) {
            const std::uint32_t flags = one.choice + 2 * one.edge + 4 * one.clauses + 8 * one.moved;
            rows.insert(rows.end(), {one.left.begin, one.left.end, one.right.begin, one.right.end, flags});
        }
        return nb::make_tuple(give(std::vector<double>(found.features.begin(), found.features.end())), found.guards,
                              give(std::move(rows)), give(std::move(found.differences.left)), give(std::move(found.differences.right)));
    }

    // Compares `times` times; for measurements.
    void repeat(const FormArrays& a, const FormArrays& b, int times) const {
        Comparer comparer(relations_);
        Comparison found;
        for (int i = 0; i < times; i++) comparer.compare(a.value[0], b.value[0], found);
    }

    std::string plain(In<std::uint32_t> text) const {
        std::vector<std::uint32_t> written;
        write_plainly(view(text), relations_.spellings, written);
        std::string bytes(MOST_UTF8_BYTES * written.size(), 0);
        bytes.resize(encode_utf8(written, reinterpret_cast<std::uint8_t*>(bytes.data())));
        return bytes;
    }

private:
    const Relations& relations_;
};

}  // namespace

void bind_pairs(nb::module_& m) {
    nb::class_<RelationArrays>(m, "Relations")
        .def(nb::init<In<std::uint64_t>, In<std::uint32_t>, In<std::uint64_t>, In<std::uint32_t>, In<std::uint64_t>,
                      In<std::uint8_t>, In<std::uint32_t>, In<std::int64_t>, std::int64_t>());
    nb::class_<ModelArrays>(m, "Model")
        .def(nb::init<In<std::int32_t>, In<double>, In<std::int32_t>, In<std::int32_t>, In<double>, In<std::int32_t>,
                      In<double>, In<double>>(),
             "feature"_a.noconvert(), "threshold"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(),
             "value"_a.noconvert(), "roots"_a.noconvert(), "scores"_a.noconvert(), "probabilities"_a.noconvert())
        .def("evaluate", &ModelArrays::evaluate, "features"_a.noconvert(),
             "Return the scores of n rows of features, float64 (n,), and their probabilities, float64 (n,).");
    nb::class_<FormArrays>(m, "FormArrays")
        .def(nb::init<In<std::uint32_t>, In<std::uint64_t>, In<std::uint32_t>, In<float>, In<std::uint32_t>>());
    nb::class_<PairComparer>(m, "PairComparer")
        .def(nb::init<const RelationArrays&>(), nb::keep_alive<1, 2>())
        .def("compare", &PairComparer::compare)
        .def("repeat", &PairComparer::repeat)
        .def("plain", &PairComparer::plain);
    nb::list features, guards;
    for (const FeatureName& one : FEATURES) features.append(nb::make_tuple(nb::str(one.name.data(), one.name.size()), one.rises));
    for (const std::string_view one : GUARDS) guards.append(nb::str(one.data(), one.size()));
    m.attr("FEATURES") = nb::tuple(features);
    m.attr("GUARDS") = nb::tuple(guards);
}

}  // namespace dedup
