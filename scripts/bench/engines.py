"""Our engine, with some settings, decides which texts are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Batch, Documents
from dedup_job.decision.greedy import GreedyDeduplicator, by_key
from dedup_job.documents import Decision, Document, Kept
from dedup_job.index import KeptIndex
from dedup_job.settings import Settings

BATCH = 1000
_WARM = "先编译再计时：" * 9


class Engine:
    """Our engine without a database; the texts of kept documents are asked for by number."""

    def __init__(self, settings: Settings) -> None:
        """Load the lexicon and the native code."""
        self._settings = settings
        self._equipment = settings.models()
        self.decide([_WARM, _WARM + "。", "短"])

    def begin(self, text: Callable[[int], str]) -> None:
        """Forget all documents; text: returns that of a number, the same each time."""
        self._text = text
        self.index = KeptIndex(self._settings.index)
        self.decider = GreedyDeduplicator(
            self.index,
            self._settings.decision,
            by_key(lambda keys: {k: text(number_of(k)) for k in keys}),
            self._equipment.judge,
        )

    def decide_batch(self, numbers: range, texts: Sequence[str]) -> list[Decision]:
        """Decide the documents of these numbers; the key of each is `key(its number)`."""
        prints = self._equipment.fingerprinter.fingerprint(texts)
        rows = zip(numbers, texts, strict=True)
        documents = Documents.of(tuple(Document(i, key(i), b"", text) for i, text in rows))
        decisions = self.decider.decide(Batch(documents, prints))
        self.decider.on_committed()
        return list(decisions)

    def decide(self, texts: Sequence[str]) -> list[Decision]:
        """Decide n texts in their order, from nothing."""
        self.begin(texts.__getitem__)
        decisions: list[Decision] = []
        for at in range(0, len(texts), BATCH):
            part = texts[at : at + BATCH]
            decisions += self.decide_batch(range(at, at + len(part)), part)
        return decisions

    def keeps(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Decide as `Keeps` says."""
        return np.array([isinstance(d, Kept) for d in self.decide(texts)], dtype=np.bool_)


def key(number: int) -> bytes:
    """Return the key of a text."""
    return b"%d" % number


def number_of(key: bytes) -> int:
    """Return the number of a text from its key."""
    return int(key)
