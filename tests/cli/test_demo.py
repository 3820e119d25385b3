"""`dedup demo`: the table, and what it says."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len

from dedup_job.cli.demo import WHAT_IT_IS, show_result
from dedup_job.demo import Kind, make_corpus, score
from dedup_job.report.output import Output
from tests.running import invoke


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the demo prints of 2,000 documents."""
    folder = tmp_path_factory.mktemp("demo")
    return invoke("demo", "--documents", "2000", "--embedded", str(folder)).stdout


def test_all_kinds_have_a_phrase_and_the_table_fits_80_columns() -> None:
    assert set(WHAT_IT_IS) == set(Kind)
    stream = io.StringIO()
    show_result(Output(stream, width=80), score(make_corpus(100), [], {}))
    lines = stream.getvalue().splitlines()
    for kind, phrase in WHAT_IT_IS.items():
        assert any(line.startswith(str(kind)) and phrase in line for line in lines)
    assert max(map(cell_len, lines)) <= 80


def test_no_innocent_is_dropped_and_most_copies_are_found(shown: str) -> None:
    assert "innocents dropped: 0" in shown
    found, planted = re.search(r"found: ([\d,]+) of ([\d,]+)", shown).groups()  # type: ignore[union-attr]
    assert int(found.replace(",", "")) >= 0.95 * int(planted.replace(",", ""))
