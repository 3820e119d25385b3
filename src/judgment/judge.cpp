// Pairs of texts compared; entry points of the judge from Python.
#include "judgment/judge.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <ranges>
#include <set>

#include "core/system.hpp"
#include "fingerprint/sketch.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace judgment {
namespace {

using Grams = HashTable<bool>;

// Finds the distinct 3-grams of a text; a text of one or two characters is its only gram. Three code points make 63 bits: no
// hash, no collision, and none is 0.
[[gnu::noinline]] void find_grams(Points text, Grams& grams) {
    constexpr unsigned POINT_BITS = 21;
    constexpr std::uint64_t GRAM = (std::uint64_t{1} << 3 * POINT_BITS) - 1;
    std::uint64_t gram = 0;
    std::size_t length = 0;
    grams.reset(text.size());
    for (const std::uint32_t point : text) {
        if (is_white_space(point)) continue;
        gram = (gram << POINT_BITS | (point + 1)) & GRAM;
        if (++length >= 3) grams[gram].value = true;
    }
    if (length == 1 || length == 2) grams[gram].value = true;
}

// The Jaccard similarity of two sets of grams; 1 if both are empty. Neither function is inlined: measured, 8 % faster.
[[gnu::noinline]] double jaccard(const Grams& a, const Grams& b) {
    const Grams &few = a.size() < b.size() ? a : b, &many = a.size() < b.size() ? b : a;
    std::size_t common = 0;
    few.each([&](std::uint64_t gram, bool) { common += many.find(gram); });
    const std::size_t either = a.size() + b.size() - common;
    return either ? static_cast<double>(common) / static_cast<double>(either) : 1;
}

// Bits in the order of RICHER.
std::uint8_t richer(const Form& one, const Form& other, const Alignment& found) {
    const auto adds = [&](const Difference& difference) {
        return difference.clauses && !difference.moved && !difference.right.size() &&
               std::ranges::any_of(difference.left.of(found.left), [&](auto at) { return has_content(one.tokens[at]); });
    };
    const bool more[] = {count_images(one) > count_images(other), one.answer.size() && !other.answer.size(),
                         is_explained(one) && !is_explained(other), one.choices.size() > other.choices.size(),
                         std::ranges::any_of(found.differences, adds)};
    static_assert(std::size(more) == std::size(RICHER));
    std::uint8_t bits = 0;
    for (std::size_t i = 0; i < std::size(more); i++) bits |= more[i] << i;
    return bits;
}

// The texts of tokens, with spaces between words in Latin letters.
Buffer written(const Form& form, const auto& numbers) {
    Buffer points;
    bool spaced = false;
    for (const std::uint32_t at : numbers) {
        const Token& token = form.tokens[at];
        const bool plain = (token.flags & LATIN) || token.kind == Kind::number;
        if (plain && spaced) points.push_back(U' ');
        append(points, form.text(token));
        spaced = plain;
    }
    return points;
}

std::vector<NamedDifference> name_differences(const Form& a, const Form& b, const Alignment& found, Scratch& s) {
    std::vector<NamedDifference> named;
    s.subsequence.steps_left = Subsequence::MOST;
    const auto add = [&](Part part, bool is_moved, bool null, Buffer text, Buffer other) {
        using enum DifferenceKind;
        const auto kind = is_moved ? moved : null ? notation : text.empty() ? deleted : other.empty() ? inserted : replaced;
        named.push_back({kind, part, std::move(text), std::move(other)});
    };
    for (const Difference& each : found.differences) {
        const bool null = !each.moved && look_at(a, b, found, each, {0, 0}, s).null;
        add(each.choice ? Part::choice : Part::stem, each.moved, null, written(a, each.left.of(found.left)),
            written(b, each.right.of(found.right)));
    }
    const auto add_whole = [&](Part part, Range left, Range right) {
        if (std::ranges::equal(a.of(left), b.of(right), {}, &Token::key, &Token::key)) return;
        const auto numbers = [](Range range) { return std::views::iota(range.begin, range.end); };
        add(part, false, false, written(a, numbers(left)), written(b, numbers(right)));
    };
    add_whole(Part::answer, a.answer, b.answer);
    add_whole(Part::notes, a.notes, b.notes);
    add_whole(Part::explanation, a.explanation, b.explanation);
    return named;
}

Buffer decoded(std::span<const std::uint8_t> utf8) {
    Buffer points(utf8.size() + ASCII_BLOCK);
    points.resize(static_cast<std::size_t>(decode_utf8(utf8, points.data())));
    return points;
}

TextColumn texts_of(const Tables& tables, const std::string& name) {
    const TextColumn texts{tables.view<std::uint32_t>(name), tables.view<std::int64_t>(name + "_offsets")};
    const auto& ends = texts.offsets;
    if (ends.empty() || ends.front() < 0 || ends.back() > std::ssize(texts.points) || !std::ranges::is_sorted(ends))
        refuse("the texts of table `" + name + "` lie outside it");
    return texts;
}

FormTables form_tables(const Lexicon& lexicon, const Tables& tables) {
    const auto groups = [&](const std::string& name) {
        const TextColumn words = texts_of(tables, name);
        const auto numbers = tables.view<std::uint32_t>(name + "_groups", words.size());
        std::vector<std::pair<std::uint64_t, std::uint32_t>> members;
        for (std::size_t i = 0; i < words.size(); i++) members.emplace_back(digest(words[i]), numbers[i]);
        return Groups(std::move(members));
    };
    FormTables made;
    made.lexicon = &lexicon;
    made.folded = texts_of(tables, "folded");
    made.scripts = tables.view<std::uint32_t>("scripts", FormTables::FOLDED);
    made.classes = {reinterpret_cast<const Class*>(tables.view<std::uint8_t>("classes", PLANE).data()), PLANE};
    made.proper = tables.view<std::uint8_t>("proper", lexicon.words.size());
    made.weights = tables.view<float>("weights", lexicon.words.size());
    made.phrases = texts_of(tables, "phrases");
    made.phrase_kinds = tables.view<std::uint32_t>("phrase_kinds", made.phrases.size());
    made.opposites = groups("opposites");
    made.alike = groups("alike");
    made.index();
    const TextColumn words = texts_of(tables, "words"), spellings = texts_of(tables, "spellings");
    const auto flags = tables.view<std::uint32_t>("word_flags", words.size()),
               numbers = tables.view<std::uint32_t>("word_numbers", words.size());
    made.words.reset(words.size());
    made.spellings.reset(0);
    for (std::size_t i = 0; i < words.size(); i++) {
        made.words[key_of(digest(words[i]))].value = {flags[i], numbers[i]};
        if (flags[i] & (BEHIND_NUMBER | UNIT_SYMBOL) || !spellings[i].empty())
            made.spellings[key_of(digest(words[i]))].value = {flags[i], spellings[i]};
        if (!(flags[i] & BEHIND_NUMBER)) continue;
        made.traits[words[i][0]] |= FormTables::UNIT_START;
        made.longest_unit = std::max(made.longest_unit, words[i].size());
    }
    return made;
}

Model model_of(nb::dict arrays) {
    const Tables tables{arrays};
    const auto numbers = [&](const char* name) { return tables.view<std::int32_t>(name); };
    const auto values = [&](const char* name) { return tables.view<double>(name); };
    const Model model{numbers("feature"), numbers("left"), numbers("right"), numbers("roots"),
                values("threshold"), values("value"), values("scores"), values("probabilities")};
    if (!model.is_sound(std::size(FEATURES))) refuse("the model is damaged");
    return model;
}

void make_judge(Judge* made, const Lexicon& lexicon, nb::dict arrays, const std::vector<nb::dict>& models,
                std::uint32_t heeded, double confidence, std::uint8_t kind, std::uint8_t judging, double similarity) {
    const Tables tables{arrays};
    Judge::Models each;
    static constexpr double NOTHING[] = {0};
    each.fill({.scores = NOTHING, .probabilities = NOTHING});
    std::ranges::transform(models, each.begin(), model_of);
    new (made) Judge(form_tables(lexicon, tables), std::move(each),
                     {heeded, confidence, static_cast<TextKind>(kind), static_cast<Judging>(judging), similarity});
}

// Reads texts for a judge and sketches their canonical texts; without a judge, the texts as they are. keys: columns for the
// channels asked for; bits: of MinHash.
std::tuple<Out<std::uint32_t>, Out<std::uint64_t>, std::shared_ptr<ReadTexts>> sketch(
    const StringArrays& strings, const Judge* judge, bool minhash, bool sentences, bool whole) {
    TextReader texts(strings_of(strings));
    const std::size_t columns = (minhash ? BANDS : 0) + sentences + whole, words = minhash ? BINS / 64 : 0;
    std::vector<std::uint32_t> keys(columns * texts.size());
    std::vector<std::uint64_t> bits(words * texts.size());
    std::shared_ptr<ReadTexts> read;
    {
        Unlocked unlocked;
        if (judge) read = judge->read(strings_of(strings));
        Sketcher sketcher;
        Buffer canonical;
        for (std::size_t row = 0; columns && row < texts.size(); row++) {
            const Points text = sentences || !judge ? texts[row] : Points{};
            if (judge) judge->write_canonical((*read)[row], canonical);
            const Points form = judge ? Points(canonical) : text;
            std::uint32_t* to = keys.data() + columns * row;
            if (minhash) sketcher.sketch(form, {to, BANDS}, {bits.data() + words * row, words}), to += BANDS;
            if (sentences) *to++ = sentence_key(text, folded_characters());
            if (whole) *to = static_cast<std::uint32_t>(digest(form) >> (64 - KEY_BITS));
        }
    }
    return {give(std::move(keys)), give(std::move(bits)), std::move(read)};
}

// Pairs of texts: row rows[i] of one batch and other_rows[i] of another.
std::vector<Pair> pairs_of(ReadTexts& one, const In<std::int64_t>& rows, ReadTexts& other, const In<std::int64_t>& other_rows) {
    const auto left = view(rows), right = view(other_rows);
    if (left.size() != right.size()) refuse("there are other rows on the right");
    std::vector<Pair> pairs(left.size());
    for (std::size_t i = 0; i < pairs.size(); i++) {
        pairs[i] = {{&one, static_cast<std::size_t>(left[i])}, {&other, static_cast<std::size_t>(right[i])}};
        if (pairs[i].text.row >= one.size() || pairs[i].other.row >= other.size()) refuse("a row lies outside the texts");
    }
    return pairs;
}

Out<std::uint8_t> compare(const Judge& judge, ReadTexts& one, In<std::int64_t> rows, ReadTexts& other, In<std::int64_t> other_rows,
                          std::size_t threads, bool measures) {
    const std::vector<Pair> pairs = pairs_of(one, rows, other, other_rows);
    return give_records(unlocked([&] {
        std::vector<Verdict> verdicts(pairs.size());
        if (measures)
            judge.measure(pairs, threads, verdicts);
        else
            judge.judge(pairs, threads, verdicts);
        return verdicts;
    }));
}

// Features of each pair, and its differences.
std::tuple<Out<std::uint8_t>, nb::list> explain(const Judge& judge, ReadTexts& one, In<std::int64_t> rows, ReadTexts& other,
                                                In<std::int64_t> other_rows) {
    const std::vector<Pair> pairs = pairs_of(one, rows, other, other_rows);
    std::vector<PairFeatures> features(pairs.size());
    nb::list listed;
    for (const auto& pair : unlocked([&] { return judge.differences(pairs, 1, features); })) {
        nb::list named;
        for (const auto& [kind, part, its, others] : pair)
            named.append(nb::make_tuple(static_cast<int>(kind), static_cast<int>(part), str_of(its), str_of(others)));
        listed.append(named);
    }
    return {give_records(std::move(features)), listed};
}

// Stem, choices, answer, notes, explanation and addresses of images of each text, and whether it has Han characters.
nb::list parts_of(const ReadTexts& texts) {
    nb::list all;
    for (std::size_t i = 0; i < texts.size(); i++) {
        const ParsedText parsed = texts[i];
        const auto text = [&](Range range) { return str_of(parsed.text(range)); };
        const auto each = [&](std::span<const Range> ranges) {
            nb::list made;
            for (const Range range : ranges) made.append(text(range));
            return made;
        };
        all.append(nb::make_tuple(text(parsed.stem), each(parsed.choices), text(parsed.answer), text(parsed.notes),
                                  text(parsed.explanation), each(parsed.images), parsed.han));
    }
    return all;
}

Out<std::uint8_t> richness(const Judge& judge, const ReadTexts& texts) {
    return give_records(unlocked([&] { return judge.richness(texts); }));
}

// Scores of rows of features, their probabilities, and the contribution of each feature to its score.
std::tuple<Out<double>, Out<double>, Out<double>> evaluate(nb::dict arrays, In<double> features) {
    constexpr std::size_t width = std::size(FEATURES);
    const Model model = model_of(arrays);
    const auto rows = view(features);
    const std::size_t count = rows.size() / width;
    std::vector<double> scores(count), probabilities(count), weights(count * width);
    for (std::size_t i = 0; i < count; i++) {
        const auto row = rows.subspan(i * width, width);
        scores[i] = model.score(row);
        probabilities[i] = model.probability(scores[i]);
        model.weigh(row, std::span(weights).subspan(i * width, width));
    }
    return {give(std::move(scores)), give(std::move(probabilities)), give(std::move(weights))};
}

nb::dict bits_of(std::span<const std::string_view> names) {
    nb::dict made;
    for (std::size_t i = 0; i < names.size(); i++) made[nb::cast(names[i])] = 1u << i;
    return made;
}

}  // namespace

// Calls take(i, left, right, comparison, scratch) for each pair, in several threads.
void Judge::compare(std::span<const Pair> pairs, std::size_t threads, std::uint32_t stop, auto take) const {
    std::set<ReadTexts*> texts;  // in an order that all threads lock them in
    for (const auto& [text, other] : pairs) texts.insert({text.texts, other.texts});
    std::vector<std::unique_lock<std::mutex>> locks;
    for (const ReadTexts* one : texts) locks.emplace_back(one->in_use);
    for (std::size_t begin = 0, end; begin < pairs.size(); begin = end) {
        std::size_t size = 0;  // limited, to save memory
        for (end = begin; end < pairs.size() && size < ReadTexts::MOST_POINTS; end++) {
            const auto& [text, other] = pairs[end];
            const bool again = end > begin && text.texts == pairs[end - 1].text.texts && text.row == pairs[end - 1].text.row;
            size += other.texts->points(other.row) + (again ? 0 : text.texts->points(text.row));
        }
        const auto part = pairs.subspan(begin, end - begin);
        for (ReadTexts* const one : texts) {
            std::vector<std::size_t> rows;
            for (const auto& [text, other] : part) {
                if (text.texts == one) rows.push_back(text.row);
                if (other.texts == one) rows.push_back(other.row);
            }
            one->make_forms(tables_, std::move(rows), threads);
        }
        share(part.size(), threads, [&](auto next) {
            Scratch scratch{tables_};
            for (std::size_t i; (i = next()) < part.size();) {
                const auto& [text, other] = part[i];
                const Form a = text.texts->form(text.row), b = other.texts->form(other.row);
                take(begin + i, a, b, compare_forms(options_.kind, a, b, stop, scratch), scratch);
            }
        });
    }
}

double Judge::probability(const Comparison& found) const {
    const double most = found.left_out > 0 || found.reworded ? 0.999 : 1;  // never sure with parts that are not compared
    if (found.little) return 0;
    const Model& model = models_[static_cast<std::size_t>(found.kind)];
    return found.same ? most : std::min(most, model.probability(model.score(found.features)));
}

void Judge::judge(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const {
    const auto take = [&](std::size_t i, const Form& a, const Form& b, const Comparison& found, Scratch&) {
        Verdict& verdict = verdicts[i] = {};
        const std::uint32_t guards = found.guards & options_.heeded;
        if (found.whole) verdict.probability = probability(found);
        const bool joined = !guards && verdict.probability >= options_.confidence;
        verdict.state = joined ? State::joined : State::refused;
        verdict.apart = guards ? static_cast<std::uint8_t>(std::countr_zero(guards)) : UNLIKELY;
        verdict.richer = richer(a, b, found.differences);
        if (found.left_out > 0) verdict.left_out = static_cast<std::uint8_t>(std::max(std::lround(found.left_out), 1L));
    };
    if (options_.judging == Judging::differences) return compare(pairs, threads, options_.heeded, take);
    if (options_.judging == Judging::similarity) measure(pairs, threads, verdicts);
    else std::ranges::fill(verdicts, Verdict{.similarity = 1, .required = 0});
    for (Verdict& verdict : verdicts) {
        verdict.state = verdict.similarity >= verdict.required ? State::joined : State::refused;
        verdict.apart = SIMILARITY;
    }
}

void Judge::measure(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const {
    share(pairs.size(), threads, [&](auto next) {
        Buffer room;
        std::size_t size = 0;
        Grams grams, other_grams;
        TextRef last{};
        const auto read = [&](TextRef ref, Buffer& room, Grams& into) {
            write_canonical((*ref.texts)[ref.row], room);
            find_grams(room, into);
            return room.size();
        };
        for (std::size_t i; (i = next()) < pairs.size();) {
            const auto [left, right] = pairs[i];
            if (left.texts != last.texts || left.row != last.row) size = read(last = left, room, grams);
            const std::size_t longer = std::max(size, read(right, room, other_grams));
            verdicts[i].similarity = jaccard(grams, other_grams);
            verdicts[i].required = options_.judging == Judging::none ? 0 : required_similarity(options_.similarity, longer);
        }
    });
}

std::vector<std::vector<NamedDifference>> Judge::differences(std::span<const Pair> pairs, std::size_t threads,
                                                             std::span<PairFeatures> features) const {
    std::vector<std::vector<NamedDifference>> named(pairs.size());
    compare(pairs, threads, 0, [&](std::size_t i, const Form& a, const Form& b, const Comparison& found, Scratch& scratch) {
        const auto& [text, other] = pairs[i];
        const auto one = text.texts->text(text.row), its = other.texts->text(other.row);
        if (!features.empty()) features[i] = {found.features, found.guards, found.same, found.kind, probability(found)};
        named[i] = name_differences(a, b, found.differences, scratch);
        if (named[i].empty() && !std::ranges::equal(one, its))
            named[i].push_back({DifferenceKind::layout, Part::stem, decoded(one), decoded(its)});
    });
    return named;
}

}  // namespace judgment

void bind_judgment(nb::module_& m) {
    using namespace judgment;
    nb::class_<ReadTexts>(m, "ReadTexts", "Texts parsed for comparison.")
        .def("parts", &parts_of, "Return the parts of n texts, each a tuple: stem, choices, answer, notes, explanation, addresses of\n"
             "images, and whether it has Han characters.");
    nb::class_<Judge>(m, "Judge", "Reads texts and compares them in pairs; see judgment/__init__.py.")
        .def("__init__", &make_judge, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), "lexicon"_a, "tables"_a, "models"_a, nb::kw_only(), "heeded"_a,
             "confidence"_a, "kind"_a, "judging"_a, "similarity"_a)
        .def("richness", &richness, "texts"_a, "Return images, choices, answer and explanation of n texts, records of uint32.")
        .def("compare", &compare, "one"_a, "rows"_a.noconvert(), "other"_a, "other_rows"_a.noconvert(), "threads"_a = 1,
             "measures"_a = false, "Return verdicts of c pairs, or similarities alone, records of VERDICT.")
        .def("explain", &explain, "one"_a, "rows"_a.noconvert(), "other"_a, "other_rows"_a.noconvert(),
             "Return the features of c pairs, records of PAIR_FEATURES, and the differences of each: kind, part, words of either.");
    m.def("sketch", &sketch, "texts"_a.noconvert(), "judge"_a.none(), nb::kw_only(), "minhash"_a = false, "sentences"_a = false,
          "whole"_a = false, "Return keys, uint32 (n * columns,), and bits, uint64 (n * BINS / 64,), of n texts, and the texts parsed for the judge, None\n"
          "without one.");
    m.def("evaluate", &evaluate, "model"_a, "features"_a.noconvert(),
          "Return the scores of n rows of features, float64 (n,), their probabilities, and the contribution of each feature.");
    m.attr("BINS") = BINS;
    m.attr("BANDS") = BANDS;
    m.attr("VERDICT") = fields({{"probability", "f8"}, {"similarity", "f8"}, {"required", "f8"}, {"state", "u1"}, {"apart", "u1"}, {"richer", "u1"},
                                {"left_out", "u1"}});
    m.attr("PAIR_FEATURES") = fields({{"features", std::to_string(std::size(FEATURES)) + "f8"}, {"guards", "u4"}, {"equal", "?"},
                                      {"kind", "u1"}, {"probability", "f8"}});
    nb::list rising;
    for (const FeatureName& one : FEATURES) rising.append(nb::make_tuple(one.name, one.rises));
    m.attr("FEATURES") = nb::tuple(rising);
    const std::pair<const char*, std::span<const std::string_view>> lists[] = {
        {"GUARDS", GUARDS}, {"TEXT_KINDS", TEXT_KINDS}, {"JUDGINGS", JUDGINGS}, {"STATES", judgment::STATES}, {"RICHER", RICHER},
        {"PARTS", PARTS}, {"DIFFERENCE_KINDS", DIFFERENCE_KINDS}, {"CLASSES", CLASSES}};
    for (const auto& [name, names] : lists) m.attr(name) = names_of(names);
    m.attr("FLAGS") = bits_of(FLAGS);
    m.attr("PHRASES") = bits_of(PHRASES);
}

}  // namespace dedup
