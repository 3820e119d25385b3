"""What the native judge looks up: characters, words, the dictionary."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.lexicon import NO_WORD, Lexicon
from dedup_job.fingerprint.trie import ABSENT, PLANE
from dedup_job.judgment.forms import Points
from dedup_job.judgment.words import sections_of
from dedup_job.native.code_points import points_of
from dedup_job.native.jit import inner, jit_no_refcount

MAX_GROUPS, MAX_READINGS = 4, 8
BLURRED = 2  # lowest bits of a reading: n or ng, a flat or a retroflex sibilant
(
    HAN, DIGIT, LATIN, MEANING, NEGATION, OPERATOR, BRACKET, HAN_NUMERAL, LISTED, IN_LIST, ODD,
    RELATION,
) = (1 << i for i in range(12))  # fmt: skip
"""Kinds of characters: Han, ASCII digit, small ASCII letter; one whose change changes the meaning;
a negation; an operator or a bracket; a bracket or bar; a Han numeral; one that a listed word begins
with, or holds; Han, but so rare that it must be misread; one that by itself relates others: a
preposition, a conjunction, a direction, a passive, an aspect."""

_MEANING = (
    "不无未非没否勿莫别零一二三四五六七八九十百千万亿两半双单左右上下前后内外东南西北中里大小多少高低长短增减正负加乘除"
    "升降进退出开关阴阳男女老父母子甲乙丙丁戊己庚辛壬癸丑寅卯辰巳午申酉戌亥冷热寒暑干湿快慢轻重深浅粗细强弱公私红橙黄绿"
    "青蓝紫黑白灰春夏秋冬年月时分秒天夜早晚先首末始终氢氦锂铍硼碳氮氧氟氖钠镁铝硅磷硫氯氩钾钙钪钛钒铬锰铁钴镍铜锌镓锗"
    "砷硒溴氪铷锶钇锆铌钼锝钌铑钯银镉铟锡锑碲碘氙铯钡镧铪钽钨铼锇铱铂金汞铊铅铋钋氡钫镭锕钍铀烷烯炔醇醛酮酸酯醚胺酚烃苯萘"
    "蒽胍肽苷醌羟羧氨糖碱盐酐腈肟脲铵"
)
_DEGREES = "有已均皆都只也还又再才就最更较每各某他她它"  # degrees, quantities, persons
_RELATIONS = (
    "把被将给向从到来去往由自至在于对为与和及或而且并若如则但虽却即乃因以按据除让使令叫替同跟比当着了过"
    "起出入进回上下内外前后左右间"
)
_NEGATIONS = "不无未非没否勿莫"
_OPERATORS, _BRACKETS = "+-×/=<>^_√·*%≤≥", "|{}()[]"
_NUMERALS = "零〇一二两三四五六七八九十百千万亿"
_HAN_FIRST, _HAN_LAST, _HAN_ZERO = 0x3400, 0x9FFF, ord("〇")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MIN_SLOTS = 1 << 10
_PAIRS, _PAIR_SHIFT = 1 << 16, np.uint64(48)
_DOT: Final = ord(".")
_ONE = np.uint64(1)
_CHILD_BITS, _CHILD = np.uint64(24), np.uint64(0xFFFFFF)


class ListedWords(NamedTuple):
    """The listed words, by open addressing.

    keys: uint64 (slots,), hash of a word, 0 is free; function: bool (slots,), whether it is a
    function word; groups: uint16 (slots, MAX_GROUPS), the groups of synonyms that hold it, 0 for
    none; longest: int64 (2,), characters of the longest synonym and function word; begins: bool
    (65536,), set where the first two characters of a word hash to: nearly no others do.
    """

    keys: NDArray[np.uint64]
    function: NDArray[np.bool_]
    groups: NDArray[np.uint16]
    longest: NDArray[np.int64]
    begins: NDArray[np.bool_]


class Tables(NamedTuple):
    """All that the judge looks up.

    kinds: uint16 (65536,), flags of each character of the basic plane; readings: uint16 (65536,
    MAX_READINGS), how a character is read, 0 for none, without the lowest BLURRED bits as those
    say it who take n for ng or z, c, s for zh, ch, sh; near, sure: uint32 (slots,), pairs of
    characters that look alike and those that every OCR program confuses, the smaller code point
    in the high half, by open addressing, 0 is free; words; first, edges, filter, probabilities,
    names: of the dictionary, as in Lexicon; shift: uint64, as the trie's functions take it;
    total: float64, the logarithm of all its frequencies.
    """

    kinds: NDArray[np.uint16]
    readings: NDArray[np.uint16]
    near: NDArray[np.uint32]
    sure: NDArray[np.uint32]
    words: ListedWords
    first: NDArray[np.int32]
    edges: NDArray[np.uint64]
    filter: NDArray[np.uint8]
    probabilities: NDArray[np.float64]
    names: NDArray[np.bool_]
    shift: np.uint64
    total: float


def judge_tables(
    lexicon: Lexicon, synonyms: tuple[tuple[str, ...], ...], function_words: tuple[str, ...]
) -> Tables:
    """Return the tables for a dictionary and the listed words."""
    sections = sections_of("alike.txt")
    readings = _readings(sections["sounds"])
    all_listed = [*function_words, *(word for group in synonyms for word in group)]
    first = {ord(word[0]) for word in all_listed}
    held = {ord(character) for word in all_listed for character in word}
    kinds = _kinds().copy()
    kinds[[point for point in first if point < PLANE]] |= LISTED
    kinds[[point for point in held if point < PLANE]] |= IN_LIST
    han = np.flatnonzero(kinds & HAN)
    nodes = lexicon.first[han]
    listed = (nodes >= 0) & (lexicon.probabilities[np.maximum(nodes, 0)] != NO_WORD)
    kinds[han[~listed & (readings[han, 0] == 0)]] |= ODD
    shift = 64 - (lexicon.edges.shape[0].bit_length() - 1)
    return Tables(
        kinds,
        readings,
        *_pairs(sections["shapes"], sections["sure"]),
        _words(synonyms, function_words),
        lexicon.first,
        lexicon.edges,
        lexicon.filter,
        lexicon.probabilities,
        lexicon.names,
        np.uint64(shift),
        -float(lexicon.constants[0]),
    )


@functools.cache
def signs() -> NDArray[np.uint32]:
    """Return the sign that stands for each character in a gist, uint32 (PLANE,).

    Itself, but one for all characters that OCR programs take for each other.
    """
    found = np.arange(PLANE, dtype=np.uint32)
    for pair in sections_of("alike.txt")["sure"]:
        one, other = sorted(found[ord(character)] for character in pair)
        found[found == other] = one
    return found


@functools.cache
def _kinds() -> NDArray[np.uint16]:
    kinds = np.zeros(PLANE, dtype=np.uint16)
    kinds[_HAN_FIRST : _HAN_LAST + 1] |= HAN
    kinds[_HAN_ZERO] |= HAN
    kinds[ord("0") : ord("9") + 1] |= DIGIT
    kinds[ord("a") : ord("z") + 1] |= LATIN
    for flag, those in (
        (MEANING, _MEANING + _RELATIONS + _DEGREES),
        (RELATION, _RELATIONS),
        (NEGATION, _NEGATIONS),
        (OPERATOR, _OPERATORS + _BRACKETS),
        (BRACKET, _BRACKETS),
        (HAN_NUMERAL, _NUMERALS),
    ):
        kinds[[ord(character) for character in those]] |= flag
    return kinds


@functools.cache
def _readings(lines: tuple[str, ...]) -> NDArray[np.uint16]:
    readings = np.zeros((PLANE, MAX_READINGS), dtype=np.uint16)
    count = np.zeros(PLANE, dtype=np.int64)
    groups: dict[str, int] = {}
    for line in lines:
        reading, _, characters = line.partition(" ")
        those = points_of(characters)  # each once, so the counts are right
        blurred = reading.replace("ng", "n").replace("h", "", reading[:1] in "zcs")
        number = groups.setdefault(blurred, len(groups) + 1) << BLURRED
        readings[those, count[those]] = number | ("ng" in reading) << 1 | ("h" in reading[1:])
        count[those] += 1
    return readings


@functools.cache
def _pairs(
    shapes: tuple[str, ...], sure: tuple[str, ...]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    certain = [_keys_of(min(pair) + max(pair)) for pair in sure]
    near = [_keys_of(line) for line in shapes]
    return _set_of(np.concatenate([*near, *certain])), _set_of(np.concatenate(certain))


def _keys_of(line: str) -> NDArray[np.uint32]:
    """Return the pairs of a character and those behind it, as `is_pair` looks for them."""
    points = points_of(line)
    keys: NDArray[np.uint32] = (points[0] << np.uint32(16)) | points[1:]
    return keys  # the others have higher code points


def _set_of(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    slots = np.zeros(max(_MIN_SLOTS, 1 << (2 * len(keys)).bit_length()), dtype=np.uint32)
    _fill(keys, slots)
    return slots


@functools.cache
def _words(synonyms: tuple[tuple[str, ...], ...], function_words: tuple[str, ...]) -> ListedWords:
    groups: dict[str, list[int]] = {}
    for number, group in enumerate(synonyms, 1):
        for word in group:
            groups.setdefault(word, []).append(number)
    known = [*dict.fromkeys([*groups, *function_words])]
    slots = max(_MIN_SLOTS, 1 << (4 * len(known)).bit_length())
    table = ListedWords(
        np.zeros(slots, dtype=np.uint64),
        np.zeros(slots, dtype=np.bool_),
        np.zeros((slots, MAX_GROUPS), dtype=np.uint16),
        np.array([_longest(groups), _longest(function_words)], dtype=np.int64),
        np.zeros(_PAIRS, dtype=np.bool_),
    )
    function = set(function_words)
    for word in known:
        points = points_of(word)
        key = np.uint64(word_key(points, 0, len(points)))
        row = _slot_of(table.keys, key)
        table.keys[row] = key
        if len(points) > 1:
            table.begins[int(pair_place(points[0], points[1]))] = True
        table.function[row] = word in function
        own = groups.get(word, [])[:MAX_GROUPS]
        table.groups[row, : len(own)] = own
    return table


def _longest(words: Iterable[str]) -> int:
    return max(map(len, words), default=0)


@jit_no_refcount
def _fill(keys: NDArray[np.uint32], slots: NDArray[np.uint32]) -> None:
    mask = np.uint64(slots.shape[0] - 1)
    for i in range(keys.shape[0]):
        place = (np.uint64(keys[i]) * _MULTIPLIER >> np.uint64(32)) & mask
        while slots[place] != 0 and slots[place] != keys[i]:
            place = (place + _ONE) & mask
        slots[place] = keys[i]


@inner
def is_pair(slots: NDArray[np.uint32], a: int, b: int) -> bool:
    """Tell whether two characters of the basic plane are a pair of the table."""
    key = np.uint32((min(a, b) << 16) | max(a, b))
    mask = np.uint64(slots.shape[0] - 1)
    place = (np.uint64(key) * _MULTIPLIER >> np.uint64(32)) & mask
    while slots[place] != 0:
        if slots[place] == key:
            return True
        place = (place + _ONE) & mask
    return False


@jit_no_refcount
def word_key(points: Points, start: int, stop: int) -> np.uint64:
    """Return the hash of a word, 64 bits, never 0."""
    key = np.uint64(stop - start)
    for i in range(start, stop):
        key = (key ^ np.uint64(points[i])) * _MULTIPLIER
        key ^= key >> np.uint64(29)
    return key | _ONE


@jit_no_refcount
def pair_place(first: np.uint32, second: np.uint32) -> np.uint64:
    """Return where `begins` tells of words that begin with two characters."""
    return (((np.uint64(first) << np.uint64(21)) | np.uint64(second)) * _MULTIPLIER) >> _PAIR_SHIFT


@jit_no_refcount
def _slot_of(keys: NDArray[np.uint64], key: np.uint64) -> np.int64:
    """Return the row of a word, or the free one where it belongs."""
    mask = np.uint64(keys.shape[0] - 1)
    place = (key >> np.uint64(20)) & mask
    while keys[place] != 0 and keys[place] != key:
        place = (place + _ONE) & mask
    return np.int64(place)


@inner
def word_row(words: ListedWords, points: Points, start: int, stop: int) -> np.int64:
    """Return the row of a listed word, -1 if it is none."""
    row = _slot_of(words.keys, word_key(points, start, stop))
    return row if words.keys[row] != 0 else np.int64(ABSENT)


@inner
def kind_of(tables: Tables, point: int) -> int:
    """Return the kinds of a character, 0 beyond the basic plane."""
    if point < PLANE:
        kind: int = tables.kinds[point]
        return kind
    return 0


@inner
def in_number(tables: Tables, point: int) -> bool:
    """Tell whether a character can be part of a number."""
    return point == _DOT or kind_of(tables, point) & DIGIT != 0


@inner
def step(tables: Tables, node: np.int64, point: np.uint32) -> np.int64:
    """Return the dictionary's node behind another one, -1 if none."""
    key = (np.uint64(node + 1) << np.uint64(16)) | np.uint64(point)
    bit = (key * _MULTIPLIER) >> (tables.shift - np.uint64(2))
    if (tables.filter[bit >> np.uint64(3)] >> (bit & np.uint64(7))) & _ONE == 0:
        return np.int64(ABSENT)
    place, mask = bit >> np.uint64(2), np.uint64(tables.edges.shape[0] - 1)
    edge = tables.edges[place]
    while edge >> _CHILD_BITS != key:
        if edge == 0:
            return np.int64(ABSENT)
        place = (place + _ONE) & mask
        edge = tables.edges[place]
    return np.int64(edge & _CHILD)


@inner
def known(tables: Tables, node: np.int64) -> int:
    """Return how often the word of a node occurs, 0 where it is none."""
    if node < 0 or tables.probabilities[node] == NO_WORD:
        return 0
    return int(np.rint(np.exp(tables.probabilities[node] + tables.total)))


@inner
def node_of(tables: Tables, points: Points, start: int, stop: int) -> np.int64:
    """Return the dictionary's node of points[start:stop], -1 if none."""
    if start >= stop or points[start] >= PLANE:
        return np.int64(ABSENT)
    node = np.int64(tables.first[points[start]])
    for p in range(start + 1, stop):
        if node < 0 or points[p] >= PLANE:
            return np.int64(ABSENT)
        node = step(tables, node, points[p])
    return node


@inner
def frequency(tables: Tables, points: Points, start: int, stop: int) -> int:
    """Return how often a word occurs by the dictionary, 0 where it is none."""
    return known(tables, node_of(tables, points, start, stop))
