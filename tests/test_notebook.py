"""`show` finds in what `deduplicate` gave the pair or the counts that a notebook shows."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dedup_job

TEXTS = [
    "<p>地球表面有七成被水覆盖，下列关于水的说法正确的是哪一项？</p>",
    "地球表面有七成被水覆盖，下列关于水的说法正确的是哪一项？【选自课后练习】",
    None,
    "地球表面有七成被水覆盖，下列关于水的说法正确的是哪一项？",
    "火星表面有七成被水覆盖，下列关于水的说法正确的是哪一项？",
]
RESULTS = {
    "pandas": dedup_job.deduplicate(pd.Series(TEXTS)),
    "polars": dedup_job.deduplicate(pl.Series(TEXTS)),
    "arrow": dedup_job.deduplicate(pa.array(TEXTS)),
    "outcomes": [*dedup_job.deduplicate(TEXTS)],
}
results = pytest.mark.parametrize("decided", RESULTS.values(), ids=RESULTS.keys())


def words(shown: dedup_job.Shown) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", shown._repr_html_()).split())


@results
def test_the_whole_is_shown_as_counts_and_pairs_near_ones_first(decided: Any):
    shown = dedup_job.show(decided)
    assert repr(shown) == "5 texts: 2 kept, 1 exact and 1 near duplicates (40.00%)"
    assert words(shown).startswith("Of 5 documents, 2 were kept and 2 dropped as duplicates")
    assert re.findall("kept: 0|dropped: .", words(shown)) == [
        "kept: 0",
        "dropped: 1",
        "kept: 0",
        "dropped: 3",
    ]


@results
def test_a_duplicate_is_shown_beside_the_kept_text(decided: Any):
    shown = dedup_job.show(decided, 1)
    assert repr(shown).startswith("1: duplicate of 0, near, similarity 1.000, probability ")
    assert "<ins" in shown.html
    assert words(shown).endswith("哪一项？ 【选自课后练习】")
    assert repr(dedup_job.show(decided, 3)) == "3: duplicate of 0, exact, similarity 1.000"


@results
def test_a_text_without_a_pair_is_shown_alone(decided: Any):
    assert words(dedup_job.show(decided, 2)) == "Skipped: no text: 2 field absent or null"
    assert words(dedup_job.show(decided, 4)) == f"Kept: 4 {TEXTS[4]}"
    assert repr(dedup_job.show(decided, 4)) == "4: kept"


def test_a_row_is_named_by_its_label():
    decided = dedup_job.deduplicate(pd.Series(TEXTS, index=[*"abcde"]))
    assert "kept: a" in words(dedup_job.show(decided, "d"))


def test_so_many_pairs_are_shown_as_are_asked_for():
    shown = dedup_job.show(RESULTS["pandas"], first=1, language="zh")
    assert "共 2 篇重复，以下是前 1 篇" in words(shown)
    assert "丢弃: 3" not in words(shown)


def test_nothing_is_shown_of_nothing():
    assert repr(dedup_job.show([])) == "0 texts: 0 kept, 0 exact and 0 near duplicates (0.00%)"


def test_a_label_does_not_command_a_terminal():
    [one] = dedup_job.deduplicate([("\x1b[31m", "水")])
    assert repr(dedup_job.show([one], "\x1b[31m")) == "\\x1b[31m: kept"


PANDAS = RESULTS["pandas"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: dedup_job.show(PANDAS, "z"), "no text has the label 'z'"),
        (lambda: dedup_job.show(PANDAS[1:], 1), "no text has the label 0"),
        (lambda: dedup_job.show(PANDAS.set_index(PANDAS.index * 0)), "5 texts have the label 0"),
        (lambda: dedup_job.show(pd.Series(TEXTS)), "no column 'decision'"),
        (lambda: dedup_job.show(PANDAS.drop(columns="text")), "no column 'text'"),
        (lambda: dedup_job.show(TEXTS), "there is a str; give the table or the outcomes"),
        (lambda: dedup_job.show(None), "there is a NoneType"),
        (lambda: dedup_job.show(PANDAS, language="fr"), "expected en or zh"),
    ],
)
def test_what_cannot_be_shown_is_refused(call: Any, said: str):
    with pytest.raises(dedup_job.UsageError, match=re.escape(said)):
        call()
