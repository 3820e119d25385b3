// The vocabulary of markup: elements, attributes, references, words of classes and styles, and their meaning in clean text.
#pragma once
#include <map>
#include <ranges>

#include "cleaning/characters.hpp"

namespace dedup::cleaning {

// Roles of an element, as bits: its tags leave a line break; need no evidence; count only with a closing tag; its content is
// dropped; is text in which no tag counts; it is `p`; `xmp`; of another namespace or a custom one; `a`; it has no content.
enum Role : std::uint32_t {
    BREAKS = 1 << 0, EVIDENT = 1 << 1, CLOSED = 1 << 2, DROPS = 1 << 3, SHOWS = 1 << 4,
    PARAGRAPH = 1 << 5, RAW = 1 << 6, FOREIGN = 1 << 7, LINK = 1 << 8, VOID = 1 << 9,
};

// The conversion of an element. From `math` on: parts of formulas.
enum class Action : std::uint8_t {
    none,
    picture, audio, video, source, object, canvas, drawing,
    field, area, select,
    ordered, unordered, list_item,
    table, section, table_row, table_cell,
    lines, code_line, reading, reading_mark, template_, line_break, span,
    math, token, math_text, group, fraction, root, indexed_root, power, index, both, under, over, under_over, fenced,
    matrix, matrix_row, matrix_cell, annotation, note,
};

// Meanings of an element, a class or a style, as bits. Bit i of the spans is the mark UNDERLINE + i. A box holds one formula in
// several forms, a preview and a twin another form of it; shrunk: with letters of size 0.
enum SpanFlag : std::uint32_t {
    IS_UNDERLINE = 1 << 0, IS_DOTS = 1 << 1, IS_BOLD = 1 << 2, IS_ITALIC = 1 << 3, IS_SUP = 1 << 4, IS_SUB = 1 << 5,
    IS_BOX = 1 << 6, IS_PREVIEW = 1 << 7, IS_TWIN = 1 << 8,
    IS_HIDDEN = 1 << 9, IS_SHRUNK = 1 << 10,
    IS_LINED = 1 << (LINED - UNDERLINE),
};
constexpr int SPANS = SUB - UNDERLINE + 1;
constexpr std::uint32_t ONCE = IS_UNDERLINE | IS_DOTS | IS_BOLD | IS_ITALIC;  // marked once, however deep

// Attributes that count: `late`: the address of an image that is loaded later; `other`: an address under an unknown name.
enum class Attribute : std::uint8_t {
    latex, late, src, srcset, data, href, xlink_href, alt, class_, style, type,
    start, value, encoding, open, close, separators, hidden, id, other,
};
constexpr int ATTRIBUTES = static_cast<int>(Attribute::other) + 1;

enum class Property : std::uint8_t { decoration, border, align, emphasis, weight, slant, listing, hiding };

// The markers of a list.
enum class Markers : std::uint8_t { decimal, upper, lower, upper_roman, lower_roman, unmarked };

struct Element {
    std::uint32_t roles;
    Action action = Action::none;
    std::uint32_t spans = 0;
};

// The kind of a name; words in a property's value: the last one plus the property's number.
enum class Naming : std::uint8_t { element, reference, attribute, class_word, property, field_type, style_word };

constexpr Naming word_of(Property property) {
    return static_cast<Naming>(static_cast<int>(Naming::style_word) + static_cast<int>(property));
}

// The beginning of a LaTeX command for an accent, and the characters that mean it.
struct Accent {
    std::string_view command;
    std::u32string_view characters;
};
constexpr Accent ACCENTS_OF_LATEX[] = {
    {"\\overline{", U"¯‾ˉ_―\u0305\u0304"}, {"\\vec{", U"→⇀\u20d7"}, {"\\hat{", U"^ˆ\u0302"},
    {"\\tilde{", U"~˜\u0303"},              {"\\dot{", U"˙.\u0307"}, {"\\ddot{", U"¨\u0308"},
};

struct ElementNames {
    Element element;
    std::string_view names;
};
constexpr std::uint32_t INLINE = EVIDENT, BLOCK = EVIDENT | BREAKS;

constexpr ElementNames ELEMENTS[] = {
    {{BLOCK}, "address article aside blockquote body button center datalist dd details dialog div dl dt fieldset figcaption"},
    {{BLOCK}, "figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup html layer legend main marquee menuitem"},
    {{BLOCK}, "multicol nav noscript optgroup option plaintext search section summary xml foreignobject w:p w:br"},
    {{BLOCK | VOID}, "col frame hr isindex"},
    {{BLOCK | CLOSED}, "iframe noembed noframes"},
    {{BLOCK | CLOSED | DROPS}, "script style"},
    {{BLOCK | CLOSED | SHOWS}, "title"},
    {{BLOCK | CLOSED | SHOWS | RAW}, "xmp"},
    {{INLINE}, "abbr acronym applet bdi bdo big blink cite del dfn kbd mark meter nobr picture portal progress rb rtc ruby samp"},
    {{INLINE}, "slot small strike tt var lineargradient radialgradient clippath animatetransform animatemotion"},
    {{INLINE | VOID}, "area base basefont bgsound command keygen meta param spacer track wbr mspace mprescripts"},
    {{INLINE, Action::none, IS_UNDERLINE}, "ins"},
    {{INLINE, Action::none, IS_BOLD}, "strong"},
    {{INLINE, Action::none, IS_ITALIC}, "em"},
    {{INLINE, Action::none, IS_SUP}, "sup"},
    {{INLINE, Action::none, IS_SUB}, "sub"},
    // Also words of mathematics, programming languages and command lines: `x<p>y`, `List<Object>`, `convert <path> <filter>`.
    // They need evidence to be taken as tags: an attribute's value, a self-closing slash or a closing tag.
    {{BREAKS | PARAGRAPH}, "p"},
    {{BREAKS}, "desc text"},
    {{LINK}, "a"},
    {{0}, "data label map output q s time g path circle rect line polyline polygon ellipse tspan textpath defs use symbol marker"},
    {{0}, "mask pattern filter stop view set switch animate metadata"},
    {{VOID}, "link"},
    {{0, Action::none, IS_UNDERLINE}, "u"},
    {{0, Action::none, IS_BOLD}, "b"},
    {{0, Action::none, IS_ITALIC}, "i"},
    {{VOID, Action::picture}, "image"},
    {{BREAKS, Action::object}, "object"},
    {{0, Action::token}, "mi mn mo ms"},
    // Media, fields, lists, tables, code.
    {{INLINE | VOID, Action::picture}, "img embed v:imagedata"},
    {{BLOCK, Action::audio}, "audio"},
    {{BLOCK, Action::video}, "video"},
    {{INLINE | VOID, Action::source}, "source"},
    {{BLOCK, Action::canvas}, "canvas"},
    {{INLINE, Action::drawing}, "svg"},
    {{INLINE | VOID, Action::field}, "input"},
    {{BLOCK | CLOSED | SHOWS, Action::area}, "textarea"},
    {{BLOCK, Action::select}, "select"},
    {{BLOCK, Action::ordered}, "ol"},
    {{BLOCK, Action::unordered}, "ul menu dir"},
    {{BLOCK, Action::list_item}, "li"},
    {{BLOCK, Action::table}, "table"},
    {{BLOCK, Action::section}, "thead tbody tfoot caption"},
    {{BLOCK | VOID, Action::section}, "colgroup"},
    {{BLOCK, Action::table_row}, "tr"},
    {{BLOCK, Action::table_cell}, "td th"},
    {{BLOCK, Action::lines}, "pre listing"},
    {{INLINE, Action::code_line}, "code"},
    {{INLINE, Action::reading}, "rt"},
    {{INLINE, Action::reading_mark}, "rp"},
    {{BLOCK, Action::template_}, "template"},
    {{BLOCK | VOID, Action::line_break}, "br"},
    {{INLINE, Action::span}, "span font"},
    // MathML.
    {{INLINE, Action::math}, "math"},
    {{INLINE, Action::math_text}, "mtext"},
    {{INLINE, Action::group}, "mrow mstyle mpadded mphantom menclose merror maction semantics mmultiscripts"},
    {{INLINE, Action::fraction}, "mfrac"},
    {{INLINE, Action::root}, "msqrt"},
    {{INLINE, Action::indexed_root}, "mroot"},
    {{INLINE, Action::power}, "msup"},
    {{INLINE, Action::index}, "msub"},
    {{INLINE, Action::both}, "msubsup"},
    {{INLINE, Action::under}, "munder"},
    {{INLINE, Action::over}, "mover"},
    {{INLINE, Action::under_over}, "munderover"},
    {{INLINE, Action::fenced}, "mfenced"},
    {{BLOCK, Action::matrix}, "mtable"},
    {{BLOCK, Action::matrix_row}, "mtr"},
    {{BLOCK, Action::matrix_cell}, "mtd"},
    {{INLINE, Action::annotation}, "annotation"},
    {{INLINE, Action::note}, "annotation-xml"},
};
constexpr ElementNames OTHERS[] = {
    // prefixes of office programs: o:p, st1:chsdate, v:shape
    {{INLINE}, "o: v: w: m: mml: svg: st0: st1: st2: st3: st4: st5: st6: st7: st8: st9: u0: u1: u2: u3: u4: u5: u6: u7: u8: u9:"},
    {{FOREIGN}, "mjx-container"},
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
constexpr std::string_view PROPERTY_NAMES[] = {
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
    {Naming::class_word, "jammer", IS_HIDDEN},  // random letters that a forum puts in against copies
    {word_of(Property::decoration), "underline", IS_UNDERLINE},
    {word_of(Property::border), "solid", IS_UNDERLINE},
    {word_of(Property::align), "super", IS_SUP},
    {word_of(Property::align), "sub", IS_SUB},
    {word_of(Property::emphasis), "none", 0},  // any other word means dots
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

// Calls take(word) for each of some words separated by spaces.
void each_word(std::string_view words, auto take) {
    for (const auto word : std::views::split(words, ' ')) take(std::string_view(word.begin(), word.end()));
}

class Vocabulary {
public:
    // References by name: the one or two characters of each.
    using References = std::map<std::string, std::vector<std::uint32_t>>;

    Vocabulary(const References& references) {
        const auto add = [&](Naming naming, std::string_view words, int value) {
            each_word(words, [&](std::string_view word) { names_[key_of<false>(naming, word)].value.value = value; });
        };
        const auto add_elements = [&](const ElementNames& row) {
            each_word(row.names, [&](std::string_view name) {
                add(Naming::element, name, static_cast<int>(elements_.size()));
                elements_.push_back(row.element);
            });
        };
        names_.reset(references.size());
        std::ranges::for_each(ELEMENTS, add_elements);
        std::ranges::for_each(OTHERS, add_elements);
        for (int i = 0; i < ATTRIBUTES; i++) add(Naming::attribute, ATTRIBUTE_NAMES[i], i);
        for (int i = 0; i < std::ssize(PROPERTY_NAMES); i++) add(Naming::property, PROPERTY_NAMES[i], i);
        for (const auto& [naming, words, value] : WORDS) add(naming, words, value);
        for (const auto& [name, text] : references) {
            const auto first = static_cast<std::int32_t>(text.at(0)), last = static_cast<std::int32_t>(text.back());
            names_[key_of<false>(Naming::reference, name)].value = {first, text.size() > 1 ? last : 0};
        }
    }

    const Element& element(int number) const { return elements_[number]; }
    std::size_t elements() const { return elements_.size(); }

    // A key of an element's name, known or not, in capitals or not.
    static std::uint64_t element_key(Points name) { return key_of<true>(Naming::element, name); }

    // The meaning of a name, in capitals or not; NONE for an unknown one.
    int meaning(Naming naming, Points name) const { return meaning(key_of<true>(naming, name)); }
    int meaning(std::uint64_t key) const { return names_.find(key).value; }

    // The one or two characters of a reference, 0 for none.
    std::pair<std::uint32_t, std::uint32_t> reference(Points name) const {
        const auto [first, second] = names_.find(key_of<false>(Naming::reference, name));
        return {first == NONE ? 0 : static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
    }

private:
    struct Meaning {
        std::int32_t value = NONE, second = 0;
    };

    // 0 for a name that is not of ASCII, and has no meaning.
    template <bool IGNORES_CASE>
    static std::uint64_t key_of(Naming naming, const auto& name) {
        std::uint64_t key = (static_cast<std::uint64_t>(naming) + 1) * GOLDEN;
        std::uint32_t all = 0;
        for (const auto one : name) {
            const auto letter = static_cast<std::uint32_t>(one);
            all |= letter;
            key = (key ^ (IGNORES_CASE ? lower(letter) : letter)) * GOLDEN;
        }
        return all < 0x80 ? key ^ key >> 32 : 0;
    }

    std::vector<Element> elements_;
    HashTable<Meaning> names_;  // by key
};

}  // namespace dedup::cleaning
