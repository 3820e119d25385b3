"""All that is remembered of the kept documents: what finds them, and their ids."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Fingerprints, KeptPage, own_groups
from dedup_job.index.candidates import Found
from dedup_job.index.held_ids import HeldIds
from dedup_job.index.look_up import (
    Limits,
    LookUp,
    among_all,
    bases_of,
    bits_of,
    find_in_each,
    most_same,
    together,
)
from dedup_job.index.segment import Segment, sealed
from dedup_job.index.settings import IndexSettings
from dedup_job.native.bytes_column import BytesColumn, digests_of, joined, strings_of
from dedup_job.native.growable_array import GrowableArray
from dedup_job.native.snapshot import Arrays, Snapshot

_LEAST, _TIMES = 200_000, 4  # documents of a segment; as many as in the next one
_NO_RUN = 2**62  # later than all
_MOST_IDS = 1 << 26  # in a table, which takes a gigabyte then
_AT_ONCE = 100_000  # keys


class Promised(NamedTuple):
    """What is known of documents before they are loaded.

    documents: how many; live: those that are kept still; unindexed: see `KeptIndex.unindexed`.
    """

    documents: int
    live: int
    unindexed: int


class KeptIndex:
    """Remembers kept documents, numbered from 0 in the order in which they were kept."""

    def __init__(self, settings: IndexSettings) -> None:
        self._settings = settings
        self._others: list[Segment] = []
        self._others_gone = np.zeros(0, dtype=np.bool_)  # which of them are forgotten
        self._others_heirs: dict[int, int] = {}
        self._promised: Promised | None = None
        self._loads, self._is_loading = threading.RLock(), False
        self.forget()

    def promise(self, promised: Promised, load: Callable[[], None]) -> None:
        """Begin with documents that are loaded when they are needed first, by whatever thread."""
        self.forget()
        self._count, self._gone = promised.documents, promised.documents - promised.live
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
    def _segments(self) -> list[Segment]:
        if self._promised is not None:
            self.load_promised()
        return self._every

    def forget(self) -> None:
        """Begin anew, but for what other collections hold."""
        self._every = [*self._others, Segment(self._settings)]
        self._count = self.others
        self._heirs = {**self._others_heirs}
        self._forgotten: GrowableArray[np.bool_] | None = None  # as long as nothing is
        self._gone = 0  # kept documents that are forgotten
        if self._others_gone.any():
            self._known_to_be_gone()[: self.others] = self._others_gone
        self._groups: dict[int, int] = {}
        self.unindexed_texts = 0  # that their fingerprint does not find, since this process began

    def __len__(self) -> int:
        """Return the number of documents known, of other collections and replaced ones included."""
        return self._count

    @property
    def others(self) -> int:
        """The number of documents of other collections, which have the first numbers."""
        return len(self._others_gone)

    @property
    def live(self) -> int:
        """The number of documents that are kept still."""
        return self._count - self.others - self._gone

    def live_numbers(self) -> NDArray[np.int64]:
        """Return their numbers, int64 (live,), ascending."""
        self.load_promised()
        numbers = np.arange(self.others, self._count)
        return numbers[~self.is_forgotten(numbers)] if self._gone else numbers

    @property
    def places(self) -> tuple[str, ...]:
        """The names of other collections by code, see `places_of`; the first one is empty."""
        return ("", *dict.fromkeys(one.place.decode() for one in self._others))

    def places_of(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the codes of the collections that n documents are of, 0 for kept ones."""
        places = self.places
        codes = [*(places.index(one.place.decode()) for one in self._others), 0]
        ends = bases_of(self._others)[1:]
        return np.array(codes, dtype=np.uint8)[np.searchsorted(ends, numbers, side="right")]

    def add_other(self, place: str, part: KeptIndex) -> None:
        """Let the documents of another collection count as kept before all others.

        place: its name; part: all of them, and no longer of use for itself. What is kept must not
        be known yet.
        """
        base = self.others
        for one in part.segments:
            if len(one):
                one.place = place.encode()
                self._others.append(one)
        gone = part.is_forgotten(np.arange(len(part)))
        self._others_gone = np.concatenate([self._others_gone, gone])
        self._others_heirs |= {base + n: base + heir for n, heir in part._heirs.items()}
        self.forget()

    @property
    def segments(self) -> Sequence[Segment]:
        """The parts, in the order in which their documents were kept; only the last one grows."""
        return self._segments[len(self._others) :]

    @property
    def unindexed(self) -> int:
        """How often a kept document is not found by a key or a fingerprint that many share."""
        if self._promised is not None:
            return self._promised.unindexed
        bands = [one.bands for one in self.segments if one.bands is not None]
        return self.unindexed_texts + sum(int(one.dropped.sum()) for one in bands)

    def seal(self) -> None:
        """Let what is kept from now on go to a segment of its own."""
        if len(self._segments[-1]):
            self._segments.append(Segment(self._settings))

    def to_merge(self) -> int:
        """Return from which segment on all together are not small beside the one before.

        Where these are merged, sizes fall from each to the next, so that there are few, and each
        document is moved few times (O'Neil et al., "The log-structured merge-tree", 1996).
        """
        segments = self.segments
        first = len(segments) - 1
        merged = len(segments[first])
        while first and len(segments[first - 1]) < max(_LEAST, _TIMES * merged):
            first -= 1
            merged += len(segments[first])
        return first

    def sealed(self, first: int = 0) -> tuple[dict[str, Any], Arrays]:
        """Return the segments from `first` on as one that is packed: facts and arrays in turn."""
        return sealed(self._settings, self.segments[first:])

    def replacements(self) -> dict[str, Any]:
        """Return what `restore_replacements` takes: what was replaced, as JSON holds it.

        Numbers in it begin with the first kept document: other collections may grow.
        """
        self.load_promised()
        base, heirs = self.others, self._heirs.items()
        gone = self.is_forgotten(np.arange(base, self._count if self._gone else base))
        return {
            "forgotten": np.flatnonzero(gone).tolist(),
            "heirs": [(n - base, heir - base) for n, heir in heirs if n >= base],
            "groups": [(n - base, group) for n, group in self._groups.items()],
        }

    def restore_replacements(self, saved: Mapping[str, Any]) -> None:
        """Remember what was replaced among all that is remembered."""
        base = self.others
        for number in saved["forgotten"]:
            self.forget_one(base + number)
        self._heirs |= {base + n: base + heir for n, heir in saved["heirs"]}
        self._groups = {base + n: group for n, group in saved["groups"]}

    def replace_growing(self, mapped: Callable[[dict[str, Any], Arrays], Snapshot]) -> None:
        """Pack the segment that grows and begin another one; numbers stay.

        mapped: puts what `sealed` returns into a file and maps it.
        """
        saved = mapped(*self.sealed(len(self.segments) - 1))
        made = Segment.load(self._settings, saved.facts, saved.parts)
        self._segments[-1:] = [made, Segment(self._settings)]

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
        every = [page for page in pages if page.keys]
        for run in sorted({int(run) for page in every for run in np.unique(page.run)}):
            for page in every:
                self._add_page(page[np.flatnonzero(page.run == run)])

    def _add_page(self, page: KeptPage) -> None:
        if not page.keys:
            return
        stored = None
        if self._count - self.others > len(self._segments[-1]):
            least = np.zeros(len(page.keys), dtype=np.int64)
            turns = self.look_up(page.fingerprints, least).turns
            turns.store_columns(np.ones(len(page.keys), dtype=np.bool_))
            stored = turns.stored
        self._groups |= {self._count + row: group for row, group in page.groups.items()}
        self.add(page.keys, page.fingerprints, stored)

    def add(
        self,
        keys: Sequence[bytes] | BytesColumn,
        texts: Fingerprints,
        stored: NDArray[np.uint32] | None = None,
    ) -> None:
        """Remember n documents by their keys; they get the next numbers.

        stored: uint32 (n,), the columns of keys by which each is to be found, as bits: those with
        fewer documents under its key than the limit. None while there is one segment, which counts.
        """
        self._segments[-1].add(strings_of(keys), texts, stored)
        self._count += len(texts)

    def held_ids(self) -> HeldIds | None:
        """Return what tells which ids are there, of all but the segment that grows.

        None where that takes too much memory.
        """
        sealed = self.segments[:-1]
        count = sum(map(len, sealed))
        if not 0 < count <= _MOST_IDS:
            return None
        base = self.others
        return HeldIds(count, partial(keys_in, sealed), lambda own: self.is_forgotten(base + own))

    def keys(self, numbers: Sequence[int] | NDArray[np.int64]) -> list[bytes]:
        """Return the keys of kept documents, which are numbered in the order of `remember`."""
        return self.packed_keys(np.asarray(numbers, dtype=np.int64)).list()

    def packed_keys(self, numbers: NDArray[np.int64]) -> BytesColumn:
        """Return the same keys in a column."""
        if not len(numbers):
            return strings_of([])
        return keys_in(self._segments, numbers)

    def equal(self, texts: Fingerprints) -> NDArray[np.int64]:
        """Return for each of n texts the number of the kept one that is equal, or -1."""
        numbers, left = np.full(len(texts), -1, dtype=np.int64), np.arange(len(texts))
        bases = bases_of(self._segments).tolist()
        for segment, base in zip(self._segments, bases, strict=False):
            values, digests = texts.values[left], texts.digests[left]
            found = segment.equal.find(segment.near.fingerprints, values, digests)
            there = found >= 0
            numbers[left[there]] = self._of_heirs(found[there] + base)
            left = left[~there | self.is_forgotten(numbers[left])]  # another one may be kept still
        return numbers

    def _of_heirs(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._heirs:
            for row in np.flatnonzero(numbers >= 0).tolist():
                while (heir := self._heirs.get(int(numbers[row]))) is not None:
                    numbers[row] = heir
        return numbers

    def replace(self, number: int, heir: int) -> None:
        """Let a later document with the same text stand in for one that is gone."""
        self._heirs[number] = heir

    def forget_one(self, number: int) -> None:
        """Find a document no more, but as equal; see `is_forgotten`."""
        gone = self._known_to_be_gone()
        self._gone += not gone[number]
        gone[number] = True

    def _known_to_be_gone(self) -> NDArray[np.bool_]:
        if self._forgotten is None:
            self._forgotten = GrowableArray(0, 0, np.bool_)
        self._forgotten.grow(self._count)
        return self._forgotten.array

    def forget_keys(self, keys: Set[bytes]) -> None:
        """Find some kept documents no more, those that are not known apart."""
        for number, _ in self._numbers_of(keys):
            self.forget_one(number)

    def recall_keys(self, keys: Set[bytes]) -> None:
        """Find the last documents of these keys again, which were forgotten and are kept still."""
        for number in {key: number for number, key in self._numbers_of(keys)}.values():
            gone = self._known_to_be_gone()
            self._gone -= bool(gone[number])
            gone[number] = False
            self._heirs.pop(number, None)

    def _numbers_of(self, keys: Set[bytes]) -> Iterator[tuple[int, bytes]]:
        wanted = digests_of(strings_of([*keys]))
        for start in range(self.others, self._count if keys else 0, _AT_ONCE):
            held = self.packed_keys(np.arange(start, min(start + _AT_ONCE, self._count)))
            for row in np.flatnonzero(np.isin(digests_of(held), wanted)).tolist():
                if (key := held.at(row)) in keys:
                    yield start + row, key

    def name_heirs(self) -> None:
        """Let the first kept document with the same text stand in for each forgotten one."""
        gone = self.is_forgotten(np.arange(self.others, self._count))
        if not gone.any():
            return
        digests, base = np.concatenate([one.equal.digests for one in self.segments]), self.others
        stays = np.flatnonzero(np.isin(digests, digests[gone]) & ~gone).tolist()
        first: dict[int, int] = {}
        for number in stays:
            if base + number not in self._heirs:  # else it has another text after all
                first.setdefault(int(digests[number]), base + number)
        for number in np.flatnonzero(gone).tolist():
            if (heir := first.get(int(digests[number]))) is not None:
                self.replace(base + number, heir)

    def is_forgotten(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of n documents are forgotten, bool (n,)."""
        if self._forgotten is None:
            return np.zeros(len(numbers), dtype=np.bool_)
        known = self._forgotten.array
        return known[np.minimum(numbers, len(known) - 1)] & (numbers >= 0) & (numbers < len(known))

    def join_group(self, number: int, group: int) -> None:
        """Let a document belong to a group that another one founded."""
        self._groups[number] = group

    def groups(self, numbers: NDArray[np.int64], keys: BytesColumn) -> NDArray[np.int64]:
        """Return the groups of n documents, given their numbers and keys; int64 (n,)."""
        groups = own_groups(keys)
        if self._groups:
            others = map(self._groups.get, numbers.tolist(), groups.tolist())
            groups = np.fromiter(others, np.int64, len(groups))
        return groups

    def found_groups(self, numbers: NDArray[np.int64], keys: BytesColumn) -> None:
        """Give groups of their own to n documents that were just added.

        A document that is decided again may have founded a group before, and another kept one is
        in that now: it gets another number.
        """
        if self._groups:
            gone = self.is_forgotten(np.fromiter(self._groups, np.int64, len(self._groups)))
            groups = zip(self._groups.values(), gone.tolist(), strict=True)
            borne = {group for group, is_gone in groups if not is_gone}
            for number, group in zip(numbers.tolist(), own_groups(keys).tolist(), strict=True):
                if group in borne:
                    self._groups[number] = group ^ (number + 1)

    def look_up(self, texts: Fingerprints, least: NDArray[np.int64]) -> LookUp:
        """Look the candidates of n texts up, in all channels.

        least: int64 (n,), as many bits of the sketches have to be equal.
        """
        last = self._segments[-1]
        last.sketched(texts)
        bits, columns, equal = bits_of(self._segments, texts), 0, 0
        if last.bands is not None:
            columns, equal = last.bands.columns, last.bands.most_equal
        limits = Limits(columns, equal, most_same(bits))
        if len(self._held) == 1:
            found = self._held[0].find(texts, bits, least, limits.same)
        else:
            found = together(find_in_each(self._held, texts, bits), bits, least, limits)
        found = self._known(found)
        distance = last.near.distance if last.by_simhash else -1
        return among_all(found, self._count, texts, bits, least, limits, distance)

    def _known(self, found: Found) -> Found:
        if self._forgotten is None:
            return found
        stays = ~self.is_forgotten(found.candidates.numbers)
        return found._replace(candidates=found.candidates.where(stays))

    @property
    def _held(self) -> list[Segment]:
        return [one for one in self._segments if len(one)] or self._segments[-1:]

    def held(self, numbers: NDArray[np.int64]) -> Fingerprints:
        """Return what is known of the texts of some kept documents, int64 (n,); no sketches."""
        values, digests = np.empty((2, len(numbers)), dtype=np.uint64)
        short = np.empty(len(numbers), dtype=np.bool_)
        for segment, rows, own in _places(self._segments, numbers):
            values[rows] = segment.near.fingerprints[own]
            digests[rows] = segment.equal.digests[own]
            short[rows] = ~segment.near.searchable[own]
        return Fingerprints(values, digests, short)

    def load(self, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> None:
        """Remember what `sealed` gave away, behind what is remembered."""
        made = Segment.load(self._settings, facts, parts)
        self.seal()
        self._segments.insert(-1, made)
        self._count += len(made)


def keys_in(segments: Sequence[Segment], numbers: NDArray[np.int64]) -> BytesColumn:
    """Return the keys of documents, numbered through all segments."""
    if len(segments) == 1:
        return segments[0].keys(numbers)
    return joined(
        [
            segment.keys(own).spread(rows, len(numbers))
            for segment, rows, own in _places(segments, numbers)
        ]
    )


def _places(
    segments: Sequence[Segment], numbers: NDArray[np.int64]
) -> Iterator[tuple[Segment, NDArray[np.int64], NDArray[np.int64]]]:
    bases = bases_of(segments)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < bases[-1]:
        raise IndexError(f"there are {bases[-1]} kept documents, not all of {numbers[:9]}")
    of = np.searchsorted(bases, numbers, side="right") - 1
    for place, segment in enumerate(segments):
        rows = np.flatnonzero(of == place)
        yield segment, rows, numbers[rows] - bases[place]


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
    for run in sorted({int(run) for page in later for run in np.unique(page.run)}):
        for page in later:
            yield page[np.flatnonzero(page.run == run)]
