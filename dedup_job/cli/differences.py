"""Two texts beside each other, or as one line, with what differs marked; and its classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.table import Column, Table
from rich.text import Text

from dedup_job.messages import Message
from dedup_job.report.output import Output, new_table
from dedup_job.report.pieces import Piece, shortened

_SENTENCE = re.compile(r"[^。；;！!？?\n]*(?:[。；;！!？?\n]+[”’」』）)]*|$)")
_ENDED = re.compile(r"[。；;！!？?\n][”’」』）)]*\Z")
_WHOLE = 4000  # characters of both texts that are shown whole
_COLUMN = 28  # columns of each text beside the other
_CONTEXT = 60  # characters shown before and after a long stretch
_CHANGE = 40  # of a change that is shown on a line with others
_MAX_WORDS = 60  # characters of a cell
_LESS, _MORE = "bold red", "bold green"


def side_by_side(pieces: Sequence[Piece], console: Output, names: tuple[str, str]) -> Table:
    """Return both texts in two columns, row beside row; of long ones what differs, with context.

    Colours mark what differs on a terminal, [-...-] and {+...+} elsewhere.
    """
    widest = console.readable // 2 - 2  # without the gap between them
    table = new_table(
        *(Column(name, overflow="fold", min_width=_COLUMN, max_width=widest) for name in names)
    )
    if sum(len(piece.left) + len(piece.right) for piece in pieces) > _WHOLE:
        pieces = [shortened(piece, _CONTEXT, _WHOLE // 4) for piece in pieces]
    for row in _rows(pieces):
        left, right = Text(), Text()
        for piece in row:
            for cell, own, style in ((left, piece.left, _LESS), (right, piece.right, _MORE)):
                if piece.same:
                    cell.append(visible(own.rstrip("\n")))
                else:
                    _append_change(cell, own, style, console)
        table.add_row(left, right)
    return table


def marked_line(pieces: Sequence[Piece], console: Output, width: int) -> Text:
    """Return what differs with a little context, about so many columns wide."""
    changed = [i for i, piece in enumerate(pieces) if not piece.same]
    if not changed:
        return Text(visible(pieces[0].left[: width // 4] if pieces else ""))
    lengths = (min(len(s), _CHANGE) for i in changed for s in (pieces[i].left, pieces[i].right))
    context = max(5, (width // 2 - sum(lengths)) // (2 * len(changed)))
    text = Text()
    for i, piece in enumerate(pieces):
        if text.cell_len > width:
            return text.append(" …")
        if piece.same:
            beside = i > changed[0], i < changed[-1]
            text.append(visible(_middle_left_out(piece.left, context, *beside)))
        else:
            _append_change(text, piece.left, _LESS, console, _CHANGE)
            _append_change(text, piece.right, _MORE, console, _CHANGE)
    return text


def table_of_differences(
    names: tuple[str, str], rows: Iterable[tuple[object, object, object, object]]
) -> Table:
    """Return the table of kinds, parts of the text, and the words of the two texts."""
    texts = (Column(name, overflow="fold") for name in names)
    table = new_table(Message("difference"), Message("in"), *texts)
    for kind, place, *words in rows:
        sides = (visible(str(side)) for side in words)
        cut = (f"{side[:_MAX_WORDS]}…" if len(side) > _MAX_WORDS else side for side in sides)
        table.add_row(Message(str(kind)), Message(str(place)), *map(Text, cut))
    return table


def legend(console: Output) -> Message:
    """Say how differences are marked."""
    if _coloured(console):
        return Message("Red: only in the first text, kept or earlier; green: only in the second.")
    return Message("[-...-]: only in the first text, kept or earlier; {+...+}: only in the second.")


def visible(text: str) -> str:
    """Return a text on one line and without what moves a cursor."""
    return "".join(" " if c.isspace() else c if c.isprintable() else _escaped(c) for c in text)


def _coloured(console: Output) -> bool:
    return console.is_terminal and console.color_system is not None and not console.no_color


def _append_change(
    text: Text, change: str, style: str, console: Output, most: int | None = None
) -> None:
    shown = "".join(_escaped(character) for character in change[:most])
    shown += "…" if len(change) > len(change[:most]) else ""
    if shown and _coloured(console):
        text.append(shown, style=style)
    elif shown:
        text.append(f"[-{shown}-]" if style == _LESS else f"{{+{shown}+}}")


def _escaped(character: str) -> str:
    if character in "\n ":
        return "↵" if character == "\n" else "␣"
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _rows(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    row: list[Piece] = []
    for piece in pieces:
        for part in _sentences(piece) if piece.same else [piece]:
            row.append(part)
            if part.same and _ENDED.search(part.left):
                yield row
                row = []
    if row:
        yield row


def _sentences(piece: Piece) -> Iterator[Piece]:
    left, right = (_SENTENCE.findall(text)[:-1] for text in piece[:2])
    if len(left) != len(right):
        left, right = [piece.left], [piece.right]
    return (Piece(*pair, same=True) for pair in zip(left, right, strict=True))


def _middle_left_out(text: str, ends: int, *beside: bool) -> str:
    if len(text) <= ends * sum(beside):
        return text
    before, after = beside
    return (text[:ends] if before else "") + "…" + (text[-ends:] if after else "")
