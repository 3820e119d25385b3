"""What elements, attributes, classes and style properties mean in the notation of cleaned text."""

from __future__ import annotations

from html.entities import html5
from typing import Final

import numpy as np

from dedup_job.cleaning.symbols import LINED, UNDERLINE
from dedup_job.native.code_points import points_of

BREAK: Final = "\n"
NOTHING: Final = ""

_BLOCK = """
    address article aside audio blockquote body br button canvas caption center col colgroup
    datalist dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset
    h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe isindex layer legend li listing main
    marquee menu menuitem multicol nav noembed noframes noscript object ol optgroup option p
    plaintext pre script search section select style summary table tbody td template textarea
    tfoot th thead title tr ul video xml xmp
    mtable mtr mtd foreignobject desc text w:p w:br
"""
_INLINE = """
    a abbr acronym applet area b base basefont bdi bdo bgsound big blink cite code command data
    del dfn em embed font i image img input ins kbd keygen label link map mark meta meter nobr
    output param picture portal progress q rb rp rt rtc ruby s samp slot small source spacer span
    strike strong sub sup time track tt u var wbr
    svg g path circle rect line polyline polygon ellipse tspan textpath defs use symbol marker
    mask pattern filter stop lineargradient radialgradient clippath view set switch animate
    animatetransform animatemotion metadata
    math mi mn mo ms mtext mrow mfrac msqrt mroot msub msup msubsup munder mover munderover mspace
    mstyle mpadded mphantom mfenced menclose mmultiscripts mprescripts merror maction semantics
    annotation annotation-xml v:imagedata
"""
# Also words of mathematics, of programming languages and of command lines: `x<p>y`, `a<mn>b`,
# `List<Object>`, `convert <path> <filter>`. They need evidence to be taken as tags.
_AMBIGUOUS = """
    a b i p q s u data label link map object output time
    g path circle rect line polyline polygon ellipse text tspan textpath defs use symbol marker
    mask pattern image filter stop view set switch animate metadata desc
    mi mn mo ms none
"""

REPLACEMENT: Final[dict[str, str]] = {
    **dict.fromkeys(_INLINE.split(), NOTHING),
    **dict.fromkeys(_BLOCK.split(), BREAK),
}
"""What a tag of each known element leaves in the text."""

AMBIGUOUS: Final = frozenset(_AMBIGUOUS.split())
"""Names that are tags only with an attribute's value, a self-closing slash or a closing tag."""

_VOID = """
    area base basefont bgsound br col colgroup command embed frame hr image img input isindex keygen
    link meta param source spacer track v:imagedata wbr mprescripts mspace
"""
VOID: Final = frozenset(_VOID.split())
"""Elements without content: nothing closes them."""

CLOSED_ONLY: Final = frozenset(
    ["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"]
)
"""Elements that would swallow the rest of the text if they were never closed."""

DROPPED: Final = frozenset(["script", "style"])
"""Elements whose content is no text."""

VERBATIM: Final = frozenset(["title", "textarea", "xmp"])
"""Elements whose content is text in which no tag counts."""

OFFICE_PREFIXES: Final = (
    *("o", "v", "w", "m", "mml", "svg"),
    *(f"{name}{number}" for name in ("st", "u") for number in range(10)),
)
"""Namespaces of what office programs write: o:p, st1:chsdate, v:shape."""

BREAKS, EVIDENT, CLOSED, DROPS, SHOWS, PARAGRAPH, RAW, FOREIGN = (1 << i for i in range(8))
"""Roles of an element: its tags leave a line break; need no evidence; count only with a closing
tag; its content is no text, is text in which no tag counts; it is `p`, `xmp`; it is of another
namespace or a custom one."""

_CUSTOM: Final = ("mjx-container",)
ELEMENTS: Final = (*REPLACEMENT, *(f"{prefix}:" for prefix in OFFICE_PREFIXES), *_CUSTOM)
"""The names of elements in the order of their numbers; the prefixes of office programs; custom
elements that mean something."""


_ROLES: Final[dict[int, frozenset[str]]] = {
    BREAKS: frozenset(_BLOCK.split()),
    EVIDENT: frozenset(ELEMENTS) - AMBIGUOUS - frozenset(_CUSTOM),
    CLOSED: CLOSED_ONLY,
    DROPS: DROPPED,
    SHOWS: VERBATIM,
    PARAGRAPH: frozenset(["p"]),
    RAW: frozenset(["xmp"]),
    FOREIGN: frozenset(_CUSTOM),
}


ELEMENT, REFERENCE, ATTRIBUTE, CLASS_WORD, PROPERTY, FIELD_TYPE, STYLE_WORD = range(7)
"""What a name is a name of; of words in a property's value: the last and the property's number."""

(
    NO_ACTION,
    PICTURE,
    HEARS,
    SEES,
    SOURCE,
    OBJECT,
    CANVAS,
    DRAWING,
    FIELD,
    AREA,
    SELECT,
    ORDERED,
    UNORDERED,
    LIST_ITEM,
    TABLE,
    SECTION,
    TABLE_ROW,
    TABLE_CELL,
    LINES,
    CODE_LINE,
    READING,
    READING_MARK,
    TEMPLATE,
    LINE_BREAK,
    SPAN,
    MATH,
    TOKEN,
    MATH_TEXT,
    GROUP,
    FRACTION,
    ROOT,
    INDEXED_ROOT,
    POWER,
    INDEX,
    BOTH,
    UNDER,
    OVER,
    UNDER_OVER,
    FENCED,
    MATRIX,
    MATRIX_ROW,
    MATRIX_CELL,
    ANNOTATION,
    NOTE,
) = range(44)
"""What an element does. The order within the mathematical ones counts: MATH to NOTE."""

_ACTIONS: Final = {
    PICTURE: "img image v:imagedata embed",
    HEARS: "audio",
    SEES: "video",
    SOURCE: "source",
    OBJECT: "object",
    CANVAS: "canvas",
    DRAWING: "svg",
    FIELD: "input",
    AREA: "textarea",
    SELECT: "select",
    ORDERED: "ol",
    UNORDERED: "ul menu dir",
    LIST_ITEM: "li",
    TABLE: "table",
    SECTION: "thead tbody tfoot caption colgroup",
    TABLE_ROW: "tr",
    TABLE_CELL: "td th",
    LINES: "pre listing",
    CODE_LINE: "code",
    READING: "rt",
    READING_MARK: "rp",
    TEMPLATE: "template",
    LINE_BREAK: "br",
    SPAN: "span font",
    MATH: "math",
    TOKEN: "mi mn mo ms",
    MATH_TEXT: "mtext",
    GROUP: "mrow mstyle mpadded mphantom menclose merror maction semantics mmultiscripts",
    FRACTION: "mfrac",
    ROOT: "msqrt",
    INDEXED_ROOT: "mroot",
    POWER: "msup",
    INDEX: "msub",
    BOTH: "msubsup",
    UNDER: "munder",
    OVER: "mover",
    UNDER_OVER: "munderover",
    FENCED: "mfenced",
    MATRIX: "mtable",
    MATRIX_ROW: "mtr",
    MATRIX_CELL: "mtd",
    ANNOTATION: "annotation",
    NOTE: "annotation-xml",
}

IS_UNDERLINE, IS_DOTS, IS_BOLD, IS_ITALIC, IS_SUP, IS_SUB = (1 << i for i in range(6))
"""The spans that an element may stand for; bit i stands for the mark UNDERLINE + i."""

IS_LINED: Final = 1 << (LINED - UNDERLINE)
ONCE: Final = IS_UNDERLINE | IS_DOTS | IS_BOLD | IS_ITALIC
"""Those that are marked once, however often they are nested."""

BOX, PREVIEW, TWIN = (1 << i for i in range(6, 9))
"""Of a class: holds one formula in several forms; a preview of one; shows what stands before."""

_SPAN_ELEMENTS: Final = {
    IS_UNDERLINE: "u ins",
    IS_BOLD: "b strong",
    IS_ITALIC: "i em",
    IS_SUP: "sup",
    IS_SUB: "sub",
}

LATEX: Final = ("data-latex", "data-tex", "data-formula", "data-math", "data-equation")
ADDRESSES: Final = ("src", "data-src", "data-original", "data-lazy-src", "data-actualsrc", "srcset")
_OTHERS: Final = (
    "data href xlink:href alt class style type start value encoding open close separators"
)
ATTRIBUTES: Final = (*LATEX, *ADDRESSES, *_OTHERS.split())
"""The attributes that count; the first are formulas, then addresses, best first."""

FIRST_ADDRESS: Final = len(LATEX)
SRCSET: Final = ATTRIBUTES.index("srcset")
(DATA, HREF, XLINK, ALT, CLASS, STYLE, TYPE, START, VALUE, ENCODING, OPEN, CLOSE, SEPARATORS) = (
    range(SRCSET + 1, len(ATTRIBUTES))
)

(DECORATION, BORDER, ALIGN, EMPHASIS, WEIGHT, SLANT, LISTING) = range(7)
_PROPERTIES: Final = {
    "text-decoration": DECORATION,
    "text-decoration-line": DECORATION,
    "border-bottom": BORDER,
    "vertical-align": ALIGN,
    "text-emphasis": EMPHASIS,
    "text-emphasis-style": EMPHASIS,
    "-webkit-text-emphasis": EMPHASIS,
    "-webkit-text-emphasis-style": EMPHASIS,
    "font-weight": WEIGHT,
    "font-style": SLANT,
    "list-style": LISTING,
    "list-style-type": LISTING,
}

_DOTTED: Final = (
    "dian dot dots emphasis-dot emphasis-dots em-dot dot-under zhuozhong zhuozhonghao jiazhong"
    " jiadian"
)
_BOXES: Final = (
    "katex mathjax mathjax_display mathjax_svg mathjax_svg_display mathjax_chtml mjx-chtml"
    " mwe-math-element"
)
_CLASSES: Final = {
    **dict.fromkeys(_DOTTED.split(), IS_DOTS),
    **dict.fromkeys(_BOXES.split(), BOX),
    "mathjax_preview": PREVIEW,
    "katex-html": TWIN,
}

DECIMAL, UPPER, LOWER, UPPER_ROMAN, LOWER_ROMAN, UNMARKED = range(6)
"""The markers of a list."""

_STYLE_WORDS: Final = {
    DECORATION: {"underline": IS_UNDERLINE},
    BORDER: {"solid": IS_UNDERLINE},
    ALIGN: {"super": IS_SUP, "sub": IS_SUB},
    EMPHASIS: {"none": 0},  # any other word stands for dots
    WEIGHT: dict.fromkeys(["bold", "bolder", "600", "700", "800", "900"], IS_BOLD),
    SLANT: {"italic": IS_ITALIC, "oblique": IS_ITALIC},
    LISTING: {
        "none": UNMARKED,
        "decimal": DECIMAL,
        "upper-alpha": UPPER,
        "upper-latin": UPPER,
        "lower-alpha": LOWER,
        "lower-latin": LOWER,
        "upper-roman": UPPER_ROMAN,
        "lower-roman": LOWER_ROMAN,
    },
}

_NO_FIELDS: Final = "hidden radio checkbox submit button reset file range color"
BUTTON, IMAGE_BUTTON = range(2)

_ACCENTS: Final = {
    "overline": "¯‾ˉ_―\u0305\u0304",
    "vec": "→⇀\u20d7",
    "hat": "^ˆ\u0302",
    "tilde": "~˜\u0303",
    "dot": "˙.\u0307",
    "ddot": "¨\u0308",
}
COMMANDS: Final = tuple(_ACCENTS)
"""The commands of accents."""
ACCENT_CHARACTERS = points_of("".join(_ACCENTS.values()))
ACCENT_COMMANDS = np.repeat(np.arange(len(_ACCENTS)), [len(c) for c in _ACCENTS.values()])
"""Characters that stand for an accent, and the number of the command of each."""


VOID_FLAG: Final = 1 << 20
SPANS_FROM: Final = 8
ACTION_BITS: Final = 0xFF
"""In the second value of an element: whether it is void, and where its spans are behind what it
does."""


def meanings() -> list[tuple[int, str, int, int]]:
    """Return what each name is a name of, the name in ASCII, and its two values, see `Names`."""
    does = {name: action for action, names in _ACTIONS.items() for name in names.split()}
    spans = {name: flag for flag, names in _SPAN_ELEMENTS.items() for name in names.split()}
    named = []
    for name in ELEMENTS:
        roles = sum(role for role, those in _ROLES.items() if name in those)
        spans_of = spans.get(name, 0) << SPANS_FROM
        void = VOID_FLAG if name in VOID else 0
        named.append((ELEMENT, name, roles, does.get(name, NO_ACTION) | spans_of | void))
    for name, characters in html5.items():
        if name.endswith(";"):
            first, second = (*map(ord, characters), 0)[:2]
            named.append((REFERENCE, name.removesuffix(";"), first, second))
    others = {
        ATTRIBUTE: {name: number for number, name in enumerate(ATTRIBUTES)},
        CLASS_WORD: _CLASSES,
        PROPERTY: _PROPERTIES,
        **{STYLE_WORD + number: words for number, words in _STYLE_WORDS.items()},
        FIELD_TYPE: {**dict.fromkeys(_NO_FIELDS.split(), BUTTON), "image": IMAGE_BUTTON},
    }
    return named + [(of, name, n, 0) for of, those in others.items() for name, n in those.items()]
