"""The index in parts, each in a process: every text is looked up in all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.cluster.errors import cannot_go_on
from dedup_job.cluster.processes import Lost, Process
from dedup_job.columns import Fingerprints, KeptPage
from dedup_job.errors import StateMismatch
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.candidates import Candidates, Found
from dedup_job.index.kept import by_run
from dedup_job.index.look_up import Limits, together
from dedup_job.messages import Message
from dedup_job.native.bytes_column import BytesColumn, joined, strings_of

_BLOCK = 1 << 14  # documents in a row that lie in one shard
_PENDING = 32  # insertions under way
_TRIES = 3  # to replace a shard that is lost


class Spread(NamedTuple):
    """Which kept document lies in which of `shards` parts: blocks of numbers, in turn."""

    shards: int

    def shard(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the shard of each number, int64 (n,)."""
        return numbers // _BLOCK % self.shards

    def place(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number that each has in its shard, int64 (n,)."""
        return numbers // (_BLOCK * self.shards) * _BLOCK + numbers % _BLOCK

    def number(self, shard: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of what lies at places of a shard, int64 (n,)."""
        return (places // _BLOCK * self.shards + shard) * _BLOCK + places % _BLOCK


class Shard(KeptIndex):
    """A part of the kept documents, in the order in which they were kept."""

    def __init__(self, settings: IndexSettings, spread: Spread, number: int) -> None:
        super().__init__(settings)
        self._spread, self._number = spread, number

    def find_all(self, texts: Fingerprints) -> tuple[NDArray[np.int64], Candidates]:
        """Return for n texts the numbers of equal ones here, or -1, and all candidates."""
        same, found = self.equal(texts), self.find(texts)
        numbers = np.where(same >= 0, self._spread.number(self._number, same), -1)
        return numbers, found._replace(numbers=self._spread.number(self._number, found.numbers))

    def count_unindexed(self) -> int:
        """Return how often a document is not found by a key that many share."""
        return self.unindexed


class _Added(NamedTuple):
    """Documents that may not be in the target yet."""

    first: int
    keys: BytesColumn
    texts: Fingerprints
    stored: NDArray[np.uint32] | None


class ShardedIndex(KeptIndex):
    """Remembers kept documents as KeptIndex does, in shards.

    A shard that is lost is filled again: from the target, and with what was added since the last
    batch that is written.
    """

    def __init__(
        self,
        settings: IndexSettings,
        shards: int,
        room: int,
        pages: Callable[[], Iterable[KeptPage]],
    ) -> None:
        """room: memory in bytes for each shard; pages: all that is in the target, by `_id`."""
        self._pages, self._room = pages, room
        self._spread = Spread(shards)
        self._recent: list[_Added] = []
        self._sent: list[tuple[Process, Any]] = []
        self._asked: tuple[Fingerprints, list[Candidates]] | None = None
        self._lock, self._settings = threading.RLock(), settings
        self._shards = [*map(self._started, range(shards))]
        for process in self._shards:
            try:
                process.wait()
            except Lost:
                raise cannot_go_on(Message("no machine has room for a part of the index")) from None
        super().__init__(settings)

    def _started(self, number: int) -> Process:
        return Process(Shard, self._settings, self._spread, number, cpus=0, memory=self._room)

    def _shard(self, number: int) -> Process:
        """Return the process of a shard, a new one where it is lost; raises DatabaseUnreachable."""
        with self._lock:
            for _ in range(_TRIES):
                process = self._shards[number]
                if not process.is_lost:
                    return process
                self._shards[number] = process = self._started(number)
                with suppress(Lost):
                    process.wait()
                    self._fill(process, number)
                    return process
        raise cannot_go_on(Message("a part of the index was lost, and no machine has room for it"))

    def forget(self) -> None:
        """Begin anew."""
        super().forget()
        self._recent.clear()
        self._sent = [(process, process.send("forget")) for process in self._shards]

    def settled(self, number: int) -> None:
        """Take all documents below a number for written."""
        self._recent = [a for a in self._recent if a.first + len(a.texts) > number]

    def add(
        self,
        keys: Sequence[bytes] | BytesColumn,
        texts: Fingerprints,
        stored: NDArray[np.uint32] | None = None,
    ) -> None:
        """Remember n documents by their keys; they get the next numbers."""
        added = _Added(self._count, strings_of(keys), _bare(texts), stored)
        self._count += len(texts)
        self._recent.append(added)
        for number, rows in self._parts(added):
            process = self._shards[number]
            self._sent.append((process, process.send("add", *_some(added, rows))))
        while len(self._sent) > _PENDING:
            self._wait_for(*self._sent.pop(0))

    def _add_page(self, page: KeptPage) -> None:
        if page.keys:
            self._note_groups(page)
            self.add(page.keys, page.fingerprints)
            self.settled(self._count)  # it is in the target

    def equal(self, texts: Fingerprints) -> NDArray[np.int64]:
        """Return for each of n texts the number of the kept one that is equal, or -1."""
        bare = _bare(texts)
        found = self._ask_all("find_all", bare)
        self._asked = texts, [candidates for _, candidates in found]
        numbers = np.full(len(texts), -1, dtype=np.int64)
        for same, _ in found:
            earlier = (same >= 0) & ((numbers < 0) | (same < numbers))
            numbers[earlier] = same[earlier]
        return self._of_heirs(numbers)

    def _found(
        self,
        texts: Fingerprints,
        bits: NDArray[np.uint64],
        least: NDArray[np.int64],
        limits: Limits,
    ) -> Found:
        if self._asked is None or self._asked[0] is not texts:
            self.equal(texts)
        assert self._asked is not None
        return together(self._asked[1], bits, least, limits)

    def packed_keys(self, numbers: NDArray[np.int64]) -> BytesColumn:
        """Return the keys of kept documents."""
        parts = [
            self._ask(shard, "packed_keys", places).spread(rows, len(numbers))
            for shard, rows, places in self._places_in(numbers)
        ]
        return joined(parts) if parts else strings_of([])

    def held(self, numbers: NDArray[np.int64]) -> Fingerprints:
        """Return what is known of the texts of some kept documents."""
        values, digests = np.empty((2, len(numbers)), dtype=np.uint64)
        short = np.empty(len(numbers), dtype=np.bool_)
        for shard, rows, places in self._places_in(numbers):
            held = self._ask(shard, "held", places)
            values[rows], digests[rows], short[rows] = held.values, held.digests, held.short
        return Fingerprints(values, digests, short)

    @property
    def unindexed(self) -> int:
        """How often a kept document is not found by a key or a fingerprint that many share."""
        return int(self.unindexed_texts + sum(self._ask_all("count_unindexed")))

    def _places_in(
        self, numbers: NDArray[np.int64]
    ) -> list[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Return shards with the rows of the numbers that lie there, and their places."""
        of = self._spread.shard(numbers)
        rows = [(shard, np.flatnonzero(of == shard)) for shard in np.unique(of).tolist()]
        return [(shard, own, self._spread.place(numbers[own])) for shard, own in rows]

    def _parts(self, added: _Added) -> list[tuple[int, NDArray[np.int64]]]:
        numbers = np.arange(added.first, added.first + len(added.texts))
        return [(shard, rows) for shard, rows, _ in self._places_in(numbers)]

    def _ask(self, shard: int, method: str, *arguments: Any) -> Any:
        while True:
            try:
                return self._shard(shard).ask(method, *arguments)
            except Lost:
                continue

    def _ask_all(self, method: str, *arguments: Any) -> list[Any]:
        """Ask all shards at the same time."""
        sent = [(process, process.send(method, *arguments)) for process in self._shards]
        answers = []
        for number, (process, one) in enumerate(sent):
            try:
                answers.append(process.answer(one))
            except Lost:
                answers.append(self._ask(number, method, *arguments))
        return answers

    def _wait_for(self, process: Process, sent: Any) -> None:
        try:
            process.answer(sent)
        except Lost:  # it is filled again before it is asked
            return

    def _fill(self, process: Process, number: int) -> None:
        """Bring a new shard to where the lost one was."""
        if self.live < len(self):  # the target no longer tells which numbers the others have
            raise cannot_go_on(
                Message("a part of the index was lost, after kept copies were replaced")
            )
        recent = {key for added in self._recent for key in added.keys.list()}
        count = 0
        for page in by_run(self._pages):
            if page is None:
                process.ask("forget")
                count = 0
                continue
            rows = [row for row, key in enumerate(page.keys) if key not in recent]
            there = page[np.array(rows, dtype=np.int64)]
            more = _Added(count, strings_of(there.keys), there.fingerprints, None)
            self._fill_some(process, number, more)
            count += len(rows)
        if count != (self._recent[0].first if self._recent else self._count):
            raise StateMismatch(
                Message(
                    "the target held {number:,} documents when a part of the index was read again, "
                    "not as many as the run kept: something else changed it while the run was at "
                    "work. Nothing more was written; `dedup check` shows what is there.",
                    number=count,
                )
            )
        for added in self._recent:
            self._fill_some(process, number, added)

    def _fill_some(self, process: Process, number: int, added: _Added) -> None:
        for shard, rows in self._parts(added):
            if shard == number:
                process.ask("add", *_some(added, rows))


def _bare(texts: Fingerprints) -> Fingerprints:
    """Return fingerprints without what was read of the texts."""
    return texts[np.arange(len(texts))]


def _some(added: _Added, rows: NDArray[np.int64]) -> tuple[Any, ...]:
    stored = None if added.stored is None else added.stored[rows]
    return added.keys.take(rows), added.texts[rows], stored
