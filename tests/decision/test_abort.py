"""A run stops before it writes a result that looks like a mistake; at its limit it goes on."""

from dataclasses import replace

import numpy as np
import pytest

from dedup_job.columns import Documents
from dedup_job.decision import AbortSettings, abort
from dedup_job.decision.abort import AbortConditions
from dedup_job.documents import Document, Duplicate, Kept, Pair, Reason, Skipped
from dedup_job.messages import RunAborted
from tests.deciding import decisions_of

KEPT, SKIPPED = Kept(1, short=False), Skipped(Reason.EMPTY)
MISSING = Skipped(Reason.MISSING)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(abort, "WINDOW", 100)
    monkeypatch.setattr(abort, "TEXTS_FROM", 10)


def near():
    pair = Pair(b"1", 1, 0.9, ("simhash",))
    return Duplicate(Reason.NEAR, False, pair)


def exact():
    return Duplicate(Reason.EXACT, False, Pair(b"1", 0, 1.0, ("text",)))


def check(watched, decisions):
    documents = Documents.of(
        Document(i, str(i).encode(), b"", f"正文\n{i}" + "长" * 99) for i in range(len(decisions))
    )
    watched.check(documents, decisions_of(decisions))


def limits(**values):
    return AbortConditions(AbortSettings(without_text=1, **values))


def test_at_the_limit_a_window_passes_and_beyond_it_does_not():
    check(limits(near_rate=0.9), [near()] * 90 + [KEPT] * 10)
    with pytest.raises(RunAborted) as refused:
        check(limits(near_rate=0.9), [near()] * 91 + [KEPT] * 9)
    for words in ("91.0% of the last 100 documents", "limit is 90.0%", "DEDUP_ABORT_IF__NEAR_RATE",
                  "near_rate in section [abort_if]", "_id 90: 正文 90长长", "长..."):  # fmt: skip
        assert words in str(refused.value)
    assert refused.value.code == 6


def test_nothing_is_said_before_the_window_is_full_and_batches_add_up_to_it():
    watched = limits(near_rate=0.5)
    check(watched, [near()] * 99)
    with pytest.raises(RunAborted, match=r"100\.0% of the last 100"):
        check(watched, [near()])


def test_each_window_begins_anew():
    watched = limits(near_rate=0.5)
    for _ in range(3):
        check(watched, [near()] * 50 + [KEPT] * 50)
    check(watched, [near()] * 51)
    with pytest.raises(RunAborted, match=r"51\.0% of the last 100"):
        check(watched, [KEPT] * 49)


def test_equal_texts_and_skipped_ones_are_no_near_duplicates():
    check(limits(near_rate=0.0), [exact()] * 60 + [SKIPPED] * 60)


def test_a_rate_of_1_is_no_limit():
    check(limits(near_rate=1.0), [near()] * 500)


def test_skipped_documents_alone_are_no_reason_to_stop():
    check(limits(near_rate=0.0), [SKIPPED] * 300)


def without_text(**more):
    return AbortConditions(AbortSettings(without_text=0.5), **more)


def test_where_most_documents_have_no_text_the_reasons_are_named():
    named = without_text()
    check(named, [SKIPPED] * 5 + [KEPT] * 5)
    with pytest.raises(RunAborted) as refused:
        check(named, [MISSING] * 4 + [SKIPPED] * 2 + [KEPT] * 4)
    for words in ("60.0% of the last 10 documents have no text (missing 4, empty 2)",
                  "--field", "50.0%"):  # fmt: skip
        assert words in str(refused.value)
    assert refused.value.code == 6


def test_a_few_documents_without_a_text_say_nothing():
    check(without_text(), [SKIPPED] * 9)


def test_a_later_batch_that_turns_that_way_is_stopped():
    watched = without_text()
    for _ in range(5):
        check(watched, [KEPT] * 10)
    with pytest.raises(RunAborted, match=r"60\.0% of the last 10"):
        check(watched, [MISSING] * 6 + [KEPT] * 4)


def test_where_earlier_runs_had_as_many_without_a_text_it_is_a_warning_once():
    told = []
    watched = without_text(usual=0.58, warn=told.append)
    for _ in range(3):
        check(watched, [MISSING] * 6 + [KEPT] * 4)
    assert told == [
        "60.0% of the last 10 documents have no text (missing 6); in earlier runs 58.0% had none"
    ]
    with pytest.raises(RunAborted):
        check(watched, [MISSING] * 7 + [KEPT] * 3)


def cut(watched, characters):
    """Check texts of ten characters, behind each so many more that were cut off."""
    n = len(characters)
    texts = Documents.of(Document(i, b"%d" % i, b"", "十个字" * 3 + "。") for i in range(n))
    documents = replace(texts, cut=np.array(characters, dtype=np.int64))
    watched.check(documents, decisions_of([KEPT] * n))


def test_where_more_than_a_share_of_the_characters_is_cut_off_the_worst_text_is_named():
    cut(limits(cut=0.5), [10] * 100)
    with pytest.raises(RunAborted) as refused:
        cut(limits(cut=0.5), [10] * 98 + [0, 40])
    for words in ("50.5% of the characters of the last 100 texts were cut off",
                  "limit is 50.0%", "40 characters, of _id 99: 十个字", "out of cleaning.cut_at",
                  "DEDUP_ABORT_IF__CUT"):  # fmt: skip
        assert words in str(refused.value)
    assert refused.value.code == 6


def test_a_hundred_texts_are_needed_before_a_share_is_cut_too_much_and_batches_add_up():
    watched = limits()
    cut(watched, [90] * 99)
    with pytest.raises(RunAborted, match=r"89\.9% of the characters of the last 100 texts"):
        cut(watched, [0])


def test_a_later_batch_is_measured_by_itself():
    watched = limits(cut=0.2)
    cut(watched, [0] * 1000)
    with pytest.raises(RunAborted, match=r"33\.3% of the characters"):
        cut(watched, [5] * 100)
    cut(limits(cut=1.0), [90] * 100)
