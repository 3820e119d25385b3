"""First wins: a document is kept unless an earlier kept document is its duplicate.

A document is compared with kept documents only, never with a dropped one, so unlike texts are
not chained together over a row of likenesses. Documents are looked up and compared all at once,
and decided as if it were one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import compress, repeat
from operator import attrgetter

import numpy as np

from dedup_job.decision.batches import Choices, choose
from dedup_job.decision.equipment import Equipment
from dedup_job.decision.settings import Comparing, DecisionSettings
from dedup_job.decision.texts import Fetch, KeptTexts
from dedup_job.decision.weighing import Weighing
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
    Refused,
    Tried,
)
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.look_up import meetings
from dedup_job.judgment import Judge
from dedup_job.native.growing import Growing

Keys = Mapping[int, bytes]

_BY_TEXT = (str(Channel.TEXT),)
_AT_ONCE, _CROWDED = 5000, 1000  # texts looked up and compared at once; where many are alike
_MEETINGS = 4  # pairs a text above which they are many


class FirstWins:
    """Decides documents one after the other and adds the kept ones to the index."""

    def __init__(
        self,
        kept: KeptIndex,
        settings: DecisionSettings,
        fetch: Fetch,
        judge: Judge | None = None,
    ) -> None:
        """Take what is remembered of the kept documents, and what fetches their texts by key.

        judge: None where the settings ask for none; the fingerprints are to have the key of the
        judge's form then, see Equipment.
        """
        if settings.judges != (judge is not None):
            raise ValueError(f"judge = {settings.judge} and compare = {settings.compare}: {judge}")
        self._kept = kept
        self._weighing = Weighing(settings, judge)
        self._compares = settings.compare is not Comparing.NONE
        self._most = settings.most_candidates
        self._texts = KeptTexts(fetch, kept.keys)
        self._clusters: Growing[np.uint32] = Growing(0, 0, np.uint32)

    @staticmethod
    def compile(index: IndexSettings, decision: DecisionSettings, equipment: Equipment) -> None:
        """Compile the native code of the index and of the comparison, or load what was compiled.

        Decides two texts that are alike, and a third with those in the index.
        """
        texts = ["".join(chr(0x4E00 + i * k % 5000) for i in range(60)) for k in (7, 7, 11)]
        texts[1] += "。"
        prints = equipment.fingerprinter.fingerprint(texts)
        held = {bytes([i]): text for i, text in enumerate(texts)}
        engine = FirstWins(
            KeptIndex(index), decision, lambda keys: {k: held[k] for k in keys}, equipment.judge
        )
        for part in (slice(0, 2), slice(2, 3), slice(1, 2)):
            documents = [Document(i, bytes([i]), b"", texts[i]) for i in range(3)[part]]
            engine.decide(Batch(tuple(documents), prints[part]))
            engine.arrived()

    @property
    def texts_fetched(self) -> int:
        """How many texts were asked of the target."""
        return self._texts.fetched

    def arrived(self) -> None:
        """Count the earliest batch under way as stored in the target; called from one thread."""
        self._texts.arrived()

    def largest(self, count: int) -> list[tuple[int, int]]:
        """Return number and size of the largest clusters, duplicates found by this process."""
        sizes = self._clusters.array[: len(self._kept)]
        least = max(int(np.partition(sizes, -count)[-count]), 1) if count < len(sizes) else 1
        larger, equal = np.flatnonzero(sizes > least), np.flatnonzero(sizes == least)[:count]
        pairs = [(number, int(sizes[number])) for number in [*larger.tolist(), *equal.tolist()]]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:count]

    def decide(self, batch: Batch) -> list[Decision]:
        """Return one decision for each document of the batch, in order.

        Their texts are held until `arrived` is called for the batch.
        """
        self._texts.begin_batch()
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
        """Keep all texts but for those that are found to be duplicates."""
        texts: list[str] = list(map(attrgetter("content"), documents))
        base = len(self._kept)
        self._clusters.grow(base + len(documents))
        choices = choose(self._kept, self._weighing, self._texts, self._most, texts, fingerprints)
        rows = np.flatnonzero(choices.kept)
        self._texts.add(base, [*compress(texts, choices.kept)])
        self._kept.add([documents[row].key for row in rows.tolist()], fingerprints[rows])
        self._kept.unindexed_texts += choices.unindexed
        keys = self._keys_in(choices)
        decisions = _all_kept(fingerprints)
        tried = self._tried(choices, keys)
        duplicates = self._duplicates(choices, texts, keys)
        sizes = self._clusters.array
        for row in choices.open.tolist():
            short, own = bool(fingerprints.short[row]), tried.get(row, NOTHING_TRIED)
            if (found := duplicates.get(row)) is None:
                decisions[row] = Kept(int(fingerprints.values[row]), short, own)
                continue
            number, duplicate = found
            sizes[number] += 1
            decisions[row] = duplicate._replace(short=short, cluster=int(sizes[number]), tried=own)
        return decisions

    def _keys_in(self, choices: Choices) -> Keys:
        """Return the keys of all kept documents that the choices name, by number."""
        numbers = {pair.number for pair in (*choices.near, *choices.refused)}
        numbers.update(choices.exact.values(), *choices.missing_originals.values())
        return dict(zip(numbers, self._kept.keys([*numbers]), strict=True))

    def _duplicates(
        self, choices: Choices, texts: Sequence[str], keys: Keys
    ) -> dict[int, tuple[int, Duplicate]]:
        """Return the duplicates by row, each with the number of the kept document."""
        found = {
            row: (
                number,
                Duplicate(keys[number], 0, 1.0, _BY_TEXT, Reason.EXACT, short=False),
            )
            for row, number in choices.exact.items()
        }
        near = choices.near
        named = self._weighing.differences(
            [texts[pair.row] for pair in near], [pair.kept for pair in near]
        )
        for pair, differences in zip(near, named, strict=True):
            duplicate = Duplicate(
                keys[pair.number],
                pair.distance,
                pair.similarity if self._compares else None,
                pair.channels,
                Reason.NEAR,
                short=False,
                differences=differences,
                richer=pair.richer,
            )
            found[pair.row] = pair.number, duplicate
        return found

    def _tried(self, choices: Choices, keys: Keys) -> dict[int, Tried]:
        """Return what was tried for each text that had candidates and has no equal."""
        refused = {
            pair.row: Refused(keys[pair.number], pair.similarity, pair.kind)
            for pair in choices.refused
        }
        tried = {}
        for row in choices.open.tolist():
            total = int(choices.totals[row])
            if row not in choices.exact and (total or row in choices.missing_originals):
                missing = tuple(map(keys.__getitem__, choices.missing_originals.get(row, ())))
                cut = max(total - self._most, 0)
                tried[row] = Tried(total, cut, missing, refused.get(row))
        return tried


def _all_kept(fingerprints: Fingerprints) -> list[Decision]:
    """Return as many decisions; made in one go, since a call for each is three times as slow."""
    fields = zip(
        fingerprints.values.tolist(),
        fingerprints.short.tolist(),
        repeat(NOTHING_TRIED),
        strict=False,
    )
    return list(map(partial(tuple.__new__, Kept), fields))
