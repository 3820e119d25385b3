"""Writes the canonical form of a part: a stem, a choice, an answer, with its marks and links."""

from __future__ import annotations

from dedup_job.judgment import frames
from dedup_job.judgment.amounts import is_range, write_number, write_numeral, write_word
from dedup_job.judgment.cells import (
    before,
    is_blank,
    is_digit,
    is_han,
    is_latin,
    lists_at,
    point_at,
    skip_blanks,
    stands_at,
)
from dedup_job.judgment.formulas import write_command, write_image, write_script
from dedup_job.judgment.frames import AT, BASE, END, FormWorkspace, frame_at, note, put
from dedup_job.judgment.words import (
    BLANK,
    CLAUSE,
    DIGIT,
    DROPPED,
    ENGLISH,
    KIND,
    LATIN,
    LETTER,
    LOWERED,
    NUMERAL,
    POINT,
    RAISED,
    SMALL,
    STARTS,
    SYMBOL,
    UNTIL,
    WORD_CHARACTER,
    Cells,
    codes,
)
from dedup_job.native.jit import inner

_SQUARE, _SQUARE_END, _ROUND, _ROUND_END, _BANG, _HASH, _SLASH, _BACKSLASH = codes("[]()!#/\\")
_MINUS, _TILDE, _DASH, _LESS, _GREATER, _STAR, _BRACE, _BRACE_END, _AND = codes("-~—<>*{}&")
_BAR, _CENTRE, _TICK, _DOT, _CARET, _UNDERLINE, _TIMES, _SPACE, _NEWLINE = codes("|·'.^_× \n")
_ALPHA, _OMEGA = codes("αω")

_SCHEME = codes("http")


@inner
def opens_link(cells: Cells, i: int, base: int, stop: int) -> bool:
    """Tell whether the [ at i opens the words of a link."""
    if i > base and point_at(cells, i - 1) == _BANG:  # an image
        return False
    k = i + 1
    while k < stop and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k += 1
    return k < stop and point_at(cells, k) == _SQUARE_END and _target_end(cells, k, stop) > k


@inner
def link_end(cells: Cells, i: int, base: int, stop: int) -> int:
    """Return where the link ends whose words the ] at i closes, i where it closes none."""
    end = _target_end(cells, i, stop)
    if end == i:
        return i
    k = i - 1
    while k >= base and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k -= 1
    opened = k >= base and point_at(cells, k) == _SQUARE
    return end if opened and opens_link(cells, k, base, stop) else i


@inner
def _target_end(cells: Cells, i: int, stop: int) -> int:
    """Return where the (target) behind i ends, i where there is none.

    A target is a URL, a path from / on or a place in the page: (x) stays a formula.
    """
    if i + 3 >= stop or point_at(cells, i + 1) != _ROUND or not _begins(cells, i + 2, stop):
        return i
    k = i + 2
    while k < stop and not is_blank(cells, k):
        if point_at(cells, k) == _ROUND:
            return i
        if point_at(cells, k) == _ROUND_END:
            return k + 1
        k += 1
    return i


@inner
def _begins(cells: Cells, i: int, stop: int) -> bool:
    if point_at(cells, i) == _HASH:
        return True
    if point_at(cells, i) == _SLASH:
        return is_latin(cells, i + 1)
    return stands_at(cells, i, stop - 1, _SCHEME)


_QUOTES, _QUOTES_END = codes('“"《'), codes('”"》')
_BEFORE_POINT = codes("=+-×÷<>(,$~/|")
_AFTER_BANG = codes("=+-×÷/*)")
_STYLES = ("underline", "dots", "bold", "italic")
_STYLE_POINTS = tuple(map(ord, "".join(_STYLES)))
_STYLE_LENGTHS = tuple(map(len, _STYLES))
_STYLE_STARTS = tuple(sum(_STYLE_LENGTHS[:k]) for k in range(len(_STYLES)))


@inner
def write_mark(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write the mark at i where it means something; return where the next cell lies."""
    point, stop = point_at(cells, i), frame_at(space, END)
    if point == _BACKSLASH:
        return write_command(cells, i, tables, space)
    if point == _CARET or (point == _UNDERLINE and _is_index(cells, i, space)):
        return write_script(cells, i, tables, space)
    if point == _DOT:
        return _write_dot(cells, i, tables, space)
    if point in (_ROUND, _SQUARE):
        return _open_bracket(cells, i, space)
    if point == _MINUS:
        return _write_dash(cells, i, space)
    if point == _BANG:
        end = write_image(cells, i, stop, space)
        return end if end > i else _write_bang(cells, i, space)
    if point in (_TILDE, _DASH):
        end = i + 1
        while end < stop and (point_at(cells, end) == _TILDE or point_at(cells, end) == _DASH):
            end += 1
        if is_range(cells, i, end, space):
            put(space, _MINUS)
        return end
    if point in (_LESS, _GREATER, _STAR):
        return _write_pair(cells, i, space)
    if point in (_ROUND_END, _SQUARE_END):
        return _close_bracket(cells, i, space)
    if _is_kept(cells, i, space):
        put(space, point)
    return i + 1


@inner
def _is_index(cells: Cells, i: int, space: FormWorkspace) -> bool:
    """Tell whether the _ at i stands within something."""
    if i <= frame_at(space, BASE) or i + 1 >= frame_at(space, END):
        return False
    return not (_parts(point_at(cells, i - 1)) or _parts(point_at(cells, i + 1)))


@inner
def _parts(point: int) -> bool:
    return point in (_UNDERLINE, _SPACE, _NEWLINE)


@inner
def _write_dot(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write .5, or note the end of a sentence."""
    base, stop = frame_at(space, BASE), frame_at(space, END)
    if i + 1 < stop and is_digit(cells, i + 1):
        if i == base or is_blank(cells, i - 1) or point_at(cells, i - 1) in _BEFORE_POINT:
            return write_number(cells, i, tables, space)
    elif i > base and not is_digit(cells, i - 1) and (i + 1 == stop or is_blank(cells, i + 1)):
        note(space)
    return i + 1


@inner
def _open_bracket(cells: Cells, i: int, space: FormWorkspace) -> int:
    """Write an opening bracket before a formula; a blank goes, emphasised words begin."""
    base, stop = frame_at(space, BASE), frame_at(space, END)
    if point_at(cells, i) == _SQUARE:
        if opens_link(cells, i, base, stop):
            return i + 1
        end = _emphasis_end(cells, i, stop)
        if end > i:
            close = end - 1
            while point_at(cells, close) != _SQUARE_END:
                close -= 1
            frames.open_emphasis(space, i + 1, close, end)
            return i + 1
    end = i + 1
    while end < stop and (is_blank(cells, end) or point_at(cells, end) == _UNDERLINE):
        end += 1
    if end < stop and (point_at(cells, end) == _ROUND_END or point_at(cells, end) == _SQUARE_END):
        return end + 1
    after = skip_blanks(cells, i + 1, stop)
    if after < stop and not is_han(cells, after) and point_at(cells, after) not in _QUOTES:
        put(space, point_at(cells, i))
    return i + 1


@inner
def _emphasis_end(cells: Cells, i: int, stop: int) -> int:
    """Return where [words]{.underline} and the like at i end, i where they are not there."""
    k = i + 1
    while k < stop and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k += 1
    if k + 3 > stop or point_at(cells, k) != _SQUARE_END:
        return i
    if point_at(cells, k + 1) != _BRACE or point_at(cells, k + 2) != _DOT:
        return i
    k += 3
    for style in range(len(_STYLE_LENGTHS)):
        length, first = _STYLE_LENGTHS[style], _STYLE_STARTS[style]
        end = k + length
        if end < stop and point_at(cells, end) == _BRACE_END:
            same = True
            for m in range(length):
                same &= point_at(cells, k + m) == _STYLE_POINTS[first + m]
            if same:
                return end + 1
    return i


@inner
def _close_bracket(cells: Cells, i: int, space: FormWorkspace) -> int:
    """Write a closing bracket behind a formula; a pair with nothing in it, a link's target goes."""
    base, point = frame_at(space, BASE), point_at(cells, i)
    if point == _SQUARE_END:
        end = link_end(cells, i, base, frame_at(space, END))
        if end > i:
            return end
    k = before(cells, i, base)
    if k < base or is_han(cells, k) or point_at(cells, k) in _QUOTES_END:
        return i + 1
    opening = _ROUND if point == _ROUND_END else _SQUARE
    if frames.last_of(space) == opening and frame_at(space, frames.NOTED) != space.work[AT]:
        space.work[AT] -= 1
    else:
        put(space, point)
    return i + 1


@inner
def _write_dash(cells: Cells, i: int, space: FormWorkspace) -> int:
    """Write a minus; a dash between words goes."""
    base, stop = frame_at(space, BASE), frame_at(space, END)
    k = before(cells, i, base)
    end = i + 1
    while end < stop and point_at(cells, end) == _MINUS:
        end += 1
    if end - i > 2:
        return end
    if end - i == 2:
        after = skip_blanks(cells, end, stop)
        if after == stop or is_han(cells, after) or (k >= base and is_han(cells, k)):
            return end
        if not cells[after] & WORD_CHARACTER and point_at(cells, after) != _ROUND:
            return end
    elif i - base >= 2 and i + 2 < stop:
        words = is_latin(cells, i - 1) and is_latin(cells, i - 2)
        if words and is_latin(cells, i + 1) and is_latin(cells, i + 2):
            return i + 1
    after = skip_blanks(cells, i + 1, stop)
    alone = k < base and after == stop
    if alone or not (_is_text(cells, k, base, stop) and _is_text(cells, after, base, stop)):
        put(space, _MINUS)
    return i + 1


@inner
def _is_text(cells: Cells, i: int, base: int, stop: int) -> bool:
    """Tell whether it is a Chinese character or none at all."""
    return i < base or i >= stop or is_han(cells, i)


@inner
def _write_bang(cells: Cells, i: int, space: FormWorkspace) -> int:
    """Write a factorial, or that of !=; else note the end of a sentence."""
    base, stop = frame_at(space, BASE), frame_at(space, END)
    k = before(cells, i, base)
    kept = i + 1 < stop and point_at(cells, i + 1) == ord("=")
    variable = i > base and is_latin(cells, i - 1)
    variable &= not (i - 2 >= base and is_latin(cells, i - 2))
    if variable or (k >= base and is_digit(cells, k)):
        after = skip_blanks(cells, i + 1, stop)
        kept = after < stop and (is_digit(cells, after) or point_at(cells, after) in _AFTER_BANG)
    if kept:
        put(space, _BANG)
    else:
        note(space)
    return i + 1


@inner
def _write_pair(cells: Cells, i: int, space: FormWorkspace) -> int:
    """Write < > * but not <<, >>, ** that are quotes or emphasis."""
    base, stop, point = frame_at(space, BASE), frame_at(space, END), point_at(cells, i)
    k, after = before(cells, i, base), skip_blanks(cells, i + 1, stop)
    double = i + 1 < stop and point_at(cells, i + 1) == point
    if point == _LESS:
        if double and i + 2 < stop and is_han(cells, i + 2):
            return i + 2
    elif point == _GREATER:
        if double and k >= base and is_han(cells, k):
            return i + 2
    elif double:
        return i + 2
    else:
        if k < base:
            return i + 1
        meant = point_at(cells, k) == _ROUND_END
        if point_at(cells, i - 1) == _NEWLINE and i + 1 < stop and is_blank(cells, i + 1):
            meant = False  # the mark of an item of a list
        elif _is_letter(cells, k) and after < stop:
            meant |= _is_letter(cells, after) or point_at(cells, after) == _ROUND
        point = _TIMES if meant else 0
    if point:
        put(space, point)
    return i + 1


@inner
def _is_letter(cells: Cells, i: int) -> bool:
    return cells[i] & WORD_CHARACTER != 0 and point_at(cells, i) != _UNDERLINE


@inner
def _is_kept(cells: Cells, i: int, space: FormWorkspace) -> bool:
    """Tell whether one of { } & | / · ' _ means something."""
    base, stop, point = frame_at(space, BASE), frame_at(space, END), point_at(cells, i)
    if point in (_BRACE, _BRACE_END, _AND):
        return not frame_at(space, frames.IN_LATEX)
    if point == _BAR:  # between cells
        left = i == base or is_blank(cells, i - 1)
        return not (left and (i + 1 == stop or is_blank(cells, i + 1)))
    k, after = before(cells, i, base), skip_blanks(cells, i + 1, stop)
    if point == _SLASH:
        return not (_is_text(cells, k, base, stop) and _is_text(cells, after, base, stop))
    if point == _CENTRE:
        return k >= base and after < stop and not is_han(cells, k) and not is_han(cells, after)
    if point != _TICK or k < base:
        return False
    mark = point_at(cells, k)
    variable = is_latin(cells, k) or is_digit(cells, k) or mark == _ROUND_END
    variable |= _ALPHA <= mark <= _OMEGA or (mark == _TICK and frames.last_of(space) == _TICK)
    if not variable or (i + 1 < stop and is_latin(cells, i + 1)):
        return False
    return not (is_latin(cells, k) and k - 1 >= base and is_latin(cells, k - 1))


@inner
def write_part(
    cells: Cells, start: int, stop: int, latex: bool, tables: Cells, space: FormWorkspace
) -> None:
    """Write the canonical form of cells[start:stop] to the space."""
    frames.open_whole(space, start, stop, latex)
    out, state = space.out, space.work
    i = start
    while True:
        end, at = frame_at(space, END), state[AT]
        while i < end:
            kind = cells[i] >> KIND
            if kind <= SYMBOL:
                out[at] = cells[i] & POINT
                at += 1
            elif kind == LETTER:
                out[at] = tables[SMALL + point_at(cells, i)]
                at += 1
            elif kind == LATIN and not (
                cells[i] & STARTS and lists_at(cells, i, end, tables) & ENGLISH
            ):
                while i < end and cells[i] >> KIND == LATIN:
                    out[at] = point_at(cells, i) | 32
                    at += 1
                    i += 1
                continue
            elif kind == CLAUSE or kind == BLANK:  # noqa: SIM109  # faster in numba
                if kind == CLAUSE or point_at(cells, i) == _NEWLINE:
                    state[AT] = at
                    note(space)
            elif kind != DROPPED:
                break
            i += 1
        state[AT] = at
        if i < end:
            i = _write_element(cells, i, tables, space)
            if not frame_at(space, frames.SINGLE) or i <= frame_at(space, BASE):
                continue
        if state[frames.CURRENT] == frames.FRAMES:
            return
        i = frames.close_frame(cells, i, tables, space)
        while frame_at(space, frames.SINGLE) and i > frame_at(space, BASE):
            i = frames.close_frame(cells, i, tables, space)


@inner
def _write_element(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write what stands at i; return where the next begins."""
    kind = cells[i] >> KIND
    if kind == LATIN:
        return write_word(cells, i, tables, space)
    if kind == DIGIT:
        return write_number(cells, i, tables, space)
    if kind == NUMERAL:
        return write_numeral(cells, i, tables, space)
    if kind in (RAISED, LOWERED):
        return write_script(cells, i, tables, space)
    if kind == UNTIL:
        put(space, _MINUS if is_range(cells, i, i + 1, space) else point_at(cells, i))
        return i + 1
    return write_mark(cells, i, tables, space)
