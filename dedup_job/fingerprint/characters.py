"""Kinds of characters, and how they are folded."""

from __future__ import annotations

import functools
import re
import string
import threading
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.native.code_points import offsets_of, points_of
from dedup_job.native.jit import inlined, native

_WORD = re.compile(r"[A-Za-z]{3,}")
_FULL_FIRST, _FULL_LAST, _FULL_OFFSET, _WIDE_SPACE = 0xFF01, 0xFF5E, 0xFEE0, 0x3000


@functools.cache
def fold_table(case: bool, width: bool) -> NDArray[np.uint16] | None:
    """Return what each character of the basic plane becomes, uint16 (65536,); None: itself.

    width: the full-width forms of ASCII (Unicode block FF00). case: lower case where it is one
    character.
    """
    if not case and not width:
        return None
    table = np.arange(PLANE, dtype=np.uint32)
    if width:
        table[_FULL_FIRST : _FULL_LAST + 1] -= _FULL_OFFSET
        table[_WIDE_SPACE] = ord(" ")
    if case:
        letters = list(map(chr, table.tolist()))
        pairs = zip(letters, map(str.lower, letters), strict=True)
        table = points_of("".join(low if len(low) == 1 else letter for letter, low in pairs))
    folded = table.astype(np.uint16)
    folded.flags.writeable = False  # it is the same for all who ask
    return folded


@native
def fold(points: NDArray[np.uint32], table: NDArray[np.uint16]) -> NDArray[np.uint32]:
    """Return the code points folded by the table."""
    folded = np.empty_like(points)
    for i in range(points.shape[0]):
        folded[i] = table[points[i]] if points[i] < PLANE else points[i]
    return folded


def stemmer() -> Callable[[str], str]:
    """Return a function that reduces the English words of a text to their stems, in lower case.

    Porter's second stemmer, as the Snowball project keeps it.
    """
    import snowballstemmer

    english, lock = snowballstemmer.stemmer("english"), threading.Lock()

    @functools.lru_cache(maxsize=1 << 16)
    def stem(word: str) -> str:
        with lock:  # it works on a word of its own
            stemmed: str = english.stemWord(word)
            return stemmed

    return lambda text: _WORD.sub(lambda match: stem(match[0].lower()), text)


POINT = (1 << 21) - 1
LABEL = 1 << 21  # A to H as written, of either width
WORD = 1 << 22  # a word of the lists below begins with it
KIND = 24

# kinds up to DIGIT are kept wherever they stand
SYMBOL, LETTER, LATIN, DIGIT, BLANK, STOP, JOINT, TICK, LINE, OPEN = range(10)
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


class Tables(NamedTuple):
    """cells: uint32 (65536,), cell of each character of the basic plane.

    Word w is points[offsets[w]:offsets[w + 1]], uint32 and int64; list l holds the words
    lists[l] to lists[l + 1], int64.
    """

    cells: NDArray[np.uint32]
    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    lists: NDArray[np.int64]


@functools.cache
def tables() -> Tables:
    """Return the tables; they are made once."""
    folded = _folded()
    kinds = _kinds()
    cells = folded.astype(np.uint32) | kinds[folded] << np.uint32(KIND)
    for first in ("A", "Ａ"):
        cells[ord(first) : ord(first) + 8] |= np.uint32(LABEL)
    words = [word for words in _LISTS for word in words]
    begins = np.isin(folded, [ord(word[0]) for word in words])
    cells[begins] |= np.uint32(WORD)
    lists = np.cumsum([0, *map(len, _LISTS)], dtype=np.int64)
    return Tables(cells, points_of("".join(words)), offsets_of(words), lists)


def _folded() -> NDArray[np.uint16]:
    """Return what each character becomes, uint16 (65536,): width, case, compatibility."""
    base = fold_table(case=True, width=True)
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
    for kind, those in ((STOP, _STOPS), (JOINT, _JOINTS), (TICK, _TICKS), (LINE, "_"), (OPEN, "(")):
        kinds[[ord(character) for character in those]] = kind
    kinds[[character.isspace() for character in plane]] = BLANK
    return kinds.astype(np.uint32)


@inlined
def fill_cells(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    table: NDArray[np.uint32],
    to: NDArray[np.uint32],
) -> None:
    """Write the cells of points[start:stop]; beyond the basic plane all are letters."""
    for i in range(start, stop):
        point = points[i]
        if point < PLANE:
            to[i - start] = table[point]
        else:
            to[i - start] = point | (LETTER << KIND)


@inlined
def point_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the folded code point of a cell."""
    point: int = cells[i] & POINT
    return point


@inlined
def kind_at(cells: NDArray[np.uint32], i: int) -> int:
    """Return the kind of a cell."""
    kind: int = cells[i] >> KIND
    return kind
