"""Names of elements and attributes, found by native code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.code_points import pack, points_of
from dedup_job.native.jit import borrowing, inner

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

CODE_LIKE: Final = frozenset(["pre", "code"])
"""Elements that show code; style rules in them are the matter itself."""

OFFICE_PREFIXES: Final = (
    *("o", "v", "w", "m", "mml", "svg"),
    *(f"{name}{number}" for name in ("st", "u") for number in range(10)),
)
"""Namespaces of what office programs write: o:p, st1:chsdate, v:shape."""

WORD_NAME: Final = re.compile(rf"(?:{'|'.join(OFFICE_PREFIXES)}):[a-z0-9]+")
"""The form of such names."""

FOREIGN_NAME: Final = re.compile(r"[a-z][a-z0-9]*[:-][a-z0-9:._-]+")
"""Custom elements and other namespaces; `a<x-y>b` has the same form, so they need evidence."""


PLANE: Final = 1 << 16
_LAST_WORDS: Final = 0x31400  # no character from there on is part of a word
SPACE, WORD, LETTER, ALNUM, MARK, STARTS, GOES_ON, ENDS, UNLIKE, LINE = (1 << i for i in range(10))
"""Classes of characters: white space; a word's of any script; an ASCII letter;
one or a digit; a mark inside of names; what starts an attribute's name, and goes on with it; what
ends a value without quotes; what may come out otherwise than it stands; what ends a line."""

_CLASSES = {
    LETTER: "[A-Za-z]",
    ALNUM: "[A-Za-z0-9]",
    MARK: "[:._-]",
    STARTS: "[A-Za-z_:@#*]",
    GOES_ON: r"[\w:.@-]",
    ENDS: r"[\s\"'<>]",
    SPACE: r"\s",
    WORD: r"\w",
    UNLIKE: "[&\0\r\ud800-\udfff]",
    LINE: "[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]",
}

BREAKS, EVIDENT, CLOSED, DROPS, SHOWS, SHOWS_CODE, TEMPLATE, PARAGRAPH, RAW, FOREIGN = (
    1 << i for i in range(10)
)
"""Roles of an element: its tags leave a line break; need no evidence; count only with a closing
tag; its content is no text, is text in which no tag counts; it shows code; it is `template`, `p`,
`xmp`; it is of another namespace or a custom one."""

_CUSTOM: Final = ("mjx-container",)
ELEMENTS: Final = (*REPLACEMENT, *(f"{prefix}:" for prefix in OFFICE_PREFIXES), *_CUSTOM)
"""The names of elements in the order of their numbers; the prefixes of office programs; custom
elements that mean something."""

_UNKNOWN = -1
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_A, _Z, _LOWER = ord("A"), ord("Z"), 32


ELEMENT, REFERENCE, ATTRIBUTE, CLASS_WORD, PROPERTY, MARKER_WORD, FIELD_TYPE = range(7)
"""What a name is a name of."""


class Tables(NamedTuple):
    """All that reading markup looks up.

    kinds: uint16 (201728,), flags of characters. Names of n things, elements first, by open
    addressing: points, offsets: each behind the number of what it names, packed; slots: int32
    (2**b,), the number of a name or -1; values: int32 (n, 2). Of an element these are its roles,
    and what it does, with its spans and whether it is void; of a reference its two characters, with
    0 for no second; of others their number.
    """

    kinds: NDArray[np.uint16]
    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]
    values: NDArray[np.int32]


def tables_of(named: Sequence[tuple[int, str, int, int]]) -> Tables:
    """Return the tables of names: what each is a name of, the name in ASCII, two values."""
    points, offsets = pack([chr(of) + name for of, name, _, _ in named])
    slots = np.full(1 << (4 * len(named)).bit_length(), _UNKNOWN, dtype=np.int32)
    _fill(points, offsets, slots)
    values = np.array([(one, other) for _, _, one, other in named], dtype=np.int32)
    return Tables(_classes(), points, offsets, slots, values)


def _classes() -> NDArray[np.uint16]:
    plane = "".join(map(chr, range(PLANE)))
    kinds = np.zeros(_LAST_WORDS, dtype=np.uint16)
    for flag, form in _CLASSES.items():
        kinds[points_of("".join(re.findall(f"{form}+", plane)))] |= flag
    beyond = "".join(map(chr, range(PLANE, _LAST_WORDS)))
    kinds[points_of("".join(re.findall(r"\w+", beyond)))] |= WORD | GOES_ON
    return kinds


def roles_of(name: str) -> int:
    """Return the roles of an element, or of a prefix of names."""
    if name in _CUSTOM:
        return FOREIGN
    if name not in REPLACEMENT:
        return EVIDENT
    flags = {
        BREAKS: REPLACEMENT[name] == BREAK,
        EVIDENT: name not in AMBIGUOUS,
        CLOSED: name in CLOSED_ONLY,
        DROPS: name in DROPPED,
        SHOWS: name in VERBATIM,
        SHOWS_CODE: name in CODE_LIKE,
        TEMPLATE: name == "template",
        PARAGRAPH: name == "p",
        RAW: name == "xmp",
    }
    return sum(flag for flag, is_so in flags.items() if is_so)


@inner
def number_of(
    tables: Tables, of: int, text: NDArray[np.uint32], start: int, stop: int, small: bool
) -> int:
    """Return the number of the name text[start:stop], -1 if it is none of such a thing.

    small: capital letters count as small ones.
    """
    points, offsets, slots = tables.points, tables.offsets, tables.slots
    mask = slots.shape[0] - 1
    slot = _first_slot(of, text, start, stop, small, mask)
    while slots[slot] != _UNKNOWN:
        number: int = slots[slot]
        begin = offsets[number] + 1
        if offsets[number + 1] - begin == stop - start and points[begin - 1] == of:
            k = 0
            while k < stop - start and letter(text[start + k], small) == points[begin + k]:
                k += 1
            if k == stop - start:
                return number
        slot = (slot + 1) & mask
    return _UNKNOWN


@inner
def meaning_of(tables: Tables, of: int, text: NDArray[np.uint32], start: int, stop: int) -> int:
    """Return the value of the name text[start:stop], in capitals or not; -1 if it is none."""
    number = number_of(tables, of, text, start, stop, True)
    return _UNKNOWN if number == _UNKNOWN else int(tables.values[number, 0])


@borrowing
def _fill(points: NDArray[np.uint32], offsets: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
    mask = slots.shape[0] - 1
    for number in range(offsets.shape[0] - 1):
        begin = offsets[number]
        slot = _first_slot(points[begin], points, begin + 1, offsets[number + 1], False, mask)
        while slots[slot] != _UNKNOWN:
            slot = (slot + 1) & mask
        slots[slot] = number


@inner
def _first_slot(
    of: int, text: NDArray[np.uint32], start: int, stop: int, small: bool, mask: int
) -> int:
    key = np.uint64(of * 64 + stop - start)
    for k in range(start, stop):
        key = (key ^ np.uint64(letter(text[k], small))) * _MULTIPLIER
    return int(key >> np.uint64(40)) & mask


@inner
def letter(point: int, small: bool) -> int:
    """Return a letter, a capital one as a small one if asked to."""
    return point + _LOWER if small and _A <= point <= _Z else point
