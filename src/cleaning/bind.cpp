// Entry points of the cleaning room.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cleaning/clean.hpp"
#include "core/bind.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

using namespace cleaning;
static_assert(TextReader::BEHIND >= BEHIND);

// Cleans batches; threads may share it.
class BatchCleaner {
public:
    BatchCleaner(const Vocabulary::References& references, bool html, std::vector<std::vector<std::uint32_t>> cut_at)
        : vocabulary_(references), options_{html, std::move(cut_at)} {}

    std::tuple<Out<bool>, Out<std::int64_t>, TextArrays> clean(const StringArrays& strings, nb::callable drop_rules) const {
        const auto drop = [&](Points text, bool leading) {
            const nb::gil_scoped_acquire locked;
            return points_of(nb::cast<nb::str>(drop_rules(str_of(text), leading)));
        };
        TextReader texts(strings_of(strings));
        std::vector<std::uint8_t> changed(texts.size());
        std::vector<std::int64_t> cut(texts.size()), lengths;
        StringBuffer made;
        {
            Unlocked unlocked;
            TextCleaner cleaner(vocabulary_, options_, drop);
            for (std::size_t i = 0; i < texts.size(); i++) {
                const Points text = texts[i];
                const auto clean = cleaner.clean(text);
                cut[i] = clean.cut;
                if (clean.text.data() == text.data() || std::ranges::equal(clean.text, text)) continue;
                changed[i] = true;
                encode_utf8(clean.text, made.extend(utf8_length(clean.text)));
                lengths.push_back(std::ssize(clean.text));
            }
        }
        return {give<std::uint8_t, bool>(std::move(changed)), give(std::move(cut)),
                std::tuple_cat(give(std::move(made)), std::tuple(give(std::move(lengths))))};
    }

private:
    const Vocabulary vocabulary_;
    const Options options_;
};

}  // namespace

void bind_cleaning(nb::module_& m) {
    nb::class_<BatchCleaner>(m, "Cleaner", "Makes clean texts; see cleaning.py.")
        .def(nb::init<const Vocabulary::References&, bool, std::vector<std::vector<std::uint32_t>>>(), nb::kw_only(), "references"_a,
             "html"_a, "cut_at"_a, "references: code points by name; cut_at: code points of markers.")
        .def("clean", &BatchCleaner::clean, "texts"_a.noconvert(), "drop_rules"_a,
             "Return which of n texts cleaning changes, bool (n,), how many characters are cut off each, int64 (n,), and\n"
             "the clean ones of those that are changed. drop_rules: called with a text and whether it is one without markup,\n"
             "of which only the style rules that it begins with go.");
    m.attr("ELEMENTS") = names_of(element_names());
    m.attr("LONGEST_NOTE") = LONGEST_NOTE;
}

}  // namespace dedup
