"""A duplicate decided once more, against its original alone, is what the run said of it."""

from __future__ import annotations

import pytest

from dedup_job.columns import Batch, Documents
from dedup_job.decision import DecisionSettings, GreedyDeduplicator, Models, PairRecheck, by_key
from dedup_job.demo import make_corpus
from dedup_job.documents import Document, Duplicate, Reason
from dedup_job.fingerprint import FingerprintSettings
from dedup_job.index import IndexSettings, KeptIndex


@pytest.mark.parametrize("judge", ["differences", "similarity"])
def test_every_duplicate_of_a_run_is_decided_as_by_the_run(judge: str) -> None:
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
        assert isinstance(now, Duplicate)
        pair = one.pair._replace(of=b"")
        assert one._replace(pair=pair, candidates=now.candidates) == now


def test_what_is_no_duplicate_is_named_by_what_keeps_it_apart() -> None:
    decision, index = DecisionSettings(), IndexSettings()
    again = PairRecheck(decision, index, Models(FingerprintSettings(), index, decision))
    text = "某校共有学生120人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"
    assert again.decide([text.replace("120", "360")], [text]) == ["number"]
    assert again.decide([], []) == []
