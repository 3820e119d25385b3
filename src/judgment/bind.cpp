// Entry points of the judgment room.
#include "core/bind.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <cmath>
#include <mutex>
#include <ranges>

#include "core/parallel.hpp"
#include "judgment/bind.hpp"
#include "judgment/jaccard.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace judgment {
namespace {

// What a text can have more than another, by bit.
enum Richer : std::uint8_t { IMAGE = 1, ANSWER = 2, EXPLANATION = 4, CHOICE = 8, SENTENCE = 16 };

bool is_explained(const Form& form) { return form.text(form.of(form.explanation)).size() >= 10; }

std::uint32_t images(const Form& form) {
    return static_cast<std::uint32_t>(std::ranges::count(form.tokens, Kind::image, &Token::kind));
}

std::uint8_t richer(const Form& one, const Form& other, const Alignment& found) {
    const auto adds = [&](const Difference& difference) {
        const auto says = [&](std::uint32_t at) { return has_content(one.tokens[at]); };
        return difference.clauses && !difference.moved && !difference.right.size() &&
               std::ranges::any_of(difference.left.of(found.left), says);
    };
    return (images(one) > images(other)) * IMAGE | (one.answer.size() && !other.answer.size()) * ANSWER |
           (is_explained(one) && !is_explained(other)) * EXPLANATION |
           (one.choices.size() > other.choices.size()) * CHOICE |
           std::ranges::any_of(found.differences, adds) * SENTENCE;
}

// What makes a text the better copy, the first that differs decides: images, choices, an answer, an explanation. Words
// are not counted: how many there are says more of notation, headings and notes than of content.
std::array<std::uint32_t, 4> richness(const Form& form) {
    const auto choices = static_cast<std::uint32_t>(form.choices.size());
    return {images(form), choices, form.answer.size() != 0, is_explained(form)};
}

// Texts of a batch as they are judged: their outlines, and the forms of those that were needed lately.
class JudgedTexts {
public:
    Outlines outlines;

    std::size_t size() const { return outlines.size(); }
    // Forgets all forms where they take much room.
    void make_room() {
        if (held_ <= MOST_POINTS) return;
        clear(parts_, places_);
        held_ = 0;
    }
    // Makes the forms of some rows that have none.
    void make_forms(const FormTables& tables, const Relations& relations, std::span<const std::int64_t> rows,
                    std::size_t threads) {
        places_.resize(size(), {NONE, 0});
        std::vector<std::int64_t> missing;
        const auto lacks_form = [&](std::int64_t row) { return places_[row].part == NONE; };
        std::ranges::copy_if(rows, std::back_inserter(missing), lacks_form);
        std::ranges::sort(missing);
        missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
        if (missing.empty()) return;
        std::size_t size = 0;
        for (const std::int64_t row : missing) size += points(row);
        held_ += size;
        std::mutex adding;
        share(missing.size(), threads, [&](auto take) {
            Part part;
            part.forms.inner.reserve(size / threads / 2);  // no copies, and no page untouched
            part.forms.points.reserve(size / threads);
            Tokenizer tokenizer(tables, part.forms);
            Summarizer summarizer(relations);
            std::vector<std::int64_t> made;
            for (std::size_t i; (i = take()) < missing.size();) {
                tokenizer.add(outlines[missing[i]]);
                part.summaries.push_back(summarizer.summarize(part.forms[made.size()]));
                made.push_back(missing[i]);
            }
            const std::scoped_lock lock(adding);
            parts_.push_back(std::move(part));
            for (std::uint32_t i = 0; i < made.size(); i++)
                places_[made[i]] = {static_cast<std::uint32_t>(parts_.size() - 1), i};
        });
    }
    Form form(std::int64_t row) const {
        const auto [part, place] = places_[row];
        Form form = parts_[part].forms[place];
        form.summary = &parts_[part].summaries[place];
        return form;
    }
    std::size_t points(std::int64_t row) const { return outlines[row].points.size(); }
    std::mutex& in_use() const { return in_use_; }

    static constexpr std::size_t MOST_POINTS = 1 << 21;

private:
    static constexpr std::uint32_t NONE = 0xFFFFFFFF;
    struct Place {
        std::uint32_t part, place;
    };

    struct Part {
        Forms forms;
        std::vector<Summary> summaries;
    };
    std::vector<Part> parts_;
    std::vector<Place> places_;
    std::size_t held_ = 0;  // points of texts with forms
    mutable std::mutex in_use_;
};

// Pairs of texts: row rows[i] of one batch and other_rows[i] of another; in how many threads they are compared.
struct Pairs {
    JudgedTexts& one;
    In<std::int64_t> rows;
    JudgedTexts& other;
    In<std::int64_t> other_rows;
    std::int64_t threads = 1;
};

// One for each kind of text.
using Models = std::array<const ModelArrays*, std::size(TEXT_KINDS)>;

// Reads and judges batches of texts; without state between calls, so threads may share it.
class BatchJudge {
public:
    BatchJudge(const TableArrays& tables, const RelationArrays& relations, std::uint8_t kind)
        : tables_(tables.value), relations_(relations.value), kind_(static_cast<TextKind>(kind)) {}

    std::unique_ptr<JudgedTexts> read(const StringArrays& strings) const {
        TextReader texts(strings);
        auto read = std::make_unique<JudgedTexts>();
        Unlocked unlocked;
        OutlineReader reader(tables_, read->outlines);
        for (std::size_t i = 0; i < texts.size(); i++) reader.read(texts[i]);
        return read;
    }

    TextArrays gist(const JudgedTexts& texts, In<std::int64_t> rows) const {
        TextWriter made;
        {
            Unlocked unlocked;
            Buffer points;
            GistWriter writer(tables_, relations_.spellings);
            for (const std::int64_t row : view(rows)) {
                points.clear();
                writer.append(texts.outlines[static_cast<std::size_t>(row)], points);
                made.append(points);
            }
        }
        return std::move(made).give();
    }

    Out<std::uint32_t> richness_of(const JudgedTexts& texts) const {
        std::vector<std::uint32_t> found;
        {
            Unlocked unlocked;
            Forms forms;
            Tokenizer tokenizer(tables_, forms);
            for (std::size_t i = 0; i < texts.size(); i++) {
                tokenizer.add(texts.outlines[i]);
                const auto each = richness(forms[0]);
                found.insert(found.end(), each.begin(), each.end());
                forms.clear();
            }
        }
        return give(std::move(found));
    }

    std::tuple<Out<double>, Out<std::uint32_t>, Out<std::uint8_t>, Out<std::uint8_t>> features(
        JudgedTexts& one, In<std::int64_t> rows, JudgedTexts& other, In<std::int64_t> other_rows) const {
        constexpr std::size_t width = std::size(FEATURES);
        std::vector<double> features(rows.size() * width);
        std::vector<std::uint32_t> guards(rows.size());
        std::vector<std::uint8_t> equal(rows.size()), kinds(rows.size());
        const auto take = [&](std::size_t i, const Form&, const Form&, const Comparison& found, bool) {
            std::ranges::copy(found.features, features.begin() + i * width);
            guards[i] = found.guards;
            equal[i] = found.same;
            kinds[i] = static_cast<std::uint8_t>(found.kind);
        };
        compare({one, rows, other, other_rows}, 0, take);
        return {give(std::move(features)), give(std::move(guards)), give(std::move(equal)), give(std::move(kinds))};
    }

    std::tuple<Out<double>, Out<std::uint32_t>, Out<std::uint8_t>, Out<std::uint8_t>> judge(
        Models models, std::uint32_t stop, JudgedTexts& one, In<std::int64_t> rows,
        JudgedTexts& other, In<std::int64_t> other_rows, std::int64_t threads) const {
        std::vector<double> probabilities(rows.size(), std::numeric_limits<double>::quiet_NaN());
        std::vector<std::uint32_t> guards(rows.size());
        std::vector<std::uint8_t> more(rows.size()), out(rows.size());
        const auto take = [&](std::size_t i, const Form& left, const Form& right, const Comparison& found, bool whole) {
            if (whole) probabilities[i] = probability(models[static_cast<std::size_t>(found.kind)]->model, found);
            guards[i] = found.guards;
            more[i] = richer(left, right, found.differences);
            out[i] = static_cast<std::uint8_t>(found.left_out > 0 ? std::max(std::lround(found.left_out), 1L) : 0);
        };
        compare({one, rows, other, other_rows, threads}, stop, take);
        return {give(std::move(probabilities)), give(std::move(guards)), give(std::move(more)), give(std::move(out))};
    }

    // The differences of each pair: place (0 stem, 1 choice, 2 answer, 3 notes, 4 explanation), whether it moved, whether
    // it is one of notation, both texts. Of the last three all is named, as one difference.
    nb::list differences(JudgedTexts& one, In<std::int64_t> rows, JudgedTexts& other, In<std::int64_t> other_rows,
                         std::int64_t threads) const {
        std::vector<std::vector<Named>> found(rows.size());
        const auto take = [&](std::size_t i, const Form& left, const Form& right, const Comparison& compared, bool) {
            found[i] = name_differences(left, right, compared);
        };
        compare({one, rows, other, other_rows, threads}, 0, take);
        const auto text = [](const Buffer& points) {
            const auto size = static_cast<Py_ssize_t>(points.size());
            return nb::steal(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, points.data(), size));
        };
        nb::list listed;
        for (const std::vector<Named>& pair : found) {
            nb::list named;
            for (const Named& each : pair)
                named.append(nb::make_tuple(each.place, each.moved, each.null, text(each.left), text(each.right)));
            listed.append(named);
        }
        return listed;
    }

private:
    struct Named {
        int place;
        bool moved, null;
        Buffer left, right;
    };
    std::vector<Named> name_differences(const Form& a, const Form& b, const Comparison& found) const {
        std::vector<Named> named;
        Differ differ(relations_);
        Work work;
        for (const Difference& each : found.differences.differences) {
            const bool null = !each.moved && differ.look_at(a, b, found.differences, each, {0, 0}, work).null;
            named.push_back({each.choice, each.moved, null, written(a, each.left.of(found.differences.left)),
                             written(b, each.right.of(found.differences.right))});
        }
        const auto add = [&](int place, Range left, Range right) {
            if (std::ranges::equal(a.of(left), b.of(right), {}, &Token::key, &Token::key)) return;
            const auto places = [](Range range) { return std::views::iota(range.begin, range.end); };
            named.push_back({place, false, false, written(a, places(left)), written(b, places(right))});
        };
        add(2, a.answer, b.answer);
        add(3, a.notes, b.notes);
        add(4, a.explanation, b.explanation);
        return named;
    }

    static double probability(const Model& model, const Comparison& found) {
        const double most = found.left_out > 0 || found.reworded ? 0.999 : 1;  // never sure of what is not compared
        if (found.little) return 0;
        return found.same ? most : std::min(most, model.probability(model.score(found.features)));
    }

    // Calls take(i, left, right, comparison, whether it came to its end) for each pair, in several threads.
    template <class Take>
    void compare(const Pairs& pairs, std::uint32_t stop, Take take) const {
        const auto rows = view(pairs.rows), other_rows = view(pairs.other_rows);
        const auto threads = static_cast<std::size_t>(pairs.threads);
        Unlocked unlocked;
        std::unique_lock one(pairs.one.in_use(), std::defer_lock), other(pairs.other.in_use(), std::defer_lock);
        if (&pairs.one == &pairs.other)
            one.lock();
        else
            std::lock(one, other);
        for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
            std::size_t size = 0;  // as many as memory has room for
            for (end = begin; end < rows.size() && size < JudgedTexts::MOST_POINTS; end++)
                size += pairs.other.points(other_rows[end]) +
                        (end > begin && rows[end] == rows[end - 1] ? 0 : pairs.one.points(rows[end]));
            pairs.one.make_room();
            pairs.other.make_room();
            pairs.one.make_forms(tables_, relations_, rows.subspan(begin, end - begin), threads);
            pairs.other.make_forms(tables_, relations_, other_rows.subspan(begin, end - begin), threads);
            share(end - begin, threads, [&](auto next) {
                Comparer comparer(relations_, kind_);
                Comparison found;
                for (std::size_t i; (i = begin + next()) < end;) {
                    const Form a = pairs.one.form(rows[i]), b = pairs.other.form(other_rows[i]);
                    const bool whole = comparer.compare(a, b, found, stop);
                    take(i, a, b, found, whole);
                }
            });
        }
    }

    // Tokens as a person reads them: with spaces between words in Latin letters.
    static Buffer written(const Form& form, const auto& places) {
        Buffer points;
        bool spaced = false;
        for (const std::uint32_t place : places) {
            const Token& token = form.tokens[place];
            const bool plain = (token.flags & LATIN) || token.kind == Kind::number;
            if (plain && spaced) points.push_back(U' ');
            append(points, form.text(token));
            spaced = plain;
        }
        return points;
    }

    const FormTables& tables_;
    const Relations& relations_;
    const TextKind kind_;
};

// Of text rows[i] and text other_rows[i]; equal rows together are faster.
Out<double> jaccard_of(const StringArrays& strings, In<std::int64_t> rows, const StringArrays& other_strings,
                       In<std::int64_t> other_rows) {
    TextReader one(strings), other(other_strings);
    const auto left = view(rows), right = view(other_rows);
    std::vector<double> values(left.size());
    {
        Unlocked unlocked;
        Grams a, b;
        for (std::size_t i = 0; i < values.size(); i++) {
            if (i == 0 || left[i] != left[i - 1]) find_grams(one[left[i]], a);
            find_grams(other[right[i]], b);
            values[i] = jaccard(a, b);
        }
    }
    return give(std::move(values));
}

}  // namespace
}  // namespace judgment

void bind_judgment(nb::module_& m) {
    using namespace judgment;
    nb::class_<JudgedTexts>(m, "Outlines", "The parts of texts, as they are judged.").def("__len__", &JudgedTexts::size);
    nb::class_<TableArrays>(m, "FormTables", "See judgment/form_tables.py.")
        .def(nb::init<const Lexicon&, In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>, In<std::uint8_t>,
                      In<std::uint8_t>, In<float>, In<std::uint32_t>, In<std::int64_t>, In<std::uint16_t>,
                      In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>>(),
             nb::keep_alive<1, 2>(), "lexicon"_a, nb::kw_only(), "folded"_a.noconvert(),
             "folded_offsets"_a.noconvert(), "scripts"_a.noconvert(), "classes"_a.noconvert(), "proper"_a.noconvert(),
             "weights"_a.noconvert(), "phrases"_a.noconvert(), "phrase_offsets"_a.noconvert(),
             "phrase_kinds"_a.noconvert(), "words"_a.noconvert(), "word_offsets"_a.noconvert(),
             "word_flags"_a.noconvert(), "word_numbers"_a.noconvert(), "negating"_a.noconvert());
    nb::class_<RelationArrays>(m, "Relations")
        .def(nb::init<In<std::uint64_t>, In<std::uint32_t>, In<std::uint64_t>, In<std::uint32_t>, In<std::uint64_t>,
                      In<std::uint8_t>, In<std::uint32_t>, In<std::int64_t>, std::int64_t, In<std::uint32_t>>(),
             nb::kw_only(), "opposites"_a.noconvert(), "opposite_groups"_a.noconvert(), "alike"_a.noconvert(),
             "alike_groups"_a.noconvert(), "spellings"_a.noconvert(), "uses"_a.noconvert(), "points"_a.noconvert(),
             "offsets"_a.noconvert(), "longest_unit"_a, "unit_starts"_a.noconvert());
    nb::class_<ModelArrays>(m, "Model")
        .def(nb::init<In<std::int32_t>, In<double>, In<std::int32_t>, In<std::int32_t>, In<double>, In<std::int32_t>,
                      In<double>, In<double>>(),
             "feature"_a.noconvert(), "threshold"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(),
             "value"_a.noconvert(), "roots"_a.noconvert(), "scores"_a.noconvert(), "probabilities"_a.noconvert())
        .def("evaluate", &ModelArrays::evaluate, "features"_a.noconvert(),
             "Return the scores of n rows of features, float64 (n,), and their probabilities, float64 (n,).")
        .def("weigh", &ModelArrays::weigh, "features"_a.noconvert(),
             "Return what each feature of a row adds to its score.");
    nb::class_<BatchJudge>(m, "Judge", "Reads texts and compares them in pairs.")
        .def(nb::init<const TableArrays&, const RelationArrays&, std::uint8_t>(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), "tables"_a, "relations"_a, "kind"_a)
        .def("outlines", &BatchJudge::read, "texts"_a.noconvert(),
             "Return the outlines of n texts.")
        .def("gist", &BatchJudge::gist, "outlines"_a, "rows"_a.noconvert(),
             "Return what some texts ask, whatever the order of choices.")
        .def("richness", &BatchJudge::richness_of, "outlines"_a,
             "Return images, choices, answer and explanation of n texts, uint32 (n * 4,).")
        .def("features", &BatchJudge::features, "one"_a, "rows"_a.noconvert(), "other"_a, "other_rows"_a.noconvert(),
             "Return the features of c pairs, float64 (c * features,), their guards, uint32 (c,), whether nothing differs, "
             "uint8 (c,), and their kinds, uint8 (c,).")
        .def("judge", &BatchJudge::judge, "models"_a, "stop"_a, "one"_a, "rows"_a.noconvert(), "other"_a,
             "other_rows"_a.noconvert(), "threads"_a = 1,
             "Return of c pairs: probability, guards, what the first has more, the percentage that is left out.")
        .def("differences", &BatchJudge::differences, "one"_a, "rows"_a.noconvert(), "other"_a,
             "other_rows"_a.noconvert(), "threads"_a = 1,
             "Return the differences of each pair: part, moved, of notation, the words of either.");
    m.def("jaccard", &jaccard_of, "texts"_a.noconvert(), "rows"_a.noconvert(), "others"_a.noconvert(),
          "other_rows"_a.noconvert(),
          "Return how alike c pairs of texts are, float64 (c,): their distinct 3-grams in common, of those of either.");
    nb::list features, guards, kinds;
    const auto text = [](std::string_view name) { return nb::str(name.data(), name.size()); };
    for (const FeatureName& one : FEATURES) features.append(nb::make_tuple(text(one.name), one.rises));
    for (const std::string_view one : GUARDS) guards.append(text(one));
    for (const std::string_view one : TEXT_KINDS) kinds.append(text(one));
    m.attr("TEXT_KINDS") = nb::tuple(kinds);
    m.attr("FEATURES") = nb::tuple(features);
    m.attr("GUARDS") = nb::tuple(guards);
}

}  // namespace dedup
