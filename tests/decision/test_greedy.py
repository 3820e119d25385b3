"""First wins: hand-made cases by fingerprint, and pairs that are decided again."""

import numpy as np
import pytest

from dedup_job.columns import Batch, Documents, Fingerprints
from dedup_job.decision import DecisionSettings, Models
from dedup_job.decision.greedy import GreedyDeduplicator, PairRecheck, by_key
from dedup_job.demo import make_corpus
from dedup_job.documents import Document, Duplicate, Kept, Quarantined, Reason, Skipped
from dedup_job.fingerprint import FingerprintSettings
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.native.bytes_column import strings_of
from tests.deciding import Decider

A = 0x0F0F_1234_5678_9ABC
MISSING, LARGE = Skipped(Reason.MISSING), Quarantined(Reason.TOO_LARGE, "17 MiB")


def key_of(id_):
    return str(id_).encode()


def text(id_, value, digest=None, *, short=False):
    """Return a document; texts with the same value and digest are equal."""
    return id_, value, id_ if digest is None else digest, short


def prints(rows):
    return Fingerprints.of(
        values=np.array([row[1] for row in rows], dtype=np.uint64),
        digests=np.array([row[2] for row in rows], dtype=np.uint64),
        short=np.array([row[3] for row in rows], dtype=np.bool_),
    )


def written(row):
    return f"text {row[1]} {row[2]}"


def batch(rows):
    documents = [
        Document(row[0], key_of(row[0]), b"", written(row) if len(row) > 2 else row[1])
        for row in rows
    ]
    return Batch(Documents.of(documents), prints([row for row in rows if len(row) > 2]))


def decider_after(*kept, judge="none", texts=None):
    """Return a decider with kept documents; texts: in the target, in place of their own."""
    decider = Decider(DecisionSettings(judge=judge))
    keys = [key_of(row[0]) for row in kept]
    decider.index.add(strings_of(keys), prints(kept))
    decider.texts = dict(zip(keys, map(written, kept), strict=True)) | (texts or {})
    return decider


def short_form(decision):
    match decision:
        case Kept():
            return "kept"
        case Duplicate():
            return int(decision.pair.of), decision.pair.distance, str(decision.reason)
        case _:
            return decision


def decide(*rows, after=()):
    return [short_form(decision) for decision in decider_after(*after).decide(batch(rows))]


CASES = {
    "the first of equal texts is kept": (
        [text(1, A, 9), text(2, A, 9), text(3, A, 9)],
        ["kept", (1, 0, "exact"), (1, 0, "exact")],
    ),
    "equal fingerprints of different texts are near, not exact": (
        [text(1, A, 8), text(2, A, 9)],
        ["kept", (1, 0, "near")],
    ),
    "nothing is chained through a dropped document": (
        [text(1, A), text(2, A ^ 0b111), text(3, A ^ 0b111111)],
        ["kept", (1, 3, "near"), "kept"],
    ),
    "an equal text of a dropped document is near to the kept one again": (
        [text(1, A), text(2, A ^ 1, 9), text(3, A ^ 1, 9)],
        ["kept", (1, 1, "near"), (1, 1, "near")],
    ),
    "the nearest kept document is named": (
        [text(1, A), text(2, A ^ 0b1111), text(3, A ^ 0b0111)],
        ["kept", "kept", (2, 1, "near")],
    ),
    "of equally near documents the one kept first is named": (
        [text(8, A ^ 0b0011), text(2, A ^ 0b1100), text(9, A)],
        ["kept", "kept", (8, 2, "near")],
    ),
    "short texts are duplicates only if they are equal": (
        [text(1, A, 7, short=True), text(2, A ^ 1, short=True), text(3, A, 7, short=True)],
        ["kept", "kept", (1, 0, "exact")],
    ),
    "short and long texts are never near each other": (
        [text(1, A, short=True), text(2, A), text(3, A ^ 1, short=True)],
        ["kept"] * 3,
    ),
    "documents without text keep their reason and their row": (
        [(1, MISSING), text(2, A), (3, LARGE), text(4, A ^ 1), (5, MISSING)],
        [MISSING, "kept", LARGE, (2, 1, "near"), MISSING],
    ),
}


@pytest.mark.parametrize(("rows", "expected"), CASES.values(), ids=CASES)
def test_a_batch_is_decided_first_wins(rows, expected):
    assert decide(*rows) == expected


def test_exact_goes_before_near():
    kept = text(1, A), text(2, A ^ 1, 9)
    assert decide(text(3, A ^ 1, 9), after=kept) == [(2, 0, "exact")]


def test_kept_documents_win_over_new_ones():
    found = decide(text(1, A ^ 1), text(2, A, 9), after=[text(7, A, 9)])
    assert found == [(7, 1, "near"), (7, 0, "exact")]


def test_unequal_texts_with_equal_hashes_are_no_exact_duplicates():
    texts = {key_of(1): "子丑寅卯辰巳"}
    decider = decider_after(text(1, A, 9), judge="similarity", texts=texts)
    decisions = decider.decide(batch([text(2, A, 9)]))
    assert decisions[0].nearest.of == key_of(1)  # a candidate like any other
    assert not decisions.missing


def test_for_an_exact_duplicate_no_text_but_the_equal_one_is_fetched():
    decider = decider_after(text(1, A, 9), text(2, A ^ 1), judge="similarity")
    assert short_form(decider.decide(batch([text(3, A, 9)]))[0]) == (1, 0, "exact")
    assert decider.fetched == [key_of(1)]


@pytest.mark.parametrize("judge", ["differences", "similarity"])
def test_a_recheck_decides_every_duplicate_as_the_run_did(judge):
    decision, index = DecisionSettings(judge=judge), IndexSettings()
    models = Models(FingerprintSettings(), index, decision)
    rows = [row for row in make_corpus(400, seed=5) if isinstance(row.get("text"), str)]
    texts = {str(i).encode(): row["text"].strip() for i, row in enumerate(rows)}
    texts = {key: text for key, text in texts.items() if text}
    documents = tuple(Document(key, key, b"", text) for key, text in texts.items())
    fetch = by_key(lambda keys: {k: texts[k] for k in keys})
    engine = GreedyDeduplicator(KeptIndex(index), decision, fetch, models.judge)
    fingerprints = models.fingerprinter.fingerprint([*texts.values()])
    decided = engine.decide(Batch(Documents.of(documents), fingerprints))
    found = {k: one for k, one in zip(texts, decided, strict=True) if isinstance(one, Duplicate)}
    assert {one.reason for one in found.values()} == {Reason.EXACT, Reason.NEAR}
    again = PairRecheck(decision, index, models).decide(
        [texts[key] for key in found], [texts[one.pair.of] for one in found.values()]
    )
    without = [one._replace(pair=one.pair._replace(of=b"")) for one in found.values()]
    assert again == without


def test_a_recheck_names_the_guard_that_keeps_two_texts_apart():
    decision, index = DecisionSettings(), IndexSettings()
    recheck = PairRecheck(decision, index, Models(FingerprintSettings(), index, decision))
    text = "某校共有学生120人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"
    assert recheck.decide([text.replace("120", "360")], [text]) == ["number"]
    assert recheck.decide([], []) == []
