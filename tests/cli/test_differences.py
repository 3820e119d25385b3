"""Two texts beside each other with their differences marked."""

import io
import json
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from dedup_job.report.output import Output
from dedup_job.report.pairs import diff, legend, marked_line, side_by_side, visible
from tests.running import invoke

TEXTS = st.text("ABab是不了1.。)\n 　", max_size=40)
LABELLED = [
    ("题干？ A. 甲 B. 乙 C. 丙", "题干？\n(A)甲\n(B)乙\n(C)丙"),
    ("题干？A、甲B、乙", "题干？\nＡ．甲\nＢ．乙"),
    ("Pick one. A. cat B. dog", "Pick one. a) cat b) dog"),
]
LINES = "\n".join(f"第{n}行的字，" for n in range(3000))
CHANGES = [  # left, right, and the changed segments
    ("共1994年", "共1984年", [("1994", "1984")]),
    ("it increases by 3.5", "it decreases by 3.25", [("increases", "decreases"), ("3.5", "3.25")]),
    ("甲乙丙的丁戊己", "子丑寅的卯辰巳", [("甲乙丙的丁戊己", "子丑寅的卯辰巳")]),  # no island
    *((left, right, []) for left, right in LABELLED),
    ("问？A. 甲 B. 乙", "问？A. 乙 B. 甲", [("", "乙"), ("乙", "")]),
    ("富含维生素A. 的是", "富含维生素B. 的是", [("A", "B")]),
    ("甲？ A. 一 B. 二 答案：A", "甲？ A. 一 B. 二 答案：B", [("A", "B")]),
    (
        f"起{LINES} A. 甲 B. 乙 C. 丙？终",
        f"始{LINES}\n(A)甲\n(B)乙\n(C)丙？末",
        [("起", "始"), ("终", "末")],
    ),
]


def plain(width=100):
    return Output(io.StringIO(), width=width)


def printed(left, right, console):
    console.table(side_by_side(("one", "other"), left, right, console))
    return console.file.getvalue()


@given(TEXTS, TEXTS)
@example("A. B.", "")
def test_the_pieces_make_up_both_texts_and_take_turns(left, right):
    pieces = diff(left, right)
    assert "".join(p.left for p in pieces) == left
    assert "".join(p.right for p in pieces) == right
    if not any(c in "ABab" for c in left + right):  # no labels
        assert all(p.left == p.right for p in pieces if p.same)
    assert all(a.same != b.same for a, b in pairwise(pieces))


@pytest.mark.parametrize(("left", "right", "changed"), CHANGES)
def test_numbers_words_and_letters_are_changed_whole_and_labels_of_choices_are_no_changes(
    left, right, changed
):
    assert [(p.left, p.right) for p in diff(left, right) if not p.same] == changed


@pytest.mark.parametrize(("left", "right"), LABELLED)
def test_labels_of_choices_are_no_changes_to_the_judge_either(left, right):
    judged = json.loads(invoke("inspect", left, right, "--json").stdout)["pair"]
    assert judged["weighed"]["probability"] == 1
    assert {one["kind"] for one in judged["differences"]} == {"layout"}


@pytest.mark.parametrize(
    "environment",
    [{}, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, {"TTY_COMPATIBLE": "1", "TERM": "dumb"}],
    ids=["pipe", "NO_COLOR", "dumb"],
)
def test_without_colours_marks_show_what_differs(monkeypatch, environment):
    for name, value in {"TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    output = printed("下列说法正确的是", "下列说法错误的是", plain())
    assert "下列说法[-正确-]的是" in output
    assert "下列说法{+错误+}的是" in output
    assert "[-...-]: only in the first text, kept or earlier" in legend(plain())


def test_on_a_terminal_colours_do(monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    output = printed("下列说法正确的是", "下列说法错误的是", plain())
    assert "\x1b[1;31m正确\x1b[0m" in output
    assert "\x1b[1;32m错误\x1b[0m" in output
    assert "[-" not in output


def test_white_space_that_differs_is_seen_and_nothing_moves_the_cursor():
    output = printed("甲 乙\x1b[2J", "甲\n乙\u3000\x1b[2J丙", plain())
    assert "甲[-␣-]乙" in output
    assert "甲{+↵+}乙{+\\u3000+}" in output
    assert "\x1b" not in output
    assert visible("a\tb\nc\x1b") == "a b c\\x1b"


def test_of_a_long_text_the_stretches_that_differ_are_shown_with_context():
    same = "这是一句很长而且完全相同的话，" * 1000
    output = printed(f"{same}甲{same}", f"{same}乙{same}", plain())
    assert "[-甲-]" in output
    assert "{+乙+}" in output
    assert " … " in output
    assert len(output) < 3000


@pytest.mark.measured
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("字" * 1_000_000, "词" * 1_000_000),
        ("a，b。" * 100_000, "b，a。" * 100_000),
        ("01" * 5000, "10" * 5000),
        ("", "字" * 1_000_000),
    ],
)
def test_hostile_texts_take_a_moment_only(left, right):
    began = time.process_time()
    pieces = diff(left, right)
    assert "".join(p.right for p in pieces) == right
    assert len(printed(left, right, plain())) < 20_000
    assert marked_line(left, right, plain(), 200).cell_len < 1000
    assert time.process_time() - began < 10


def test_one_line_shows_each_change_with_a_little_around_it():
    before, after = "甲" * 300, "乙" * 300
    line = marked_line(f"{before}3{after}", f"{before}5{after}", plain(), 80).plain
    assert "甲[-3-]{+5+}乙" in line
    assert line.startswith("…")
    assert line.endswith("…")
    assert cell_len(line) <= 100
