// Entry points of the cleaning room.
#include "core/bind.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cleaning/clean.hpp"
#include "core/text.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

using namespace cleaning;
static_assert(TextReader::BEHIND >= BEHIND);

// References by name: of each the one or two characters that it stands for.
Vocabulary vocabulary_of(const std::map<std::string, nb::str>& references) {
    std::vector<Vocabulary::Name> names;
    for (const auto& [name, text] : references) {
        const std::vector<std::uint32_t> points = points_of(text);
        const auto first = static_cast<std::int32_t>(points.at(0)), last = static_cast<std::int32_t>(points.back());
        names.push_back({Naming::reference, name, first, points.size() > 1 ? last : 0});
    }
    return Vocabulary(names);
}

// Cleans batches; threads may share it.
class BatchCleaner {
public:
    BatchCleaner(const std::map<std::string, nb::str>& references, bool html,
                 const std::vector<nb::str>& cut_at)
        : characters_(is_alphanumeric), vocabulary_(vocabulary_of(references)), options_{.html = html, .cut_at = {}} {
        for (const nb::str& marker : cut_at) options_.cut_at.push_back(points_of(marker));
    }

    std::tuple<Out<bool>, Out<std::int64_t>, TextArrays> clean(const StringArrays& strings, nb::callable drop_rules) const {
        const auto drop = [&](Points text, bool leading) {
            const nb::gil_scoped_acquire locked;
            return points_of(nb::cast<nb::str>(drop_rules(str_of(text), leading)));
        };
        TextReader texts(strings);
        auto changed = std::make_unique<bool[]>(texts.size());
        std::vector<std::int64_t> cut(texts.size());
        TextWriter made;
        {
            Unlocked unlocked;
            TextCleaner cleaner(characters_, vocabulary_, options_, drop);
            for (std::size_t i = 0; i < texts.size(); i++) {
                const Points text = texts[i];
                const auto clean = cleaner.clean(text);
                cut[i] = clean.cut;
                if (clean.text.data() == text.data()) continue;
                made.append(clean.text);
                changed[i] = !std::ranges::equal(made.last(), texts.utf8(i));
                if (!changed[i]) made.drop_last();
            }
        }
        return {give(std::move(changed), texts.size()), give(std::move(cut)), std::move(made).give()};
    }

private:
    Characters characters_;
    Vocabulary vocabulary_;
    Options options_;
};

}  // namespace

void bind_cleaning(nb::module_& m) {
    nb::class_<BatchCleaner>(m, "Cleaner", "Makes clean texts; see cleaning/cleaner.py.")
        .def(nb::init<const std::map<std::string, nb::str>&, bool, const std::vector<nb::str>&>(),
             nb::kw_only(), "references"_a, "html"_a, "cut_at"_a)
        .def("clean", &BatchCleaner::clean, "texts"_a.noconvert(), "drop_rules"_a,
             "Return which of n texts cleaning changes, bool (n,), how many characters are cut off each, int64 (n,), and\n"
             "the clean ones of those that are changed. drop_rules: called with a text and whether it is one without markup,\n"
             "of which only the style rules that it begins with go.");
    nb::list names;
    for (const std::string_view name : element_names()) names.append(nb::str(name.data(), name.size()));
    m.attr("ELEMENTS") = nb::tuple(names);
    m.attr("LONGEST_NOTE") = LONGEST_NOTE;
}

}  // namespace dedup
