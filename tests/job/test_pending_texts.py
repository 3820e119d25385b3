"""Texts of kept documents are found while their batch is on its way to the target."""

from __future__ import annotations

import numpy as np

from dedup_job.documents import Batch, Document, Fingerprints, Kept, Reason, Skipped
from dedup_job.job.pending_texts import PendingTexts

NONE = Fingerprints(np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.bool_))


def batch_of(*texts):
    """Return a batch of documents whose key is their text."""
    return Batch(tuple(Document(t, t.encode(), b"", t) for t in texts), NONE)


def test_a_text_is_found_from_its_decision_to_its_arrival():
    asked = []

    def target(keys):
        asked.append(list(keys))
        return {key: "of the target" for key in keys if key != b"gone"}

    texts = PendingTexts(target)
    first, second = batch_of("a", "b"), batch_of("c")
    kept = Kept(0, short=False)
    texts.add(first, [kept, Skipped(Reason.EMPTY)])
    texts.add(second, [kept])
    assert texts([b"a", b"c"]) == {b"a": "a", b"c": "c"}
    assert asked == []
    texts.arrived(first)
    assert texts([b"a", b"b", b"c", b"gone"]) == {
        b"a": "of the target",
        b"b": "of the target",
        b"c": "c",
    }
    assert asked == [[b"a", b"b", b"gone"]]
