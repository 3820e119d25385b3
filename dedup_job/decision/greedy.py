"""First wins: a document is kept unless an earlier kept document is its duplicate.

The core decides (src/decision/decider.hpp); this module fetches the texts of kept documents and,
if documents have ranks, their copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.columns import (
    CHANNELS,
    DECISION,
    Batch,
    Decisions,
    NumberedTexts,
    Superseded,
)
from dedup_job.decision.settings import MOST_CANDIDATES, DecisionSettings
from dedup_job.documents import Difference
from dedup_job.index import KeptIndex
from dedup_job.judgment import NAMES, Judge
from dedup_job.native.bytes_column import BytesColumn, strings_of

PART = 5000
"""Documents that are looked up and compared at once; a fifth of it where many are alike."""
MEMORY = 3 << 24
"""Bytes of kept texts that are held once they are stored; a quarter as many stay read."""
_QUESTIONS = 4  # to the target at once: most of the time it waits for its disk
_LEAST_KEYS, _MOST_KEYS = 100, 2000  # in one question

Fetch = Callable[[BytesColumn], NumberedTexts]
"""Returns the texts of n keys with the rows of the keys; missing documents are omitted."""


class Copies(Protocol):
    """Ranks and near duplicates of kept documents."""

    def ranks_of(self, keys: BytesColumn) -> Sequence[bytes]:
        """Return the ranks of n keys; of one that is gone an empty one, which no document has.

        The better copy has the larger one, byte by byte.
        """

    def near_of(self, groups: Mapping[int, list[bytes]], most: int) -> Mapping[int, list[str]]:
        """Return texts of near duplicates by group, given keys of some that may not be stored yet.

        Of a group with more than `most`, any that are more.
        """


def by_key(fetch: Callable[[Sequence[bytes]], Mapping[bytes, str]]) -> Fetch:
    """Return a `Fetch` made of a function that maps keys to texts."""

    def fetched(keys: BytesColumn) -> NumberedTexts:
        given = keys.list()
        found = fetch(given)
        return NumberedTexts.of({row: found[key] for row, key in enumerate(given) if key in found})

    return fetched


class GreedyDeduplicator:
    """Decides documents one after the other and adds the kept ones to the index."""

    def __init__(
        self,
        kept: KeptIndex,
        settings: DecisionSettings,
        fetch: Fetch,
        judge: Judge | None = None,
        copies: Copies | None = None,
        threads: int = 1,
    ) -> None:
        """Take the index of the kept documents, and the function that fetches their texts.

        judge: None where texts are not compared; copies: asked where batches have ranks; threads:
        how many look up and compare.
        """
        self._kept, self._settings = kept, settings
        self._judge, self._threads = judge, threads
        self._fetch, self._copies = partial(_in_few_questions, fetch), copies
        self._core: _core.Decider | None = None
        self._stored = 0  # batches

    def _decider(self) -> _core.Decider:
        if self._core is None:
            self._core = _core.Decider(
                self._kept.core,
                None if self._judge is None else self._judge.core,
                judging=_core.JUDGINGS.index(self._settings.judge),
                similarity=self._settings.similarity,
                most_candidates=MOST_CANDIDATES,
                threads=self._threads,
                part=PART,
                memory=MEMORY,
            )
        return self._core

    def arrived(self) -> None:
        """Count the earliest batch under way as stored in the target; called from one thread."""
        self._stored += 1

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Seconds spent so far: in all, in several threads, and waiting for the target's texts."""
        return self._decider().seconds

    def end(self) -> None:
        """Forget all texts; nothing is decided after this."""
        self._core, self._stored = None, 0

    def decide(self, batch: Batch) -> Decisions:
        """Return one decision for each document of the batch, in order.

        Their texts are held until `arrived` is called for the batch.
        """
        documents, prints, sketches = (
            batch.documents,
            batch.fingerprints,
            batch.fingerprints.sketches,
        )
        channels, copies = sketches.channels if sketches else (), self._copies
        found = self._decider().decide(
            documents.keys.take(documents.rows),
            documents.texts.utf8(),
            documents.texts.lengths,
            prints.arrays,
            np.array([CHANNELS.index(channel) for channel in channels], dtype=np.uint8),
            sketches.read if sketches else None,
            strings_of(batch.ranks) if batch.ranks else None,
            self._fetch,
            None if copies is None else (lambda keys: copies.ranks_of(BytesColumn(*keys))),
            None if copies is None else copies.near_of,
            self._stored,
        )
        rows, of, differences, missing, (at, keys, of_copies, dropped, named) = found
        names = NAMES
        if self._kept.others:
            names = names._replace(places=tuple(self._kept.core.places))
        superseded = None
        if len(at):
            decided = Decisions(
                dropped.view(DECISION), BytesColumn(*of_copies), names, _named(named)
            )
            decided["superseded"][:] = True
            superseded = Superseded(at, BytesColumn(*keys), decided)
        return Decisions(
            rows.view(DECISION),
            BytesColumn(*of),
            names,
            _named(differences),
            missing,
            superseded=superseded,
        ).among(documents)


def _in_few_questions(
    fetch: Fetch, keys: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]
) -> tuple[NDArray[np.int64], BytesColumn]:
    """Return which of n keys have a text, int64 (m,), ascending, and m texts."""
    every = BytesColumn(*keys)
    n = len(every.lengths)
    size = min(max(-(-n // _QUESTIONS), _LEAST_KEYS), _MOST_KEYS)
    starts = range(0, n, size)
    parts = [every.take(slice(start, start + size)) for start in starts]
    if len(parts) == 1:
        found = fetch(every)
        return found.numbers, found.texts.utf8()
    with ThreadPoolExecutor(_QUESTIONS) as pool:
        answers = [*pool.map(fetch, parts)]
    texts = strings_of([text for one in answers for text in one.texts.utf8().list()])
    return np.concatenate(
        [start + one.numbers for start, one in zip(starts, answers, strict=True)]
    ), texts


def _named(
    found: Mapping[int, Iterable[tuple[int, int, str, str]]],
) -> dict[int, tuple[Difference, ...]]:
    return {
        row: tuple(
            Difference(_core.DIFFERENCE_KINDS[kind], _core.PARTS[part], of, text)
            for kind, part, of, text in differences
        )
        for row, differences in found.items()
    }
