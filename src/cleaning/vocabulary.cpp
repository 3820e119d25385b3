// What elements, attributes, classes and styles mean in the notation of cleaned text.
#include "cleaning/vocabulary.hpp"

#include <algorithm>
#include <ranges>

namespace dedup::cleaning {
namespace {

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

struct Meaning {
    std::string_view words;
    int value;
};
constexpr int of(Markers markers) { return static_cast<int>(markers); }

constexpr Meaning CLASSES[] = {
    {"dian dot dots emphasis-dot emphasis-dots em-dot dot-under zhuozhong zhuozhonghao jiazhong jiadian", IS_DOTS},
    {"katex mathjax mathjax_display mathjax_svg mathjax_svg_display mathjax_chtml mjx-chtml mwe-math-element", IS_BOX},
    {"mathjax_preview", IS_PREVIEW},
    {"katex-html", IS_TWIN},
    {"jammer", IS_HIDDEN},  // a forum puts random letters in, against copies
};

// By `Property`; the meanings are of words in its value.
constexpr std::string_view PROPERTY_NAMES[PROPERTIES] = {
    "text-decoration text-decoration-line", "border-bottom", "vertical-align",
    "text-emphasis text-emphasis-style -webkit-text-emphasis -webkit-text-emphasis-style", "font-weight", "font-style",
    "list-style list-style-type", "display visibility font-size",
};
struct StyleWords {
    Property of;
    Meaning meaning;
};
constexpr StyleWords STYLES[] = {
    {Property::decoration, {"underline", IS_UNDERLINE}},
    {Property::border, {"solid", IS_UNDERLINE}},
    {Property::align, {"super", IS_SUP}},
    {Property::align, {"sub", IS_SUB}},
    {Property::emphasis, {"none", 0}},  // any other word stands for dots
    {Property::weight, {"bold bolder 600 700 800 900", IS_BOLD}},
    {Property::slant, {"italic oblique", IS_ITALIC}},
    {Property::listing, {"none", of(Markers::unmarked)}},
    {Property::listing, {"decimal", of(Markers::decimal)}},
    {Property::listing, {"upper-alpha upper-latin", of(Markers::upper)}},
    {Property::listing, {"lower-alpha lower-latin", of(Markers::lower)}},
    {Property::listing, {"upper-roman", of(Markers::upper_roman)}},
    {Property::listing, {"lower-roman", of(Markers::lower_roman)}},
    {Property::hiding, {"none hidden", IS_HIDDEN}},
    {Property::hiding, {"0 0px 0pt 0em", IS_SHRUNK}},
};

// The fields that take no text.
constexpr Meaning FIELD_TYPES[] = {
    {"hidden radio checkbox submit button reset file range color", static_cast<int>(FieldType::button)},
    {"image", static_cast<int>(FieldType::image_button)},
};

// Calls take(word) for each word of some with spaces between.
void each_word(std::string_view words, auto take) {
    for (const auto word : std::views::split(words, ' ')) take(std::string_view(word.begin(), word.end()));
}

}  // namespace

std::vector<std::string_view> element_names() {
    std::vector<std::string_view> names;
    for (const ElementNames& row : ELEMENTS) each_word(row.names, [&](std::string_view name) { names.push_back(name); });
    return names;
}

Vocabulary::Vocabulary(std::span<const Name> references) {
    std::vector<Name> names;
    const auto add = [&](Naming of, const Meaning& meaning) {
        each_word(meaning.words, [&](std::string_view word) { names.push_back({of, word, meaning.value}); });
    };
    const auto add_elements = [&](const ElementNames& row) {
        each_word(row.names, [&](std::string_view name) {
            names.push_back({Naming::element, name, elements()});
            elements_.push_back(row.element);
        });
    };
    std::ranges::for_each(ELEMENTS, add_elements);
    std::ranges::for_each(OTHERS, add_elements);
    for (int i = 0; i < ATTRIBUTES; i++) add(Naming::attribute, {ATTRIBUTE_NAMES[i], i});
    for (const Meaning& meaning : CLASSES) add(Naming::class_word, meaning);
    for (int i = 0; i < PROPERTIES; i++) add(Naming::property, {PROPERTY_NAMES[i], i});
    for (const auto& [property, meaning] : STYLES) add(word_of(property), meaning);
    for (const Meaning& meaning : FIELD_TYPES) add(Naming::field_type, meaning);
    insert(names, names_);
    insert(references, references_);
}

void Vocabulary::insert(std::span<const Name> names, std::vector<Slot>& slots) {
    slots.resize(std::bit_ceil(2 * names.size() + 1));
    for (const Name& name : names) {
        const std::vector<std::uint32_t> points(name.letters.begin(), name.letters.end());
        const std::uint64_t key = key_of<false>(points);
        std::size_t slot = first_slot(slots, name.of, key);
        while (slots[slot].length) slot = (slot + 1) & (slots.size() - 1);
        const auto begin = static_cast<std::uint32_t>(letters_.size());
        const auto length = static_cast<std::uint8_t>(name.letters.size());
        slots[slot] = {key, begin, name.value, name.second, name.of, length};
        letters_ += name.letters;
        lengths_[lengths_slot(name.of, points.front())] |= 1u << std::min<std::size_t>(points.size(), LONGEST);
    }
}

}  // namespace dedup::cleaning
