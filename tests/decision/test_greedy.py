"""First wins: what is kept, what is found, and what is decided again."""

import numpy as np
import pytest

from dedup_job.columns import Batch, Documents, Fingerprints, KeptPage
from dedup_job.decision import DecisionSettings, Models
from dedup_job.decision.greedy import GreedyDeduplicator, PairRecheck, by_key
from dedup_job.demo import make_corpus
from dedup_job.documents import Document, Duplicate, Kept, Quarantined, Reason, Skipped
from dedup_job.fingerprint import FingerprintSettings
from dedup_job.index import IndexSettings, KeptIndex
from tests.deciding import Decider

A = 0x0F0F_1234_5678_9ABC
MISSING, LARGE = Skipped(Reason.MISSING), Quarantined(Reason.TOO_LARGE, "17 MiB")


def key_of(id_):
    return str(id_).encode()


def text(id_, value, digest=None, *, short=False):
    """Make a document by hand; texts are equal where value and digest are."""
    return id_, value, id_ if digest is None else digest, short


def arrays(rows):
    return Fingerprints.of(
        values=np.array([row[1] for row in rows], dtype=np.uint64),
        digests=np.array([row[2] for row in rows], dtype=np.uint64),
        short=np.array([row[3] for row in rows], dtype=np.bool_),
    )


def written(row):
    """Return the text itself, which nothing but its hashes are known of."""
    return f"text {row[1]} {row[2]}"


def batch(rows):
    documents = [
        Document(row[0], key_of(row[0]), b"", written(row) if len(row) > 2 else row[1])
        for row in rows
    ]
    return Batch(Documents.of(documents), arrays([row for row in rows if len(row) > 2]))


def page(*rows):
    """Make a page of kept documents from (run, document)."""
    return KeptPage(
        keys=[key_of(row[0]) for _, row in rows],
        fingerprints=arrays([row for _, row in rows]),
        run=np.array([run for run, _ in rows], dtype=np.int64),
    )


def told(decision):
    """Return what matters of a decision in a short form."""
    match decision:
        case Kept():
            return "kept"
        case Duplicate():
            return int(decision.pair.of), decision.pair.distance, str(decision.reason)
        case _:
            return decision


def decide(*rows, distance=3, after=()):
    """Decide documents after pages of others, each a list of (run, document)."""
    decider = Decider(distance=distance)
    texts = {key_of(row[0]): written(row) for rows in after for _, row in rows}
    decider.remember([page(*rows) for rows in after], texts)
    return [told(decision) for decision in decider.decide(batch(rows))]


CASES = {
    "the first of equal texts is kept": (
        [text(1, A, 9), text(2, A, 9), text(3, A, 9)],
        ["kept", (1, 0, "exact"), (1, 0, "exact")],
    ),
    "the first of near texts is kept": (
        [text(1, A), text(2, A ^ 0b111)],
        ["kept", (1, 3, "near")],
    ),
    "a text beyond the distance is kept": ([text(1, A), text(2, A ^ 0b1111)], ["kept", "kept"]),
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
    "short texts are duplicates only where they are equal": (
        [text(1, A, 7, short=True), text(2, A ^ 1, short=True), text(3, A, 7, short=True)],
        ["kept", "kept", (1, 0, "exact")],
    ),
    "short and long texts are never near each other": (
        [text(1, A, short=True), text(2, A), text(3, A ^ 1, short=True)],
        ["kept"] * 3,
    ),
    "short texts between long ones do not confuse who is who": (
        [
            text(10, A, short=True),
            text(11, A),
            text(12, A ^ 0xFF, short=True),
            text(13, A ^ 0xFF00),
            text(14, A ^ 0xFF01),
        ],
        ["kept"] * 4 + [(13, 1, "near")],
    ),
    "documents without text keep their reason and their place": (
        [(1, MISSING), text(2, A), (3, LARGE), text(4, A ^ 1), (5, MISSING)],
        [MISSING, "kept", LARGE, (2, 1, "near"), MISSING],
    ),
}


@pytest.mark.parametrize(("rows", "expected"), CASES.values(), ids=CASES)
def test_a_batch_is_decided_first_wins(rows, expected):
    assert decide(*rows) == expected


def test_exact_goes_before_near():
    """The kept 2 has the same fingerprint as 1 but for a bit, and 3 has the text of 2."""
    before = [[(1, text(1, A)), (1, text(2, A ^ 1, 9))]]
    assert decide(text(3, A ^ 1, 9), after=before) == [(2, 0, "exact")]


def test_remembered_documents_win_over_new_ones():
    assert decide(text(1, A ^ 1), text(2, A, 9), after=[[(1, text(7, A, 9))]]) == [
        (7, 1, "near"),
        (7, 0, "exact"),
    ]


def comparing(*rows, texts=None):
    """Return what compares texts, after others; texts: what the target holds in their place."""
    decider = Decider(DecisionSettings(judge="similarity"))
    held = {key_of(row[0]): written(row) for row in rows}
    decider.remember([page(*((1, row) for row in rows))], held | (texts or {}))
    return decider


def test_equal_hashes_of_unequal_texts_are_no_twins():
    decider = comparing(text(1, A, 9), texts={key_of(1): "子丑寅卯辰巳"})
    decisions = decider.decide(batch([text(2, A, 9)]))
    assert decisions[0].nearest.of == key_of(1)  # a candidate like any other
    assert not decisions.missing


def test_of_a_text_with_a_twin_no_other_candidate_is_asked_for():
    decider = comparing(text(1, A, 9), text(2, A ^ 1))
    assert [told(one) for one in decider.decide(batch([text(3, A, 9)]))] == [(1, 0, "exact")]
    assert decider.asked == [key_of(1)]


@pytest.mark.parametrize("judge", ["differences", "similarity"])
def test_every_duplicate_of_a_run_is_decided_as_by_the_run(judge):
    decision, index = DecisionSettings(judge=judge), IndexSettings()
    models = Models(FingerprintSettings(), index, decision)
    rows = [row for row in make_corpus(400, seed=5) if isinstance(row.get("text"), str)]
    texts = {str(i).encode(): row["text"].strip() for i, row in enumerate(rows)}
    texts = {key: text for key, text in texts.items() if text}
    documents = tuple(Document(key, key, b"", text) for key, text in texts.items())
    fetch = by_key(lambda keys: {k: texts[k] for k in keys})
    engine = GreedyDeduplicator(KeptIndex(index), decision, fetch, models.judge)
    prints = models.fingerprinter.fingerprint([*texts.values()])
    decided = dict(zip(texts, engine.decide(Batch(Documents.of(documents), prints)), strict=True))
    found = {key: one for key, one in decided.items() if isinstance(one, Duplicate)}
    assert {one.reason for one in found.values()} == {Reason.EXACT, Reason.NEAR}
    again = PairRecheck(decision, index, models).decide(
        [texts[key] for key in found], [texts[one.pair.of] for one in found.values()]
    )
    for one, now in zip(found.values(), again, strict=True):
        pair = one.pair._replace(of=b"")
        assert one._replace(pair=pair) == now


def test_what_is_no_duplicate_is_named_by_what_keeps_it_apart():
    decision, index = DecisionSettings(), IndexSettings()
    again = PairRecheck(decision, index, Models(FingerprintSettings(), index, decision))
    text = "某校共有学生120人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"
    assert again.decide([text.replace("120", "360")], [text]) == ["number"]
    assert again.decide([], []) == []
