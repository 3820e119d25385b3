"""Printed text and JSON hold no terminal commands."""

import io
import json
import unicodedata

import click
import pytest
from bson import ObjectId, json_util
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.mongo.id_keys import shown_value
from dedup_job.printing import as_json, escaped, escaping, id_as_json, on_one_line, plain

COMMANDS = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
HOSTILE = (  # the last one is in no text of a server
    "\x1b[31m\x1b]0;title\x07\x9b2J\x85\x7f\r\b\u061c\u200e\u202e\u2028\u2066\ufeff"
    "\ue000\uf8ff\U000f0000\U0010fffd\u0378\u3040\u3130\uffbf\ufdd0\uffff\ud83d"
)
ANY_TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from(HOSTILE), st.sampled_from("\u2014\u3000中"))
)


def commands(text):
    """Return the unprintable, private and unassigned characters but line feeds and tabs."""
    return [c for c in text if unicodedata.category(c) in COMMANDS and c not in "\n\t"]


@given(ANY_TEXT)
def test_commands_are_escaped_and_readable_text_stays(text):
    assert commands(escaped(text)) == []
    if not commands(text):
        assert escaped(text) == text
    assert escaped(escaped(text)) == escaped(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\udc80", r"\udc80"),
        ("见\ue5e5图\U000f0001", r"见\ue5e5图\U000f0001"),
        ("\u0378", r"\u0378"),
        ("第一行\n第二行\t完", "第一行\n第二行\t完"),
    ],
)
def test_a_command_is_shown_by_its_number(text, shown):
    assert escaped(text) == shown


def test_on_one_line_a_line_feed_is_shown_too():
    assert on_one_line("host\nerror: forged\x1b") == r"host\nerror: forged\x1b"


@given(st.dictionaries(ANY_TEXT, ANY_TEXT))
def test_escaped_json_has_the_same_value_and_readable_chinese(value):
    text = as_json(value)
    assert commands(text) == []
    assert json.loads(text) == value
    assert as_json({"text": "光合作用\x9b𠮷"}) == '{\n  "text": "光合作用\\u009b𠮷"\n}\n'


def test_an_escaping_stream_escapes_print_and_click():
    below = io.StringIO()
    stream = escaping(below)
    print(HOSTILE, file=stream)
    click.echo(HOSTILE, file=stream)
    assert commands(below.getvalue()) == []
    assert "\\x1b]0;title" in below.getvalue()
    plain(escaping(stream)).write("\x1b[1m")
    assert below.getvalue().endswith("\x1b[1m")


def test_click_does_not_bypass_an_ascii_stream():
    below = io.BytesIO()
    stream = escaping(io.TextIOWrapper(below, encoding="ascii", errors="replace"))
    click.echo("\x9b中", file=stream)
    stream.flush()
    assert below.getvalue() == b"\\x9b?\n"


@pytest.mark.parametrize(
    "id_", [7, "7", "a", "", ObjectId("0123456789abcdef01234567"), {"a": 1}, True, None, "\x1b[1m"]
)
def test_a_shown_id_is_converted_to_its_json_value(id_):
    expected = json.loads(json_util.dumps(id_, json_options=json_util.RELAXED_JSON_OPTIONS))
    assert id_as_json(shown_value(id_)) == expected
