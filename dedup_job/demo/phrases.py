"""The words and sentences the demo corpus is made of, from `phrases.toml`, and HTML around them."""

from __future__ import annotations

import html
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

_FILE: Mapping[str, Any] = tomllib.loads(
    files("dedup_job.demo").joinpath("phrases.toml").read_text("utf-8")
)


def _lines(blocks: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(map(str.strip, block.strip().splitlines())) for name, block in blocks.items()
    }


def _words(name: str, alternatives: str) -> tuple[str, ...]:
    english = name.startswith("en")
    return tuple(word.replace("_", " ") if english else word for word in alternatives.split())


WORDS: Mapping[str, tuple[str, ...]] = {name: _words(name, s) for name, s in _FILE["words"].items()}
SENTENCES, CLAIMS, CLOSINGS = (_lines(_FILE[name]) for name in ("sentences", "claims", "closings"))
OPPOSITES: Sequence[tuple[str, str]] = [(said, other) for said, other in _FILE["opposites"]]
WIDTHS: Mapping[str, str] = _FILE["widths"]
MEANINGFUL = frozenset(_FILE["meaningful"])
SLIPS: Mapping[str, str] = {
    said: group.replace(said, "") for group in _FILE["slips"] for said in group
}
EMPTY: Sequence[str] = _FILE["empty"]
BLOCKS: Sequence[str] = _FILE["blocks"]
WRAPS: Sequence[str] = _FILE["wraps"]
EXTRAS: Sequence[str] = _FILE["extras"]
NOT_TEXT: Sequence[Any] = (42, -7, 3.5, True, False, [1, 2], {"n": 2}, {"p": [7]}, b"\x89PNG")
# What a space may be in HTML; the last one breaks lines after 60 characters.
_SPACES = ((" ", " "), (" ", "&nbsp;"), (" ", "&#160;"), ("(.{60}[^ ]*) ", r"\1\n  "))
_SLOT = re.compile(r"\[(?:(\d+)\.\.(\d+)|(\*?)([a-z]+))\]")


class Filler:
    """Replaces the slots of templates; `[*name]` stays the same for the life of the filler."""

    def __init__(self, rng: random.Random, claims: Sequence[str]) -> None:
        self._rng = rng
        self._claims = claims
        self._same: dict[str, str] = {}

    def __call__(self, template: str) -> str:
        """Return the template with all its slots filled."""
        return _SLOT.sub(self._fill, template)

    def _fill(self, slot: re.Match[str]) -> str:
        low, high, same, name = slot.groups()
        if low:
            return str(self._rng.randint(int(low), int(high)))
        if same and name in self._same:
            return self._same[name]
        word = self(self._rng.choice(self._claims if name == "claim" else WORDS[name]))
        if same:
            self._same[name] = word
        return word


def dress(rng: random.Random, paragraphs: Sequence[str]) -> str:
    """Write paragraphs as HTML that cleans to the very same text."""
    parts = [_inline(rng, part) for part in paragraphs]
    block = rng.choice(BLOCKS)
    body = "".join(block.replace("{}", part) for part in parts)
    return rng.choice(EXTRAS) + body + rng.choice(EXTRAS)


def _inline(rng: random.Random, text: str) -> str:
    space, written = rng.choice(_SPACES)
    cuts = sorted(rng.sample(range(len(text) + 1), rng.choice((0, 2, 4))))
    pieces = [
        re.sub(space, written, html.escape(text[start:end], quote=rng.random() < 0.3))
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    ]
    pieces[1::2] = [rng.choice(WRAPS).replace("{}", piece) for piece in pieces[1::2]]
    return "".join(pieces)
