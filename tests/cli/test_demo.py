"""`dedup demo`: the table, and a reason for all that is not as due."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len

from dedup_job.cli.demo import WHAT_IT_IS, show_result
from dedup_job.commands.demo import with_words
from dedup_job.demo import Compared, Deviation, Kind, deviations, make_corpus, score
from dedup_job.report.output import Output
from dedup_job.settings import load_settings
from tests.running import invoke

CORPUS = make_corpus(100)


def printed(found: list[Deviation]) -> str:
    """Return what is printed of a result with these deviations on a terminal of 80 columns."""
    stream = io.StringIO()
    show_result(Output(stream, width=80), score(CORPUS, [], {}), found)
    return stream.getvalue()


def near(words: str, other: str, number: int = 7) -> Deviation:
    return Deviation(number, Kind.NEAR_COPY, "kept", 2, "unlikely", words, other)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the demo prints of 2,000 documents."""
    folder = tmp_path_factory.mktemp("demo")
    return invoke("demo", "--documents", "2000", "--embedded", str(folder)).stdout


def test_all_kinds_have_a_phrase_and_the_table_fits_80_columns() -> None:
    assert set(WHAT_IT_IS) == set(Kind)
    lines = printed([]).splitlines()
    for kind, phrase in WHAT_IT_IS.items():
        assert any(line.startswith(str(kind)) and phrase in line for line in lines)
    assert max(map(cell_len, lines)) <= 80


def test_a_result_as_due_needs_no_reasons() -> None:
    assert "Not as due" not in printed([])


def test_documents_are_counted_by_kind_and_reason_each_with_an_example() -> None:
    text = printed([near("体休", "体体"), near("据网友回忆", ""), near("水", "火", number=9)])
    assert "2 kept: a word is replaced" in text
    assert 'Document 7 says "体休" where document 2 says "体体".' in text
    assert "1 kept: words are added" in text
    assert 'Document 7 has "据网友回忆", which document 2 lacks.' in text
    assert "Document 9" not in text


@pytest.mark.parametrize(
    ("became", "reason", "said"),
    [
        ("kept", "", "1 kept: no kept document was found near."),
        ("kept", "negation", "1 kept by the guard negation: One denies what the other says."),
        ("kept", "similarity", "1 kept, with the reason similarity."),
        ("duplicate", "near", "1 dropped: judged the same as a kept document."),
        ("duplicate", "exact", "1 dropped: the texts are equal but for markup."),
        ("skipped", "empty", "1 skipped, with the reason empty."),
        ("lost", "", "1 lost: in neither target nor ledger."),
        ("doubled", "near", "1 both kept and dropped: in target and ledger."),
    ],
)
def test_each_reason_is_said_in_words(became: str, reason: str, said: str) -> None:
    assert said in printed([Deviation(7, Kind.NUMBER_CHANGED, became, 2, reason)])


def test_the_words_are_those_that_differ_first() -> None:
    corpus = [
        {"_id": 1, "kind": "original", "text": "简述光合作用的过程和意义。"},
        {"_id": 2, "kind": "near_copy", "text": "<p>简述呼吸作用的过程和意义。</p>", "of": 1},
        {"_id": 3, "kind": "not_text", "text": 7},
    ]
    found = deviations(corpus, {1, 2, 3}, {}, {2: Compared(1, "unlikely")})
    own, other = with_words(found, corpus, load_settings(values={}))
    assert (own.words, own.other) == ("呼吸作用", "光合作用")
    assert (other.words, other.other) == ("", "")


def test_the_counts_of_the_reasons_are_what_the_table_lacks(shown: str) -> None:
    table = re.findall(r"^(\w+) .+ ([\d,]+) +(?:kept|duplicate|skipped) +([\d,]+)$", shown, re.M)
    assert len(table) == len(Kind)
    whole, as_due = (sum(int(row[i].replace(",", "")) for row in table) for i in (1, 2))
    reasons = re.findall(r"^\w+ +([\d,]+) (?:kept|dropped)", shown, re.M)
    assert whole - as_due == sum(int(count.replace(",", "")) for count in reasons) > 0


def test_no_innocent_is_dropped_and_most_copies_are_found(shown: str) -> None:
    assert "innocents dropped: 0" in shown
    found, planted = re.search(r"found: ([\d,]+) of ([\d,]+)", shown).groups()  # type: ignore[union-attr]
    assert int(found.replace(",", "")) >= 0.95 * int(planted.replace(",", ""))
