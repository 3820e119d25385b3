"""Which `<` of a text begins a tag, a comment or a declaration, and where that ends."""

from __future__ import annotations

from typing import Final

from dedup_job.cleaning import symbols, vocabulary
from dedup_job.cleaning.symbols import (
    Classes,
    Names,
    first_slot,
    is_of_class,
    letter,
    number_of,
    skip_class,
)
from dedup_job.cleaning.workspace import NONE, Page, Workspace
from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inlined, inner

_LT, _GT, _SLASH, _EQUALS, _BANG, _DASH = map(ord, "<>/=!-")
_DOUBLE, _SINGLE, _BACKTICK = map(ord, "\"'`")
_AT, _QUESTION, _COLON, _BRACKET, _END_BRACKET = map(ord, "@?:[]")
_CDATA: Final = points_of("<![CDATA[")
_DOCTYPE, _IF, _ENDIF, _XML, _IMPORT, _MSO = map(
    points_of, ("doctype", "if", "endif", "xml", "import", "mso")
)
_CAPITAL_A, _CAPITAL_Z, _I, _S, _LOWER = *map(ord, "AZis"), 32
_LONG_S, _DOTTED_I, _DOTLESS_I = 0x17F, 0x130, 0x131


@inner
def name_end(text: Points, at: int, classes: Classes) -> int:
    """Return where the name of a tag ends: letters and digits, with single marks between."""
    end = text.shape[0]
    if at >= end or not is_of_class(text[at], symbols.LETTER, classes):
        return NONE
    while True:
        at = skip_class(text, at, symbols.ALNUM, classes)
        if at + 1 >= end or not is_of_class(text[at], symbols.MARK, classes):
            return at
        if not is_of_class(text[at + 1], symbols.ALNUM, classes):
            return at
        at += 1


@inner
def ends_name(text: Points, at: int, classes: Classes) -> bool:
    """Tell whether a name may end here."""
    return at < text.shape[0] and (
        text[at] == _GT or text[at] == _SLASH or is_of_class(text[at], symbols.SPACE, classes)
    )


@inner
def attributes_end(text: Points, start: int, classes: Classes) -> tuple[int, bool]:
    """Return where a tag ends, behind its `>`, and whether an attribute has a value."""
    end, at, values = text.shape[0], start, False
    while True:
        while at < end and (text[at] == _SLASH or is_of_class(text[at], symbols.SPACE, classes)):
            at += 1
        if at < end and text[at] == _GT:
            return at + 1, values
        if at == end or not is_of_class(text[at], symbols.STARTS, classes):
            return _open_quote_end(text, start, classes), True
        at = skip_class(text, at + 1, symbols.GOES_ON, classes)
        _, _, value = value_of(text, at, end, classes)
        if value != NONE:
            at, values = value, True


@inner
def value_of(text: Points, at: int, end: int, classes: Classes) -> tuple[int, int, int]:
    """Return where the value behind a name begins and ends, and the place behind its quote."""
    at = _behind_equals(text, at, end, classes)
    if at == NONE or text[at] in (_EQUALS, _BACKTICK):
        return NONE, NONE, NONE
    quote, stop = text[at], at
    if quote in (_DOUBLE, _SINGLE):
        stop = at + 1
        while stop < end and text[stop] != quote:
            stop += 1
        return (at + 1, stop, stop + 1) if stop < end else (NONE, NONE, NONE)
    while stop < end and not is_of_class(text[stop], symbols.ENDS, classes):
        stop += 1
    return (at, stop, stop) if stop > at else (NONE, NONE, NONE)


@inner
def _open_quote_end(text: Points, at: int, classes: Classes) -> int:
    """Return where a tag ends with quotes inside quotes, style="font-family:"Arial""."""
    start, end = at, text.shape[0]
    at = skip_class(text, at, symbols.SPACE, classes)
    if at in (start, end) or not is_of_class(text[at], symbols.LETTER, classes):
        return NONE
    at += 1
    while at < end and text[at] != _AT and is_of_class(text[at], symbols.GOES_ON, classes):
        at += 1
    at = _behind_equals(text, at, end, classes)
    if at == NONE or text[at] not in (_DOUBLE, _SINGLE):
        return NONE
    return angle_end(text, at + 1)


@inner
def _behind_equals(text: Points, at: int, end: int, classes: Classes) -> int:
    """Return where a value begins, behind `=` and white space."""
    at = skip_class(text, at, symbols.SPACE, classes)
    if at >= end or text[at] != _EQUALS:
        return NONE
    at = skip_class(text, at + 1, symbols.SPACE, classes)
    return at if at < end else NONE


@inner
def angle_end(text: Points, at: int) -> int:
    """Return the place behind the next `>` if no `<` comes before it."""
    while at < text.shape[0] and text[at] != _LT and text[at] != _GT:
        at += 1
    return at + 1 if at < text.shape[0] and text[at] == _GT else NONE


@inner
def _closing_tag(text: Points, at: int, classes: Classes, elements: Names) -> tuple[int, int]:
    """Return where the closing tag ends whose `<` stands here, and the number of its name."""
    stop = at + 2
    if stop >= text.shape[0] or text[at + 1] != _SLASH:
        return NONE, NONE
    if not is_of_class(text[stop], symbols.LETTER, classes):
        return NONE, NONE
    stop = skip_class(text, stop, symbols.ALNUM | symbols.MARK, classes)
    end = angle_end(text, stop) if ends_name(text, stop, classes) else NONE
    if end == NONE:
        return NONE, NONE
    return end, number_of(elements, vocabulary.ELEMENT, text, at + 2, stop, True)


@inner
def comment_end(text: Points, at: int) -> int:
    """Return where a comment ends that is open here, behind `-->` or `--!>`."""
    end = text.shape[0]
    while at + 2 < end:
        if text[at] == _DASH and text[at + 1] == _DASH:
            if text[at + 2] == _GT:
                return at + 3
            if text[at + 2] == _BANG and at + 3 < end and text[at + 3] == _GT:
                return at + 4
        at += 1
    return NONE


@inner
def declaration_end(text: Points, at: int, classes: Classes) -> int:
    """Return where `<!doctype>`, `<?xml>`, `<![if]>` and their like end whose `<` stands here."""
    if text[at + 1] == _QUESTION:
        for word in (_XML, _IMPORT, _MSO):
            if begins(text, at + 2, word):
                return angle_end(text, at + 2)
        return NONE
    if at + 2 < text.shape[0] and text[at + 2] == _BRACKET:
        if begins(text, at, _CDATA):  # left over where two marks stood in each other
            return at + int(_CDATA.shape[0])
        start = skip_class(text, at + 3, symbols.SPACE, classes)
        for word in (_IF, _ENDIF):
            if begins(text, start, word):
                return _behind_word(text, start + word.shape[0], classes)
        return NONE
    if begins(text, at + 2, _DOCTYPE):
        return _behind_word(text, at + 2 + _DOCTYPE.shape[0], classes)
    return NONE


@inner
def begins(text: Points, at: int, word: Points) -> bool:
    """Tell whether a word of small letters, or capital ones, or marks, begins here.

    The few other letters that Unicode takes for an i or s count as such, as in a pattern that
    ignores case.
    """
    k, length = 0, len(word)
    if at + length > text.shape[0]:
        return False
    while k < length and (text[at + k] == word[k] or _as_small(text[at + k]) == word[k]):
        k += 1
    return k == length


@inner
def _as_small(point: int) -> int:
    if _CAPITAL_A <= point <= _CAPITAL_Z:
        return point + _LOWER
    if point == _LONG_S:
        return _S
    return _I if point in (_DOTTED_I, _DOTLESS_I) else point


@inner
def _behind_word(text: Points, at: int, classes: Classes) -> int:
    if at < text.shape[0] and is_of_class(text[at], symbols.WORD, classes):
        return NONE
    return angle_end(text, at)


CLOSES, ITSELF, VALUES, IS_TAG, NO_MORE_COMMENTS = (1 << i for i in range(16, 21))
"""Beside an element's roles: a closing tag; one that closes itself; one with an attribute's value;
a tag at all; a comment that does not end, so that no later one does."""


@inner
def survey(raw: Points, work: Workspace) -> int:
    """Do what `survey_tags` does with a text once it is without its CDATA marks.

    Returns how long it is then, in `work.copy`, -1 if it holds none.
    """
    if not survey_tags(raw, work):
        return NONE
    length = _without_cdata_marks(raw, work.copy)
    survey_tags(work.copy[:length], work)
    return length


@inner
def survey_tags(text: Points, work: Workspace) -> bool:
    """Note where the last closing tag of each element begins; tell of a CDATA mark anywhere.

    The text before is forgotten.
    """
    work.reading[0] = work.reading[1]
    for k in range(len(work.elements)):
        work.elements[k].last = NONE
    found = False
    for j in range(text.shape[0] - 1):
        if text[j] != _LT:
            continue
        if text[j + 1] == _SLASH:
            _, number = _closing_tag(text, j, work.classes, work.names)
            if number != NONE:
                work.elements[number].last = j
        elif text[j + 1] == _BANG:
            found = found or begins(text, j, _CDATA)
    return found


@inner
def _without_cdata_marks(text: Points, out: Points) -> int:
    """Write a text without its CDATA marks and as many `]]>` behind the first; return its length.

    The ends are looked for in what is left once the beginnings are gone.
    """
    at, j, marks, first = 0, 0, 0, NONE
    while j < text.shape[0]:
        if text[j] == _LT and begins(text, j, _CDATA):
            first = at if first == NONE else first
            marks += 1
            j += _CDATA.shape[0]
            continue
        out[at] = text[j]
        at += 1
        j += 1
    end, at, j = at, first, first
    while j < end:
        if marks and j + 2 < end and out[j] == _END_BRACKET == out[j + 1] and out[j + 2] == _GT:
            marks -= 1
            j += 3
            continue
        out[at] = out[j]
        at += 1
        j += 1
    return at


@inlined
def markup(page: Page, j: int, comments: bool) -> tuple[int, int, int, int, int]:
    """Read the markup whose `<` stands here.

    Returns where it ends, `NONE` for text; the element's number; its roles and flags; where content
    to show begins and ends, 0 and 0 without any.
    """
    text = page.text
    after = text[j + 1]
    if after == _BANG and j + 3 < text.shape[0] and text[j + 2] == _DASH and text[j + 3] == _DASH:
        stop = comment_end(text, j + 2) if comments else NONE
        return stop, NONE, NO_MORE_COMMENTS if stop == NONE else 0, 0, 0
    if after in (_BANG, _QUESTION):
        return declaration_end(text, j, page.classes), NONE, 0, 0, 0
    if after == _SLASH or is_of_class(after, symbols.LETTER, page.classes):
        return _tag(page, j)
    return NONE, NONE, 0, 0, 0


@inlined
def _tag(page: Page, start: int) -> tuple[int, int, int, int, int]:
    text = page.text
    closes = text[start + 1] == _SLASH
    begin = start + 2 if closes else start + 1
    stop = name_end(text, begin, page.classes)
    if stop == NONE or not ends_name(text, stop, page.classes):
        return NONE, NONE, 0, 0, 0
    number = number_of(page.names, vocabulary.ELEMENT, text, begin, stop, True)
    roles = _roles_of_other(page, begin, stop) if number == NONE else page.names.values[number, 0]
    if roles == NONE:
        return NONE, NONE, 0, 0, 0
    end, values = attributes_end(text, stop, page.classes)
    if end == NONE:
        return NONE, NONE, 0, 0, 0
    itself = end - 2 >= stop and text[end - 2] == _SLASH
    evident = roles & vocabulary.EVIDENT or closes or values or itself
    if not evident and not _is_meant(page, start, begin, stop, end, number, roles):
        return NONE, NONE, 0, 0, 0
    flags = roles | IS_TAG | (CLOSES if closes else 0) | (VALUES if values else 0)
    if closes or itself:
        return end, number, flags | (ITSELF if itself else 0), 0, 0
    if roles & vocabulary.CLOSED:
        if page.elements[number].last < end:
            return NONE, NONE, 0, 0, 0
        if roles & (vocabulary.DROPS | vocabulary.SHOWS):
            hidden, ends = _content_end(page, end, number)
            return ends, number, flags, end, hidden
    return end, number, flags, 0, 0


@inlined
def _is_meant(
    page: Page, start: int, begin: int, stop: int, end: int, number: int, roles: int
) -> bool:
    """Tell whether a tag is one although its name has other uses and it has no attribute."""
    if number == NONE:
        return _last_of_foreign(page, begin, stop) > start
    if roles & vocabulary.PARAGRAPH and end == stop + 1 and _starts_paragraph(page, start):
        return True
    return bool(page.elements[number].last > start)


@inlined
def _roles_of_other(page: Page, begin: int, stop: int) -> int:
    """Return the roles of a name that is no element's, -1 if it is none of a tag."""
    text = page.text
    mark = skip_class(text, begin, symbols.ALNUM, page.classes)
    if mark == stop or text[mark] not in (_COLON, _DASH):
        return NONE
    office = number_of(page.names, vocabulary.ELEMENT, text, begin, mark + 1, True)
    whole = skip_class(text, mark + 1, symbols.ALNUM, page.classes) == stop
    return vocabulary.EVIDENT if office != NONE and whole else vocabulary.FOREIGN


@inlined
def _starts_paragraph(page: Page, start: int) -> bool:
    before = page.text[max(start - 1, 0)]
    return start == 0 or before == _GT or is_of_class(before, symbols.SPACE, page.classes)


@inner
def _content_end(page: Page, j: int, number: int) -> tuple[int, int]:
    """Return where the next closing tag of an element begins and ends; there is one."""
    while True:
        if page.text[j] == _LT:
            end, closed = _closing_tag(page.text, j, page.classes, page.names)
            if closed == number:
                return j, end
        j += 1


@inner
def _last_of_foreign(page: Page, begin: int, stop: int) -> int:
    """Return where the last closing tag of a name that no table holds begins, -1 without one."""
    text = page.text
    mask = 16  # a cleaned text can be longer than those that the room is for, its names cannot
    while mask < text.shape[0] // 3 and 4 * mask <= page.scratch.shape[0]:
        mask *= 2
    mask = 2 * mask - 1
    if not page.state.foreign_read:
        page.state.foreign_read = 1
        page.scratch[: mask + 1] = NONE
        for j in range(text.shape[0] - 2):
            closes = text[j] == _LT and text[j + 1] == _SLASH
            if closes and is_of_class(text[j + 2], symbols.LETTER, page.classes):
                end = skip_class(text, j + 2, symbols.ALNUM | symbols.MARK, page.classes)
                if ends_name(text, end, page.classes) and angle_end(text, end) != NONE:
                    page.scratch[_slot(page, j + 2, end, mask)] = j
    place: int = page.scratch[_slot(page, begin, stop, mask)]
    return place


@inner
def _slot(page: Page, begin: int, stop: int, mask: int) -> int:
    """Return the slot of a name, or the empty one where it belongs."""
    text, goes_on = page.text, symbols.ALNUM | symbols.MARK
    slot = first_slot(0, text, begin, stop, True, mask)
    while page.scratch[slot] != NONE:
        place = page.scratch[slot] + 2
        k = 0
        while k < stop - begin and letter(text[place + k], True) == letter(text[begin + k], True):
            k += 1
        if k == stop - begin and not is_of_class(text[place + k], goes_on, page.classes):
            return slot
        slot = (slot + 1) & mask
    return slot
