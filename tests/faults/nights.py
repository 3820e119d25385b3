"""A source that grows every night, and runs that are killed where files of the index change.

Each night's run is killed a few times: while it writes a file (a new one, or one into which former
ones are put together), when that stands and former ones are still there, and while it maps what
outgrew its memory. The next start has to be right, without reading the whole target again.
"""

from __future__ import annotations

import random
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from dedup_job.commands import run as commands_run
from dedup_job.index import kept, snapshot
from dedup_job.index.snapshot import SnapshotError
from dedup_job.mongo.embedded import embedded_server
from tests.faults.points import Point
from tests.faults.subject import Subject
from tests.faults.table import Row, times
from tests.running import Documents, outcome

NIGHTS, EACH = 16, 120
_GOOD = (0, 3)
_POINTS = (Point.SNAPSHOT, Point.SAVED, Point.MAPPED)
_WHOLE = "reading the index from the target"


def run(scale: float) -> Iterator[Row]:
    """Kill runs of many nights; compare an index of many segments with one of a single one."""
    with embedded_server() as uri, tempfile.TemporaryDirectory(prefix="dedup-nights-") as folder:
        nights = _Nights(Subject(uri, Path(folder), documents=NIGHTS * EACH), Path(folder))
        yield nights.killed(times(50, scale))
        yield nights.in_parts()


class _Nights:
    """Lets the source of a subject grow, and runs follow it."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self._subject, self._folder = subject, folder
        self._all: Documents = list(subject.database.source.find().sort("_id", 1))
        self._chance = random.Random(19)

    def killed(self, count: int) -> Row:
        """Kill so many runs, each night some."""
        hit, wrong = dict.fromkeys(_POINTS, 0), list[str]()
        for night in self._grow():
            for _ in range(round(count * (night + 1) / NIGHTS) - sum(hit.values())):
                point = _POINTS[sum(hit.values()) % len(_POINTS)]
                code = self._night(at=(point, self._time_of(point)), first=_small)
                hit[point] += code == -signal.SIGKILL
                wrong += self._seen(night, code, (*_GOOD, -signal.SIGKILL))
            wrong += self._seen(night, self._night(first=_small), _GOOD)
            if wrong:
                break
        wrong += self._differences("alone", "target")
        self._subject.drop()
        hits, each = sum(hit.values()), [f"{number} {point}" for point, number in hit.items()]
        if not hits:
            wrong.append("no run was killed")
        told = "; ".join([*each, *wrong[:3]])
        return Row("runs of many nights killed", hits, 0 if wrong else hits, told)

    def in_parts(self) -> Row:
        """Let the index of one target have a segment for each night, that of another one in all."""
        wrong = list[str]()
        for night in self._grow():
            wrong += self._seen(night, self._night("target", first=_never_merged), _GOOD)
            wrong += self._seen(night, self._night("merged"), _GOOD)
        parts = {name: len(self._files(name)) for name in ("target", "merged")}
        if parts != {"target": NIGHTS, "merged": 1}:
            wrong.append(f"files of the index: {parts}")
        if outcome(self._subject.database, "target") != outcome(self._subject.database, "merged"):
            wrong.append("targets or ledgers differ")
        for name in parts:
            self._subject.drop(name)
        return Row(f"{NIGHTS} segments and one", 1, int(not wrong), "; ".join(wrong[:3]))

    def _grow(self) -> Iterator[int]:
        """Let the source be empty, then grow; yield the number of each night."""
        self._subject.database.source.delete_many({})
        for night in range(NIGHTS):
            self._subject.database.source.insert_many(self._all[night * EACH : (night + 1) * EACH])
            yield night

    def _night(
        self,
        target: str = "target",
        at: tuple[Point, int] | None = None,
        first: Callable[[], None] | None = None,
    ) -> int:
        return self._subject.end(self._subject.start(target, at=at, first=first))

    def _time_of(self, point: Point) -> int:
        return self._chance.randint(1, 12) if point is Point.SNAPSHOT else 1  # arrays of a file

    def _seen(self, night: int, code: int, good: tuple[int, ...]) -> list[str]:
        """Return what is wrong after a run."""
        wrong = [] if code in good else [f"ended with {code}: {self._subject.said()[-300:]}"]
        if night and _WHOLE in self._subject.said():
            wrong.append(f"night {night} read the whole target: {self._subject.said()[:300]}")
        for file in self._files("target"):
            try:
                snapshot.read(file)
            except SnapshotError as e:
                wrong.append(f"{file.name}: {e}")
        return wrong

    def _files(self, target: str) -> list[Path]:
        state = self._subject.database[f"{target}.state"].find_one() or {}
        return list(self._folder.glob(f"{state.get('id')}*.index"))

    def _differences(self, one: str, other: str) -> list[str]:
        """Return in what two targets differ, besides the numbers of the runs."""
        there = []
        for name in (one, other):
            kept_, ledger = outcome(self._subject.database, name)
            own = [{**row, "dedup": {**row["dedup"], "run": 0}} for row in kept_]
            there.append((own, [{**row, "run": 0} for row in ledger]))
        return [] if there[0] == there[1] else ["targets or ledgers differ"]


def _small() -> None:
    """Let few documents make a segment, and outgrow the memory of a run."""
    kept._LEAST, kept._TIMES = 1, 1.5  # type: ignore[assignment]
    commands_run.index_memory = lambda *_: 10_000.0


def _never_merged() -> None:
    kept._LEAST, kept._TIMES = 0, 0
