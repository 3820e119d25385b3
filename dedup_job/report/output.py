"""Where reports and tables are printed: nothing from outside commands the terminal, all fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from dedup_job.printing import escaped, plain

_ENDLESS = 1_000_000  # columns of a file or a pipe
_READABLE = 160  # columns of a text that is not hard to read
_LEAST = 16  # columns of a text in a table; with less the table becomes blocks
_BESIDE = 24  # columns of a text beside its name; with less it stands below
_GAP, _NARROW = 3, 1  # columns between two of a table, with box.SIMPLE_HEAD


class Output(Console):
    """A console that escapes all text that it is given, and that cuts nothing to fit.

    A pipe has no edge. On a terminal a table breaks the lines of a column only where
    `overflow` is "fold", and shortens a column only where it is "crop"; of all others each cell
    stays whole. A table that is still too wide is printed as one block of lines for each row.
    """

    def __init__(self, stream: TextIO, *, width: int | None = None) -> None:
        """Take the stream; width: columns, by default those of the terminal."""
        stream = plain(stream)
        super().__init__(file=stream, highlight=False, markup=False, emoji=False, width=width)
        if width is None and not self.is_terminal:
            self.width = _ENDLESS

    @property
    def readable(self) -> int:
        """The columns that a line of text may take."""
        return min(self.width, _READABLE)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return an escaped text: its width is that of what will be printed."""
        return super().render_str(escaped(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Escape what was not given as a string."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)

    def say(self, text: str | Text = "") -> None:
        """Print a text whose lines only the terminal itself breaks, so that they can be copied."""
        self.print(text, soft_wrap=True)

    def table(self, table: Table, spare: Sequence[str] = ()) -> None:
        """Print a table of texts, or its rows as blocks of lines where it is too wide.

        spare: columns that are left out rather than that, one after the other; a line names them.
        """
        shown, left_out = table, list[str]()
        while not (fits := self._fit(shown)) and len(left_out) < len(spare):
            left_out.append(spare[len(left_out)])
            shown = _without(shown, left_out[-1])
        if not fits:
            self._blocks(table)
            return
        self.print(shown)
        if left_out:
            self.say(f"columns hidden (terminal too narrow): {', '.join(left_out)}")

    def _fit(self, table: Table) -> bool:
        """Give each column its width; tell whether all fit, else nothing is changed."""
        widths = _widths(table.columns, self.width, _GAP)
        if widths is None and (widths := _widths(table.columns, self.width, _NARROW)):
            table.padding = 0
        for column, width in zip(table.columns, widths or (), strict=widths is not None):
            column.width = width
            column.overflow = "fold" if column.overflow == "fold" else "ellipsis"
        return widths is not None

    def _blocks(self, table: Table) -> None:
        names = [str(column.header) for column in table.columns]
        for number, row in enumerate(zip(*(_cells(c) for c in table.columns), strict=True)):
            if number:
                self.say()
            self.rows((name, cell) for name, cell in zip(names, row, strict=True) if cell.plain)

    def rows(self, rows: Iterable[tuple[str, str | Text]], indent: int = 0) -> None:
        """Print names with their values beside them, or below them where there is little room.

        Lines are broken between words, but for a value that is a Text with `no_wrap`.
        """
        texts = [(escaped(name), _text(value)) for name, value in rows]
        beside = indent + max((cell_len(name) for name, _ in texts), default=0) + 2
        for name, value in texts:
            start, at = Text(" " * indent + name), beside
            narrow = self.width - beside < _BESIDE and beside + value.cell_len > self.width
            if narrow and not value.no_wrap:
                self.say(start)
                start, at = Text(), indent + 2
            lines = value.split("\n", allow_blank=True)
            if not value.no_wrap:
                lines = value.wrap(self, max(self.width - at, 1))
            for line in lines:
                start.pad_right(max(at - start.cell_len, 0))
                self.say(start + line)
                start = Text()


def new_table(*columns: str | Column) -> Table:
    """Return an empty table of these columns in the look of all."""
    return Table(*columns, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)


def figures(*names: str) -> list[Column]:
    """Return columns of figures."""
    return [Column(name, justify="right") for name in names]


def whole(text: str) -> Text:
    """Return a value for `rows` whose line is not broken: an `_id`, a command."""
    return Text(escaped(text), no_wrap=True)


def _without(table: Table, name: str) -> Table:
    """Return a table without one of its columns."""
    kept = [column for column in table.columns if column.header != name]
    less = new_table(*(column.copy() for column in kept))
    cells = zip(*(column.cells for column in kept), strict=True)
    for row, of_row in zip(table.rows, cells, strict=True):
        less.add_row(*of_row, end_section=row.end_section)
    return less


def _text(value: object) -> Text:
    return value if isinstance(value, Text) else Text(escaped(str(value)))


def _cells(column: Column) -> list[Text]:
    """Return the cells of a column; those that stay whole in a table do so in a block."""
    cells = [_text(cell).copy() for cell in column.cells]
    for cell in cells:
        cell.no_wrap = not _gives_way(column)
    return cells


def _gives_way(column: Column) -> bool:
    return column.overflow in ("fold", "crop")


def _widths(columns: Sequence[Column], room: int, gap: int) -> list[int] | None:
    """Return the width of each column so that all fit; None where they cannot."""
    room -= gap * (len(columns) - 1)
    for by_words in (False, True):  # only if need be the lines of headings are broken
        least, most = zip(*(_bounds(column, by_words=by_words) for column in columns), strict=True)
        if sum(least) <= room:
            return _shared(least, most, room)
    return None


def _bounds(column: Column, *, by_words: bool) -> tuple[int, int]:
    """Return the least and the greatest width that is of use."""
    heading = str(column.header)
    parts = heading.split() if by_words and not column.no_wrap else [heading]
    cells = (line for cell in _cells(column) for line in cell.plain.split("\n"))
    heads, widest = max(map(cell_len, parts), default=0), max(map(cell_len, cells), default=0)
    if not _gives_way(column):
        return max(heads, widest), max(heads, widest)
    least = max(heads, min(widest, column.min_width or _LEAST))
    return least, max(least, min(widest, column.max_width or widest))


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Widen the narrowest columns first, until all have what they need or the room is used up."""
    widths, rest = [*least], room - sum(least)
    while rest and (narrow := [i for i, width in enumerate(widths) if width < most[i]]):
        place = min(narrow, key=lambda i: widths[i])
        more = min(most[place] - widths[place], max(1, rest // len(narrow)))
        widths[place] += more
        rest -= more
    return widths
