"""Equal hashes of unequal texts, and pairs that are decided again."""

import numpy as np
import pytest

from dedup_job.columns import Batch, Documents, Fingerprints
from dedup_job.decision import DecisionSettings, Models
from dedup_job.decision.decider import Decider, PairRecheck, by_key
from dedup_job.demo import make_corpus
from dedup_job.documents import Document, Duplicate, Reason
from dedup_job.fingerprint import FingerprintSettings
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.native.bytes_column import strings_of
from tests.deciding import MemoryTarget


def prints(*digests):
    """Return fingerprints of texts with one simhash, and these digests."""
    n = len(digests)
    hashes = np.full(n, 5, np.uint64), np.array(digests, np.uint64)
    return Fingerprints.of(*hashes, np.zeros(n, np.bool_))


def decided_after(kept, text, digest):
    """Return the decider, and its decisions on a text; kept: the digests of kept texts."""
    decider = MemoryTarget(DecisionSettings(judge="similarity"))
    decider.texts = {b"%d" % number: one for number, one in enumerate(kept)}
    decider.index.add(strings_of([*decider.texts]), prints(*kept.values()))
    documents = Documents.of([Document(9, b"9", b"", text)])
    return decider, decider.decide(Batch(documents, prints(digest)))


def test_unequal_texts_with_equal_hashes_are_no_exact_duplicates():
    _, decisions = decided_after({"子丑寅卯辰巳": 7}, "甲乙丙丁戊己", 7)
    assert decisions[0].nearest.of == b"0"  # a candidate like any other
    assert not decisions.missing


def test_for_an_exact_duplicate_no_text_but_the_equal_one_is_fetched():
    decider, (decision,) = decided_after({"甲乙丙丁": 7, "子丑寅卯": 8}, "甲乙丙丁", 7)
    assert (decision.reason, decision.pair.of, decider.fetched) == (Reason.EXACT, b"0", [b"0"])


@pytest.mark.parametrize("judge", ["differences", "similarity"])
def test_a_recheck_decides_every_duplicate_as_the_run_did(judge):
    decision, index = DecisionSettings(judge=judge), IndexSettings()
    models = Models(FingerprintSettings(), index, decision)
    rows = [row for row in make_corpus(400, seed=5) if isinstance(row.get("text"), str)]
    texts = {str(i).encode(): row["text"].strip() for i, row in enumerate(rows)}
    texts = {key: text for key, text in texts.items() if text}
    documents = tuple(Document(key, key, b"", text) for key, text in texts.items())
    fetch = by_key(lambda keys: {k: texts[k] for k in keys})
    engine = Decider(KeptIndex(index), decision, fetch, models.judge)
    fingerprints = models.fingerprinter.fingerprint([*texts.values()])
    decided = engine.decide(Batch(Documents.of(documents), fingerprints))
    found = {k: one for k, one in zip(texts, decided, strict=True) if isinstance(one, Duplicate)}
    assert {one.reason for one in found.values()} == {Reason.EXACT, Reason.NEAR}
    again = PairRecheck(decision, index, models).decide_pairs(
        [texts[key] for key in found], [texts[one.pair.of] for one in found.values()]
    )
    without = [one._replace(pair=one.pair._replace(of=b"")) for one in found.values()]
    assert again == without


def test_a_recheck_names_the_guard_that_keeps_two_texts_apart():
    decision, index = DecisionSettings(), IndexSettings()
    recheck = PairRecheck(decision, index, Models(FingerprintSettings(), index, decision))
    text = "某校共有学生120人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"
    assert recheck.decide_pairs([text.replace("120", "360")], [text]) == ["number"]
    assert recheck.decide_pairs([], []) == []
