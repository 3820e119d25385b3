"""A console for texts, tables and rows that escapes control characters and breaks long lines."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from dedup_job.messages import localized
from dedup_job.printing import escaped, plain

Rows = Sequence[tuple[str, str | Text]]
Block = str | Text | Table | Rows
_UNLIMITED = 1_000_000  # columns of a file or a pipe
_READABLE = 160  # the most columns of a text
_PROSE = 80  # the most columns of a sentence
_LEAST = 16  # columns of a text in a table; with fewer, rows are printed as blocks
_BESIDE = 24  # columns of a value beside its name; with fewer, it is printed below the name
_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"  # a line may break between two
_PARTS = re.compile(
    rf"[\[（“《「【]*(?:[{_WIDE}]|[^\s{_WIDE}]+)[\]，。；：、）”》」】！？]*\s*|\s+"
)
_GAP = 3  # columns between two of a table, with box.SIMPLE_HEAD


class Output(Console):
    """A console that escapes all text, and cuts none off.

    On a terminal a table breaks lines only in columns with `overflow` "fold"; if it is still too
    wide, each row is printed as a block of lines. A pipe or a file has no width.
    """

    def __init__(self, stream: TextIO, *, width: int | None = None, colour: bool = True) -> None:
        """Take the stream; width: columns, None for the terminal's.

        colour: allowed if the terminal, or a variable such as FORCE_COLOR, says so.
        """
        options: dict[str, Any] = {"width": width, "force_terminal": None if colour else False}
        super().__init__(file=plain(stream), highlight=False, markup=False, emoji=False, **options)
        if width is None and not self.is_terminal:
            self.width = _UNLIMITED

    @property
    def line_width(self) -> int:
        """The most columns of a line of text."""
        return min(self.width, _READABLE)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the text of a string, translated and escaped before its width is measured."""
        return super().render_str(escaped(localized(text)), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of any renderable, escaped."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)

    def say(self, text: str | Text = "") -> None:
        """Print a text without added line breaks, so that it can be copied."""
        self.print(text, soft_wrap=True)

    def blocks(self, blocks: Iterable[Block]) -> None:
        """Print tables, rows and texts that are not empty, with an empty line between two."""
        for number, block in enumerate(block for block in blocks if block):
            if number:
                self.say()
            if isinstance(block, str | Text):
                self.say(block)
            elif isinstance(block, Table):
                self.table(block)
            else:
                self.rows(block)

    def paragraph(self, text: str | Text) -> None:
        """Print a text with its lines broken between words; indented lines stay whole."""
        for line in _text(text).split("\n", allow_blank=True):
            width = sys.maxsize if line.plain.startswith(" ") else min(self.width, _PROSE)
            for part in _lines(line, width):
                self.say(part)

    def table(self, table: Table) -> None:
        """Print a table of texts, or its rows as blocks of lines if it is too wide."""
        widths = _widths(table.columns, self.width)
        if widths is None:
            names = [_text(column.header).plain for column in table.columns]
            rows = zip(*map(_cells, table.columns), strict=True)
            named = (zip(names, row, strict=True) for row in rows)
            self.blocks([(name, cell) for name, cell in row if cell.plain] for row in named)
            return
        for column, width in zip(table.columns, widths, strict=True):
            if column.overflow == "fold":
                broken = (Text("\n").join(_lines(cell, width)) for cell in _cells(column))
                column._cells = [*broken]  # rich does not break Chinese
            column.width = width
        self.print(table)

    def rows(
        self, rows: Iterable[tuple[str, str | Text]], indent: int = 0, widest: int = sys.maxsize
    ) -> None:
        """Print names with their values beside them, or below on a narrow terminal.

        Lines are broken between words, but not in a Text with `no_wrap`. indent: columns; widest:
        columns of a name, a wider one has a line of its own.
        """
        texts = [(escaped(localized(name)), _text(value)) for name, value in rows]
        widths = [cell_len(name) for name, _ in texts]
        beside = indent + max((width for width in widths if width <= widest), default=0) + 2
        for name, value in texts:
            start, at = Text(" " * indent + name), beside
            narrow = self.width - beside < _BESIDE and beside + value.cell_len > self.width
            if cell_len(name) > widest:
                self.say(start)
                start = Text()
            elif narrow and not value.no_wrap:
                self.say(start)
                start, at = Text(), indent + 2
            for line in _lines(value, sys.maxsize if value.no_wrap else max(self.width - at, 1)):
                start.pad_right(max(at - start.cell_len, 0))
                self.say(start + line)
                start = Text()


def new_table(*columns: str | Column) -> Table:
    """Return an empty table with these columns in the common style."""
    return Table(*columns, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)


def number_columns(*names: str) -> list[Column]:
    """Return right-aligned columns with these headings."""
    return [Column(name, justify="right") for name in names]


def whole(text: str) -> Text:
    """Return an escaped text for `rows` that is not broken: an `_id`, a command."""
    return Text(escaped(text), no_wrap=True)


def _text(value: Any) -> Text:
    return value if isinstance(value, Text) else Text(escaped(localized(value)))


def _lines(text: Text, width: int) -> list[Text]:
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        lines += line.divide([*_ends(line.plain, width)])
    for line in lines:
        line.rstrip()
    return lines


def _ends(line: str, width: int) -> Iterator[int]:
    used = 0
    for part in _PARTS.finditer(line):
        size = cell_len(part[0].rstrip())
        if used and used + size > width:
            yield part.start()
            used = 0
        if size <= width:
            used += cell_len(part[0])
            continue
        for at in range(*part.span()):
            used += cell_len(line[at])
            if used > width and at > part.start():
                yield at
                used = cell_len(line[at])


def _cells(column: Column) -> list[Text]:
    cells = [_text(cell).copy() for cell in column.cells]
    for cell in cells:
        cell.no_wrap = column.overflow != "fold"
    return cells


def _widths(columns: Sequence[Column], width: int) -> list[int] | None:
    least, most = zip(*map(_bounds, columns), strict=True)
    widths, rest = [*least], width - _GAP * (len(columns) - 1) - sum(least)
    if rest < 0:
        return None
    while rest and (narrow := [i for i, own in enumerate(widths) if own < most[i]]):
        i = min(narrow, key=lambda i: widths[i])
        more = min(most[i] - widths[i], max(1, rest // len(narrow)))
        widths[i] += more
        rest -= more
    return widths


def _bounds(column: Column) -> tuple[int, int]:
    cells = (line for cell in _cells(column) for line in cell.plain.split("\n"))
    heading, widest = _text(column.header).cell_len, max(map(cell_len, cells), default=0)
    if column.overflow != "fold":
        return max(heading, widest), max(heading, widest)
    least = max(heading, min(widest, column.min_width or _LEAST))
    return least, max(least, min(widest, column.max_width or widest))
