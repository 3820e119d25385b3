"""The element names the guard knows, by what they leave in the text."""

from __future__ import annotations

import re
from typing import Final

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
