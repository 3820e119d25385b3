"""Two texts beside each other, or as one line, with what differs marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_TOKEN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|\s|.", re.DOTALL)  # a word, a number, a character
_CLAUSE = re.compile(r"[^，,。.；;！!？?\n]*(?:[，,。.；;！!？?\n]+|$)")
_ROW = re.compile(r"[^。；;！!？?\n]*(?:[。；;！!？?\n]+|$)")
_MOST_TOKENS = 4000  # of the part that differs; a longer one is compared clause by clause
_MOST_CLAUSES = 5000
_CONTEXT = 60  # characters shown of a long stretch that both have, before and after
_SHORT = 2000  # characters: a text is shown whole
_NOISE = 4  # changed characters around one that both have by chance
_LESS, _MORE = "bold red", "bold green"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of two texts: the same in both, or what either has in its place."""

    left: str
    right: str

    @property
    def same(self) -> bool:
        """Tell whether both have it."""
        return self.left == self.right


def differences(left: str, right: str) -> list[Piece]:
    """Return the pieces that the texts are made of, in order; same and changed ones alternate.

    Words, numbers and other characters are compared; in long texts clauses, and within those that
    changed the characters. What is longer still counts as changed in one piece.
    """
    start = _common(left, right)
    stop = _common(left[start:][::-1], right[start:][::-1])
    inner = left[start : len(left) - stop], right[start : len(right) - stop]
    pieces = [Piece(left[:start], left[:start]), *_compared(*inner)]
    pieces.append(Piece(left[len(left) - stop :], left[len(left) - stop :]))
    return list(_joined(_without_noise(_joined(pieces))))


def side_by_side(pieces: Sequence[Piece], console: Console, names: tuple[str, str]) -> Table:
    """Return both texts in two columns, row beside row; of long texts what differs, with context.

    Colours mark what differs on a terminal, [-...-] and {+...+} elsewhere.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, expand=True)
    for name in names:
        table.add_column(name, ratio=1, overflow="fold")
    coloured = _coloured(console)
    whole = sum(len(piece.left) + len(piece.right) for piece in pieces) <= 2 * _SHORT
    for row in _rows(pieces if whole else list(_shortened(pieces))):
        table.add_row(*(_marked(row, side, coloured) for side in ("left", "right")))
    return table


def on_one_line(pieces: Sequence[Piece], console: Console, width: int) -> Text:
    """Return what differs with a little context, about so many characters wide."""
    changed = [i for i, piece in enumerate(pieces) if not piece.same]
    if not changed:
        return Text(_clipped(visible(pieces[0].left if pieces else ""), width, width // 2))
    context = max(6, (width - sum(_length(pieces[i]) for i in changed)) // (2 * len(changed)))
    text = Text()
    for i, piece in enumerate(pieces):
        if text.cell_len > width and not piece.same:
            return text.append(" …")
        if not piece.same:
            for side in ("left", "right"):
                _append_change(text, _clipped(getattr(piece, side), 40, 18), side, console)
            continue
        shown = visible(piece.left)
        first, last = i < changed[0], i > changed[-1]
        if first and len(shown) > context:
            shown = "…" + shown[-context:]
        elif last and len(shown) > context:
            shown = shown[:context] + "…"
        else:
            shown = _clipped(shown, 2 * context, context)
        text.append(shown)
    return text


def visible(text: str) -> str:
    """Return a text without line breaks and without what moves a cursor."""
    return "".join(
        c if c.isprintable() else " " if c.isspace() else _escaped(c) for c in text
    )


def _append_change(text: Text, change: str, side: str, console: Console) -> None:
    if not change:
        return
    shown = "".join(_escaped(c) for c in change)
    if _coloured(console):
        text.append(shown, style=_LESS if side == "left" else _MORE)
    else:
        text.append(f"[-{shown}-]" if side == "left" else f"{{+{shown}+}}")


def _coloured(console: Console) -> bool:
    return console.is_terminal and console.color_system is not None and not console.no_color


def _marked(row: Sequence[Piece], side: str, coloured: bool) -> Text:
    text = Text()
    for piece in row:
        own = getattr(piece, side)
        if piece.same:
            text.append(visible(own.rstrip("\n")))
        elif own:
            shown = "".join(_escaped(c) for c in own)
            style = _LESS if side == "left" else _MORE
            marks = ("", "") if coloured else ("[-", "-]") if side == "left" else ("{+", "+}")
            text.append(f"{marks[0]}{shown}{marks[1]}", style=style if coloured else "")
    return text


def _escaped(character: str) -> str:
    """Return a character such that one sees it, white space as well."""
    if character == "\n":
        return "↵"
    if character == " ":
        return "␣"
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _rows(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield rows, each ending where a sentence ends that both texts have."""
    row: list[Piece] = []
    for piece in pieces:
        if not piece.same:
            row.append(piece)
            continue
        for part in filter(None, _ROW.findall(piece.left)):
            row.append(Piece(part, part))
            if _ends_row(part):
                yield row
                row = []
    if row:
        yield row


def _ends_row(part: str) -> bool:
    return part[-1] in "。；;！!？?\n"


def _shortened(pieces: Sequence[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        if piece.same:
            shown = _clipped(piece.left, 3 * _CONTEXT, _CONTEXT)
            yield Piece(shown, shown)
        else:
            yield Piece(
                _clipped(piece.left, _SHORT, _SHORT // 2),
                _clipped(piece.right, _SHORT, _SHORT // 2),
            )


def _clipped(text: str, most: int, ends: int) -> str:
    """Return a text, or its first and last characters and how many lie between."""
    left = len(text) - 2 * ends
    if len(text) <= most or left <= 0:
        return text
    return f"{text[:ends]} … {left:,} characters … {text[-ends:]}"


def _length(piece: Piece) -> int:
    return min(len(piece.left), 40) + min(len(piece.right), 40)


def _compared(left: str, right: str) -> Iterator[Piece]:
    """Compare what lies between the beginning and the end that both have."""
    tokens, others = _TOKEN.findall(left), _TOKEN.findall(right)
    if len(tokens) + len(others) <= 2 * _MOST_TOKENS:
        yield from _aligned(tokens, others)
        return
    clauses, more = _CLAUSE.findall(left), _CLAUSE.findall(right)
    if len(clauses) + len(more) > 2 * _MOST_CLAUSES:
        yield Piece(left, right)
        return
    for piece in _joined(_aligned(clauses, more)):
        short = len(piece.left) + len(piece.right) <= _MOST_TOKENS
        if piece.same or not short:
            yield piece
        else:
            yield from _aligned(_TOKEN.findall(piece.left), _TOKEN.findall(piece.right))


def _aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, left, right, autojunk=len(left) + len(right) > _MOST_TOKENS)
    for _, a, b, c, d in matcher.get_opcodes():
        yield Piece("".join(left[a:b]), "".join(right[c:d]))


def _without_noise(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Take a character that both have by chance, between longer changes, for changed."""
    every = list(pieces)
    for i, piece in enumerate(every):
        around = every[i - 1 : i] + every[i + 1 : i + 2]
        changed = sum(max(len(p.left), len(p.right)) for p in around)
        if piece.same and len(piece.left) == 1 and len(around) == 2 and changed >= _NOISE:
            yield Piece(piece.left + "\0", piece.left + "\1")
        else:
            yield piece


def _joined(pieces: Iterator[Piece] | Sequence[Piece]) -> Iterator[Piece]:
    """Bring neighbours of one kind together, and leave empty ones out."""
    there = (piece for piece in pieces if piece.left or piece.right)
    for _, group in groupby(there, key=lambda piece: piece.same):
        parts = list(group)
        yield Piece("".join(p.left for p in parts), "".join(p.right for p in parts))


def _common(left: str, right: str) -> int:
    """Return how many characters both begin with."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
