"""All that is remembered of the kept documents: what finds them, and their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Fingerprints, KeptPage
from dedup_job.documents import Channel
from dedup_job.index.bands import BandIndex
from dedup_job.index.equal import EqualIndex, Ids
from dedup_job.index.hamming import HammingIndex
from dedup_job.index.look_up import LookUp, look_up
from dedup_job.index.settings import IndexSettings
from dedup_job.index.snapshot import Part, SnapshotError
from dedup_job.native.byte_strings import ByteStrings, strings_of
from dedup_job.native.growing import Growing

_NO_RUN = 2**62  # later than all
_OF_EACH = (  # parts of a snapshot with a row for each kept document
    "near.fingerprints",
    "near.searchable",
    "equal.digests",
    "ids.short",
    "ids.is_long",
    "bits",
)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A kept document near a text: its distance in bits, and whether its text is the same."""

    key: bytes
    distance: int
    equal: bool


class KeptIndex:
    """Remembers kept documents, numbered from 0 in the order in which they were kept."""

    def __init__(self, settings: IndexSettings) -> None:
        self._settings = settings
        self._by_simhash = Channel.SIMHASH in settings.channels
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
        self._bands: BandIndex | None = None
        self._bits: Growing[np.uint64] | None = None
        self._heirs: dict[int, int] = {}
        self.unindexed_texts = 0  # that their fingerprint does not find, since this process began

    def __len__(self) -> int:
        """Return the number of kept documents known."""
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        """Memory of the kept documents in bytes."""
        more = [self._bands.nbytes] if self._bands is not None else []
        more += [self._bits.nbytes] if self._bits is not None else []
        return self._near.nbytes + self._equal.nbytes + self._ids.nbytes + sum(more)

    @property
    def unindexed(self) -> int:
        """How often a kept document is not found by a key or a fingerprint that many share."""
        return self.unindexed_texts + (0 if self._bands is None else int(self._bands.dropped.sum()))

    def remember(self, pages: Callable[[], Iterable[KeptPage]]) -> None:
        """Take in what former runs kept, from pages in `_id` order that can be had again.

        The order is that in which the documents were kept: by run, in a run by `_id`. So a run
        that was interrupted and resumed names the same kept documents as one left alone. Nearly
        all are of the first run as a rule: these are taken in at once, the others wait.
        """
        first, later, done = _NO_RUN, list[KeptPage](), False
        while not done:
            self.forget()
            later.clear()
            done = True
            for page in (page for page in pages() if page.keys):
                earliest = int(page.run.min())
                if earliest < first:
                    done = first == _NO_RUN
                    first = earliest
                if not done:  # documents of a later run were taken in before: begin anew
                    break
                self._add_page(page[np.flatnonzero(page.run == first)])
                later.append(page[np.flatnonzero(page.run != first)])
        for run in sorted({int(run) for page in later for run in np.unique(page.run)}):
            for page in later:
                self._add_page(page[np.flatnonzero(page.run == run)])

    def _add_page(self, page: KeptPage) -> None:
        if page.keys:
            self.add(page.keys, page.fingerprints)

    def add(self, keys: Sequence[bytes] | ByteStrings, texts: Fingerprints) -> None:
        """Remember n documents by their keys; they get the next numbers."""
        start = len(self._ids)
        self._ids.extend(strings_of(keys))
        self._equal.extend(texts.digests)
        self._near.extend(texts.values, ~texts.short)
        self._sketched(texts)
        if texts.sketches is not None and self._bands is not None:
            self._bands.extend(texts.sketches.keys)
        if texts.sketches is not None and self._bits is not None:
            self._bits.grow(len(self._ids))
            self._bits.array[start : len(self._ids)] = texts.sketches.bits

    def keys(self, numbers: Sequence[int] | NDArray[np.int64]) -> list[bytes]:
        """Return the keys of kept documents, which are numbered in the order of `remember`."""
        return self.packed_keys(np.asarray(numbers, dtype=np.int64)).list()

    def packed_keys(self, numbers: NDArray[np.int64]) -> ByteStrings:
        """Return the same keys in a column."""
        return self._ids.of(numbers)

    def equal(self, texts: Fingerprints) -> NDArray[np.int64]:
        """Return for each of n texts the number of the kept one that is equal, or -1."""
        numbers = self._equal.find(self._near.fingerprints, texts.values, texts.digests)
        if self._heirs:
            for row in np.flatnonzero(numbers >= 0).tolist():
                while (heir := self._heirs.get(int(numbers[row]))) is not None:
                    numbers[row] = heir
        return numbers

    def replace(self, number: int, heir: int) -> None:
        """Let a later document with the same text stand in for one that is gone."""
        self._heirs[number] = heir

    def look_up(self, texts: Fingerprints, least: NDArray[np.int64]) -> LookUp:
        """Look the candidates of n texts up, in all channels.

        least: int64 (n,), as many bits of the sketches have to be equal.
        """
        near = self._near if self._by_simhash else None
        self._sketched(texts)
        bits = None if self._bits is None else self._bits.array
        return look_up(self._near.fingerprints, near, self._bands, bits, texts, least)

    def _sketched(self, texts: Fingerprints) -> None:
        """Make room for sketches such as these texts have."""
        if texts.sketches is not None and self._bands is None:
            self._bands = BandIndex(texts.sketches.keys.shape[1])
            if width := texts.sketches.bits.shape[1]:
                self._bits = Growing(0, width, np.uint64)

    def near(self, text: Fingerprints, distance: int) -> list[Neighbour]:
        """Return all kept documents within the distance of one text, the nearest first.

        The equal text comes before all others; of a short text it is the only one looked for.
        Of equally near ones the first kept comes first. Raises ValueError for a distance beyond
        that of the settings.
        """
        if not 0 <= distance <= self._near.distance:
            raise ValueError(f"distance is {distance}, expected 0 to {self._near.distance}")
        same = int(self.equal(text)[0])
        found = {same: 0} if same >= 0 else {}
        if not text.short[0]:
            near = self._near.search(text.values)
            found |= dict(zip(near.numbers.tolist(), near.distances.tolist(), strict=True))
        ordered = sorted(found, key=lambda number: (found[number], number != same, number))
        wanted = [number for number in ordered if found[number] <= distance]
        return [
            Neighbour(key, found[number], number == same)
            for key, number in zip(self.keys(wanted), wanted, strict=True)
        ]

    def sample(self, numbers: Sequence[int]) -> list[tuple[bytes, int]]:
        """Return key and fingerprint of some kept documents."""
        values = self._near.fingerprints[list(numbers)].tolist()
        return list(zip(self.keys(numbers), values, strict=True))

    def held(self, numbers: NDArray[np.int64]) -> Fingerprints:
        """Return what is known of the texts of some kept documents, int64 (n,); no sketches."""
        return Fingerprints(
            values=self._near.fingerprints[numbers],
            digests=self._equal.digests[numbers],
            short=~self._near.searchable[numbers],
        )

    def dump(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a snapshot keeps of all that is remembered: facts and arrays."""
        facts: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {}
        parts: dict[str, HammingIndex | EqualIndex | Ids | BandIndex] = {
            "near": self._near,
            "equal": self._equal,
            "ids": self._ids,
        }
        if self._bands is not None:
            parts["bands"] = self._bands
        if self._bits is not None:
            arrays["bits"] = self._bits.array[: len(self)]
        for name, part in parts.items():
            facts[name], own = part.dump()
            arrays |= {f"{name}.{key}": value for key, value in own.items()}
        return facts, arrays

    def load(self, facts: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        """Remember what `dump` gave away, and nothing else. Raises SnapshotError."""
        try:
            self._load(facts, parts)
            held = {len(self._near), len(self._equal), len(self._ids)}
            held |= {part.rows for name, part in parts.items() if name in _OF_EACH}
        except (KeyError, ValueError, TypeError, IndexError) as e:
            raise SnapshotError("it is damaged") from e
        if len(held) != 1:
            raise SnapshotError("it is damaged: its parts are of different sizes")

    def _load(self, facts: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        def own(name: str) -> dict[str, Part]:
            prefix = f"{name}."
            return {k.removeprefix(prefix): p for k, p in parts.items() if k.startswith(prefix)}

        self._near.load(facts["near"], own("near"))
        self._equal = EqualIndex.load(facts["equal"], own("equal"))
        self._ids = Ids.load(facts["ids"], own("ids"))
        if "bands" in facts:
            self._bands = BandIndex.load(facts["bands"], own("bands"))
        if "bits" in parts:
            bits = parts["bits"]
            self._bits = Growing.mapped(bits.pages, bits.shape[1], np.uint64)
