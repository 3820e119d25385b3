"""What elements, attributes, classes and styles mean in the notation of cleaned text.

These are the tables that src/cleaning/vocabulary.hpp reads; its numbers are the same.
"""

from __future__ import annotations

from html.entities import html5
from typing import Final

(BREAKS, EVIDENT, CLOSED, DROPS, SHOWS, PARAGRAPH, RAW, FOREIGN, LINK, VOID) = (
    1 << i for i in range(10)
)
"""Roles of an element: its tags leave a line break; need no evidence; count only with a closing
tag or an attribute's value; its content is no text; is text in which no tag
counts; it is `p`; `xmp`; of another namespace or a custom one; `a`; it has no content, so nothing
closes it."""

IS_UNDERLINE, IS_DOTS, IS_BOLD, IS_ITALIC, IS_SUP, IS_SUB = (1 << i for i in range(6))
"""The spans that an element may stand for."""

BOX, PREVIEW, TWIN, HIDDEN, SHRUNK = (1 << i for i in range(6, 11))
"""Of a class: holds one formula in several forms; a preview of one; shows what stands before. Of a
class or a style: nobody sees the element; its letters."""

_INLINE: Final = EVIDENT
_BLOCK: Final = EVIDENT | BREAKS

_ELEMENTS: Final = (
    # what an element does, its roles, its spans, the names of such elements
    ("", _BLOCK, 0, "address article aside blockquote body button center datalist dd details"),
    ("", _BLOCK, 0, "dialog div dl dt fieldset figcaption figure footer form frameset h1 h2"),
    ("", _BLOCK, 0, "h3 h4 h5 h6 head header hgroup html layer legend main marquee menuitem"),
    ("", _BLOCK, 0, "multicol nav noscript optgroup option plaintext search section summary"),
    ("", _BLOCK, 0, "xml foreignobject w:p w:br"),
    ("", _BLOCK | VOID, 0, "col frame hr isindex"),
    ("", _BLOCK | CLOSED, 0, "iframe noembed noframes"),
    ("", _BLOCK | CLOSED | DROPS, 0, "script style"),
    ("", _BLOCK | CLOSED | SHOWS, 0, "title"),
    ("", _BLOCK | CLOSED | SHOWS | RAW, 0, "xmp"),
    ("", _INLINE, 0, "abbr acronym applet bdi bdo big blink cite del dfn kbd mark meter nobr"),
    ("", _INLINE, 0, "picture portal progress rb rtc ruby samp slot small strike tt var"),
    ("", _INLINE, 0, "lineargradient radialgradient clippath animatetransform animatemotion"),
    ("", _INLINE | VOID, 0, "area base basefont bgsound command keygen meta param spacer"),
    ("", _INLINE | VOID, 0, "track wbr mspace mprescripts"),
    ("", _INLINE, IS_UNDERLINE, "ins"),
    ("", _INLINE, IS_BOLD, "strong"),
    ("", _INLINE, IS_ITALIC, "em"),
    ("", _INLINE, IS_SUP, "sup"),
    ("", _INLINE, IS_SUB, "sub"),
    # Also words of mathematics, of programming languages and of command lines: `x<p>y`, `a<mn>b`,
    # `List<Object>`, `convert <path> <filter>`. They need evidence to be taken as tags: an
    # attribute's value, a self-closing slash or a closing tag.
    ("", BREAKS | PARAGRAPH, 0, "p"),
    ("", BREAKS, 0, "desc text"),
    ("", LINK, 0, "a"),
    ("", 0, 0, "data label map output q s time g path circle rect line polyline polygon ellipse"),
    ("", 0, 0, "tspan textpath defs use symbol marker mask pattern filter stop view set switch"),
    ("", 0, 0, "animate metadata"),
    ("", VOID, 0, "link"),
    ("", 0, IS_UNDERLINE, "u"),
    ("", 0, IS_BOLD, "b"),
    ("", 0, IS_ITALIC, "i"),
    ("picture", VOID, 0, "image"),
    ("object", BREAKS, 0, "object"),
    ("token", 0, 0, "mi mn mo ms"),
    # Media, fields, lists, tables, code.
    ("picture", _INLINE | VOID, 0, "img embed v:imagedata"),
    ("hears", _BLOCK, 0, "audio"),
    ("sees", _BLOCK, 0, "video"),
    ("source", _INLINE | VOID, 0, "source"),
    ("canvas", _BLOCK, 0, "canvas"),
    ("drawing", _INLINE, 0, "svg"),
    ("field", _INLINE | VOID, 0, "input"),
    ("area", _BLOCK | CLOSED | SHOWS, 0, "textarea"),
    ("select", _BLOCK, 0, "select"),
    ("ordered", _BLOCK, 0, "ol"),
    ("unordered", _BLOCK, 0, "ul menu dir"),
    ("list_item", _BLOCK, 0, "li"),
    ("table", _BLOCK, 0, "table"),
    ("section", _BLOCK, 0, "thead tbody tfoot caption"),
    ("section", _BLOCK | VOID, 0, "colgroup"),
    ("table_row", _BLOCK, 0, "tr"),
    ("table_cell", _BLOCK, 0, "td th"),
    ("lines", _BLOCK, 0, "pre listing"),
    ("code_line", _INLINE, 0, "code"),
    ("reading", _INLINE, 0, "rt"),
    ("reading_mark", _INLINE, 0, "rp"),
    ("template", _BLOCK, 0, "template"),
    ("line_break", _BLOCK | VOID, 0, "br"),
    ("span", _INLINE, 0, "span font"),
    # MathML.
    ("math", _INLINE, 0, "math"),
    ("math_text", _INLINE, 0, "mtext"),
    ("group", _INLINE, 0, "mrow mstyle mpadded mphantom menclose merror maction semantics"),
    ("group", _INLINE, 0, "mmultiscripts"),
    ("fraction", _INLINE, 0, "mfrac"),
    ("root", _INLINE, 0, "msqrt"),
    ("indexed_root", _INLINE, 0, "mroot"),
    ("power", _INLINE, 0, "msup"),
    ("index", _INLINE, 0, "msub"),
    ("both", _INLINE, 0, "msubsup"),
    ("under", _INLINE, 0, "munder"),
    ("over", _INLINE, 0, "mover"),
    ("under_over", _INLINE, 0, "munderover"),
    ("fenced", _INLINE, 0, "mfenced"),
    ("matrix", _BLOCK, 0, "mtable"),
    ("matrix_row", _BLOCK, 0, "mtr"),
    ("matrix_cell", _BLOCK, 0, "mtd"),
    ("annotation", _INLINE, 0, "annotation"),
    ("note", _INLINE, 0, "annotation-xml"),
)

NAMES: Final = frozenset(name for *_, names in _ELEMENTS for name in names.split())
"""The names of the elements."""

_OTHERS: Final = (
    # prefixes of what office programs write: o:p, st1:chsdate, v:shape
    ("", _INLINE, 0, "o: v: w: m: mml: svg:"),
    ("", _INLINE, 0, " ".join(f"{name}{i}:" for name in ("st", "u") for i in range(10))),
    ("", FOREIGN, 0, "mjx-container"),
)

ELEMENTS: Final = [
    (name, action or "none", roles, spans)
    for action, roles, spans, names in (*_ELEMENTS, *_OTHERS)
    for name in names.split()
]
"""Name, what it does, roles and spans of each element, of the prefixes of office programs, and of
custom elements that mean something."""

REFERENCES: Final = {
    name.removesuffix(";"): text for name, text in html5.items() if name.endswith(";")
}
"""What each character reference stands for."""

ATTRIBUTES: Final = (
    "data-latex data-tex data-formula data-math data-equation",
    "data-src data-original data-lazy-src data-actualsrc data-lazyload data-lazy data-echo lazy-src"
    " data-ks-lazyload data-real-src real_src lay-src _src file original zoomfile",
    *("src", "srcset data-srcset data-lazy-srcset"),
    *("data", "href", "xlink:href", "alt", "class", "style", "type", "start", "value"),
    *("encoding", "open", "close", "separators", "hidden", "id"),
    "",  # any other name
)
"""The names of the attributes that count, by number: a formula, the address of an image that is
loaded late, ..."""

_DOTTED: Final = (
    "dian dot dots emphasis-dot emphasis-dots em-dot dot-under zhuozhong zhuozhonghao jiazhong"
    " jiadian"
)
_BOXES: Final = (
    "katex mathjax mathjax_display mathjax_svg mathjax_svg_display mathjax_chtml mjx-chtml"
    " mwe-math-element"
)
CLASSES: Final = {
    **dict.fromkeys(_DOTTED.split(), IS_DOTS),
    **dict.fromkeys(_BOXES.split(), BOX),
    "mathjax_preview": PREVIEW,
    "katex-html": TWIN,
    "jammer": HIDDEN,  # a forum puts random letters in, against copies
}
"""What the words of a class stand for."""

DECIMAL, UPPER, LOWER, UPPER_ROMAN, LOWER_ROMAN, UNMARKED = range(6)
"""The markers of a list."""

STYLES: Final[list[tuple[str, dict[str, int]]]] = [
    ("text-decoration text-decoration-line", {"underline": IS_UNDERLINE}),
    ("border-bottom", {"solid": IS_UNDERLINE}),
    ("vertical-align", {"super": IS_SUP, "sub": IS_SUB}),
    (
        "text-emphasis text-emphasis-style -webkit-text-emphasis -webkit-text-emphasis-style",
        {"none": 0},  # any other word stands for dots
    ),
    ("font-weight", dict.fromkeys(["bold", "bolder", "600", "700", "800", "900"], IS_BOLD)),
    ("font-style", {"italic": IS_ITALIC, "oblique": IS_ITALIC}),
    (
        "list-style list-style-type",
        {
            "none": UNMARKED,
            "decimal": DECIMAL,
            "upper-alpha": UPPER,
            "upper-latin": UPPER,
            "lower-alpha": LOWER,
            "lower-latin": LOWER,
            "upper-roman": UPPER_ROMAN,
            "lower-roman": LOWER_ROMAN,
        },
    ),
    (
        "display visibility font-size",
        {"none": HIDDEN, "hidden": HIDDEN, **dict.fromkeys(["0", "0px", "0pt", "0em"], SHRUNK)},
    ),
]
"""By number: properties of one meaning, and what the words of their values mean."""

_NO_FIELDS: Final = "hidden radio checkbox submit button reset file range color"
_BUTTON, _IMAGE_BUTTON = range(2)
FIELD_TYPES: Final = {
    **dict.fromkeys(_NO_FIELDS.split(), _BUTTON),
    "image": _IMAGE_BUTTON,
}
"""The fields that take no text."""

ACCENTS: Final = {
    "overline": "¯‾ˉ_―\u0305\u0304",
    "vec": "→⇀\u20d7",
    "hat": "^ˆ\u0302",
    "tilde": "~˜\u0303",
    "dot": "˙.\u0307",
    "ddot": "¨\u0308",
}
"""The commands of accents, and the characters that stand for each."""
