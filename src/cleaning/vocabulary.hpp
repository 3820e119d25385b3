// The names that mean something: elements, attributes, character references, words of classes and styles.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cleaning/characters.hpp"
#include "core/hash.hpp"

namespace dedup::cleaning {

// Roles of an element, as bits: its tags leave a line break; need no evidence; count only with a closing tag;
// its content is no text; is text in which no tag counts; it is `p`; `xmp`; of another namespace or a custom
// one; `a`; it has no content.
enum Role : std::uint32_t {
    BREAKS = 1 << 0,
    EVIDENT = 1 << 1,
    CLOSED = 1 << 2,
    DROPS = 1 << 3,
    SHOWS = 1 << 4,
    PARAGRAPH = 1 << 5,
    RAW = 1 << 6,
    FOREIGN = 1 << 7,
    LINK = 1 << 8,
    VOID = 1 << 9,
};

// What an element does. From `math` on: parts of formulas.
enum class Action : std::uint8_t {
    none,
    picture,
    hears,
    sees,
    source,
    object,
    canvas,
    drawing,
    field,
    area,
    select,
    ordered,
    unordered,
    list_item,
    table,
    section,
    table_row,
    table_cell,
    lines,
    code_line,
    reading,
    reading_mark,
    template_,
    line_break,
    span,
    math,
    token,
    math_text,
    group,
    fraction,
    root,
    indexed_root,
    power,
    index,
    both,
    under,
    over,
    under_over,
    fenced,
    matrix,
    matrix_row,
    matrix_cell,
    annotation,
    note,
};

// Spans that an element may stand for, as bits: bit i stands for the mark UNDERLINE + i.
enum SpanFlag : std::uint32_t {
    IS_UNDERLINE = 1 << 0,
    IS_DOTS = 1 << 1,
    IS_BOLD = 1 << 2,
    IS_ITALIC = 1 << 3,
    IS_SUP = 1 << 4,
    IS_SUB = 1 << 5,
    // Of a class: holds one formula in several forms; a preview of one; shows what stands before.
    IS_BOX = 1 << 6,
    IS_PREVIEW = 1 << 7,
    IS_TWIN = 1 << 8,
    // Of a class or a style: nobody sees it; nobody sees its letters.
    IS_HIDDEN = 1 << 9,
    IS_SHRUNK = 1 << 10,
    IS_LINED = 1 << (LINED - UNDERLINE),
};
constexpr int SPANS = SUB - UNDERLINE + 1;
constexpr std::uint32_t ONCE = IS_UNDERLINE | IS_DOTS | IS_BOLD | IS_ITALIC;  // marked once, however deep

// Attributes that count: `late`: an image is loaded from it later on; `other`: an address under a name of no meaning.
enum class Attribute : std::uint8_t {
    latex,
    late,
    src,
    srcset,
    data,
    href,
    xlink_href,
    alt,
    class_,
    style,
    type,
    start,
    value,
    encoding,
    open,
    close,
    separators,
    hidden,
    id,
    other,
};
constexpr int ATTRIBUTES = static_cast<int>(Attribute::other) + 1;

enum class Property : std::uint8_t { decoration, border, align, emphasis, weight, slant, listing, hiding };
constexpr int PROPERTIES = 8;

// The markers of a list.
enum class Markers : std::uint8_t { decimal, upper, lower, upper_roman, lower_roman, unmarked };

enum class FieldType : std::uint8_t { button, image_button };

struct Element {
    std::uint32_t roles;
    Action action;
    std::uint32_t spans;
};

// What a name is a name of; of words in a property's value: the last and the property's number.
enum class Naming : std::uint8_t { element, reference, attribute, class_word, property, field_type, style_word };

constexpr std::size_t NAMINGS = static_cast<std::size_t>(Naming::style_word) + PROPERTIES;

inline Naming word_of(Property property) {
    return static_cast<Naming>(static_cast<int>(Naming::style_word) + static_cast<int>(property));
}

// A command of LaTeX for an accent, and the characters that stand for it. With \ and { it takes no more room than
// there is for a mark.
struct Accent {
    std::string_view command;
    std::u32string_view characters;
};
constexpr Accent ACCENTS_OF_LATEX[] = {
    {"overline", U"¯‾ˉ_―\u0305\u0304"}, {"vec", U"→⇀\u20d7"}, {"hat", U"^ˆ\u0302"},
    {"tilde", U"~˜\u0303"},              {"dot", U"˙.\u0307"}, {"ddot", U"¨\u0308"},
};

// The names of the elements that HTML, SVG and MathML know.
std::vector<std::string_view> element_names();

// Names by open addressing: one table for references, and one for all others.
class Vocabulary {
public:
    struct Name {
        Naming of;
        std::string_view letters;          // ASCII
        std::int32_t value, second = 0;  // of a reference its characters, 0 for no second; of an element its number
    };

    explicit Vocabulary(std::span<const Name> references);

    const Element& element(int number) const { return elements_[number]; }
    int elements() const { return static_cast<int>(elements_.size()); }

    // What a name means, in capitals or not; NONE if it means nothing.
    int meaning(Naming of, Points name) const {
        return may_be(of, name) ? find<true>(of, name, key_of<true>(name)).value : NONE;
    }

    // ... of a name of no more than KEY_LETTERS, all ASCII, given as small ones in the bytes of a word.
    int meaning(Naming of, Points name, std::uint64_t letters) const {
        return may_be(of, name) ? find<true>(of, name, letters).value : NONE;
    }
    static constexpr Place KEY_LETTERS = 8;

    // The one or two characters of a reference, 0 for none.
    std::pair<std::uint32_t, std::uint32_t> reference(Points name) const {
        if (!may_be(Naming::reference, name)) return {0, 0};
        const Slot& slot = find<false>(Naming::reference, name, key_of<false>(name));
        if (!slot.length) return {0, 0};
        return {static_cast<std::uint32_t>(slot.value), static_cast<std::uint32_t>(slot.second)};
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t begin = 0;  // of its letters
        std::int32_t value = NONE, second = 0;
        Naming of{};
        std::uint8_t length = 0;  // 0: free
    };
    static constexpr std::size_t LONGEST = 31;     // this or more, where lengths are bits

    void insert(std::span<const Name> names, std::vector<Slot>& slots);

    // The letters of a name, one in each byte, of longer ones several; 0 if it has others than ASCII.
    template <bool IGNORES_CASE>
    static std::uint64_t key_of(Points name) {
        std::uint64_t key = 0;
        std::uint32_t all = 0;
        for (std::size_t k = 0; k < name.size(); k++) {
            all |= name[k];
            key ^= std::uint64_t{IGNORES_CASE ? lower(name[k]) : name[k]} << 8 * (k % KEY_LETTERS);
        }
        return all < 0x80 ? key : 0;
    }

    // Whether a name of this length, with this first letter, in capitals or not, means something.
    bool may_be(Naming of, Points name) const {
        return !name.empty() && lengths_[lengths_slot(of, name.front())] >> std::min(name.size(), LONGEST) & 1;
    }

    static std::size_t lengths_slot(Naming of, std::uint32_t letter) {
        return 32 * static_cast<std::size_t>(of) + (letter & 31);
    }

    static std::size_t first_slot(const std::vector<Slot>& slots, Naming of, std::uint64_t key) {
        return ((key + static_cast<std::uint64_t>(of)) * GOLDEN >> 40) & (slots.size() - 1);
    }

    template <bool IGNORES_CASE>
    const Slot& find(Naming of, Points name, std::uint64_t key) const {
        static constexpr Slot NO_NAME{};
        if (!key) return NO_NAME;
        const std::vector<Slot>& slots = of == Naming::reference ? references_ : names_;
        for (std::size_t place = first_slot(slots, of, key);; place = (place + 1) & (slots.size() - 1)) {
            const Slot& slot = slots[place];
            if (!slot.length) return NO_NAME;
            if (slot.key != key || slot.of != of || slot.length != name.size()) continue;
            // a shorter one is told by its key alone
            if (name.size() <= KEY_LETTERS || has_letters<IGNORES_CASE>(slot, name)) return slot;
        }
    }

    template <bool IGNORES_CASE>
    bool has_letters(const Slot& slot, Points name) const {
        const std::string_view letters = std::string_view(letters_).substr(slot.begin, slot.length);
        return std::equal(name.begin(), name.end(), letters.begin(), [](std::uint32_t point, char letter) {
            return (IGNORES_CASE ? lower(point) : point) == static_cast<std::uint32_t>(letter);
        });
    }

    std::vector<Element> elements_;
    std::vector<Slot> references_, names_;
    std::array<std::uint32_t, 32 * NAMINGS> lengths_{};  // of names, as bits, by what they name and first letter
    std::string letters_;
};

}  // namespace dedup::cleaning
