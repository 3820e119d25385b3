"""The index of the kept documents: its settings, look-up, tombstones and segments."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, field_validator

from dedup_job import _core
from dedup_job.columns import Fingerprints, IdMembership, KeptPage
from dedup_job.documents import Channel
from dedup_job.messages import Message
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.native.snapshot import Snapshot, Writer

FOUND = np.dtype([*_core.FOUND], align=True)
"""A kept document that a text finds: row, number, distance, agreement (equal bits), is_equal."""
LIMITS = 128, 16, 1
"""The most documents found by one key of a column; by one fingerprint; by one fingerprint if there
are sketches, which find the others."""
_LEAST, _RATIO = 200_000, 4  # documents of a segment; its size to that of the next one
_NO_RUN = 2**62  # later than all
_MOST_IDS = 1 << 26  # of a membership table, which takes a gigabyte then
_CHOICE = tuple(channel for channel in Channel if channel not in (Channel.FORM, Channel.TEXT))


class IndexSettings(BaseModel, frozen=True, extra="forbid"):
    """How candidates among the kept documents are found."""

    candidate_generators: tuple[Channel, ...] = Field(
        default=(Channel.SIMHASH, Channel.MINHASH),
        description="how candidates are found. simhash: few bits of the fingerprint differ; "
        "minhash: many 3-grams are the same, 130 bytes per kept document; sentences: the three "
        "longest are the same, 7 bytes. Equal texts are always found",
    )
    distance: int = Field(
        default=3,
        ge=0,
        le=7,
        description="largest distance, in bits of 64, at which simhash proposes a candidate",
    )
    folder: Path | None = Field(
        default=None,
        description="folder where the index is kept between runs; unset: the state folder of "
        "the user, from 100,000 kept documents on",
    )

    @field_validator("candidate_generators")
    @classmethod
    def _each_once(cls, named: tuple[Channel, ...]) -> tuple[Channel, ...]:
        if unknown := [str(channel) for channel in named if channel not in _CHOICE]:
            wrong = Message(
                "{name} is unknown, expected some of {names}",
                name=unknown[0],
                names=", ".join(_CHOICE),
            )
            raise ValueError(wrong)
        return tuple(channel for channel in _CHOICE if channel in named)


class IndexCounts(NamedTuple):
    """Numbers of an index: all documents; of reference collections, the first ones; still kept.

    unindexed: entries left out, since too many documents have the same key or fingerprint.
    """

    documents: int
    referenced: int
    live: int
    unindexed: int


class KeptIndex:
    """The index of kept documents, numbered from 0 in the order in which they were kept.

    The core holds them; this class loads them on demand and arranges their segments.
    """

    def __init__(self, settings: IndexSettings) -> None:
        self._settings = settings
        self._references = list[tuple[str, _core.Index]]()
        self._promised: IndexCounts | None = None
        self._loads, self._is_loading = threading.RLock(), False
        self.clear()

    def load_later(self, counts: IndexCounts, load: Callable[[], None]) -> None:
        """Clear the index; `load` fills it at the first use, in any thread. counts: after that."""
        self.clear()
        self._promised, self._load = counts, load

    def load_pending(self) -> bool:
        """Call the `load` of `load_later` until it succeeds once; return whether it was called."""
        with self._loads:
            if self._promised is None or self._is_loading:
                return False
            self._is_loading = True
            try:
                self.clear()
                self._load()
                self._promised = None
            finally:
                self._is_loading = False
            return True

    @property
    def core(self) -> _core.Index:
        """The index in the core; a pending load is done first."""
        if self._promised is not None:
            self.load_pending()
        return self._core

    def clear(self) -> None:
        """Remove all own documents; the ones of reference collections stay."""
        by_simhash = Channel.SIMHASH in self._settings.candidate_generators
        self._core = _core.Index(self._settings.distance, by_simhash, LIMITS, self._references)

    @property
    def counts(self) -> IndexCounts:
        """The counts of the documents, without a pending load."""
        return IndexCounts(*self._core.counts) if self._promised is None else self._promised

    def __len__(self) -> int:
        """Return the number of documents, with reference collections and replaced documents."""
        return self.counts.documents

    @property
    def live(self) -> int:
        """The number of documents that are still kept."""
        return self.counts.live

    def live_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of the documents that are still kept, int64 (live,), ascending."""
        documents, referenced, *_ = self.core.counts
        is_live = np.ones(documents - referenced, dtype=np.bool_)
        is_live[self.core.gone] = False
        return referenced + np.flatnonzero(is_live)

    def add_reference(self, collection: str, index: "KeptIndex") -> None:
        """Clear the index, and take over that of a collection, as kept before all own documents."""
        self._references.append((collection, index.core))
        self.clear()

    @property
    def growing_bytes(self) -> int:
        """Memory of the segment that grows, in bytes."""
        return self.core.segments[-1][1]

    def first_to_merge(self) -> int:
        """Return the first of the segments to be merged with all later ones, by number.

        After the merge sizes fall from each segment to the next, so there are few, and each
        document moves few times (O'Neil et al., "The log-structured merge-tree", 1996).
        """
        sizes = [documents for documents, _ in self.core.segments]
        first = len(sizes) - 1
        merged = sizes[first]
        while first and sizes[first - 1] < max(_LEAST, _RATIO * merged):
            first -= 1
            merged += sizes[first]
        return first

    def dump(self, writer: Writer, first: int = 0) -> None:
        """Write the segments from `first` on, merged, and the tombstones of all documents."""
        writer.facts["index"] = self.core.dump(first, writer.add)
        writer.facts["gone"] = len(self.core.gone)

    def load(self, saved: Snapshot) -> None:
        """Append the segment that `dump` wrote, and set the marks of all documents."""
        self.core.load(saved.facts["index"], saved.parts)

    def spill_growing(self, mapped: Callable[[Callable[[Writer], None]], Snapshot]) -> None:
        """Move the segment that grows into a file, and begin another one; numbers do not change.

        mapped: calls a function that writes a file, and returns the file mapped.
        """
        last = len(self.core.segments) - 1
        saved = mapped(lambda writer: self.dump(writer, last))
        self.core.load(saved.facts["index"], saved.parts, last)

    def rebuild(self, pages: Callable[[], Iterable[KeptPage]]) -> None:
        """Replace the index's own documents by those of pages, numbered as by `in_run_order`.

        pages: in `_id` order; may be called again.
        """
        for page in in_run_order(pages):
            if page is None:
                self.clear()
            else:
                self.add(strings_of(page.keys), page.fingerprints, page.groups)

    def extend(self, pages: Iterable[KeptPage]) -> None:
        """Add documents that were kept after all others, numbered by run, then `_id`."""
        for page in _sorted_by_run([page for page in pages if page.keys]):
            self.add(strings_of(page.keys), page.fingerprints, page.groups)

    def add(
        self, keys: BytesColumn, texts: Fingerprints, groups: Mapping[int, int] | None = None
    ) -> None:
        """Add n documents under the next numbers; groups: by row, of ones that joined a group."""
        self.core.add(keys, texts.core_arguments, groups or {})

    def find(self, texts: Fingerprints) -> NDArray[np.void]:
        """Return the kept documents that n texts find in any channel, FOUND, ordered by row."""
        return self.core.find(texts.core_arguments).view(FOUND)

    def membership_test(self) -> IdMembership | None:
        """Return a membership test of the ids of live documents, None if it takes much memory."""
        documents, referenced, *_ = self.core.counts
        if not 0 < documents - referenced <= _MOST_IDS:
            return None
        return lambda keys: self.core.find_ids(keys) >= 0

    def keys_and_fingerprints(
        self, numbers: NDArray[np.int64]
    ) -> tuple[BytesColumn, NDArray[np.uint64]]:
        """Return the keys and the fingerprints, uint64 (n,), of documents."""
        keys, values = self.core.documents(numbers)
        return BytesColumn(*keys), values

    def tombstone(self, keys: Set[bytes], *, gone: bool = True) -> None:
        """Set the tombstones of documents, found by equal texts only; skip unknown keys.

        gone: False clears the tombstones of the last documents with these keys.
        """
        self.core.set_gone(strings_of([*keys]), gone)


def in_run_order(pages: Callable[[], Iterable[KeptPage]]) -> Iterator[KeptPage | None]:
    """Yield pages ordered by run, then `_id`: the order in which documents were kept.

    pages: in `_id` order; may be called again. None means that the pages before it are void.

    So a run that was interrupted and resumed names the same kept documents as another. As
    nearly all documents are of the first run, they are yielded at once, the others at the end.
    """
    first, later, done = _NO_RUN, list[KeptPage](), False
    while not done:
        yield None
        later.clear()
        done = True
        for page in (page for page in pages() if page.keys):
            earliest = int(page.run.min())
            if earliest < first:
                done = first == _NO_RUN
                first = earliest
            if not done:  # documents of a later run were yielded before: start again
                break
            yield page[np.flatnonzero(page.run == first)]
            later.append(page[np.flatnonzero(page.run != first)])
    yield from _sorted_by_run(later)


def _sorted_by_run(pages: Sequence[KeptPage]) -> Iterator[KeptPage]:
    for run in sorted({int(run) for page in pages for run in np.unique(page.run)}):
        yield from (page[np.flatnonzero(page.run == run)] for page in pages)
