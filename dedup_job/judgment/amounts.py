"""Numbers in digits, in Chinese numerals, in words; units behind them."""

from __future__ import annotations

from dedup_job.judgment import words
from dedup_job.judgment.cells import (
    before,
    behind,
    han_digit,
    han_value,
    is_blank,
    is_digit,
    is_digit_point,
    is_latin,
    length_of,
    next_word,
    point_at,
    skip_blanks,
    skip_digits,
    skip_latin,
    small_at,
    value_at,
    word_at,
)
from dedup_job.judgment.frames import (
    AT,
    BASE,
    END,
    FormWorkspace,
    frame_at,
    last_of,
    put,
    put_cells,
)
from dedup_job.judgment.words import ENGLISH, KIND, MARK, NOUGHT, VALUE, WORD, Cells, codes
from dedup_job.native.jit import inner

_MYRIAD, _HUNDRED_MILLION, _ZERO, _COMMA, _DOT, _SPACE, _DOLLAR, _O = codes("万亿0,. $o")
_PERCENT, _SLASH, _DEGREE, _TEN, _HUNDRED, _THOUSAND, _ONE_OF, _PART = codes("%/°十百千一分")
_OF, _ORDINAL, _POINTS, _HYPHEN, _NAUGHT, _NAUGHT_ROUND = codes("之第分-零〇")


@inner
def put_apart(space: FormWorkspace) -> None:
    """Write a comma where a number would follow a number."""
    if is_digit_point(last_of(space)):
        put(space, _COMMA)


@inner
def write_number(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write the number at i and the unit behind it; return where that ends."""
    end_of = frame_at(space, END)
    put_apart(space)
    end = skip_digits(cells, i, end_of)
    if _stands_alone(cells, i, end, end_of):
        put_cells(cells, i, end, space)
        return end
    start = space.work[AT]
    whole, fraction = end, 0
    if whole == i:
        put(space, _ZERO)
    else:
        end = _grouped(cells, i, whole, end_of)
        if end == whole:
            latin = i > frame_at(space, BASE) and is_latin(cells, i - 1)
            end = whole if latin else _with_zeros(cells, i, whole, end_of)
    spaced = end > whole and point_at(cells, whole) != _COMMA
    for k in range(i, end):
        if is_digit(cells, k):
            put(space, point_at(cells, k))
        elif small_at(cells, k) == _O:
            put(space, _ZERO)
    point = space.work[AT]
    if (
        not spaced
        and end + 1 < end_of
        and point_at(cells, end) == _DOT
        and is_digit(cells, end + 1)
    ):
        start_of, end = end + 1, skip_digits(cells, end + 1, end_of)
        put_cells(cells, start_of, end, space)
        fraction = end - start_of
    end, shift = _myriads(cells, end, end_of)
    while fraction < shift:
        put(space, _ZERO)
        fraction += 1
    tidy_number(space, start, point + shift)
    return write_unit(cells, end, tables, space)


@inner
def _myriads(cells: Cells, end: int, stop: int) -> tuple[int, int]:
    """Return where 万 or 亿 behind a number ends, and how many zeros they stand for."""
    shift = 0
    for _ in range(2):
        k = end + 1 if end < stop and is_blank(cells, end) else end
        if k < stop and point_at(cells, k) == _MYRIAD:
            shift += 4
        elif k < stop and point_at(cells, k) == _HUNDRED_MILLION:
            shift += 8
        else:
            break
        end = k + 1
    return end, shift


@inner
def _stands_alone(cells: Cells, i: int, end: int, stop: int) -> bool:
    """Tell whether the digits cells[i:end] are all of a number, without a unit."""
    if end in (i, stop) or (point_at(cells, i) == _ZERO and end > i + 1):
        return False
    kind = cells[end] >> KIND
    if cells[end] & words.STARTS or kind > MARK:
        return False
    return kind <= words.SYMBOL or (kind == MARK and point_at(cells, end) != _DOT)


@inner
def tidy_number(space: FormWorkspace, start: int, point: int) -> None:
    """Take zeros that say nothing off the digits from start on, and set the decimal point."""
    out, end = space.out, space.work[AT]
    first = start
    while first + 1 < point and out[first] == _ZERO:
        first += 1
    while end > point and out[end - 1] == _ZERO:
        end -= 1
    if first > start:
        for k in range(first, end):
            out[start + k - first] = out[k]
        point, end = point + start - first, end + start - first
    if end > point:
        for k in range(end, point, -1):
            out[k] = out[k - 1]
        out[point] = _DOT
        end += 1
    space.work[AT] = end


@inner
def _grouped(cells: Cells, i: int, end: int, stop: int) -> int:
    """Return where 1,000 or 1 000 ends whose first digits end at `end`; end: it is none."""
    if end - i > 3:
        return end
    k = former = end
    while k < stop and point_at(cells, k) == _COMMA and _three(cells, k + 1, stop):
        former, k = k, k + 4
    if k > end:
        k = former if k < stop and is_digit(cells, k) else k
    if k > end:
        return k
    k = former = end
    while k < stop:
        m = k
        while m < stop and (point_at(cells, m) == _SPACE or point_at(cells, m) == _DOLLAR):
            m += 1
        if m == k or not _three(cells, m, stop):
            break
        former, k = k, m + 3
    return former if k < stop and is_digit(cells, k) else k


@inner
def _three(cells: Cells, i: int, stop: int) -> bool:
    """Tell whether three digits stand at i."""
    return (
        i + 3 <= stop and is_digit(cells, i) and is_digit(cells, i + 1) and is_digit(cells, i + 2)
    )


@inner
def _with_zeros(cells: Cells, i: int, end: int, stop: int) -> int:
    """Return where a number ends in which an o was read for a zero, end: none was."""
    if end >= stop or small_at(cells, end) != _O:
        return end
    if end - i > 1:
        if end + 1 < stop and is_latin(cells, end + 1):
            return end
    elif end + 1 >= stop:
        return end
    elif not is_digit(cells, end + 1):
        if end + 2 >= stop or point_at(cells, end + 1) != _SPACE:
            return end
        if point_at(cells, end + 2) != _ZERO:
            return end
    k = end
    while k < stop and (is_digit(cells, k) or small_at(cells, k) == _O):
        k += 1
    former = k
    while k < stop and point_at(cells, k) == _SPACE and _three(cells, k + 1, stop):
        former, k = k, k + 4
    return former if k < stop and is_digit(cells, k) else k


@inner
def is_range(cells: Cells, i: int, end: int, space: FormWorkspace) -> bool:
    """Tell whether cells[i:end] stand between two numbers."""
    base, stop = frame_at(space, BASE), frame_at(space, END)
    k, after = before(cells, i, base), skip_blanks(cells, end, stop)
    if k < base or after >= stop or not is_digit(cells, after):
        return False
    return is_digit(cells, k) or point_at(cells, k) == _PERCENT or point_at(cells, k) == _DEGREE


@inner
def unit_at(cells: Cells, i: int, stop: int, tables: Cells) -> int:
    """Return the word for a unit at i, -1: none is there."""
    w = word_at(cells, i, stop, tables, words.UNIT)
    if w > 0 and is_latin(cells, i):
        end = i + length_of(tables, w)
        if end < stop and is_latin(cells, end):
            return 0
    return w


@inner
def put_value(tables: Cells, w: int, space: FormWorkspace) -> None:
    """Write what a word stands for."""
    start = w + WORD + length_of(tables, w)
    for k in range(start, behind(tables, w)):
        put(space, value_at(tables, k))


@inner
def write_unit(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write the unit behind a number, if there is one; return where that ends."""
    stop = frame_at(space, END)
    k = skip_blanks(cells, i, stop)
    w = unit_at(cells, k, stop, tables)
    if w == 0:
        return i
    put_value(tables, w, space)
    k += length_of(tables, w)
    while k < stop and point_at(cells, k) == _SLASH:  # 米/秒
        w = unit_at(cells, k + 1, stop, tables)
        if w == 0:
            break
        put(space, _SLASH)
        put_value(tables, w, space)
        k += 1 + length_of(tables, w)
    return k


_LARGEST = 10**17
_NO_PAIR = tuple(
    (ord(a) << 32) + ord(b) for a, b in ("千万", "百万", "万千", "千百", "万一", "百千", "十一")
)


@inner
def numeral_end(cells: Cells, i: int, stop: int) -> int:
    """Return where a Chinese numeral ends."""
    while i < stop and cells[i] >> KIND == words.NUMERAL:
        i += 1
    return i


@inner
def _all_digits(cells: Cells, i: int, end: int) -> bool:
    for k in range(i, end):  # noqa: SIM110  # numba compiles no generator here
        if han_digit(point_at(cells, k)) < 0:
            return False
    return True


@inner
def _numeral_value(cells: Cells, i: int, end: int) -> int:
    """Return the number that a numeral with units stands for, NO_NUMBER: none."""
    return han_value(cells, i, end, _LARGEST)


@inner
def _put_numeral(cells: Cells, i: int, end: int, space: FormWorkspace) -> None:
    """Write the number that a numeral stands for."""
    start = space.work[AT]
    if _all_digits(cells, i, end):
        for k in range(i, end):
            put(space, _ZERO + han_digit(point_at(cells, k)))
        tidy_number(space, start, space.work[AT])
        return
    value = _numeral_value(cells, i, end)
    count, rest = 1, value
    while rest >= 10:
        count, rest = count + 1, rest // 10
    for k in range(count - 1, -1, -1):
        space.out[start + k] = _ZERO + value % 10
        value //= 10
    space.work[AT] = start + count


@inner
def write_numeral(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write the Chinese numeral at i, as a number where it counts something; return its end."""
    stop = frame_at(space, END)
    end = numeral_end(cells, i, stop)
    first = point_at(cells, i)
    is_number = _all_digits(cells, i, end) or _numeral_value(cells, i, end) >= 0
    whole = end - i == 1 and (first in (_HUNDRED, _THOUSAND, _MYRIAD))
    part = end + 2 < stop and point_at(cells, end) == _PART and point_at(cells, end + 1) == _OF
    if part and (is_number or whole):
        after = _write_part(cells, i, end, space)
        if after > end:
            return after
    if is_number and _counts(cells, i, end, tables, space):
        put_apart(space)
        _put_numeral(cells, i, end, space)
        return write_unit(cells, end, tables, space) if unit_at(cells, end, stop, tables) else end
    put_cells(cells, i, end, space)
    return end


@inner
def _write_part(cells: Cells, i: int, end: int, space: FormWorkspace) -> int:
    """Write 三分之一 whose 三 is cells[i:end] as 1/3; return its end, `end` where it is none."""
    stop = frame_at(space, END)
    k = end + 2
    after = skip_digits(cells, k, stop)
    if after > k:
        put_apart(space)
        start = space.work[AT]
        put_cells(cells, k, after, space)
        point = space.work[AT]
        if after + 1 < stop and point_at(cells, after) == _DOT and is_digit(cells, after + 1):
            k = after + 1
            after = skip_digits(cells, k, stop)
            put_cells(cells, k, after, space)
        tidy_number(space, start, point)
    else:
        after = numeral_end(cells, k, stop)
        if after == k or not (_all_digits(cells, k, after) or _numeral_value(cells, k, after) >= 0):
            return end
        put_apart(space)
        _put_numeral(cells, k, after, space)
    first = point_at(cells, i)
    if end - i > 1 or first not in (_HUNDRED, _THOUSAND, _MYRIAD):
        put(space, _SLASH)
        _put_numeral(cells, i, end, space)
    elif first == _HUNDRED:
        put(space, _PERCENT)
    else:
        put(space, _SLASH)
        put(space, _ZERO + 1)
        for _ in range(3 if first == _THOUSAND else 4):
            put(space, _ZERO)
    return after


@inner
def _counts(cells: Cells, i: int, end: int, tables: Cells, space: FormWorkspace) -> bool:
    """Tell whether a numeral is used to count, not within a word."""
    base, stop = frame_at(space, BASE), frame_at(space, END)
    counted = word_at(cells, end, stop, tables, words.COUNTER) > 0
    first = point_at(cells, i)
    if end - i == 1:
        large = first in (_HUNDRED, _THOUSAND)
        large |= first in (_MYRIAD, _HUNDRED_MILLION)
        if before(cells, i, base) < base and skip_blanks(cells, end, stop) == stop:
            return not large
        if large or first in (_TEN, _NAUGHT, _NAUGHT_ROUND):
            return first == _TEN and counted and point_at(cells, end) != _POINTS
        if i > base and point_at(cells, i - 1) == _ORDINAL:
            return True
        return first != _ONE_OF and (counted or unit_at(cells, end, stop, tables) > 0)
    if _all_digits(cells, i, end):
        for k in range(i, end):
            if point_at(cells, k) == _NAUGHT or point_at(cells, k) == _NAUGHT_ROUND:
                return True
        return end - i >= 4
    if counted or end - i > 2:
        return True
    pair = (first << 32) + point_at(cells, i + 1)
    return pair not in _NO_PAIR


@inner
def write_word(cells: Cells, i: int, tables: Cells, space: FormWorkspace) -> int:
    """Write the word in Latin letters at i, a number word as a number; return its end."""
    stop = frame_at(space, END)
    end = skip_latin(cells, i + 1, stop)
    w = _english(cells, i, end, tables)
    if w == 0 or tables[w + VALUE] == 0:  # "one" counts behind tens only
        for k in range(i, end):
            put(space, small_at(cells, k))
        return end
    put_apart(space)
    start = space.work[AT]
    put_value(tables, w, space)
    tens = space.work[AT] - start == 2 and space.out[start] >= _ZERO + 2
    if tens and end < stop and (point_at(cells, end) == _HYPHEN or point_at(cells, end) == _SPACE):
        one = skip_latin(cells, end + 1, stop)
        unit = _english(cells, end + 1, one, tables) if one > end + 1 else NOUGHT
        value = _one_value(tables, unit) if unit > 0 else NOUGHT
        if value > 0 and not (one < stop and cells[one] & words.WORD_CHARACTER):
            space.out[start + 1] = _ZERO + value
            return one
    return end


@inner
def _english(cells: Cells, i: int, end: int, tables: Cells) -> int:
    """Return the word for a number that cells[i:end] are, 0: they are none."""
    w = word_at(cells, i, end, tables, ENGLISH)
    while w > 0 and length_of(tables, w) != end - i:
        w = next_word(cells, i, end, tables, ENGLISH, behind(tables, w))
    return w


@inner
def _one_value(tables: Cells, w: int) -> int:
    """Return the value of one to nine, 0 of others."""
    if tables[w + VALUE] == 0:
        return NOUGHT + 1
    if tables[w + VALUE] > 1:
        return NOUGHT
    return value_at(tables, w + WORD + length_of(tables, w)) - _ZERO
