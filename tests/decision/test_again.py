"""A duplicate decided once more, against its original alone, is what the run said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dedup_job.columns import Batch, Documents
from dedup_job.decision import DecisionSettings, GreedyDeduplicator, Models, PairRecheck, by_key
from dedup_job.demo import make_corpus
from dedup_job.documents import Decision, Document, Duplicate, Kept, Reason
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


def test_what_was_read_of_the_texts_before_changes_no_decision() -> None:
    """Prepared texts come with what the judge read of them; without it he reads them himself."""
    decision, index = DecisionSettings(), IndexSettings()
    models = Models(FingerprintSettings(), index, decision)
    values = [row.get("text") for row in make_corpus(600, seed=8)]
    texts = [text for value in values if isinstance(value, str) and (text := value.strip())]
    held = {str(i).encode(): text for i, text in enumerate(texts)}
    documents = [Document(i, key, b"", text) for i, (key, text) in enumerate(held.items())]

    def decided(*, read: bool) -> list[Decision]:
        fetch = by_key(lambda keys: {k: held[k] for k in keys})
        engine = GreedyDeduplicator(KeptIndex(index), decision, fetch, models.judge)
        found: list[Decision] = []
        for start in range(0, len(documents), 150):
            part = documents[start : start + 150]
            prints = models.fingerprinter.fingerprint(texts[start : start + 150])
            assert prints.sketches is not None
            assert prints.sketches.read is not None
            if not read:
                prints = replace(prints, sketches=replace(prints.sketches, read=None))
            found += engine.decide(Batch(Documents.of(part), prints))
            engine.arrived()
        return found

    assert decided(read=True) == decided(read=False)
    assert {type(one) for one in decided(read=True)} == {Kept, Duplicate}
