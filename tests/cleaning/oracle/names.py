"""The names of elements: which break a line, which have other uses, which have no content."""

_BLOCKS = """
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
_AMBIGUOUS = """
    a b i p q s u data label link map object output time
    g path circle rect line polyline polygon ellipse text tspan textpath defs use symbol marker
    mask pattern image filter stop view set switch animate metadata desc
    mi mn mo ms none
"""
_VOID = """
    area base basefont bgsound br col colgroup command embed frame hr image img input isindex keygen
    link meta param source spacer track v:imagedata wbr mprescripts mspace
"""
_CLOSED_ONLY = "script style title textarea xmp iframe noembed noframes"

BLOCKS, KNOWN = frozenset(_BLOCKS.split()), frozenset((_BLOCKS + _INLINE).split())
AMBIGUOUS, VOID = frozenset(_AMBIGUOUS.split()), frozenset(_VOID.split())
CLOSED_ONLY = frozenset(_CLOSED_ONLY.split())
DROPPED, VERBATIM = frozenset(["script", "style"]), frozenset(["title", "textarea", "xmp"])
INVISIBLE = "\u200b\ufeff"
