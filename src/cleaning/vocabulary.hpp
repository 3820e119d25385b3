// The names that mean something: elements, attributes, character references, words of classes and styles; and what they
// mean in the notation of clean text.
#pragma once
#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "cleaning/characters.hpp"
#include "core/text.hpp"

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

struct Element {
    std::uint32_t roles;
    Action action;
    std::uint32_t spans;
};

// What a name is a name of; of words in a property's value: the last and the property's number.
enum class Naming : std::uint8_t { element, reference, attribute, class_word, property, field_type, style_word };

constexpr Naming word_of(Property property) {
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

struct ElementNames {
    Element element;
    std::string_view names;
};
constexpr std::uint32_t INLINE = EVIDENT, BLOCK = EVIDENT | BREAKS;

constexpr ElementNames ELEMENTS[] = {
    {{BLOCK, Action::none, 0}, "address article aside blockquote body button center datalist dd details"},
    {{BLOCK, Action::none, 0}, "dialog div dl dt fieldset figcaption figure footer form frameset h1 h2"},
    {{BLOCK, Action::none, 0}, "h3 h4 h5 h6 head header hgroup html layer legend main marquee menuitem"},
    {{BLOCK, Action::none, 0}, "multicol nav noscript optgroup option plaintext search section summary"},
    {{BLOCK, Action::none, 0}, "xml foreignobject w:p w:br"},
    {{BLOCK | VOID, Action::none, 0}, "col frame hr isindex"},
    {{BLOCK | CLOSED, Action::none, 0}, "iframe noembed noframes"},
    {{BLOCK | CLOSED | DROPS, Action::none, 0}, "script style"},
    {{BLOCK | CLOSED | SHOWS, Action::none, 0}, "title"},
    {{BLOCK | CLOSED | SHOWS | RAW, Action::none, 0}, "xmp"},
    {{INLINE, Action::none, 0}, "abbr acronym applet bdi bdo big blink cite del dfn kbd mark meter nobr"},
    {{INLINE, Action::none, 0}, "picture portal progress rb rtc ruby samp slot small strike tt var"},
    {{INLINE, Action::none, 0}, "lineargradient radialgradient clippath animatetransform animatemotion"},
    {{INLINE | VOID, Action::none, 0}, "area base basefont bgsound command keygen meta param spacer"},
    {{INLINE | VOID, Action::none, 0}, "track wbr mspace mprescripts"},
    {{INLINE, Action::none, IS_UNDERLINE}, "ins"},
    {{INLINE, Action::none, IS_BOLD}, "strong"},
    {{INLINE, Action::none, IS_ITALIC}, "em"},
    {{INLINE, Action::none, IS_SUP}, "sup"},
    {{INLINE, Action::none, IS_SUB}, "sub"},
    // Also words of mathematics, of programming languages and of command lines: `x<p>y`, `a<mn>b`, `List<Object>`,
    // `convert <path> <filter>`. They need evidence to be taken as tags: an attribute's value, a self-closing slash or a
    // closing tag.
    {{BREAKS | PARAGRAPH, Action::none, 0}, "p"},
    {{BREAKS, Action::none, 0}, "desc text"},
    {{LINK, Action::none, 0}, "a"},
    {{0, Action::none, 0}, "data label map output q s time g path circle rect line polyline polygon ellipse"},
    {{0, Action::none, 0}, "tspan textpath defs use symbol marker mask pattern filter stop view set switch"},
    {{0, Action::none, 0}, "animate metadata"},
    {{VOID, Action::none, 0}, "link"},
    {{0, Action::none, IS_UNDERLINE}, "u"},
    {{0, Action::none, IS_BOLD}, "b"},
    {{0, Action::none, IS_ITALIC}, "i"},
    {{VOID, Action::picture, 0}, "image"},
    {{BREAKS, Action::object, 0}, "object"},
    {{0, Action::token, 0}, "mi mn mo ms"},
    // Media, fields, lists, tables, code.
    {{INLINE | VOID, Action::picture, 0}, "img embed v:imagedata"},
    {{BLOCK, Action::hears, 0}, "audio"},
    {{BLOCK, Action::sees, 0}, "video"},
    {{INLINE | VOID, Action::source, 0}, "source"},
    {{BLOCK, Action::canvas, 0}, "canvas"},
    {{INLINE, Action::drawing, 0}, "svg"},
    {{INLINE | VOID, Action::field, 0}, "input"},
    {{BLOCK | CLOSED | SHOWS, Action::area, 0}, "textarea"},
    {{BLOCK, Action::select, 0}, "select"},
    {{BLOCK, Action::ordered, 0}, "ol"},
    {{BLOCK, Action::unordered, 0}, "ul menu dir"},
    {{BLOCK, Action::list_item, 0}, "li"},
    {{BLOCK, Action::table, 0}, "table"},
    {{BLOCK, Action::section, 0}, "thead tbody tfoot caption"},
    {{BLOCK | VOID, Action::section, 0}, "colgroup"},
    {{BLOCK, Action::table_row, 0}, "tr"},
    {{BLOCK, Action::table_cell, 0}, "td th"},
    {{BLOCK, Action::lines, 0}, "pre listing"},
    {{INLINE, Action::code_line, 0}, "code"},
    {{INLINE, Action::reading, 0}, "rt"},
    {{INLINE, Action::reading_mark, 0}, "rp"},
    {{BLOCK, Action::template_, 0}, "template"},
    {{BLOCK | VOID, Action::line_break, 0}, "br"},
    {{INLINE, Action::span, 0}, "span font"},
    // MathML.
    {{INLINE, Action::math, 0}, "math"},
    {{INLINE, Action::math_text, 0}, "mtext"},
    {{INLINE, Action::group, 0}, "mrow mstyle mpadded mphantom menclose merror maction semantics"},
    {{INLINE, Action::group, 0}, "mmultiscripts"},
    {{INLINE, Action::fraction, 0}, "mfrac"},
    {{INLINE, Action::root, 0}, "msqrt"},
    {{INLINE, Action::indexed_root, 0}, "mroot"},
    {{INLINE, Action::power, 0}, "msup"},
    {{INLINE, Action::index, 0}, "msub"},
    {{INLINE, Action::both, 0}, "msubsup"},
    {{INLINE, Action::under, 0}, "munder"},
    {{INLINE, Action::over, 0}, "mover"},
    {{INLINE, Action::under_over, 0}, "munderover"},
    {{INLINE, Action::fenced, 0}, "mfenced"},
    {{BLOCK, Action::matrix, 0}, "mtable"},
    {{BLOCK, Action::matrix_row, 0}, "mtr"},
    {{BLOCK, Action::matrix_cell, 0}, "mtd"},
    {{INLINE, Action::annotation, 0}, "annotation"},
    {{INLINE, Action::note, 0}, "annotation-xml"},
};
constexpr ElementNames OTHERS[] = {
    // prefixes of what office programs write: o:p, st1:chsdate, v:shape
    {{INLINE, Action::none, 0}, "o: v: w: m: mml: svg: st0: st1: st2: st3: st4: st5: st6: st7: st8: st9:"},
    {{INLINE, Action::none, 0}, "u0: u1: u2: u3: u4: u5: u6: u7: u8: u9:"},
    {{FOREIGN, Action::none, 0}, "mjx-container"},
};

// By `Attribute`.
constexpr std::string_view ATTRIBUTE_NAMES[ATTRIBUTES] = {
    "data-latex data-tex data-formula data-math data-equation",
    "data-src data-original data-lazy-src data-actualsrc data-lazyload data-lazy data-echo lazy-src data-ks-lazyload "
    "data-real-src real_src lay-src _src file original zoomfile",
    "src", "srcset data-srcset data-lazy-srcset", "data", "href", "xlink:href", "alt", "class", "style", "type",
    "start", "value", "encoding", "open", "close", "separators", "hidden", "id",
    "",  // any other name
};

// By `Property`.
constexpr std::string_view PROPERTY_NAMES[PROPERTIES] = {
    "text-decoration text-decoration-line", "border-bottom", "vertical-align",
    "text-emphasis text-emphasis-style -webkit-text-emphasis -webkit-text-emphasis-style", "font-weight", "font-style",
    "list-style list-style-type", "display visibility font-size",
};

struct Words {
    Naming naming;
    std::string_view words;
    int value;
};
constexpr int of(Markers markers) { return static_cast<int>(markers); }
constexpr int BUTTON = 0, IMAGE_BUTTON = 1;  // fields that take no text

constexpr Words WORDS[] = {
    {Naming::class_word,
     "dian dot dots emphasis-dot emphasis-dots em-dot dot-under zhuozhong zhuozhonghao jiazhong jiadian", IS_DOTS},
    {Naming::class_word,
     "katex mathjax mathjax_display mathjax_svg mathjax_svg_display mathjax_chtml mjx-chtml mwe-math-element", IS_BOX},
    {Naming::class_word, "mathjax_preview", IS_PREVIEW},
    {Naming::class_word, "katex-html", IS_TWIN},
    {Naming::class_word, "jammer", IS_HIDDEN},  // a forum puts random letters in, against copies
    {word_of(Property::decoration), "underline", IS_UNDERLINE},
    {word_of(Property::border), "solid", IS_UNDERLINE},
    {word_of(Property::align), "super", IS_SUP},
    {word_of(Property::align), "sub", IS_SUB},
    {word_of(Property::emphasis), "none", 0},  // any other word stands for dots
    {word_of(Property::weight), "bold bolder 600 700 800 900", IS_BOLD},
    {word_of(Property::slant), "italic oblique", IS_ITALIC},
    {word_of(Property::listing), "none", of(Markers::unmarked)},
    {word_of(Property::listing), "decimal", of(Markers::decimal)},
    {word_of(Property::listing), "upper-alpha upper-latin", of(Markers::upper)},
    {word_of(Property::listing), "lower-alpha lower-latin", of(Markers::lower)},
    {word_of(Property::listing), "upper-roman", of(Markers::upper_roman)},
    {word_of(Property::listing), "lower-roman", of(Markers::lower_roman)},
    {word_of(Property::hiding), "none hidden", IS_HIDDEN},
    {word_of(Property::hiding), "0 0px 0pt 0em", IS_SHRUNK},
    {Naming::field_type, "hidden radio checkbox submit button reset file range color", BUTTON},
    {Naming::field_type, "image", IMAGE_BUTTON},
};

// Calls take(word) for each word of some with spaces between.
void each_word(std::string_view words, auto take) {
    for (const auto word : std::views::split(words, ' ')) take(std::string_view(word.begin(), word.end()));
}

// The names that mean something.
class Vocabulary {
public:
    // References by name: the one or two characters of each.
    using References = std::map<std::string, std::vector<std::uint32_t>>;

    explicit Vocabulary(const References& references) {
        const auto add = [&](Naming of, std::string_view words, int value) {
            each_word(words, [&](std::string_view word) { names_[key_of<false>(of, word)].value.value = value; });
        };
        const auto add_elements = [&](const ElementNames& row) {
            each_word(row.names, [&](std::string_view name) {
                add(Naming::element, name, elements());
                elements_.push_back(row.element);
            });
        };
        names_.reset(references.size());
        std::ranges::for_each(ELEMENTS, add_elements);
        std::ranges::for_each(OTHERS, add_elements);
        for (int i = 0; i < ATTRIBUTES; i++) add(Naming::attribute, ATTRIBUTE_NAMES[i], i);
        for (int i = 0; i < PROPERTIES; i++) add(Naming::property, PROPERTY_NAMES[i], i);
        for (const auto& [naming, words, value] : WORDS) add(naming, words, value);
        for (const auto& [name, text] : references) {
            const auto first = static_cast<std::int32_t>(text.at(0)), last = static_cast<std::int32_t>(text.back());
            names_[key_of<false>(Naming::reference, name)].value = {first, text.size() > 1 ? last : 0};
        }
    }

    const Element& element(int number) const { return elements_[number]; }
    int elements() const { return static_cast<int>(elements_.size()); }

    // What a name means, in capitals or not; NONE if it means nothing.
    int meaning(Naming of, Points name) const { return names_.find(key_of<true>(of, name)).value; }

    // The one or two characters of a reference, 0 for none.
    std::pair<std::uint32_t, std::uint32_t> reference(Points name) const {
        const auto [first, second] = names_.find(key_of<false>(Naming::reference, name));
        return {first == NONE ? 0 : static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
    }

private:
    struct Meaning {
        std::int32_t value = NONE, second = 0;
    };

    // A key of a name of ASCII letters, 0 of others, which have no meaning.
    template <bool IGNORES_CASE>
    static std::uint64_t key_of(Naming of, const auto& name) {
        std::uint64_t key = (static_cast<std::uint64_t>(of) + 1) * GOLDEN;
        std::uint32_t all = 0;
        for (const auto one : name) {
            const auto letter = static_cast<std::uint32_t>(one);
            all |= letter;
            key = (key ^ (IGNORES_CASE ? lower(letter) : letter)) * GOLDEN;
        }
        return all < 0x80 ? key ^ key >> 32 : 0;
    }

    std::vector<Element> elements_;
    HashTable<Meaning> names_;  // by keys
};

}  // namespace dedup::cleaning
