"""First wins: a document is kept unless an earlier kept document is its duplicate.

A document is compared with kept documents only, never with a dropped one, so unlike texts are
not chained together over a row of likenesses. Documents are looked up and compared all at once,
and decided as if it were one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress, repeat
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from dedup_job.decision.candidates import Candidates
from dedup_job.decision.check import Check
from dedup_job.decision.guards import Guards, PolarityWords
from dedup_job.decision.settings import DecisionSettings
from dedup_job.decision.texts import Fetch, KeptTexts
from dedup_job.documents import (
    NOTHING_TRIED,
    Batch,
    Channel,
    Decision,
    Document,
    Duplicate,
    Fingerprints,
    Kept,
    Reason,
    Tried,
)
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.look_up import meetings
from dedup_job.index.memory import Growing

_BY_TEXT = (str(Channel.TEXT),)
_AT_ONCE, _CROWDED = 5000, 1000  # texts looked up and compared at once; where many are alike
_MEETINGS = 4  # pairs a text above which they are many


class _Chosen(NamedTuple):
    """What a text is a duplicate of, and why."""

    number: int
    distance: int
    similarity: float | None
    found_by: tuple[str, ...]
    reason: Reason


class FirstWins:
    """Decides documents one after the other and adds the kept ones to the index."""

    def __init__(self, kept: KeptIndex, settings: DecisionSettings, fetch: Fetch) -> None:
        """Take what is remembered of the kept documents, and what fetches their texts by key."""
        self._kept = kept
        self._check = Check(settings)
        self._guards = Guards(settings.guards, PolarityWords.load(settings.polarity_words))
        self._most = settings.most_candidates
        self._texts = KeptTexts(fetch, kept.key)
        self._clusters: Growing[np.uint32] = Growing(0, 0, np.uint32)

    @staticmethod
    def compile(
        settings: IndexSettings, fingerprinter: Callable[[list[str]], Fingerprints]
    ) -> None:
        """Compile the native code of the index and of the comparison, or load what was compiled.

        Decides two texts that are alike, and a third with those in the index.
        """
        texts = ["".join(chr(0x4E00 + i * k % 5000) for i in range(60)) for k in (7, 7, 11)]
        texts[1] += "。"
        prints = fingerprinter(texts)
        held = {bytes([i]): text for i, text in enumerate(texts)}
        engine = FirstWins(
            KeptIndex(settings), DecisionSettings(), lambda keys: {k: held[k] for k in keys}
        )
        for part in (slice(0, 2), slice(2, 3), slice(1, 2)):
            documents = [Document(i, bytes([i]), b"", texts[i]) for i in range(3)[part]]
            engine.decide(Batch(tuple(documents), prints[part]))

    @property
    def texts_fetched(self) -> int:
        """How many texts were asked of the target."""
        return self._texts.fetched

    def largest(self, count: int) -> list[tuple[int, int]]:
        """Return number and size of the largest clusters, duplicates found by this process."""
        sizes = self._clusters.array[: len(self._kept)]
        least = max(int(np.partition(sizes, -count)[-count]), 1) if count < len(sizes) else 1
        larger, equal = np.flatnonzero(sizes > least), np.flatnonzero(sizes == least)[:count]
        pairs = [(number, int(sizes[number])) for number in [*larger.tolist(), *equal.tolist()]]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:count]

    def decide(self, batch: Batch) -> list[Decision]:
        """Return one decision for each document of the batch, in order.

        What fetches texts has those of the batch before by now, in the target or under way to it.
        """
        self._texts.written()
        documents: Sequence[Document] = batch.documents
        if len(documents) != len(batch.fingerprints):
            documents = [d for d in documents if isinstance(d.content, str)]
        decided: list[Decision] = []
        crowded = meetings(batch.fingerprints) > _MEETINGS * len(documents)
        size = _CROWDED if crowded else _AT_ONCE  # pairs grow with the square
        for start in range(0, len(documents), size):
            part = slice(start, start + size)
            decided += self._decide_texts(documents[part], batch.fingerprints[part])
        if len(decided) == len(batch.documents):
            return decided
        texts = iter(decided)
        return [next(texts) if isinstance(d.content, str) else d.content for d in batch.documents]

    def _decide_texts(
        self, documents: Sequence[Document], fingerprints: Fingerprints
    ) -> list[Decision]:
        """Keep all texts but for those open ones that are found to be duplicates."""
        texts: list[str] = list(map(attrgetter("content"), documents))
        base, dropped = len(self._kept), 0
        self._clusters.grow(base + len(documents))
        candidates = Candidates(
            self._kept, self._check, self._texts, self._most, texts, fingerprints
        )
        decisions = _all_kept(fingerprints)
        is_kept = np.ones(len(documents), dtype=np.bool_)
        keys: dict[int, bytes] = {}  # of the open texts that are kept, by number
        for row in candidates.open:
            short = bool(fingerprints.short[row])
            chosen, tried = self._choose(row, texts[row], candidates)
            if chosen is None:
                number = base + row - dropped
                candidates.keep(row, number)
                keys[number] = documents[row].key
                decisions[row] = Kept(int(fingerprints.values[row]), short, tried)
            else:
                key = keys.get(chosen.number) or self._kept.key(chosen.number)
                decisions[row] = self._duplicate(chosen, key, short, tried)
                is_kept[row] = False
                dropped += 1
        rows = np.flatnonzero(is_kept)
        self._texts.add(range(base, base + len(rows)), [*compress(texts, is_kept)])
        kept = compress(documents, is_kept)
        self._kept.add(list(map(attrgetter("key"), kept)), fingerprints[rows])
        self._kept.hidden += candidates.hidden
        return decisions

    def _duplicate(self, chosen: _Chosen, key: bytes, short: bool, tried: Tried) -> Duplicate:
        sizes = self._clusters.array
        sizes[chosen.number] += 1
        return Duplicate(
            key,
            chosen.distance,
            chosen.similarity,
            chosen.found_by,
            chosen.reason,
            short,
            int(sizes[chosen.number]),
            tried,
        )

    def _choose(self, row: int, text: str, candidates: Candidates) -> tuple[_Chosen | None, Tried]:
        """Return what a text is a duplicate of, if of anything.

        That is the most similar candidate that no guard refuses; of equally similar ones the one
        with the nearest fingerprint, then the first.
        """
        twin = candidates.twin(row)
        if twin >= 0:
            return _Chosen(twin, 0, 1.0, _BY_TEXT, Reason.EXACT), NOTHING_TRIED
        found = candidates.of(row)
        if not found.total and not found.void:
            return None, NOTHING_TRIED
        agreeing = [candidate for candidate in found.compared if candidate.agrees]
        refused_by = "similarity" if found.compared and not agreeing else None
        chosen = None
        for candidate in sorted(agreeing, key=lambda c: (-c.similarity, c.distance, c.number)):
            guard = self._guards.refuses(text, candidates.text(candidate.number))
            if guard is None:
                chosen = candidate
                break
            refused_by = refused_by or str(guard)
        tried = Tried(
            candidates=found.total,
            cut=max(found.total - self._most, 0),
            refused_by=None if chosen else refused_by,
            void=tuple(self._kept.key(number) for number in found.void),
        )
        if chosen is None:
            return None, tried
        similarity = chosen.similarity if self._check.compares else None
        found_by = candidates.channels(chosen)
        return _Chosen(chosen.number, chosen.distance, similarity, found_by, Reason.NEAR), tried


def _all_kept(fingerprints: Fingerprints) -> list[Decision]:
    """Return as many decisions; made in one go, since a call for each is three times as slow."""
    fields = zip(
        fingerprints.values.tolist(),
        fingerprints.short.tolist(),
        repeat(NOTHING_TRIED),
        strict=False,
    )
    return list(map(partial(tuple.__new__, Kept), fields))
