"""A run aborts before it writes a result beyond a limit of `abort_if`; at the limit it goes on."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from dedup_job.columns import Documents
from dedup_job.decision import AbortSettings, abort
from dedup_job.decision.abort import AbortConditions
from dedup_job.documents import Document, Duplicate, Kept, Pair, Reason, Skipped
from dedup_job.messages import RunAborted
from tests.deciding import decisions_of

KEPT, EMPTY, MISSING = Kept(1, short=False), Skipped(Reason.EMPTY), Skipped(Reason.MISSING)
NEAR = Duplicate(Reason.NEAR, False, Pair(b"1", 1, 0.9, ("simhash",)))
EXACT = Duplicate(Reason.EXACT, False, Pair(b"1", 0, 1.0, ("text",)))


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    monkeypatch.setattr(abort, "WINDOW", 100)
    monkeypatch.setattr(abort, "TEXTS_FROM", 10)


def check(conditions, batch):
    """Check a batch of decisions; a number: a kept text of ten characters, with n cut off."""
    texts = ["十个字" * 3 + "。" if isinstance(one, int) else f"正文\n{i}" + "长" * 99
             for i, one in enumerate(batch)]  # fmt: skip
    documents = Documents.of(Document(i, b"%d" % i, b"", text) for i, text in enumerate(texts))
    cut = np.array([one if isinstance(one, int) else 0 for one in batch], dtype=np.int64)
    decisions = decisions_of([KEPT if isinstance(one, int) else one for one in batch])
    conditions.check(replace(documents, cut=cut), decisions)


def limits(**values):
    return AbortConditions(AbortSettings(**({"without_text": 1} | values)))


HALF = {"near_rate": 0.5}
NO_TEXT = {"without_text": 0.5}


@pytest.mark.parametrize(
    ("settings", "batches", "message"),
    [
        ({"near_rate": 0.9}, [[NEAR] * 90 + [KEPT] * 10], None),
        (HALF, [[NEAR] * 99], None),  # the window is not full
        (HALF, [[NEAR] * 99, [NEAR]], r"100\.0% of the last 100 documents are near duplicates"),
        (HALF, [[NEAR] * 50 + [KEPT] * 50] * 3, None),
        (HALF, [[NEAR] * 50 + [KEPT] * 50, [NEAR] * 51, [KEPT] * 49], r"51\.0% of the last 100"),
        ({"near_rate": 0.0}, [[EXACT] * 60 + [EMPTY] * 60], None),
        ({"near_rate": 0.0}, [[EMPTY] * 300], None),
        ({"near_rate": 1.0}, [[NEAR] * 500], None),
        (NO_TEXT, [[EMPTY] * 5 + [KEPT] * 5], None),
        (NO_TEXT, [[EMPTY] * 9], None),  # too few
        (NO_TEXT, [[KEPT] * 10] * 5 + [[MISSING] * 6 + [KEPT] * 4], r"60\.0% of the last 10"),
        ({"cut": 0.5}, [[10] * 100], None),
        ({"cut": 1.0}, [[90] * 100], None),
        ({"cut": 0.2}, [[90] * 99, [0]], r"89\.9% of the characters of the last 100 texts"),
        ({"cut": 0.2}, [[0] * 1000, [5] * 100], r"33\.3% of the characters"),
    ],
)
def test_a_run_is_aborted_beyond_a_limit_in_a_window(settings, batches, message):
    conditions = limits(**settings)
    for batch in batches[:-1]:
        check(conditions, batch)
    with pytest.raises(RunAborted, match=message) if message else nullcontext():
        check(conditions, batches[-1])


@pytest.mark.parametrize(
    ("settings", "batch", "words"),
    [
        ({"near_rate": 0.9}, [NEAR] * 91 + [KEPT] * 9,
         ("91.0% of the last 100 documents", "limit is 90.0%", "DEDUP_ABORT_IF__NEAR_RATE",
          "near_rate in section [abort_if]", "_id 90: 正文 90长长", "长...")),
        (NO_TEXT, [MISSING] * 4 + [EMPTY] * 2 + [KEPT] * 4,
         ("60.0% of the last 10 documents have no text (missing 4, empty 2)", "--field", "50.0%")),
        ({"cut": 0.5}, [10] * 98 + [0, 40],
         ("50.5% of the characters of the last 100 texts were cut off", "limit is 50.0%",
          "40 characters, of _id 99: 十个字", "out of cleaning.cut_at", "DEDUP_ABORT_IF__CUT")),
    ],
)  # fmt: skip
def test_the_error_names_limit_setting_and_example(settings, batch, words):
    with pytest.raises(RunAborted) as refused:
        check(limits(**settings), batch)
    assert [word for word in words if word not in str(refused.value)] == []
    assert refused.value.code == 6


def test_a_share_without_text_like_that_of_earlier_runs_is_a_warning_once():
    warnings = []
    conditions = AbortConditions(AbortSettings(**NO_TEXT), usual=0.58, warn=warnings.append)
    for _ in range(3):
        check(conditions, [MISSING] * 6 + [KEPT] * 4)
    assert warnings == [
        "60.0% of the last 10 documents have no text (missing 6); in earlier runs 58.0% had none"
    ]
    with pytest.raises(RunAborted):
        check(conditions, [MISSING] * 7 + [KEPT] * 3)
