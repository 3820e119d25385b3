"""Kinds of planted cases: what makes of a question the same question, or another one.

A plant takes a question and returns another text, or None where there is no true case: a question
without a number has none that could be changed. What is looked for in a question, and what is put
into it, is written down here apart from dedup's own lists, which these cases are to prove.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from random import Random

LABEL = re.compile(r"(?<![A-Za-z0-9\\{$])(?:[(（]([A-H])[)）]|([A-H])[.．、:：)）])")
FORMULA = re.compile(r"\$[^$]*\$|\\\([^$]*?\\\)")
NUMBERING = r"(?:第\s*\d{1,3}\s*题|例\s*\d{1,3}|[(（]\d{1,3}[)）]|\d{1,3}\s*[.．、:：)）](?!\d))"
_GROUP = r"[(（\[【〔][^()（）\[\]【】〔〕\n]{0,40}[)）\]】〕]"
_HEAD = re.compile(rf"(?:\s*(?:{NUMBERING}|{_GROUP}))*\s*")
_LETTERS = "ABCDEFGH"


@dataclass(frozen=True, slots=True)
class Choices:
    """A question with answer choices A, B, C ...: what stands before, labels, contents, gaps."""

    stem: str
    labels: tuple[str, ...]
    contents: tuple[str, ...]
    gaps: tuple[str, ...]

    def with_contents(self, contents: Sequence[str]) -> str:
        """Return the question with other choices under the same labels."""
        choices = zip(self.labels, contents, self.gaps, strict=True)
        return self.stem + "".join(label + content + gap for label, content, gap in choices)


def choices_of(text: str) -> Choices | None:
    """Return the parts of a question if its labels are exactly A, B, C and so on, once each."""
    found = list(LABEL.finditer(text))
    letters = "".join(match[1] or match[2] for match in found)
    if len(found) < 3 or letters != _LETTERS[: len(found)]:
        return None
    ends = [*(match.start() for match in found[1:]), len(text)]
    raw = [text[match.end() : end] for match, end in zip(found, ends, strict=True)]
    contents = [part.strip() for part in raw]
    longest = max(map(len, contents[:-1]))
    if not all(contents) or len(contents[-1]) > 2 * longest + 30:  # more follows the choices
        return None
    leads = [part[: len(part) - len(part.lstrip())] for part in raw]
    labels = tuple(match[0] + lead for match, lead in zip(found, leads, strict=True))
    gaps = tuple(part[len(part.rstrip()) :] for part in raw)
    return Choices(text[: found[0].start()], labels, tuple(contents), gaps)


def essence(text: str) -> str:
    """Return what tells a choice from others: no white space, punctuation, width or case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if unicodedata.category(c)[0] not in "PZC")


def head_of(text: str) -> int:
    """Return where numbering and notes in brackets end."""
    match = _HEAD.match(text)
    return match.end() if match else 0


def spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return where a pattern matches."""
    return [match.span() for match in pattern.finditer(text)]


def within(at: int, stretches: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a place lies in one of some stretches."""
    return any(start <= at < end for start, end in stretches)


def is_han(character: str) -> bool:
    """Tell whether it is a common Han character."""
    return "\u4e00" <= character <= "\u9fff"


def is_technical(character: str) -> bool:
    """Tell whether it is such that a mark between two of them may mean something."""
    return "!" <= character <= "~"


_ABOUT_OTHERS = re.compile(r"^[A-H]$|以上|上述|均不|都不|都对|above|[A-H]\s*[和与及、,，]\s*[A-H]")
_NUMBERED = re.compile(rf"\s*(?:{NUMBERING}|[0-9①-⑳])")
_MEANING = frozenset("零〇一二三四五六七八九十百千万亿两半不没无非未否")
_WORD = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{4,}")
_NEGATIONS = frozenset({"cannot", "except", "never", "none", "nothing", "unless", "without"})

Plant = Callable[[str, Random, "Sequence[Choices]"], str | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is planted.

    told_by: what tells the planted question from its own one; None where it is the same question.
    """

    name: str
    plant: Plant
    told_by: Callable[[str], Hashable] | None = None


# --- the same question ---------------------------------------------------------------------------


def drop_character(text: str, rng: Random, _: Sequence[Choices], start: int = 0) -> str | None:
    """Drop a Han character, or a letter of a longer word, that is no number and no negation.

    Nor one that keeps two numbers apart.
    """
    places = [i for i, c in enumerate(text) if i >= start and is_han(c) and c not in _MEANING]
    places = [i for i in places if not (text[i - 1 : i] + text[i + 1 : i + 2]).isdigit()]
    for match in _WORD.finditer(text, start):
        if match[0].lower() not in _NEGATIONS:
            places += range(*match.span())
    taken = [*spans(FORMULA, text), (0, head_of(text))]
    places = [i for i in places if not within(i, taken)]
    if not places:
        return None
    at = rng.choice(places)
    return text[:at] + text[at + 1 :]


def drop_in_choice(text: str, rng: Random, pool: Sequence[Choices]) -> str | None:
    """Drop a character of a choice."""
    choices = choices_of(text)
    return drop_character(text, rng, pool, len(choices.stem)) if choices else None


def drop_in_stem(text: str, rng: Random, pool: Sequence[Choices]) -> str | None:
    """Drop a character that stands before whatever may be a choice."""
    label = LABEL.search(text)
    stem = text[: label.start()] if label else text
    shorter = drop_character(stem, rng, pool)
    return None if shorter is None else shorter + text[len(stem) :]


_MARKS = {
    "，": "、；,", "。": "．.；", "、": "，,", "；": "，;。", "：": ":，", "？": "?。", "！": "!。",
    ",": "，、", ".": "。", ";": "；,", ":": "：", "?": "？", "!": "！", "“": '"「', "”": '"」',
}  # fmt: skip


def _mark_places(text: str) -> list[int]:
    """Return where marks stand that mean nothing: not in numbers, formulas, labels."""
    taken = [*spans(FORMULA, text), *spans(LABEL, text), (0, head_of(text))]
    places = []
    for i, c in enumerate(text):
        if c not in _MARKS or within(i, taken):
            continue
        before, after = text[i - 1 : i] if i else "", text[i + 1 : i + 2]
        if is_technical(before) and (c == "!" or is_technical(after)):
            continue
        places.append(i)
    return places


def change_mark(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Put another mark in the place of one."""
    if not (places := _mark_places(text)):
        return None
    at = rng.choice(places)
    return text[:at] + rng.choice(_MARKS[text[at]]) + text[at + 1 :]


def drop_mark(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Drop a mark."""
    if not (places := _mark_places(text)):
        return None
    at = rng.choice(places)
    return text[:at] + text[at + 1 :]


def add_mark(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Put a mark between two Han characters, or a full stop at the end."""
    places = [i for i in range(1, len(text)) if is_han(text[i - 1]) and is_han(text[i])]
    if is_han(text[-1:]):
        places.append(len(text))
    if not places:
        return None
    at = rng.choice(places)
    return text[:at] + (rng.choice("，、；") if at < len(text) else "。") + text[at:]


def change_marks(text: str, rng: Random, pool: Sequence[Choices]) -> str:
    """Change, drop or add two or three marks, as far as there are any."""
    for _ in range(rng.randint(2, 3)):
        plant = rng.choice((change_mark, drop_mark, add_mark))
        text = plant(text, rng, pool) or text
    return text


def widen(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Make ASCII full width: all of it, or letters and digits, or the rest."""
    chosen = rng.choice((str.isprintable, str.isalnum, lambda c: not c.isalnum()))
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" and chosen(c) else c for c in text)


_SOURCES = (
    "（{year}·{place}）", "({year}•{place})", "（{year}{place}卷）", "【{year}年{place}高考】",
    "[{year}·{place}模拟]", "（{year}春•{place}期末）", "（{year}秋·{place}月考）",
    "【{year}届{place}高三联考】", "（{year}·{place}一模）", "〔{year}{place}中考〕",
    "{year}年{place}高考{subject}真题：", "{year}年{place}卷{subject}：", "（{place}{year}·{n}）",
    "（{year}新课标全国Ⅱ卷·{n}）", "(改编自{year}年{place}卷)", "（{year}•{place}校级模拟）",
    "（多选）", "【单选题】", "（不定项选择题）", "【{subject}专题】", "（教材改编）",
    "【{year}·{place}·文】", "（本小题满分{n}分）", "（{n}分）", "[{year}{place}竞赛]",
)  # fmt: skip
_PLACES = (
    "北京",
    "上海",
    "浙江",
    "山东",
    "江苏南通",
    "湖北八校",
    "全国Ⅰ",
    "全国甲",
    "海淀区",
    "衡水",
)
_SUBJECTS = ("数学", "语文", "物理", "化学", "生物", "历史", "地理", "政治")
_NUMBERS = ("{n}. ", "{n}．", "{n}、", "{n}.", "（{n}）", "({n})", "第{n}题 ", "例{n} ", "{n}) ")


def add_source(text: str, rng: Random, _: Sequence[Choices]) -> str:
    """Add where the question comes from or of what kind it is; after its number, if it has one."""
    filled = rng.choice(_SOURCES).format(
        year=rng.randint(2008, 2023),
        place=rng.choice(_PLACES),
        subject=rng.choice(_SUBJECTS),
        n=rng.randint(2, 22),
    )
    numbered = re.match(rf"\s*{NUMBERING}\s*", text)
    at = numbered.end() if numbered and rng.random() < 0.5 else 0
    return text[:at] + filled + text[at:]


def add_number(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Give a number to a question that has none."""
    if _NUMBERED.match(text):
        return None
    return rng.choice(_NUMBERS).format(n=rng.randint(1, 40)) + text


def reorder(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Put the choices into another order under the same labels."""
    choices = choices_of(text)
    if choices is None or any(map(_ABOUT_OTHERS.search, choices.contents)):
        return None
    if len(set(choices.contents)) < len(choices.contents):
        return None
    order = list(choices.contents)
    while order == list(choices.contents):
        rng.shuffle(order)
    return choices.with_contents(order)


# --- another question ----------------------------------------------------------------------------

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_NAMES_BEFORE = re.compile(r"(?:图|表|第|例|题|材料|Example|Figure|Fig\.|Table|Text|Passage)\s*$")
_POINTS_AFTER = re.compile(r"\s*(?:题|分(?![钟之米子])|[-–—﹣－~～至、，]\s*[0-9]+\s*题)")
_OPENS, _CLOSES = re.compile(r"[(（\[]\s*$"), re.compile(r"\s*[)）\]]")
_BEGINS_LINE, _LIST_AFTER = re.compile(r"(?:^|\n)\s*$"), re.compile(r"\s*[.．、)）](?![0-9])")


def change_number(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Change a digit of a number that belongs to what is asked, not to how it is numbered."""
    places = [m for m in _NUMBER.finditer(text, head_of(text)) if _is_asked(text, *m.span())]
    if not places:
        return None
    match = rng.choice(places)
    at = rng.choice([i for i in range(*match.span()) if text[i] != "."])
    leads = at == match.start() and text[at + 1 : match.end()][:1].isdigit()
    digits = [digit for digit in "0123456789"[leads:] if digit != text[at]]
    return text[:at] + rng.choice(digits) + text[at + 1 :]


def _is_asked(text: str, start: int, end: int) -> bool:
    """Tell whether a number is part of the question: no points, no name of a figure or item."""
    before, after = text[max(start - 12, 0) : start], text[end : end + 12]
    if _NAMES_BEFORE.search(before) or _POINTS_AFTER.match(after):
        return False
    if _OPENS.search(before) and _CLOSES.match(after):
        return within(start, spans(FORMULA, text))
    return not (_BEGINS_LINE.search(before) and _LIST_AFTER.match(after))


_OPPOSITES = (
    ("不正确", "正确"), ("错误", "正确"), ("不属于", "属于"), ("不符合", "符合"),
    ("不包括", "包括"), ("不可能", "可能"), ("不合理", "合理"), ("增加", "减少"),
    ("增大", "减小"), ("增强", "减弱"), ("升高", "降低"), ("上升", "下降"), ("大于", "小于"),
    ("高于", "低于"), ("最大", "最小"), ("最高", "最低"), ("最多", "最少"), ("相同", "不同"),
    ("有利于", "不利于"), ("可以", "不可以"), ("能够", "不能"), ("不是", "是"), ("没有", "有"),
    ("加快", "减慢"), ("incorrect", "correct"), ("true", "false"), ("increase", "decrease"),
    ("always", "never"), ("is not", "is"), ("are not", "are"), ("cannot", "can"),
)  # fmt: skip
_TOO_COMMON = frozenset({"是", "有", "is", "are", "can", "能够"})  # not turned wherever they stand


def _turned() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for pair in _OPPOSITES:
        for word, opposite in (pair, pair[::-1]):
            if word not in _TOO_COMMON:
                table.setdefault(word, []).append(opposite)
    return table


_TURNED = _turned()
_BROKEN = re.compile(r"(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
_POLAR = re.compile(
    "|".join(
        rf"\b{word}\b" if word.isascii() else rf"(?<![不能是]){word}(?![不性])"
        for word in sorted(_TURNED, key=len, reverse=True)
    )
)


def turn_polarity(text: str, rng: Random, _: Sequence[Choices]) -> str | None:
    """Turn a word into its opposite."""
    if not (places := list(_POLAR.finditer(text))):
        return None
    match = rng.choice(places)
    return text[: match.start()] + rng.choice(_TURNED[match[0]]) + text[match.end() :]


def replace_choice(text: str, rng: Random, pool: Sequence[Choices]) -> str | None:
    """Replace a choice by one of another question, of about its length."""
    choices = choices_of(text)
    if choices is None:
        return None
    own = {essence(content) for content in choices.contents}
    at = rng.randrange(len(choices.contents))
    others = [rng.choice(rng.choice(pool).contents) for _ in range(20)]
    strange = [other for other in others if essence(other) and essence(other) not in own]
    if not strange:
        return None
    contents = list(choices.contents)
    contents[at] = min(strange, key=lambda other: abs(len(other) - len(contents[at])))
    return choices.with_contents(contents)


def replace_choices(text: str, rng: Random, pool: Sequence[Choices]) -> str | None:
    """Replace all choices by those of another question, of about their length."""
    choices = choices_of(text)
    if choices is None:
        return None
    own = {essence(content) for content in choices.contents}
    others = [
        other.contents
        for other in (rng.choice(pool) for _ in range(20))
        if len(other.contents) == len(choices.contents)
        and own.isdisjoint(map(essence, other.contents))
        and all(map(essence, other.contents))
    ]
    size = sum(map(len, choices.contents))
    best = min(others, key=lambda o: abs(sum(map(len, o)) - size), default=None)
    return best and choices.with_contents(best)


def numbers_in(text: str) -> tuple[str, ...]:
    """Return the numbers of a question, in their order, without those of its head."""
    return tuple(_NUMBER.findall(text, head_of(text)))


def polarity_of(text: str) -> tuple[str, ...]:
    """Return the polar words of a question, sorted; 错误 is 不正确, white space splits no word."""
    return tuple(sorted(_POLAR.findall(_BROKEN.sub("", text).replace("错误", "不正确"))))


def choices_in(text: str) -> frozenset[str] | None:
    """Return what the choices of a question say, None if it has none."""
    choices = choices_of(text)
    return choices and frozenset(map(essence, choices.contents))


KINDS = (
    Kind("character dropped, in the stem", drop_in_stem),
    Kind("character dropped, in a choice", drop_in_choice),
    Kind("mark changed", change_mark),
    Kind("mark dropped", drop_mark),
    Kind("mark added", add_mark),
    Kind("two or three marks", change_marks),
    Kind("full width", widen),
    Kind("source prefix", add_source),
    Kind("leading number", add_number),
    Kind("choices reordered", reorder),
    Kind("number changed", change_number, numbers_in),
    Kind("polarity turned", turn_polarity, polarity_of),
    Kind("one choice replaced", replace_choice, choices_in),
    Kind("all choices replaced", replace_choices, choices_in),
)
