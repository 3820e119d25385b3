"""First wins: a document is kept unless an earlier kept document is its duplicate.

A document is compared with kept documents only, never with a dropped one, so unlike texts are
not chained together over a row of likenesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from dedup_job.index import Candidates, EqualIndex, HammingIndex, Ids, IndexSettings, pairs_within
from dedup_job.index.snapshot import Part

_AT_ONCE = 1024  # texts that are compared with each other pair by pair


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A kept document near a text: its distance in bits, and whether its text is the same."""

    key: bytes
    distance: int
    equal: bool


class FirstWins:
    """Decides documents one after the other and remembers the kept ones, numbered from 0."""

    def __init__(self, settings: IndexSettings) -> None:
        self._settings = settings
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._near = HammingIndex(
            self._settings.distance,
            blocks=self._settings.blocks,
            bytes_per_fingerprint=self._settings.bytes_per_document,
        )
        self._equal = EqualIndex()
        self._ids = Ids()

    def __len__(self) -> int:
        """Return the number of kept documents known."""
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        """Memory of the kept documents in bytes."""
        return self._near.nbytes + self._equal.nbytes + self._ids.nbytes

    def remember(self, pages: Iterable[KeptPage]) -> None:
        """Take in what former runs kept.

        The order is that in which the documents were kept: by run, in a run by `_id`. So a run
        that was interrupted and resumed names the same kept documents as one left alone.
        """
        held = list(pages)
        if not held:
            return
        keys = [key for page in held for key in page.keys]
        order = np.argsort(np.concatenate([page.run for page in held]), kind="stable")
        self._add(
            [keys[i] for i in order],
            Fingerprints(
                values=np.concatenate([page.fingerprints.values for page in held])[order],
                digests=np.concatenate([page.fingerprints.digests for page in held])[order],
                short=np.concatenate([page.fingerprints.short for page in held])[order],
            ),
        )

    def dump(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a snapshot keeps of all that is remembered: facts and arrays."""
        facts: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {}
        for name, part in (("near", self._near), ("equal", self._equal), ("ids", self._ids)):
            facts[name], own = part.dump()
            arrays |= {f"{name}.{key}": value for key, value in own.items()}
        return facts, arrays

    def load(self, facts: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        """Remember what `dump` gave away, and nothing else."""

        def own(name: str) -> dict[str, Part]:
            prefix = f"{name}."
            return {k.removeprefix(prefix): p for k, p in parts.items() if k.startswith(prefix)}

        self._near.load(facts["near"], own("near"))
        self._equal = EqualIndex.load(facts["equal"], own("equal"))
        self._ids = Ids.load(facts["ids"], own("ids"))

    def sample(self, numbers: Sequence[int]) -> list[tuple[bytes, int]]:
        """Return key and fingerprint of some kept documents."""
        return [(self._ids[n], int(self._near.fingerprints[n])) for n in numbers]

    def key(self, number: int) -> bytes:
        """Return the key of a kept document; they are numbered in the order of `remember`."""
        return self._ids[number]

    def held(self, numbers: NDArray[np.int64]) -> Fingerprints:
        """Return what is known of the texts of some kept documents, int64 (n,)."""
        return Fingerprints(
            values=self._near.fingerprints[numbers],
            digests=self._equal.digests[numbers],
            short=~self._near.searchable[numbers],
        )

    def near(self, text: Fingerprints, distance: int) -> list[Neighbour]:
        """Return all kept documents within the distance of one text, the nearest first.

        The equal text comes before all others; of a short text it is the only one looked for.
        Of equally near ones the first kept comes first. Raises ValueError for a distance beyond
        that of the settings.
        """
        if not 0 <= distance <= self._near.distance:
            raise ValueError(f"distance is {distance}, expected 0 to {self._near.distance}")
        same = int(self._equal.find(self._near.fingerprints, text.values, text.digests)[0])
        found = {same: 0} if same >= 0 else {}
        if not text.short[0]:
            numbers, distances = self._near.search(text.values).of(0)
            found |= dict(zip(numbers.tolist(), distances.tolist(), strict=True))
        ordered = sorted(found, key=lambda number: (found[number], number != same, number))
        return [
            Neighbour(self._ids[number], found[number], number == same)
            for number in ordered
            if found[number] <= distance
        ]

    def decide(self, batch: Batch) -> list[Decision]:
        """Return one decision for each document of the batch, in order."""
        documents = [d for d in batch.documents if isinstance(d.content, str)]
        decided: list[Decision] = []
        for start in range(0, len(documents), _AT_ONCE):
            part = documents[start : start + _AT_ONCE]
            decided += self._decide_texts(part, batch.fingerprints[start : start + _AT_ONCE])
        texts = iter(decided)
        return [next(texts) if isinstance(d.content, str) else d.content for d in batch.documents]

    def _decide_texts(
        self, documents: Sequence[Document], fingerprints: Fingerprints
    ) -> list[Decision]:
        """Decide texts that are looked up all at once, as if it were one after the other."""
        values, digests, short = fingerprints.values, fingerprints.digests, fingerprints.short
        equal = self._equal.find(self._near.fingerprints, values, digests)
        before = self._near.search(values, collapsed=True)
        within = pairs_within(values, ~short, self._near.distance)
        base = len(self._ids)
        kept: dict[int, int] = {}  # row -> number
        rows: list[int] = []  # of the kept ones, in order
        texts: dict[tuple[int, int], int] = {}  # text -> number
        decisions: list[Decision] = []
        for row, text in enumerate(zip(values.tolist(), digests.tolist(), strict=True)):
            is_short = bool(short[row])
            same = texts.get(text, int(equal[row]))
            if same >= 0:
                of = self._ids[same] if same < base else documents[rows[same - base]].key
                decisions.append(Duplicate(of, 0, 1.0, ("text",), Reason.EXACT, is_short))
                continue
            found = None if is_short else _nearest(before, within, row, kept)
            if found is not None:
                number, distance = found
                of = self._ids[number] if number < base else documents[rows[number - base]].key
                decisions.append(Duplicate(of, distance, None, ("simhash",), Reason.NEAR, is_short))
                continue
            kept[row] = texts[text] = base + len(rows)
            rows.append(row)
            decisions.append(Kept(text[0], is_short))
        self._add([documents[row].key for row in rows], fingerprints[rows])
        return decisions

    def _add(self, keys: Sequence[bytes], fingerprints: Fingerprints) -> None:
        self._ids.extend(keys)
        self._equal.extend(fingerprints.digests)
        self._near.extend(fingerprints.values, ~fingerprints.short)


def _nearest(
    before: Candidates, within: Candidates, row: int, kept: dict[int, int]
) -> tuple[int, int] | None:
    """Return number and distance of the nearest candidate; of equally near ones the first kept."""
    best: tuple[int, int] | None = None
    numbers, distances = before.of(row)
    for number, distance in zip(numbers.tolist(), distances.tolist(), strict=True):
        if best is None or distance < best[1]:
            best = number, distance
    rows, distances = within.of(row)
    for earlier, distance in zip(rows.tolist(), distances.tolist(), strict=True):
        if earlier in kept and (best is None or distance < best[1]):
            best = kept[earlier], distance
    return best
