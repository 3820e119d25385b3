// Entry points of the cleaning room.
#include "core/bind.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "cleaning/clean.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

using namespace cleaning;

std::vector<std::uint32_t> points_of(const std::string& text) {
    const std::span<const std::uint8_t> bytes{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    std::vector<std::uint32_t> points(bytes.size() + ASCII_BLOCK);
    points.resize(static_cast<std::size_t>(decode_utf8(bytes, points.data())));
    return points;
}

// ReferenceTexts by name: of each the one or two characters that it stands for.
using ReferenceTexts = std::map<std::string, std::string>;

Vocabulary vocabulary_of(const ReferenceTexts& references) {
    std::vector<Vocabulary::Name> names;
    for (const auto& [name, text] : references) {
        const std::vector<std::uint32_t> points = points_of(text);
        const auto first = static_cast<std::int32_t>(points[0]), last = static_cast<std::int32_t>(points.back());
        names.push_back({Naming::reference, name, first, points.size() > 1 ? last : 0});
    }
    return Vocabulary(names);
}

// Cleans batches; threads may share it.
class BatchCleaner {
public:
    BatchCleaner(In<std::uint16_t> classes, In<std::uint8_t> kinds, const ReferenceTexts& references)
        : characters_(view(classes), view(kinds)), vocabulary_(vocabulary_of(references)) {}

    using Cleaned = std::tuple<Out<std::uint32_t>, Out<std::int64_t>, Out<std::uint8_t>>;

    Cleaned clean(In<std::uint32_t> points, In<std::int64_t> offsets, bool html, bool read) const {
        const TextColumn texts = texts_of(points, offsets);
        const auto write = [&](std::size_t i, std::uint32_t* to) { return std::ranges::copy(texts[i], to).out - to; };
        return clean_all({texts.size(), texts.longest(), texts.longest(), texts.all().size()}, html, read, write);
    }

    Cleaned clean_utf8(const StringArrays& arrays,
                       std::int64_t characters, std::int64_t longest, bool html) const {
        const Strings texts = strings_of(arrays);
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < texts.size(); i++) bytes = std::max(bytes, texts[i].size());
        if (bytes >= std::numeric_limits<std::int32_t>::max()) refuse("a text has more than 2**31 - 2 bytes");
        const auto write = [&](std::size_t i, std::uint32_t* to) { return decode_utf8(texts[i], to); };
        const auto most = [](std::int64_t count, std::size_t limit) {
            return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(limit)));
        };
        return clean_all({texts.size(), most(longest, bytes), bytes, most(characters, texts.data.size())}, html, false,
                         write);
    }

private:
    // longest: characters of a text at most, and as many as are written of it before that is known; expected: of all
    // clean ones, there may be more.
    struct Sizes {
        std::size_t texts, longest, written, expected;
    };
    // write: writes a text, returns how many characters it has.
    template <class Write>
    Cleaned clean_all(const Sizes& sizes, bool html, bool read, Write write) const {
        std::vector<std::int64_t> bounds(sizes.texts + 1);
        std::vector<std::uint8_t> found(sizes.texts);
        std::size_t size = sizes.expected + room_for(sizes.longest), at = 0;
        auto points = std::make_unique_for_overwrite<std::uint32_t[]>(size);
        {
            Unlocked unlocked;
            TextCleaner cleaner(characters_, vocabulary_, sizes.longest);
            Buffer raw(sizes.written + BEHIND);
            for (std::size_t i = 0; i < sizes.texts; i++) {
                const std::ptrdiff_t count = write(i, raw.room().data());
                if (count == NOT_UTF8) refuse("text " + std::to_string(i) + " is not UTF-8");
                const Points text = raw.room().first(static_cast<std::size_t>(count));
                if (text.size() > sizes.longest) refuse("text " + std::to_string(i) + " is longer than `longest`");
                if (size - at < room_for(text.size())) {
                    size = 2 * size + room_for(text.size());
                    auto larger = std::make_unique_for_overwrite<std::uint32_t[]>(size);
                    std::copy_n(points.get(), at, larger.get());
                    points = std::move(larger);
                }
                Writer out(std::span(points.get(), size).subspan(at));
                if (!read) found[i] = cleaner.clean(text, html, out);
                else found[i] = html ? cleaner.finish(text, out) : cleaner.fold(text, out);
                at += static_cast<std::size_t>(out.size());
                bounds[i + 1] = static_cast<std::int64_t>(at);
            }
        }
        return {give(std::move(points), at), give(std::move(bounds)), give(std::move(found))};
    }

    Characters characters_;
    Vocabulary vocabulary_;
};

}  // namespace

void bind_cleaning(nb::module_& m) {
    nb::class_<BatchCleaner>(m, "Cleaner", "Makes clean texts; see cleaning/cleaner.py.")
        .def(nb::init<In<std::uint16_t>, In<std::uint8_t>, const ReferenceTexts&>(), nb::kw_only(),
             "classes"_a.noconvert(), "kinds"_a.noconvert(), "references"_a)
        .def("clean", &BatchCleaner::clean, "points"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "html"_a,
             "read"_a,
             "Return the points of n clean texts, where each begins and the end, and what became of each, uint8 (n,)."
             "\n\n"
             "html: whether markup is looked for, or was found; read: whether it was looked for before.")
        .def("clean_utf8", &BatchCleaner::clean_utf8, "texts"_a.noconvert(), "characters"_a, "longest"_a, nb::kw_only(), "html"_a,
             "Return the same of n texts in UTF-8; characters: about how many there are; longest: how many a text has\n"
             "at most.");
    nb::list names;
    for (const std::string_view name : element_names()) names.append(nb::str(name.data(), name.size()));
    m.attr("ELEMENTS") = nb::tuple(names);
}

}  // namespace dedup
