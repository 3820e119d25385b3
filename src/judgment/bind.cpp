// Entry points of the judgment room.
#include "core/bind.hpp"

#include "fingerprint/bind.hpp"
#include "judgment/form.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace judgment {
namespace {

// Texts in, forms out; without state between batches, so threads may share it.
class BatchFormReader {
public:
    using Texts = std::tuple<In<std::uint32_t>, In<std::int64_t>>;

    BatchFormReader(const LexiconArrays& lexicon, In<std::uint32_t> folded, const Texts& expansions, In<std::uint8_t> classes,
                    In<std::uint8_t> speech, In<float> weights, const Texts& phrases, In<std::uint16_t> phrase_kinds,
                    const Texts& words, In<std::uint32_t> word_flags, In<std::uint32_t> word_numbers, In<std::uint32_t> negating)
        : held_{folded, expansions, classes, speech, weights, phrases, phrase_kinds, negating} {
        const std::size_t nodes = lexicon.value.words.size();
        tables_.lexicon = &lexicon.value;
        tables_.folded = sized(folded, FormTables::FOLDED, "folded");
        tables_.expansions = texts_of(std::get<0>(expansions), std::get<1>(expansions));
        const auto kinds = sized(classes, PLANE, "classes");
        tables_.classes = {reinterpret_cast<const Class*>(kinds.data()), PLANE};
        tables_.speech = sized(speech, nodes, "speech");
        tables_.weights = sized(weights, nodes, "weights");
        tables_.phrases = texts_of(std::get<0>(phrases), std::get<1>(phrases));
        tables_.phrase_kinds = sized(phrase_kinds, tables_.phrases.size(), "phrase_kinds");
        tables_.negating = view(negating);
        for (const std::uint32_t point : tables_.folded) {
            if (point & FormTables::EXPANDED && (point & FormTables::POINT) >= tables_.expansions.size())
                refuse("folded leads to an expansion that is not there");
        }
        if (std::any_of(kinds.begin(), kinds.end(), [](std::uint8_t kind) { return Class{kind} > Class::circled; }))
            refuse("classes holds what is no class");
        add_phrases();
        const TextColumn names = texts_of(std::get<0>(words), std::get<1>(words));
        const auto flags = sized(word_flags, names.size(), "word_flags"), numbers = sized(word_numbers, names.size(), "word_numbers");
        for (std::size_t i = 0; i < names.size(); i++) tables_.words[digest(names[i])] = {flags[i], numbers[i]};
    }

    Forms read(In<std::uint32_t> points, In<std::int64_t> offsets) const {
        const TextColumn texts = texts_of(points, offsets);
        Forms forms;
        Unlocked unlocked;
        FormReader reader(tables_, forms);
        for (std::size_t i = 0; i < texts.size(); i++) reader.read(texts[i]);
        return forms;
    }

    std::tuple<Out<std::uint32_t>, Out<std::int64_t>> normal(const Forms& forms) const {
        Buffer points;
        std::vector<std::int64_t> offsets{0};
        for (std::size_t i = 0; i < forms.size(); i++) {
            append_normal(forms[i], tables_, points);
            offsets.push_back(static_cast<std::int64_t>(points.size()));
        }
        return {give(std::move(points)), give(std::move(offsets))};
    }

private:
    template <class T>
    static std::span<const T> sized(const In<T>& array, std::size_t size, const char* name) {
        if (array.size() != size) refuse(std::string(name) + " has " + std::to_string(array.size()) + " elements, not " + std::to_string(size));
        return view(array);
    }

    void add_phrases() {
        std::uint32_t last = 0;
        for (std::size_t i = 0; i < tables_.phrases.size(); i++) {
            const Points one = tables_.phrases[i];
            if (one.empty() || one[0] >= PLANE || one[0] < last) refuse("phrases are empty, beyond the basic plane or not sorted");
            last = one[0];
        }
        tables_.index_phrases();
    }

    std::tuple<In<std::uint32_t>, Texts, In<std::uint8_t>, In<std::uint8_t>, In<float>, Texts, In<std::uint16_t>, In<std::uint32_t>> held_;
    FormTables tables_;
};

template <class T, class F>
Out<T> column(const std::vector<Token>& tokens, F field) {
    std::vector<T> values(tokens.size());
    std::transform(tokens.begin(), tokens.end(), values.begin(), field);
    return give(std::move(values));
}

// For tests: the tokens of all forms by field.
nb::dict tokens_of(const Forms& forms) {
    nb::dict found;
    found["key"] = column<std::uint64_t>(forms.tokens, [](const Token& token) { return token.key; });
    found["begin"] = column<std::uint32_t>(forms.tokens, [](const Token& token) { return token.begin; });
    found["end"] = column<std::uint32_t>(forms.tokens, [](const Token& token) { return token.end; });
    found["weight"] = column<float>(forms.tokens, [](const Token& token) { return token.weight; });
    found["clause"] = column<std::uint32_t>(forms.tokens, [](const Token& token) { return token.clause; });
    found["synonym"] = column<std::uint16_t>(forms.tokens, [](const Token& token) { return token.synonym; });
    found["flags"] = column<std::uint16_t>(forms.tokens, [](const Token& token) { return token.flags; });
    found["kind"] = column<std::uint8_t>(forms.tokens, [](const Token& token) { return static_cast<std::uint8_t>(token.kind); });
    return found;
}

// ... and where a form's tokens begin and its parts are: stem, answer, notes, then choices, by pairs.
nb::tuple place_of(const Forms& forms, std::size_t i) {
    if (i >= forms.size()) throw nb::index_error();
    const Forms::Place& place = forms.places[i];
    std::vector<std::uint32_t> parts{place.stem.begin, place.stem.end, place.answer.begin, place.answer.end, place.notes.begin, place.notes.end};
    for (const Range choice : forms[i].choices) parts.insert(parts.end(), {choice.begin, choice.end});
    return nb::make_tuple(place.points, place.tokens, give(std::move(parts)), place.facts);
}

}  // namespace
}  // namespace judgment

void bind_judgment(nb::module_& m) {
    using namespace judgment;
    nb::class_<Forms>(m, "Forms", "The forms of a batch of texts.")
        .def("__len__", &Forms::size)
        .def("place", &place_of, "row"_a, "Return where its points and tokens begin, the ranges of its parts, its facts.")
        .def("points", [](const Forms& forms) { return give(Buffer(forms.points)); })
        .def("tokens", &tokens_of, "Return the tokens of all forms, an array for each field.");
    nb::class_<BatchFormReader>(m, "FormReader", "Reads forms; see judgment/form_tables.py.")
        .def(nb::init<const LexiconArrays&, In<std::uint32_t>, const BatchFormReader::Texts&, In<std::uint8_t>, In<std::uint8_t>,
                      In<float>, const BatchFormReader::Texts&, In<std::uint16_t>, const BatchFormReader::Texts&,
                      In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>>(),
             nb::keep_alive<1, 2>(), "lexicon"_a, nb::kw_only(), "folded"_a.noconvert(), "expansions"_a, "classes"_a.noconvert(),
             "speech"_a.noconvert(), "weights"_a.noconvert(), "phrases"_a, "phrase_kinds"_a.noconvert(), "words"_a,
             "word_flags"_a.noconvert(), "word_numbers"_a.noconvert(), "negating"_a.noconvert())
        .def("read", &BatchFormReader::read, "points"_a.noconvert(), "offsets"_a.noconvert(), "Return the forms of n texts.")
        .def("normal", &BatchFormReader::normal, "forms"_a, "Return what the forms ask, as texts: points and offsets.");
}

}  // namespace dedup
