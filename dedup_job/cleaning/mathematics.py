"""Mathematics: MathML and TeX within markup, written as text."""

from __future__ import annotations

from typing import Final

from dedup_job.cleaning import symbols, vocabulary
from dedup_job.cleaning.attributes import DECODES, PARSES, copy, is_data
from dedup_job.cleaning.symbols import (
    ALNUM,
    LETTER,
    SPACE,
    append,
    holds_word,
    is_of_class,
    is_word,
    without_blanks,
    write_points,
)
from dedup_job.cleaning.workspace import Page, has, value_place
from dedup_job.native.code_points import Points, points_of
from dedup_job.native.jit import inner

_FRACTION, _ROOT, _BETWEEN, _MISSING, _INDEXED_ROOT = map(
    points_of, (r"\frac{", r"\sqrt{", "}{", "}{}", r"\sqrt[")
)
_NEXT_ROW, _NEXT_CELL, _AFTER_INDEX = map(points_of, (r" \\ ", " & ", "]{"))
_END_BRACE, _COMMA, _ROUND, _ROUND_END = map(ord, "},()")
_WITH_POWER: Final = (vocabulary.POWER, vocabulary.OVER)
_WITH_INDEX: Final = (vocabulary.INDEX, vocabulary.UNDER)
_WITH_BOTH: Final = (vocabulary.BOTH, vocabulary.UNDER_OVER)
_MAX_TURN: Final = 4096  # so that roots within roots take linear time


@inner
def begin_part(page: Page, top: int, at: int) -> int:
    """Write what stands before the children of the element on top."""
    entry = page.stack[top]
    if entry.action == vocabulary.FRACTION:
        return write_points(_FRACTION, page.out, at)
    if entry.action == vocabulary.ROOT:
        return write_points(_ROOT, page.out, at)
    if entry.action == vocabulary.OVER:  # may become an accent
        return append(symbols.NO_MARK, page.out, at)
    if entry.action == vocabulary.FENCED:
        entry.origin = _first_of(page, vocabulary.SEPARATORS, _COMMA, at)
        entry.extra = _first_of(page, vocabulary.CLOSE, _ROUND_END, at)
        first = _first_of(page, vocabulary.OPEN, _ROUND, at)
        return append(first, page.out, at) if first else at
    return at


@inner
def _first_of(page: Page, attribute: int, otherwise: int, at: int) -> int:
    """Return the first character of a value that is no white space, 0 for none."""
    if not has(page, attribute):
        return otherwise
    begin, end = value_place(page, attribute)
    stop, _ = copy(page, begin, end, DECODES | PARSES, at)
    first, stop = without_blanks(page.out, at, stop, page.classes)
    return int(page.out[first]) if first < stop else 0


@inner
def begin_child(page: Page, top: int, at: int) -> int:
    """Write what stands before the next child of the element on top."""
    out, entry = page.out, page.stack[top]
    entry.count += 1
    action, count = entry.action, entry.count
    if count < 2:
        return at
    if action == vocabulary.MATRIX:
        return write_points(_NEXT_ROW, out, at)
    if action == vocabulary.MATRIX_ROW:
        return write_points(_NEXT_CELL, out, at)
    if action == vocabulary.FENCED:
        return append(entry.origin, out, at) if entry.origin else at
    if count == 2:
        if action == vocabulary.FRACTION:
            return write_points(_BETWEEN, out, at)
        if action in (vocabulary.INDEXED_ROOT, vocabulary.OVER):
            entry.extra = at
        mark = _script(action, count)
        return append(mark, out, at) if mark else at
    if count == 3 and action in _WITH_BOTH:
        at = append(symbols.SUB + symbols.END, out, at)
        return append(symbols.SUP, out, at)
    return at


@inner
def _script(action: int, count: int) -> int:
    """Return the mark of the script that child `count`, or one after it, is; 0 for none."""
    if action in _WITH_POWER or (action in _WITH_BOTH and count > 2):
        return symbols.SUP
    return symbols.SUB if action in _WITH_INDEX or action in _WITH_BOTH else 0


@inner
def end_part(page: Page, top: int, at: int) -> int:
    """Write what stands behind the children of the element on top."""
    out, entry = page.out, page.stack[top]
    action, count = entry.action, entry.count
    if action == vocabulary.FRACTION and count < 2:
        return write_points(_MISSING, out, at)
    if action in (vocabulary.FRACTION, vocabulary.ROOT):
        return append(_END_BRACE, out, at)
    if action == vocabulary.FENCED:
        return append(entry.extra, out, at) if entry.extra else at
    if count < 2:
        return at
    if action == vocabulary.INDEXED_ROOT:
        return _turn(out, entry.place, entry.extra, at)
    if action == vocabulary.OVER:
        command = _accent(page, entry.extra + 1, at)
        if command >= 0:
            out[entry.place] = symbols.ACCENTS + command
            return append(_END_BRACE, out, entry.extra)
    mark = _script(action, count)
    return append(mark + symbols.END, out, at) if mark else at


@inner
def _accent(page: Page, first: int, stop: int) -> int:
    """Return the number of the command for a script of one character, -1 if it is none."""
    out = page.out
    only = 0
    for k in range(first, stop):
        if out[k] in (symbols.SUB, symbols.SUP):
            return -1
        if out[k] >= symbols.BEYOND or is_of_class(out[k], SPACE, page.classes):
            continue
        if only:
            return -1
        only = int(out[k])
    for k in range(vocabulary.ACCENT_CHARACTERS.shape[0]):
        if vocabulary.ACCENT_CHARACTERS[k] == only:
            return int(vocabulary.ACCENT_COMMANDS[k])
    return -1


@inner
def _turn(out: Points, place: int, middle: int, at: int) -> int:
    """Write the index of a root before what it is the root of."""
    if not place <= middle <= at or at - place > _MAX_TURN:
        return at
    _reverse(out, place, middle)
    _reverse(out, middle, at)
    _reverse(out, place, at)
    index, before, between = at - middle, _INDEXED_ROOT.shape[0], _AFTER_INDEX.shape[0]
    for k in range(at - 1, place + index - 1, -1):
        out[k + before + between] = out[k]
    for k in range(place + index - 1, place - 1, -1):
        out[k + before] = out[k]
    write_points(_INDEXED_ROOT, out, place)
    write_points(_AFTER_INDEX, out, place + before + index)
    return append(_END_BRACE, out, at + before + between)


@inner
def _reverse(out: Points, first: int, stop: int) -> None:
    stop -= 1
    while first < stop:
        kept = out[first]
        out[first] = out[stop]
        out[stop] = kept
        first += 1
        stop -= 1


_DOLLAR, _BACKSLASH, _CARET, _UNDERSCORE, _BRACE, _COLON = map(ord, "$\\^_{:")
_SQUARE, _SQUARE_END = map(ord, "[]")
_MATH, _LATEX, _EQUATION, _FORMULA, _TEX = map(
    points_of, ["math", "latex", "equation", "formula", "tex"]
)
_FIRST_EASTERN, _MAX_SYMBOL = 0x2E80, 3


@inner
def write_formula_of(page: Page, attribute: int, at: int) -> int:
    """Write the value of an attribute as a formula, see `write_formula`."""
    begin, end = value_place(page, attribute)
    return write_formula(page, begin, end, DECODES | PARSES, at)


@inner
def write_formula(page: Page, begin: int, end: int, how: int, at: int) -> int:
    """Write text[begin:end] as a formula, without the delimiters that it brings along.

    Returns where it ends; the place given if there is nothing but white space.
    """
    out = page.out
    stop, _ = copy(page, begin, end, how, at + 1)
    first, stop = without_blanks(out, at + 1, stop, page.classes)
    while stop - first >= 2 and out[first] == _DOLLAR == out[stop - 1]:
        if stop - first > 2 and out[stop - 2] == _BACKSLASH:
            break
        first, stop = without_blanks(out, first + 1, stop - 1, page.classes)
    if stop - first >= 4 and out[first] == _BACKSLASH == out[stop - 2]:
        opens, closes = out[first + 1], out[stop - 1]
        round_ones = opens == _ROUND and closes == _ROUND_END
        if round_ones or (opens == _SQUARE and closes == _SQUARE_END):
            first, stop = without_blanks(out, first + 2, stop - 2, page.classes)
    if first == stop:
        return at
    at = write_points(out[first:stop], out, append(symbols.FORMULA, out, at))
    return append(symbols.FORMULA_END, out, at)


@inner
def is_nonblank(page: Page, first: int, stop: int) -> bool:
    """Tell whether there is an image, a blank or a character that is no white space."""
    for k in range(first, stop):
        if page.out[k] >= symbols.BEYOND:
            if page.out[k] == symbols.BLANK or page.out[k] in symbols.MEDIA:
                return True
        elif not is_of_class(page.out[k], SPACE, page.classes):
            return True
    return False


@inner
def alt_is_formula(page: Page, at: int) -> bool:
    """Tell whether the alternative text of an image is a formula. out: overwritten from `at` on."""
    out = page.out
    if not has(page, vocabulary.ALT):
        return False
    begin, end = value_place(page, vocabulary.ALT)
    stop, _ = copy(page, begin, end, DECODES | PARSES, at)
    for k in range(at, stop):
        point = out[k]
        if point in (_CARET, _DOLLAR):
            return True
        if point == _UNDERSCORE and k + 1 < stop and out[k + 1] == _BRACE:
            return True
        path = k > at and out[k - 1] == _COLON
        command = point == _BACKSLASH and not path and k + 1 < stop
        if command and is_of_class(out[k + 1], LETTER, page.classes):
            return True
    return _is_named_formula(page) and not _is_wordy(page, at, stop)


@inner
def _is_named_formula(page: Page) -> bool:
    """Tell whether class or address names an image a formula."""
    for attribute in (vocabulary.CLASS, vocabulary.FIRST_ADDRESS):
        if not has(page, attribute):
            continue
        if attribute != vocabulary.CLASS and is_data(page, attribute):
            continue
        begin, end = value_place(page, attribute)
        for word in (_MATH, _LATEX, _EQUATION, _FORMULA):
            if holds_word(page.text, begin, end, word):
                return True
        if _holds_tex(page, begin, end):
            return True
    return False


@inner
def _holds_tex(page: Page, begin: int, end: int) -> bool:
    """Tell whether `tex` stands there as a word of its own: `text` is none."""
    for k in range(begin, end - 2):
        if k > begin and is_of_class(page.text[k - 1], ALNUM, page.classes):
            continue
        if k + 3 < end and is_of_class(page.text[k + 3], ALNUM, page.classes):
            continue
        if is_word(page.text, k, k + 3, _TEX):
            return True
    return False


@inner
def _is_wordy(page: Page, at: int, stop: int) -> bool:
    """Tell whether an alternative text is made of words."""
    letters = 0
    for k in range(at, stop):
        letters = letters + 1 if is_of_class(page.out[k], LETTER, page.classes) else 0
        if letters > _MAX_SYMBOL or page.out[k] >= _FIRST_EASTERN:
            return True
    return False
