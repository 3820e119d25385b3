"""What stands before a question: its numbers, points and source, for the folded form.

Works on cells; a function that looks for something at i returns where that ends, i where it is not
there. `openings.py` does the same, by other rules, for the canonical form.
"""

from __future__ import annotations

import functools
import string
import unicodedata
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.characters import case_fold_table
from dedup_job.fingerprint.trie import PLANE
from dedup_job.judgment.cells import (
    before,
    is_blank,
    is_digit,
    is_year,
    kind_at,
    point_at,
    skip_blanks,
)
from dedup_job.judgment.words import BLANK, DIGIT, KIND, LATIN, LETTER, STARTS, SYMBOL, Cells
from dedup_job.native.code_points import offsets_of, points_of
from dedup_job.native.jit import inlined, inner

# kinds up to DIGIT are kept wherever they stand; those behind BLANK are no others' kinds
STOP_MARK, JOINT, TICK, UNDERLINE, OPEN = range(BLANK + 1, BLANK + 6)
LABEL = 1 << 21  # A to H as written, of either width
_STOPS = '。?…⋯“”"`《》〈〉【】〔〕「」『』〖〗·•・'  # dropped always
_JOINTS = ".,:;、–—"  # dropped, but for 3.5, 1,000, 3:4, a.b
_TICKS = "!'"  # dropped, but for 3! and f'
_ALIKE = {"∶": ":", "−": "-", "‘": "'", "’": "'", "⩽": "≤", "⩾": "≥"}
# Compatibility forms that mean the same; not ² (x² is not x2) and not ② (an item, no number).
_SAME = ("", "<wide>", "<narrow>", "<small>", "<compat>", "<noBreak>")

_PLACES = (
    "北京", "天津", "上海", "重庆", "河北", "山西", "辽宁", "吉林", "黑龙江", "江苏", "浙江",
    "安徽", "福建", "江西", "山东", "河南", "湖北", "湖南", "广东", "海南", "四川", "贵州", "云南",
    "陕西", "甘肃", "青海", "台湾", "内蒙古", "广西", "西藏", "宁夏", "新疆", "全国",
)  # fmt: skip
_KINDS = (
    "单项选择", "多项选择", "不定项选择", "单选", "多选", "选择题", "填空题", "判断题", "简答题",
    "解答题", "计算题", "问答题", "论述题", "辨析题", "应用题", "证明题", "作图题", "实验题",
    "材料题", "综合题", "探究题", "名词解释",
)  # fmt: skip
_MARKS = (
    *_KINDS, "高考", "中考", "会考", "学考", "学业水平", "模拟考", "模拟题", "模拟卷", "模拟试",
    "学模拟", "市模拟", "省模拟", "区模拟", "联考", "期中", "期末", "月考", "统考", "真题",
    "竞赛", "奥赛", "专题", "一模", "二模", "三模", "质检", "摸底", "自主招生", "试题", "试卷",
    "题文", "改编", "人教版", "北师大版", "苏教版", "新课标", "课标卷", "文综", "理综", "甲卷",
    "乙卷", "丙卷",
    *(place + "卷" for place in _PLACES),
)  # fmt: skip
# what may stand between the mark and the colon of a source: 2019年高考数学卷第一题：
_TAILS = tuple("文理科数学语英物化生政治历史地综合卷题试第一二三四五六七八九十甲乙丙")
_LISTS = (
    ("第",),
    ("例题", "习题", "练习", "例"),
    ("question", "problem", "exercise", "q"),
    _KINDS,
    _MARKS,
    (*_PLACES, "届", "学年", "卷", "·", "•", "・"),
    ("来源", "出处"),
    _TAILS,
)
# No plain integers: numba would compile what they are given to once for each of them.
ORDINAL, TITLES, QUESTIONS, KINDS, MARKS, WITH_YEAR, ORIGINS, TAILS = map(
    np.int64, range(len(_LISTS))
)


class FoldTables(NamedTuple):
    """cells: uint32 (65536,), cell of each character of the basic plane.

    Word w is points[offsets[w]:offsets[w + 1]], uint32 and int64; list l holds the words
    lists[l] to lists[l + 1], int64.
    """

    cells: NDArray[np.uint32]
    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    lists: NDArray[np.int64]


@functools.cache
def fold_tables() -> FoldTables:
    """Return the tables; they are made once."""
    folded = _folded()
    kinds = _kinds()
    cells = folded.astype(np.uint32) | kinds[folded] << np.uint32(KIND)
    for first in ("A", "Ａ"):
        cells[ord(first) : ord(first) + 8] |= np.uint32(LABEL)
    words = [word for words in _LISTS for word in words]
    begins = np.isin(folded, [ord(word[0]) for word in words])
    cells[begins] |= np.uint32(STARTS)
    lists = np.cumsum([0, *map(len, _LISTS)], dtype=np.int64)
    return FoldTables(cells, points_of("".join(words)), offsets_of(words), lists)


def _folded() -> NDArray[np.uint16]:
    """Return what each character becomes, uint16 (65536,): width, case, compatibility."""
    base = case_fold_table(case=True, width=True)
    assert base is not None  # for mypy: something is folded
    folded = base.copy()
    for character in map(chr, range(PLANE)):
        if not (unicodedata.decomposition(character) or character in _ALIKE):
            continue  # the others, nearly all, have no other form
        one = _ALIKE.get(character, character)
        tag = unicodedata.decomposition(character).partition(" ")[0]
        if tag in _SAME or not tag.startswith("<"):
            normal = unicodedata.normalize("NFKC", one)
            one = normal if len(normal) == 1 and ord(normal) < PLANE else one
        folded[ord(character)] = base[ord(one)]
    return folded


def _kinds() -> NDArray[np.uint32]:
    """Return the kind of each character, uint32 (65536,)."""
    plane = "".join(map(chr, range(PLANE)))
    kinds = np.where([character.isalnum() for character in plane], LETTER, SYMBOL)
    kinds[[ord(character) for character in string.ascii_letters]] = LATIN
    kinds[[ord(character) for character in string.digits]] = DIGIT
    marks = {STOP_MARK: _STOPS, JOINT: _JOINTS, TICK: _TICKS, UNDERLINE: "_", OPEN: "("}
    for kind, those in marks.items():
        kinds[[ord(character) for character in those]] = kind
    kinds[[character.isspace() for character in plane]] = BLANK
    return kinds.astype(np.uint32)


LONGEST_NUMBER = 3  # digits
NUMERALS = tuple(map(ord, "一二三四五六七八九十"))
OPENING = tuple(map(ord, "([【〔"))
NEWLINE = ord("\n")

_OPERATORS = tuple(map(ord, "+-*/=^<>×÷%,、~≤≥≠±"))
_MINUS, _ROUND, _ROUND_END, _DOT, _COMMA, _COLON, _LITTLE, _TASK = map(ord, "-().、:小题")
_POINTS, _PAPER = map(ord, "分卷")


@inner
def word_end(cells: Cells, i: int, stop: int, tables: FoldTables, which: np.int64) -> int:
    """Look for the first word of a list."""
    if i >= stop or not cells[i] & STARTS:
        return i
    for w in range(tables.lists[which], tables.lists[which + 1]):
        start, length = tables.offsets[w], tables.offsets[w + 1] - tables.offsets[w]
        k = 0
        while k < length and i + k < stop and point_at(cells, i + k) == tables.points[start + k]:
            k += 1
        if k == length:
            return i + k
    return i


@inner
def _number(cells: Cells, i: int, stop: int) -> int:
    """Look for one to three digits or Chinese numerals."""
    k = i
    while k < stop and is_digit(cells, k) and k - i <= LONGEST_NUMBER:
        k += 1
    if k == i:
        while k < stop and point_at(cells, k) in NUMERALS and k - i <= LONGEST_NUMBER:
            k += 1
    return k if k - i <= LONGEST_NUMBER else i


@inner
def _delimiter(cells: Cells, i: int, stop: int) -> int:
    """Look for . 、 : ) but not the dot of 3.14, nor that of 3:4, 1、2 or 一、二、."""
    if i >= stop:
        return i
    point = point_at(cells, i)
    if point == _ROUND_END:
        return i + 1
    if point not in (_DOT, _COMMA, _COLON):
        return i
    if i + 1 < stop and is_digit(cells, i + 1):
        return i
    if point == _COMMA and i + 2 < stop and point_at(cells, i + 2) == _COMMA:
        return i if point_at(cells, i + 1) in NUMERALS else i + 1
    return i + 1


@inner
def _bracketed_number(cells: Cells, i: int, stop: int) -> int:
    if i >= stop or point_at(cells, i) != _ROUND:
        return i
    first = skip_blanks(cells, i + 1, stop)
    last = _number(cells, first, stop)
    end = skip_blanks(cells, last, stop)
    found = last > first and end < stop and point_at(cells, end) == _ROUND_END
    return end + 1 if found else i


@inlined
def _is_circled(point: int) -> bool:
    """① to ⒛, ❶ to ➓, ㈠ to ㈩."""
    return 0x2460 <= point <= 0x249B or 0x2776 <= point <= 0x2793 or 0x3220 <= point <= 0x3229


@inner
def numbering_end(cells: Cells, i: int, stop: int, tables: FoldTables) -> int:
    """Look for 3. 三、 ① (3) 第3题 例3 Q3. that is not the beginning of a formula or a list.

    Two dashes are no operator: they begin what someone says.
    """
    if i >= stop:
        return i
    if _is_circled(point_at(cells, i)):
        end = _delimiter(cells, i + 1, stop)
    elif point_at(cells, i) == _ROUND:
        end = _bracketed_number(cells, i, stop)
        after = skip_blanks(cells, end, stop)
        if _bracketed_number(cells, after, stop) > after:
            return i
    else:
        number = _number(cells, i, stop)
        end = _delimiter(cells, number, stop)
        if number == i:
            end = _titled(cells, i, stop, tables)
        elif end == number:
            return i
    after = skip_blanks(cells, end, stop)
    if after < stop and end > i:
        point = point_at(cells, after)
        dash = point == _MINUS and after + 1 < stop and point_at(cells, after + 1) == _MINUS
        if (point in _OPERATORS and not dash) or _is_circled(point):
            return i
    return end


@inner
def _titled(cells: Cells, i: int, stop: int, tables: FoldTables) -> int:
    """Look for 第3题, 例3, 习题3.2, Q3. and the like, delimited."""
    ordinal = word_end(cells, i, stop, tables, ORDINAL) > i
    question = word_end(cells, i, stop, tables, QUESTIONS) > i
    first = word_end(
        cells, i, stop, tables, ORDINAL if ordinal else QUESTIONS if question else TITLES
    )
    if first == i:
        return i
    first = skip_blanks(cells, first, stop)
    end = _number(cells, first, stop)
    if end == first:
        return i
    if ordinal:
        end = skip_blanks(cells, end, stop)
        if end < stop and point_at(cells, end) == _LITTLE:
            end += 1
        if end >= stop or point_at(cells, end) != _TASK:
            return i
        end += 1
    elif end + 1 < stop and point_at(cells, end) == _DOT and is_digit(cells, end + 1):
        section = _number(cells, end + 1, stop)
        end = section if section > end + 1 else end
    after = _delimiter(cells, end, stop)
    if after > end or end >= stop:
        return after
    blank = is_blank(cells, end)
    if question:
        return end if point_at(cells, end) == NEWLINE else i
    return end if blank or point_at(cells, end) in OPENING else i


MAX_PREFIXES = 8
MIN_LETTERS = 6  # that remain
LONGEST_SOURCE = 40  # characters

_SENTENCE_ENDS = tuple(map(ord, ",;?!。、\n"))
_IN_TAIL = tuple(map(ord, "()[]-."))
_CLOSING = tuple(map(ord, ")]】〕"))  # those of OPENING, in its order


@inner
def prefix_end(cells: Cells, stop: int, tables: FoldTables) -> int:
    """Return where the text begins that follows all prefixes, in cells[0:stop]."""
    end = 0
    for _ in range(MAX_PREFIXES):
        i = skip_blanks(cells, end, stop)
        found = numbering_end(cells, i, stop, tables)
        if found == i:
            found = _group(cells, i, stop, tables)
        if found == i:
            found = _plain_source(cells, i, stop, tables)
        if found == i:
            found = _origin(cells, i, stop, tables)
        if found == i or not _enough_left(cells, found, stop):
            break
        end = found
    return end


@inner
def _enough_left(cells: Cells, i: int, stop: int) -> bool:
    letters = 0
    while i < stop and letters < MIN_LETTERS:
        if LETTER <= kind_at(cells, i) <= DIGIT:
            letters += 1
        i += 1
    return letters == MIN_LETTERS


@inner
def _group(cells: Cells, i: int, stop: int, tables: FoldTables) -> int:
    """Look for points or a source in brackets: (3分) 【2019·全国卷I】."""
    if i >= stop or point_at(cells, i) not in OPENING:
        return i
    opening, closing = point_at(cells, i), 0
    for b in range(len(OPENING)):
        if OPENING[b] == opening:
            closing = _CLOSING[b]
    depth, k = 1, i + 1
    last = min(stop, i + LONGEST_SOURCE + 2)
    while k < last:
        if point_at(cells, k) == opening:
            depth += 1
        elif point_at(cells, k) == closing:
            depth -= 1
            if depth == 0:
                break
        k += 1
    if depth > 0:
        return i
    found = _is_points(cells, i + 1, k) or _is_source(cells, i + 1, k, tables)
    return k + 1 if found else i


@inner
def _is_points(cells: Cells, start: int, stop: int) -> bool:
    """Tell whether cells[start:stop] end in a number and 分."""
    k = before(cells, stop, start + 1)
    if k <= start or point_at(cells, k) != _POINTS:
        return False
    k = before(cells, k, start + 1)
    return is_digit(cells, k) or point_at(cells, k) in NUMERALS


@inner
def _is_source(cells: Cells, start: int, stop: int, tables: FoldTables) -> bool:
    """Tell whether cells[start:stop] hold a mark of a source, or a year with a place or a dot."""
    year = with_year = False
    for i in range(start, stop):
        if word_end(cells, i, stop, tables, MARKS) > i:
            return True
        with_year |= word_end(cells, i, stop, tables, WITH_YEAR) > i
        if i == start or kind_at(cells, i - 1) != DIGIT:
            year |= is_year(cells, i, stop)
    return year and with_year


@inner
def _plain_source(cells: Cells, i: int, stop: int, tables: FoldTables) -> int:
    """Look for a source without brackets, 2019年全国卷I: or 单选题: up to its colon."""
    year = is_year(cells, i, stop)
    marked = word_end(cells, i, stop, tables, KINDS)
    if not year and marked == i:
        return i
    last = min(stop, i + LONGEST_SOURCE + 1)
    k = i
    while k < last and point_at(cells, k) != _COLON:
        if point_at(cells, k) in _SENTENCE_ENDS:
            return i
        if year:
            end = word_end(cells, k, last, tables, MARKS)
            if point_at(cells, k) == _PAPER:
                end = max(end, k + 1)
            marked = max(marked, end) if end > k else marked
        k += 1
    if k == last or marked == i:
        return i
    for t in range(marked, k):
        plain = kind_at(cells, t) in (LATIN, DIGIT, BLANK) or point_at(cells, t) in _IN_TAIL
        if not plain and word_end(cells, t, k, tables, TAILS) == t:
            return i
    return k + 1


@inner
def _origin(cells: Cells, i: int, stop: int, tables: FoldTables) -> int:
    """Look for 来源: and what follows, up to the line's end or, where that tells, a blank."""
    colon = word_end(cells, i, stop, tables, ORIGINS)
    if colon == i or colon >= stop or point_at(cells, colon) != _COLON:
        return i
    start = colon + 1
    while start < stop and is_blank(cells, start) and point_at(cells, start) != NEWLINE:
        start += 1
    last = min(stop, start + LONGEST_SOURCE + 1)
    for k in range(start, last):
        if point_at(cells, k) == NEWLINE:
            return k if k > start else i
        if point_at(cells, k) in _SENTENCE_ENDS:
            return i
        if is_blank(cells, k) and _is_source(cells, start, k, tables):
            return k
    return i
