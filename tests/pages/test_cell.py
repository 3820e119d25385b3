"""The value of a notebook's cell: texts are only text, what differs is marked, nothing runs."""

from __future__ import annotations

import re

import pytest
from markupsafe import escape

from dedup_job.documents import Pair
from dedup_job.pages.cell import cell
from dedup_job.pages.render import plain, words
from dedup_job.runs.counts import Counts
from dedup_job.runs.decided import DecidedDocument
from tests.pages.test_report_page import HOSTILE, elements


def duplicate(other: str, text: str, name: str = "1") -> DecidedDocument:
    return DecidedDocument(
        b"",
        decision="duplicate",
        reason="near",
        pair=Pair(b"", 0, 0.9, (), probability=0.95),
        id=name,
        of=name,
        text=text,
        other=other,
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_an_element_or_an_attribute(text: str):
    pair = duplicate(f"1. {text}", f"2. {text}", name=text)
    skipped = DecidedDocument(b"", decision="quarantined", reason="too_large", id=text, text=text)
    found = elements(cell([pair, skipped], Counts(kept=1, near=1), "en"))
    assert set(found.tags) == {"div", "p", "b", "del", "ins"}
    assert {name for name, _ in found.attributes} == {"class", "dir", "lang", "style"}
    assert not any("{" in (value or "") for _, value in found.attributes)


def test_what_cannot_be_seen_or_reorders_words_is_written_out():
    shown = cell([duplicate("\x1b[31m", "\u202eabc", name="\x00")], None, "en")
    assert not {"\x1b", "\u202e", "\x00"} & set(shown)
    assert "\\u202eabc" in shown


def test_both_texts_are_there_with_what_each_has_in_its_place_marked():
    shown = cell([duplicate("地球上有水。", "火星上有水。", name="a")], None, "en")
    assert re.findall(r"<(del|ins) [^>]*>(.*?)</\1>", shown) == [("del", "地球"), ("ins", "火星")]
    words = re.sub(r"<[^>]*>|\s", "", shown)
    assert words.endswith("kept:a地球上有水。dropped:a火星上有水。")
    assert "harmless differences · similarity 0.900 · probability 0.950</div>" in shown


def test_a_notebook_does_not_set_formulas_of_the_texts():
    shown = cell([duplicate("$x_1$", "$x_2$")], None, "en")
    assert "mathjax_ignore" in shown.partition(">")[0]


def test_the_ground_and_the_letters_keep_the_colours_of_the_notebook():
    styles = " ".join(re.findall(r'style="(.*?)"', cell([duplicate("a", "b")], Counts(), "en")))
    assert not re.search(r"(?<!-)\bcolor:|#[0-9a-f]{3}", styles)
    assert set(re.findall(r"background:([^;]*)", styles)) == {
        "rgba(220,60,40,.3)",
        "rgba(40,160,90,.3)",
    }


def test_a_text_of_a_megabyte_is_shortened_around_what_differs():
    assert len(cell([duplicate("长" * 10**6, "长" * 10**6 + "7")], None, "en")) < 5000


def test_counts_and_rates_stand_above_the_first_pairs_in_one_language():
    counts = Counts(kept=6, exact=1, near=2, skipped=1)
    english, chinese = (cell([duplicate("a", "b")], counts, language) for language in ("en", "zh"))
    assert "Of 10 documents, 6 were kept and 3 dropped" in english
    assert "repeat rate <b>30.00%</b> · valid rate <b>60.00%</b>" in english
    assert "Skipped: no text <b>1</b>" in english
    assert "Quarantined" not in english
    assert "The first 1 of 3 duplicates" in english
    assert "重复率 <b>30.00%</b>" in chinese
    assert "repeat rate" not in chinese


@pytest.mark.parametrize("name", ["a{b}", "{0}", "a}b", "<b>"])
def test_a_reason_that_nobody_knows_is_shown_as_it_is(name):
    assert escape(name) in words(f"label.{name}")
    assert plain(f"label.{name}", "zh") == name
