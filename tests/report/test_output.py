"""Tables, rows and measures: all fits the terminal, and an `_id` is never broken."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich import box
from rich.cells import cell_len
from rich.table import Table

from dedup_job.report.output import Output, whole
from dedup_job.report.pairs import measure_text
from tests.test_printing import HOSTILE, commands

ID = "65a0a0a0a0a0a0a0a0a0a0a0"
TEXT = "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"


def table_of(*rows):
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("how many of them", justify="right")
    table.add_column("_id", no_wrap=True)
    table.add_column("text", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def printed(width, table):
    stream = io.StringIO()
    Output(stream, width=width).table(table)
    return stream.getvalue()


@given(st.integers(20, 200), st.text("字a b", max_size=300))
def test_at_any_width_ids_and_figures_stay_whole_and_texts_within_the_edge(width, text):
    output = printed(width, table_of(("1,234", ID, text), ("5", ID, "")))
    assert output.count(ID) == 2
    assert "1,234" in output
    for line in output.splitlines():
        assert cell_len(line.rstrip()) <= max(width, len(ID) + len("how many of them") + 2)
    shown = "".join(output.split()).replace("─", "")
    assert all(shown.count(c) >= text.count(c) for c in "字")


def test_a_table_that_is_too_wide_becomes_blocks_of_lines():
    assert printed(44, table_of(("12", ID, TEXT[:20]), ("3", "7", ""))) == (
        f"how many of them  12\n_id               {ID}\n"
        f"text              {TEXT[:13]}\n                  {TEXT[13:20]}\n\n"
        "how many of them  3\n_id               7\n"
    )


def test_a_pipe_breaks_no_line():
    output = printed(None, table_of(("12", ID, TEXT * 20)))
    assert TEXT * 20 in output


def test_rows_are_broken_between_words_but_ids_and_commands_stay_whole():
    stream = io.StringIO()
    long = '{"$uuid":"00000000-0000-0000-0000-000000000007"} and "a b c"'
    Output(stream, width=40).rows([("_id", whole(long)), ("words", "one two " * 8)], indent=2)
    lines = stream.getvalue().splitlines()
    assert lines[0] == f"  _id    {long}"
    assert all(len(line) <= 40 for line in lines[1:])
    assert lines[2].startswith("         one")


@pytest.mark.parametrize("width", [None, 30, 200])
def test_no_text_commands_the_terminal(width):
    stream = io.StringIO()
    output = Output(stream, width=width)
    output.say(HOSTILE)
    output.rows([(HOSTILE, whole(HOSTILE)), ("name", HOSTILE)])
    output.table(table_of(("1", HOSTILE, HOSTILE)))
    assert commands(stream.getvalue()) == []
    assert "\\x1b" in stream.getvalue()


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (1.0, 0.94, "1.000"),
        (0.99996, 0.94, "0.999"),
        (0.93996, 0.94, "0.939"),
        (0.94, 0.94, "0.940"),
        (0.89999, 0.9, "0.899"),
        (0.94371, 0.9437, "0.9437"),
        (0.9436, 0.9437, "0.943"),
        (1e-9, 0.0, "0.000"),
    ],
)
def test_a_measure_is_cut_off_on_its_own_side_of_the_limit(value, limit, shown):
    assert measure_text(value, limit) == shown
