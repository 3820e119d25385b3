"""Words that turn a meaning round: opposites and negations."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Final

from dedup_job.errors import ConfigurationError

_SHOWN = 10
# They hold a negation and deny nothing, or say yes and no at once.
_NEUTRAL = (
    "非常", "非洲", "未来", "未來", "未知数", "无论", "無論", "不论", "不管", "不断", "不仅",
    "不但", "不只", "不少", "不过", "不久", "不锈钢", "不等式", "是不是", "有没有", "能不能",
    "会不会", "可不可以", "对不对", "别人", "别的", "分别", "区别", "特别", "性别", "类别", "级别",
    "没收", "是否", "能否", "可否", "无穷", "无限", "无线",
)  # fmt: skip
_LATIN = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
_NOT: Final = "not"


class PolarityWords:
    """Tells whether two texts differ in what they affirm and deny.

    Words with an opposite: a text refutes the other where it has more of a word and fewer of its
    opposite. Negations, and words that deny (不能) or share their opposite with such (错误, for
    不正确): their numbers must be equal. Where all numbers are, the order must be, too.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], negations: Iterable[str]) -> None:
        self._opposites: dict[str, set[str]] = defaultdict(set)
        for word, opposite in pairs:
            self._opposites[word].add(opposite)
            self._opposites[opposite].add(word)
        single = set(negations)
        self._negative = single | {
            word
            for word in self._opposites
            if word.startswith(tuple(w for w in single if not w.isascii()))
        }
        self._negative |= {
            word
            for denied in self._negative
            for opposite in self._opposites.get(denied, ())
            for word in self._opposites[opposite]
        }
        words = single | self._opposites.keys()
        self._latin = {word for word in words if _LATIN.fullmatch(word)}
        self._others = _one_of({*words, *_NEUTRAL} - self._latin)

    @classmethod
    def load(cls, file: Path | None) -> PolarityWords:
        """Return the built-in words and those of a user's file, in UTF-8.

        Each line holds a word and its opposite, or a single negation; # begins a comment.
        ConfigurationError lists the bad lines.
        """
        built_in = files("dedup_job.decision").joinpath("polarity.txt").read_text("utf-8")
        lines = _parsed(built_in, "polarity.txt")
        if file is not None:
            lines += _parsed(_read(file), str(file))
        return cls(
            [(line[0], line[1]) for line in lines if len(line) == 2],
            [line[0] for line in lines if len(line) == 1],
        )

    def differ(self, text: str, other: str) -> bool:
        """Tell whether one text says the opposite of the other."""
        words, others = self._words(text), self._words(other)
        if words == others:
            return False
        count, other_count = Counter(words), Counter(others)
        if count == other_count:
            return True
        more, fewer = count - other_count, other_count - count
        if sum(more[w] for w in self._negative) != sum(fewer[w] for w in self._negative):
            return True
        return any(opposite in fewer for w in more for opposite in self._opposites.get(w, ()))

    def _words(self, text: str) -> list[str]:
        """Return the words in order, those of the Latin alphabet after all others."""
        found: list[str] = [word for word in self._others.findall(text) if word not in _NEUTRAL]
        for word in _LATIN.findall(text):
            lower = word.lower()
            if lower in self._latin:
                found.append(lower)
            elif lower.endswith(("n't", "n’t")):
                found.append(_NOT)
        return found


def _one_of(words: set[str]) -> re.Pattern[str]:
    """Return what finds any of the words, of those at one place the longest.

    As a choice of first characters, so that `re` skips all places where none of them stands.
    """
    by_first: dict[str, list[str]] = defaultdict(list)
    for word in sorted(words, key=lambda word: (-len(word), word)):
        by_first[word[0]].append(re.escape(word[1:]))
    branches = (f"{re.escape(first)}(?:{'|'.join(ends)})" for first, ends in by_first.items())
    return re.compile("|".join(branches))


def _parsed(text: str, name: str) -> list[list[str]]:
    lines, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        words = [w.lower() if _LATIN.fullmatch(w) else w for w in line.partition("#")[0].split()]
        if len(words) > 2 or (len(words) == 2 and words[0] == words[1]):
            expected = "a word and its opposite, or one negation"
            problems.append(f"{name}, line {number}: {line[:60]!r}, expected {expected}")
        elif words:
            lines.append(words)
    if len(problems) > _SHOWN:
        problems = [*problems[:_SHOWN], f"... and {len(problems) - _SHOWN:,} lines more"]
    if problems:
        raise ConfigurationError(problems)
    return lines


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as e:
        raise ConfigurationError([f"{path} cannot be read: {e.strerror}"]) from e
    except UnicodeDecodeError as e:
        raise ConfigurationError([f"{path} is not UTF-8: {e.reason} at byte {e.start}"]) from e
