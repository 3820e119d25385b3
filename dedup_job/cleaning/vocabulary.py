"""What elements, attributes, classes and style properties mean in the notation of cleaned text."""

from __future__ import annotations

import functools
from html.entities import html5
from typing import Final

import numpy as np

from dedup_job.cleaning.characters import LINED, UNDERLINE
from dedup_job.cleaning.names import (
    ATTRIBUTE,
    CLASS_WORD,
    ELEMENT,
    ELEMENTS,
    FIELD_TYPE,
    MARKER_WORD,
    PROPERTY,
    REFERENCE,
    VOID,
    Tables,
    roles_of,
    tables_of,
)
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner

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
    TEMPLATE_ACTION,
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
    TEMPLATE_ACTION: "template",
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
_MARKERS: Final = {
    "none": UNMARKED,
    "decimal": DECIMAL,
    "upper-alpha": UPPER,
    "upper-latin": UPPER,
    "lower-alpha": LOWER,
    "lower-latin": LOWER,
    "upper-roman": UPPER_ROMAN,
    "lower-roman": LOWER_ROMAN,
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


@inner
def action_of(number: int, tables: Tables) -> int:
    """Return what an element does."""
    return int(tables.values[number, 1] & ACTION_BITS)


@functools.cache
def tables() -> Tables:
    """Return the tables, made at the first call."""
    does = {name: action for action, names in _ACTIONS.items() for name in names.split()}
    spans = {name: flag for flag, names in _SPAN_ELEMENTS.items() for name in names.split()}
    named = [
        (
            ELEMENT,
            name,
            roles_of(name),
            does.get(name, NO_ACTION)
            | spans.get(name, 0) << SPANS_FROM
            | (VOID_FLAG if name in VOID else 0),
        )
        for name in ELEMENTS
    ]
    for name in html5:
        if name.endswith(";"):
            first, second = (*map(ord, html5[name]), 0)[:2]
            named.append((REFERENCE, name.removesuffix(";"), first, second))
    fields = {**dict.fromkeys(_NO_FIELDS.split(), BUTTON), "image": IMAGE_BUTTON}
    others = {
        ATTRIBUTE: {name: number for number, name in enumerate(ATTRIBUTES)},
        CLASS_WORD: _CLASSES,
        PROPERTY: _PROPERTIES,
        MARKER_WORD: _MARKERS,
        FIELD_TYPE: fields,
    }
    named += [(of, name, n, 0) for of, meanings in others.items() for name, n in meanings.items()]
    return tables_of(named)
