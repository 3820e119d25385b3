"""Two texts beside each other, or as one line, with what differs marked; and its classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.table import Column, Table
from rich.text import Text

from dedup_job.messages import Message, joined
from dedup_job.report.output import Block, Output, new_table
from dedup_job.report.pieces import Piece, pieces_of, shortened

_SENTENCE = re.compile(r"[^。；;！!？?\n]*(?:[。；;！!？?\n]+[”’」』）)]*|$)")
_ENDED = re.compile(r"[。；;！!？?\n][”’」』）)]*\Z")
_WHOLE = 4000  # characters of both texts that are shown whole
_COLUMN = 28  # columns of each text beside the other
_CONTEXT = 60  # characters shown before and after a long stretch
_CHANGE = 40  # of a change that is shown on a line with others
_MAX_WORDS = 60  # characters of a cell
_TEXT = 600  # at the beginning of a text that stands alone


def both_texts(
    names: tuple[str, str], left: str | None, right: str | None, console: Output
) -> Block:
    """Return two texts: side by side, once where they are equal, a line each where one is gone."""
    if left is not None and left == right:
        return Message("both texts, cleaned: {text}", text=beginning(left))
    if left is not None and right is not None:
        return side_by_side(names, left, right, console)
    gone = Message("its text is gone")
    shown = (gone if text is None else beginning(text) for text in (left, right))
    lines = (Message("{name}: {text}", name=n, text=t) for n, t in zip(names, shown, strict=True))
    return joined(lines, "\n")


def beginning(text: str) -> str:
    """Return a text on one line, of a long one how it begins."""
    begins, more = visible(text[:_TEXT]), len(text) - _TEXT
    if more <= 0:
        return begins
    return Message("{text} … {more:,} characters more", text=begins, more=more)


def side_by_side(names: tuple[str, str], left: str, right: str, console: Output) -> Table:
    """Return both texts in two columns, row beside row; of long ones what differs, with context.

    Colours mark what differs on a terminal, [-...-] and {+...+} elsewhere.
    """
    widest = console.readable // 2 - 2  # without the gap between them
    table = new_table(
        *(Column(name, overflow="fold", min_width=_COLUMN, max_width=widest) for name in names)
    )
    pieces = pieces_of(left, right)
    if len(left) + len(right) > _WHOLE:
        pieces = [shortened(piece, _CONTEXT, _WHOLE // 4) for piece in pieces]
    for row in _rows(pieces):
        cells = Text(), Text()
        for piece in row:
            if piece.same:
                for cell, own in zip(cells, piece[:2], strict=True):
                    cell.append(visible(own.rstrip("\n")))
            else:
                _append_change(cells, piece, console)
        table.add_row(*cells)
    return table


def marked_line(left: str, right: str, console: Output, width: int) -> Text:
    """Return what differs with a little context, about so many columns wide."""
    pieces = pieces_of(left, right)
    changed = [i for i, piece in enumerate(pieces) if not piece.same]
    if not changed:
        return Text(visible(pieces[0].left[: width // 4] if pieces else ""))
    lengths = (min(len(s), _CHANGE) for i in changed for s in pieces[i][:2])
    context = max(5, (width // 2 - sum(lengths)) // (2 * len(changed)))
    line = Text()
    for i, piece in enumerate(pieces):
        if line.cell_len > width:
            return line.append(" …")
        if piece.same:
            beside = i > changed[0], i < changed[-1]
            line.append(visible(_middle_left_out(piece.left, context, *beside)))
        else:
            _append_change((line, line), piece, console, _CHANGE)
    return line


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
    cells: tuple[Text, Text], piece: Piece, console: Output, most: int | None = None
) -> None:
    marks = ("bold red", "[-{}-]"), ("bold green", "{{+{}+}}")
    for cell, change, (style, mark) in zip(cells, piece[:2], marks, strict=True):
        shown = "".join(map(_escaped, change[:most]))
        shown += "…" if len(change) > len(change[:most]) else ""
        if shown and _coloured(console):
            cell.append(shown, style=style)
        elif shown:
            cell.append(mark.format(shown))


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
