// Entry points of the cleaning room.
#include "core/bind.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "cleaning/clean.hpp"
#include "core/rooms.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

using namespace cleaning;

using Meanings = std::map<std::string, int>;
using ElementRows = std::vector<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>>;
using StyleRows = std::vector<std::pair<std::string, Meanings>>;
using Texts = std::map<std::string, std::string>;

std::vector<std::uint32_t> points_of(const std::string& text) {
    const std::span<const std::uint8_t> bytes{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    std::vector<std::uint32_t> points(bytes.size() + ASCII_BLOCK);
    points.resize(static_cast<std::size_t>(decode_utf8(bytes, points.data())));
    return points;
}

// Collects what Python's tables say (cleaning/vocabulary.py).
class VocabularyTables {
public:
    void add_elements(const ElementRows& rows) {
        for (const auto& [name, does, roles, spans] : rows) {
            const auto action = std::find(std::begin(ACTIONS), std::end(ACTIONS), does);
            if (action == std::end(ACTIONS)) refuse("no such action: " + does);
            add(Naming::element, name, static_cast<int>(elements_.size()));
            elements_.push_back({roles, static_cast<Action>(action - std::begin(ACTIONS)), spans});
        }
    }

    void add_references(const Texts& references) {
        for (const auto& [name, text] : references) {
            const std::vector<std::uint32_t> points = points_of(text);
            if (points.empty() || points.size() > 2 || points[0] == 0) refuse(name + " is not one or two characters");
            const std::uint32_t second = points.size() == 2 ? points[1] : 0;
            add(Naming::reference, name, static_cast<int>(points[0]), static_cast<int>(second));
        }
    }

    void add_attributes(const std::vector<std::string>& attributes) {
        if (attributes.size() != ATTRIBUTES) refuse("attributes has not " + std::to_string(ATTRIBUTES) + " names");
        for (int i = 0; i < ATTRIBUTES; i++) add_each(Naming::attribute, attributes[i], i);
    }

    void add_words(Naming of, const Meanings& words) {
        for (const auto& [word, meaning] : words) add(of, word, meaning);
    }

    void add_styles(const StyleRows& styles) {
        if (styles.size() != PROPERTIES) refuse("styles has not " + std::to_string(PROPERTIES) + " rows");
        for (int i = 0; i < PROPERTIES; i++) {
            const auto& [names, words] = styles[i];
            add_each(Naming::property, names, i);
            add_words(word_of(static_cast<Property>(i)), words);
        }
    }

    Vocabulary build(const Texts& accents) {
        std::vector<Accent> commands;
        for (const auto& [command, characters] : accents) {
            if (command.size() > LONGEST_COMMAND) refuse("an accent's command is too long: " + command);
            commands.push_back({command, points_of(characters)});
        }
        return Vocabulary(std::move(elements_), names_, std::move(commands));
    }

private:
    // names: with spaces between.
    void add_each(Naming of, const std::string& names, int value) {
        std::istringstream each(names);
        for (std::string name; each >> name;) add(of, name, value);
    }

    void add(Naming of, const std::string& name, int value, int second = 0) {
        const bool is_ascii = std::all_of(name.begin(), name.end(), [](char letter) { return 0 < letter; });
        if (name.empty() || name.size() > 255 || !is_ascii) refuse("a name is empty, too long or not ASCII: " + name);
        if (value < 0) refuse("a meaning is negative, of " + name);
        names_.push_back({of, name, value, second});
    }

    std::vector<Element> elements_;
    std::vector<Vocabulary::Name> names_;
};

// A room that an array of numpy's holds as long as it lives.
struct HeldRoom {
    explicit HeldRoom(std::shared_ptr<Rooms> all) : rooms(std::move(all)) {}
    HeldRoom(const HeldRoom&) = delete;
    ~HeldRoom() { rooms->give_back(std::move(room)); }

    std::span<std::uint32_t> all() { return {room.points.get(), room.size}; }

    std::shared_ptr<Rooms> rooms;
    Rooms::Room room;
};

// Cleans batches into memory that is used again once numpy has let go of it; threads may share it.
class BatchCleaner {
public:
    BatchCleaner(In<std::uint16_t> classes, In<std::uint8_t> kinds, const ElementRows& elements,
                 const Texts& references, const std::vector<std::string>& attributes, const Meanings& class_words,
                 const StyleRows& styles, const Meanings& field_types, const Texts& accents)
        : characters_(checked(classes, kinds)),
          vocabulary_(vocabulary_of(elements, references, attributes, class_words, styles, field_types, accents)) {}

    using Cleaned = std::tuple<Out<std::uint32_t>, Out<std::int64_t>, Out<std::uint8_t>>;

    Cleaned clean(In<std::uint32_t> points, In<std::int64_t> offsets, bool html, bool read) const {
        const TextColumn texts = texts_of(points, offsets);
        const auto write = [&](std::size_t i, std::uint32_t* to) { return std::ranges::copy(texts[i], to).out - to; };
        return clean_all({texts.size(), texts.longest(), texts.longest(), texts.all().size()}, html, read, write);
    }

    Cleaned clean_utf8(In<std::uint8_t> data, InColumn<std::int64_t> starts, InColumn<std::int64_t> lengths,
                       std::int64_t characters, std::int64_t longest, bool html) const {
        const Strings texts(data, starts, lengths);
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
    static Characters checked(const In<std::uint16_t>& classes, const In<std::uint8_t>& kinds) {
        const auto known = view(kinds);
        if (known.size() != PLANE) refuse("kinds has " + std::to_string(known.size()) + " elements, not 65536");
        if (std::any_of(known.begin(), known.end(), [](std::uint8_t kind) { return Kind{kind} > Kind::backtick; }))
            refuse("kinds holds what is no kind");
        if (classes.size() == 0 || classes.size() > BEYOND) refuse("classes is empty, or longer than Unicode");
        return Characters(view(classes), known);
    }

    static Vocabulary vocabulary_of(const ElementRows& elements, const Texts& references,
                                    const std::vector<std::string>& attributes, const Meanings& class_words,
                                    const StyleRows& styles, const Meanings& field_types, const Texts& accents) {
        VocabularyTables tables;
        tables.add_elements(elements);
        tables.add_references(references);
        tables.add_attributes(attributes);
        tables.add_words(Naming::class_word, class_words);
        tables.add_styles(styles);
        tables.add_words(Naming::field_type, field_types);
        return tables.build(accents);
    }

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
        auto held = std::make_unique<HeldRoom>(rooms_);
        std::size_t at = 0;
        {
            Unlocked unlocked;
            TextCleaner cleaner(characters_, vocabulary_, sizes.longest);
            Buffer raw(sizes.written + BEHIND);
            held->room = rooms_->take(sizes.expected + room_for(sizes.longest));
            for (std::size_t i = 0; i < sizes.texts; i++) {
                const std::ptrdiff_t count = write(i, raw.room().data());
                if (count == NOT_UTF8) refuse("text " + std::to_string(i) + " is not UTF-8");
                const Points text = raw.room().first(static_cast<std::size_t>(count));
                if (text.size() > sizes.longest) refuse("text " + std::to_string(i) + " is longer than `longest`");
                if (held->room.size - at < room_for(text.size())) {
                    Rooms::Room larger = rooms_->take(2 * held->room.size + room_for(text.size()));
                    std::copy_n(held->room.points.get(), at, larger.points.get());
                    held->room = std::move(larger);
                }
                Writer out(held->all().subspan(at));
                if (!read) found[i] = cleaner.clean(text, html, out);
                else found[i] = html ? cleaner.finish(text, out) : cleaner.fold(text, out);
                at += static_cast<std::size_t>(out.size());
                bounds[i + 1] = static_cast<std::int64_t>(at);
            }
        }
        std::uint32_t* const points = held->room.points.get();
        nb::capsule owner(held.release(), [](void* one) noexcept { delete static_cast<HeldRoom*>(one); });
        return {Out<std::uint32_t>(points, {at}, owner), give(std::move(bounds)), give(std::move(found))};
    }

    Characters characters_;
    Vocabulary vocabulary_;
    std::shared_ptr<Rooms> rooms_ = std::make_shared<Rooms>();
};

}  // namespace

void bind_cleaning(nb::module_& m) {
    nb::class_<BatchCleaner>(m, "Cleaner", "Makes clean texts; see cleaning/cleaner.py.")
        .def(nb::init<In<std::uint16_t>, In<std::uint8_t>, const ElementRows&, const Texts&,
                      const std::vector<std::string>&, const Meanings&, const StyleRows&, const Meanings&,
                      const Texts&>(),
             nb::kw_only(), "classes"_a.noconvert(), "kinds"_a.noconvert(), "elements"_a, "references"_a,
             "attributes"_a, "class_words"_a, "styles"_a, "field_types"_a, "accents"_a)
        .def("clean", &BatchCleaner::clean, "points"_a.noconvert(), "offsets"_a.noconvert(), nb::kw_only(), "html"_a,
             "read"_a,
             "Return the points of n clean texts, where each begins and the end, and what became of each, uint8 (n,)."
             "\n\n"
             "html: whether markup is looked for, or was found; read: whether it was looked for before.")
        .def("clean_utf8", &BatchCleaner::clean_utf8, "data"_a.noconvert(), "starts"_a.noconvert(),
             "lengths"_a.noconvert(), "characters"_a, "longest"_a, nb::kw_only(), "html"_a,
             "Return the same of n texts in UTF-8; characters: about how many there are; longest: how many a text has\n"
             "at most.");
}

}  // namespace dedup
