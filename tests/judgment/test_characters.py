"""Each character becomes what the naive version says."""

from __future__ import annotations

from dedup_job.judgment import words as characters
from tests.reference import canonical as naive


def test_every_character_becomes_what_it_should():
    table = characters.alphabet()
    for point in (*range(0x10000), *range(0x1D400, 0x1D800)):
        cells = table.cells if point < 0x10000 else table.mathematical
        cell = int(cells[point & 0xFFFF if point < 0x10000 else point - 0x1D400])
        got = [cell]
        if cell >> characters.KIND == characters.EXPANDED:
            e = cell & characters.POINT
            got = table.expansions[table.starts[e] : table.starts[e + 1]].tolist()
        expected = naive.plain(chr(point))
        assert [told(cell, table.small) for cell in got] == [naive_told(c) for c in expected], hex(
            point
        )


def told(cell: int, small) -> tuple[str, bool, bool, bool]:
    kind, point = cell >> characters.KIND, cell & characters.POINT
    script = kind in (characters.RAISED, characters.LOWERED)
    han = kind in (characters.HAN, characters.NUMERAL, characters.UNTIL)
    return (
        chr(small[point] if script else point),
        script,
        han,
        bool(cell & characters.WORD_CHARACTER),
    )


def naive_told(c: str) -> tuple[str, bool, bool, bool]:
    script = naive.raised(c) or naive.lowered(c)
    return script or c, bool(script), naive.is_han(c), naive.is_word(c) or c == "_"


def test_capitals_have_small_letters():
    small = characters.alphabet().small
    for point in range(0x10000):
        script = naive.raised(chr(point)) or naive.lowered(chr(point))
        lower = script or chr(point).lower()
        assert small[point] == (ord(lower) if len(lower) == 1 else point)
