"""The index of the kept documents: its settings, and their ids, fingerprints and keys."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, field_validator

from dedup_job import _core
from dedup_job.columns import Fingerprints, Holding, KeptPage
from dedup_job.documents import Channel
from dedup_job.messages import Message
from dedup_job.native.bytes_column import BytesColumn, strings_of
from dedup_job.native.snapshot import Snapshot, Writer

FOUND = np.dtype([*_core.FOUND], align=True)
"""A kept document that a text finds: row, number, distance, agreement (equal bits), is_equal."""
LIMITS = 128, 16, 1
"""How many documents are found by one key of a column; by one fingerprint, and by one if there are
sketches, which find the others."""
_LEAST, _TIMES = 200_000, 4  # documents of a segment; as many as in the next one
_NO_RUN = 2**62  # later than all
_MOST_IDS = 1 << 26  # in a table, which takes a gigabyte then
_CHOICE = tuple(channel for channel in Channel if channel not in (Channel.FORM, Channel.TEXT))


class IndexSettings(BaseModel, frozen=True, extra="forbid"):
    """Which kept documents count as candidates, and how they are found."""

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


IndexCounts = tuple[int, int, int, int]
"""Documents, how many of them are of other collections, how many are kept still, and how often one
is not found by a key or a fingerprint that many share."""


class KeptIndex:
    """Remembers kept documents, numbered from 0 in the order in which they were kept.

    The core holds them; here is when they are loaded, and how they lie in files.
    """

    def __init__(self, settings: IndexSettings) -> None:
        self._settings = settings
        self._others = list[tuple[str, _core.Index]]()
        self._promised: IndexCounts | None = None
        self._loads, self._is_loading = threading.RLock(), False
        self.forget()

    def promise(self, promised: IndexCounts, load: Callable[[], None]) -> None:
        """Begin with documents that are loaded when they are needed first, by whatever thread."""
        self.forget()
        self._promised, self._load = promised, load

    def load_promised(self) -> bool:
        """Load what was promised, once; where that fails, the next one who needs it tries again.

        Tells whether anything was loaded now.
        """
        with self._loads:
            if self._promised is None or self._is_loading:
                return False
            self._is_loading = True
            try:
                self.forget()
                self._load()
                self._promised = None
            finally:
                self._is_loading = False
            return True

    @property
    def core(self) -> _core.Index:
        """The documents as the core holds them; loaded now, if they were promised."""
        if self._promised is not None:
            self.load_promised()
        return self._core

    def forget(self) -> None:
        """Forget all documents but those of other collections."""
        by_simhash = Channel.SIMHASH in self._settings.candidate_generators
        self._core = _core.Index(self._settings.distance, by_simhash, LIMITS, self._others)

    @property
    def _counts(self) -> IndexCounts:
        return self._core.counts if self._promised is None else self._promised

    def __len__(self) -> int:
        """Return the number of documents known, of other collections and replaced ones included."""
        return self._counts[0]

    @property
    def others(self) -> int:
        """The number of documents of other collections, which have the first numbers."""
        return self._core.counts[1]

    @property
    def live(self) -> int:
        """The number of documents that are kept still."""
        return self._counts[2]

    @property
    def unindexed(self) -> int:
        """How often a kept document is not found by a key or a fingerprint that many share."""
        return self._counts[3]

    def live_numbers(self) -> NDArray[np.int64]:
        """Return their numbers, int64 (live,), ascending."""
        documents, others, *_ = self.core.counts
        stays = np.ones(documents - others, dtype=np.bool_)
        stays[self.core.gone] = False
        return others + np.flatnonzero(stays)

    def add_other(self, place: str, part: "KeptIndex") -> None:
        """Let the documents of another collection count as kept before all others.

        place: its name; part: all of them, and no longer of use for itself. What is kept must not
        be known yet.
        """
        self._others.append((place, part.core))
        self.forget()

    @property
    def growing_bytes(self) -> int:
        """Memory of the part that grows."""
        return self.core.segments[-1][1]

    def to_merge(self) -> int:
        """Return from which segment on all together are not small beside the one before.

        Where these are merged, sizes fall from each to the next, so that there are few, and each
        document is moved few times (O'Neil et al., "The log-structured merge-tree", 1996).
        """
        sizes = [documents for documents, _ in self.core.segments]
        first = len(sizes) - 1
        merged = sizes[first]
        while first and sizes[first - 1] < max(_LEAST, _TIMES * merged):
            first -= 1
            merged += sizes[first]
        return first

    def dump(self, writer: Writer, first: int = 0) -> None:
        """Write the segments from `first` on as one, and the marks of all documents."""
        writer.facts["index"] = self.core.dump(first, writer.add)
        writer.facts["gone"] = len(self.core.gone)

    def load(self, saved: Snapshot) -> None:
        """Append the segments that `dump` wrote, and take its marks of all documents."""
        self.core.load(saved.facts["index"], saved.parts)

    def replace_growing(self, mapped: Callable[[Callable[[Writer], None]], Snapshot]) -> None:
        """Move the segment that grows into a file and begin another one; numbers stay.

        mapped: takes what writes a file, and returns it mapped.
        """
        last = len(self.core.segments) - 1
        saved = mapped(lambda writer: self.dump(writer, last))
        self.core.load(saved.facts["index"], saved.parts, last)

    def remember(self, pages: Callable[[], Iterable[KeptPage]]) -> None:
        """Take in what former runs kept, from pages in `_id` order that can be had again.

        The order is that in which the documents were kept, see `by_run`.
        """
        for page in by_run(pages):
            if page is None:
                self.forget()
            else:
                self._add_page(page)

    def remember_more(self, pages: Iterable[KeptPage]) -> None:
        """Take in, in the same order, what was kept after all that is remembered."""
        for page in _ordered([page for page in pages if page.keys]):
            self._add_page(page)

    def _add_page(self, page: KeptPage) -> None:
        if page.keys:
            self.add(strings_of(page.keys), page.fingerprints, page.groups)

    def add(
        self, keys: BytesColumn, texts: Fingerprints, groups: Mapping[int, int] | None = None
    ) -> None:
        """Remember n documents by their keys; they get the next numbers.

        groups: by row, of those that did not found the group that they are in.
        """
        self.core.add(keys, texts.arrays, groups or {})

    def find(self, texts: Fingerprints) -> NDArray[np.void]:
        """Return the kept documents that n texts find in any channel, FOUND, text by text."""
        return self.core.find(texts.arrays).view(FOUND)

    def held_ids(self) -> Holding | None:
        """Return a membership test of ids, or None if it takes too much memory."""
        documents, others, *_ = self.core.counts
        if not 0 < documents - others <= _MOST_IDS:
            return None
        return lambda keys: self.core.find_ids(keys) >= 0

    def documents(self, numbers: NDArray[np.int64]) -> tuple[BytesColumn, NDArray[np.uint64]]:
        """Return the keys and the fingerprints of kept documents."""
        keys, values = self.core.documents(numbers)
        return BytesColumn(*keys), values

    def forget_keys(self, keys: Set[bytes]) -> None:
        """Tombstone kept documents: equal texts alone find them. Unknown keys are skipped."""
        self.core.set_gone(strings_of([*keys]), True)

    def recall_keys(self, keys: Set[bytes]) -> None:
        """Clear the tombstones of the last documents with these keys."""
        self.core.set_gone(strings_of([*keys]), False)


def by_run(pages: Callable[[], Iterable[KeptPage]]) -> Iterator[KeptPage | None]:
    """Yield pages in the order in which documents were kept: by run, in a run by `_id`.

    pages: in `_id` order, can be had again. None means that all begins anew, as at first.

    So a run that was interrupted and resumed names the same kept documents as one left alone.
    Nearly all are of the first run as a rule: these are given at once, the others wait.
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
            if not done:  # documents of a later run were given before: begin anew
                break
            yield page[np.flatnonzero(page.run == first)]
            later.append(page[np.flatnonzero(page.run != first)])
    yield from _ordered(later)


def _ordered(pages: Sequence[KeptPage]) -> Iterator[KeptPage]:
    for run in sorted({int(run) for page in pages for run in np.unique(page.run)}):
        yield from (page[np.flatnonzero(page.run == run)] for page in pages)
