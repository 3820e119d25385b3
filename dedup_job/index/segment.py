"""A part of the kept documents, with all that finds them; numbers begin at 0 in each.

A segment grows in memory, or it is sealed: packed, in a file, mapped. What several of them find
together is what one with all documents would: limits hold in the order of arrival (look_up.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.columns import Fingerprints
from dedup_job.documents import Channel
from dedup_job.index.bands import BandIndex
from dedup_job.index.candidates import Candidates, Found
from dedup_job.index.equal import EqualIndex, Ids
from dedup_job.index.hamming import HammingIndex
from dedup_job.index.packed import PackedColumns, pack
from dedup_job.index.settings import IndexSettings
from dedup_job.native.bytes_column import BytesColumn, joined, repeated
from dedup_job.native.growable_array import GrowableArray
from dedup_job.native.snapshot import Arrays, Dump, Pieces

_NAME_END = len(b"?_id")  # where in a key its name ends


class Segment:
    """Kept documents, numbered from 0 in the order in which they were kept."""

    def __init__(self, settings: IndexSettings) -> None:
        self.by_simhash = Channel.SIMHASH in settings.candidate_generators
        self.near = HammingIndex(settings.distance)
        self.equal = EqualIndex()
        self.ids = Ids()
        self.bands: BandIndex | PackedColumns | None = None
        self._bits: GrowableArray[np.uint64] | None = None
        self.place = b""  # the collection that it is of, where that is another one

    def __len__(self) -> int:
        """Return the number of documents held."""
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        more = [part.nbytes for part in (self.bands, self._bits) if part is not None]
        return self.near.nbytes + self.equal.nbytes + self.ids.nbytes + sum(more)

    @property
    def bits(self) -> NDArray[np.uint64]:
        """The sketches by number, uint64 (n, words); of no words where there are none."""
        if self._bits is None:
            return np.empty((len(self), 0), dtype=np.uint64)
        return self._bits.array[: len(self)]

    def add(
        self, keys: BytesColumn, texts: Fingerprints, stored: NDArray[np.uint32] | None = None
    ) -> None:
        """Remember n documents by their keys; they get the next numbers.

        stored: uint32 (n,), the columns in which each is to be found, as bits; None: those in
        which this segment holds fewer than the limit.
        """
        start = len(self)
        self.ids.extend(keys)
        self.equal.extend(texts.digests)
        self.near.extend(texts.values, ~texts.short)
        if texts.sketches is None:
            return
        self.sketched(texts)
        assert self.bands is not None
        assert not isinstance(self.bands, PackedColumns)  # a sealed one does not grow
        self.bands.extend(texts.sketches.keys, stored)
        if self._bits is not None:
            self._bits.grow(len(self))
            self._bits.array[start : len(self)] = texts.sketches.bits

    def keys(self, numbers: NDArray[np.int64]) -> BytesColumn:
        """Return the keys of some documents; the place of another collection is their name."""
        keys = self.ids.of(numbers)
        if not self.place:
            return keys
        kinds = keys.between(0, np.ones_like(keys.lengths))
        names = repeated(self.place, len(numbers))
        return joined([kinds, names, keys.between(_NAME_END, keys.lengths)])

    def sketched(self, texts: Fingerprints) -> None:
        """Make room for sketches such as these texts have."""
        if texts.sketches is not None and self.bands is None:
            self.bands = BandIndex(texts.sketches.keys.shape[1])
            if width := texts.sketches.bits.shape[1]:
                self._bits = GrowableArray(0, width, np.uint64)

    def find(
        self,
        texts: Fingerprints,
        bits: NDArray[np.uint64],
        least: NDArray[np.int64],
        most_same: int,
    ) -> Found:
        """Look n texts up; of equal fingerprints the first `most_same` are found.

        bits: uint64 (n, words), their sketches, of no words where they are not to be compared;
        least: int64 (n,), as many bits have to be equal.
        """
        candidates, held, twins = _core.find(
            near=self.near.buckets if self.by_simhash else None,
            pool=self.near.pool,
            sharing=None if self.bands is None else self.bands.buckets,
            fingerprints=self.near.fingerprints,
            kept_bits=self.bits,
            values=texts.values,
            is_short=texts.short,
            keys=texts.keys,
            bits=bits,
            least=least,
            most_same=most_same,
        )
        return Found(Candidates(*candidates), Candidates(*held), twins)

    @classmethod
    def load(
        cls, settings: IndexSettings, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]
    ) -> Segment:
        """Return the segment that `sealed` gave away; it does not grow."""

        def own(name: str) -> dict[str, NDArray[Any]]:
            prefix = f"{name}."
            return {k.removeprefix(prefix): p for k, p in parts.items() if k.startswith(prefix)}

        made = cls(settings)
        made.near.load(facts["near"], own("near"))
        made.equal = EqualIndex.load(own("equal"))
        made.ids = Ids.load(facts["ids"], own("ids"))
        if "bands" in facts:
            made.bands = PackedColumns(facts["bands"], own("bands"))
        if "bits" in parts:
            made._bits = GrowableArray.fixed(parts["bits"])
        return made


def sealed(settings: IndexSettings, segments: Sequence[Segment]) -> tuple[dict[str, Any], Arrays]:
    """Return segments that follow one another as one that is packed: facts, and arrays in turn.

    Each part is made when its arrays are wanted, and adds its facts then, so that one of them is in
    memory at a time; of keys a column.
    """
    segments = [one for one in segments if len(one)] or list(segments[:1])
    bands = [one.bands for one in segments if one.bands is not None]
    made: dict[str, Callable[[], Dump]] = {
        "near": lambda: _near_of(settings, segments).dump(),
        "equal": lambda: _equal_of(segments).dump(),
        "ids": lambda: _ids_of(segments).dump(),
        **({"bands": lambda: pack(bands)} if bands else {}),
    }
    facts: dict[str, Any] = {}

    def arrays() -> Iterator[tuple[str, Pieces]]:
        for name, dump in made.items():
            facts[name], own = dump()
            while own:
                key = next(iter(own))
                yield f"{name}.{key}", own.pop(key)
        if bands and segments[0].bits.shape[1]:
            yield "bits", Pieces.of(*(one.bits for one in segments))

    return facts, arrays()


def _near_of(settings: IndexSettings, segments: Sequence[Segment]) -> HammingIndex:
    if len(segments) == 1:
        return segments[0].near
    made = HammingIndex(settings.distance)
    made.extend(
        np.concatenate([one.near.fingerprints for one in segments]),
        np.concatenate([one.near.searchable for one in segments]),
    )
    return made


def _equal_of(segments: Sequence[Segment]) -> EqualIndex:
    if len(segments) == 1:
        return segments[0].equal
    made = EqualIndex()
    made.extend(np.concatenate([one.equal.digests for one in segments]))
    return made


def _ids_of(segments: Sequence[Segment]) -> Ids:
    if len(segments) == 1:
        return segments[0].ids
    made = Ids()
    for one in segments:
        for keys in one.ids.pieces():
            made.extend(keys)
    return made
