"""First wins: a document is kept unless an earlier kept document is its duplicate.

A document is compared with kept documents only, never with a dropped one, so unlike texts are
not chained together over a row of likenesses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dedup_job.documents import (
    Batch,
    Decision,
    Document,
    Duplicate,
    Fingerprints,
    Kept,
    KeptPage,
    Reason,
)
from dedup_job.index import BlockIndex, EqualIndex


class FirstWins:
    """Decides documents one after the other and remembers the kept ones."""

    def __init__(self, distance: int) -> None:
        self._near = BlockIndex(distance)
        self._near_position: list[int] = []  # slot in the block index -> position in _ids
        self._equal = EqualIndex()
        self._ids: list[Any] = []

    def __len__(self) -> int:
        """Return the number of kept documents known."""
        return len(self._ids)

    def remember(self, pages: Iterable[KeptPage]) -> None:
        """Take in what former runs kept.

        The order is that in which the documents were kept: by run, in a run by `_id`. So a run
        that was interrupted and resumed names the same kept documents as one left alone.
        """
        held = list(pages)
        if not held:
            return
        ids = [kept for page in held for kept in page.ids]
        order = np.argsort(np.concatenate([page.run for page in held]), kind="stable")
        whole = Fingerprints(
            values=np.concatenate([page.fingerprints.values for page in held])[order],
            digests=np.concatenate([page.fingerprints.digests for page in held])[order],
            short=np.concatenate([page.fingerprints.short for page in held])[order],
        )
        first = len(self._ids)
        self._ids.extend(ids[i] for i in order)
        self._equal.extend(whole.values, whole.digests)
        self._near.extend(whole.values[~whole.short])
        self._near_position.extend((np.flatnonzero(~whole.short) + first).tolist())

    def decide(self, batch: Batch) -> list[Decision]:
        """Return one decision for each document of the batch, in order."""
        decisions: list[Decision] = []
        row = 0
        for document in batch.documents:
            if isinstance(document.content, str):
                decisions.append(self._decide_text(document, batch.fingerprints, row))
                row += 1
            else:
                decisions.append(document.content)
        return decisions

    def _decide_text(self, document: Document, fingerprints: Fingerprints, row: int) -> Decision:
        value, digest = fingerprints.values[row], fingerprints.digests[row]
        short = bool(fingerprints.short[row])
        equal = self._equal.find(value, digest)
        if equal >= 0:
            return Duplicate(self._ids[equal], 0, 1.0, ("text",), Reason.EXACT, short)
        if not short:
            slots, distances = self._near.search(value)
            if len(slots):
                best = int(np.argmin(distances))  # the nearest; of equals the one kept first
                of = self._ids[self._near_position[slots[best]]]
                return Duplicate(of, int(distances[best]), None, ("simhash",), Reason.NEAR, short)
            self._near.extend(fingerprints.values[row : row + 1])
            self._near_position.append(len(self._ids))
        self._equal.extend(fingerprints.values[row : row + 1], fingerprints.digests[row : row + 1])
        self._ids.append(document.id)
        return Kept(int(value), short)
