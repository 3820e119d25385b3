"""The job killed with SIGKILL: at random moments, and where a batch may be half done.

On three servers and on a standalone one. A run is killed again and again, until it is through or
was killed often enough; then it runs to its end and is compared with a run left alone.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dedup_job.fingerprint.sketch import BANDS
from dedup_job.index import snapshot
from dedup_job.index.snapshot import NoSnapshotError, SnapshotError
from dedup_job.mongo.embedded import embedded_server
from tests.faults.points import Point
from tests.faults.servers import replica_set
from tests.faults.subject import Subject
from tests.faults.table import Row, times
from tests.running import environment_for

PORTS = (27413, 27414, 27415)
DOCUMENTS = 900
BATCHES = DOCUMENTS // 50  # as in Subject
PER_TARGET = 6  # kills before a run is let through
_KILLED = -signal.SIGKILL
_AT_ONCE = 30.0  # seconds; a lease that is not taken over at once would cost 60
_STOPPED = 143
_COLUMNS = BANDS + 1  # of keys, with that of the form


@dataclass(slots=True)
class Tally:
    """What became of the kills of one kind."""

    hit: int = 0
    good: int = 0
    at_work: int = 0  # of those hit: with the lease held
    longest: float = 0.0  # seconds of the run after a kill
    wrong: list[str] = field(default_factory=list)

    def row(self, fault: str, more: str = "") -> Row:
        """Return the line of the table."""
        told = f"{self.at_work} with the lease held; run after it {self.longest:.1f} s at most"
        return Row(fault, self.hit, self.good, "; ".join([told + more, *self.wrong[:3]]))


def run(scale: float) -> Iterator[Row]:
    """Kill runs on either kind of server."""
    for name in ("", ", standalone server"):
        with ExitStack() as stack:
            if name:
                uri = stack.enter_context(embedded_server(replica_set=False))
            else:
                uri = stack.enter_context(replica_set(PORTS)).uri
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dedup-kills-"))
            subject = Subject(uri, Path(folder), documents=DOCUMENTS, storing="whole")
            kills = Kills(subject, Path(folder), uri)
            yield kills.at_random(times(100, scale)).row(f"killed at a random moment{name}")
            for point in (Point.READ, Point.BEFORE, Point.INSIDE, Point.COMMITTED):
                yield kills.at_point(point, times(20, scale)).row(f"killed {point}{name}")
            yield kills.at_snapshot(times(20, scale)).row(
                f"killed {Point.SNAPSHOT}{name}", "; the file was none, the former or the new one"
            )
            if not name:
                yield kills.at_cold_start(times(5, scale)).row("killed at its first start ever")


class Kills:
    """Kills the runs of a subject."""

    def __init__(self, subject: Subject, folder: Path, uri: str) -> None:
        """Take whose runs; folder: where its snapshots lie."""
        self._subject = subject
        self._folder = folder
        self._uri = uri
        self._random = random.Random(1)
        self._seconds = subject.seconds()

    def at_random(self, count: int) -> Tally:
        """Kill at moments spread over the whole of what a run has left to do."""
        tally = Tally()
        while tally.hit < count and not tally.wrong:
            kills = 0
            while kills < min(PER_TARGET, count - tally.hit):
                left = 1 - max(self._subject.scanned(), 0) / DOCUMENTS
                process = self._subject.start()
                time.sleep(self._random.random() * self._seconds * (0.3 + 0.7 * left))
                process.kill()
                if not self._was_killed(self._subject.end(process), tally):
                    break
                kills += 1
                if self._subject.finished():
                    break
            self._settle(kills, tally)
        return tally

    def at_point(self, point: Point, count: int) -> Tally:
        """Kill at a point, at one of the first times that a run comes there."""
        tally = Tally()
        while tally.hit < count and not tally.wrong:
            kills = 0
            while kills < min(PER_TARGET, count - tally.hit):
                at = self._random.randint(1, BATCHES // PER_TARGET)
                process = self._subject.start(at=(point, at))
                if not self._was_killed(self._subject.end(process), tally):
                    break
                kills += 1
            self._settle(kills, tally)
        return tally

    def at_snapshot(self, count: int) -> Tally:
        """Kill while the snapshot is saved: the first one, or one that replaces a former."""
        tally = Tally()
        while tally.hit < count and not tally.wrong:
            former = self._stopped() if tally.hit % 2 else None
            parts = len(former.parts) if former else self._parts()
            at = self._random.randint(1, parts + _COLUMNS - 1)  # one array is written by column
            killed = self._subject.end(self._subject.start(at=(Point.SNAPSHOT, at)))
            hit = self._was_killed(killed, tally)
            there = self._snapshot(tally)
            if hit and (there and there.facts) != (former and former.facts):
                tally.wrong.append("the snapshot is not the former one")
            self._settle(int(hit), tally)
            if former and "its snapshot: it is of batch" not in self._subject.said():
                tally.wrong.append("the next run did not say why it could not use the snapshot")
        return tally

    def at_cold_start(self, count: int) -> Tally:
        """Kill a run that still builds the dictionary's tables; it has no lease then."""
        tally = Tally()
        names = ["--db", self._subject.database.name, "--source", "source", "--target", "target"]
        command = [sys.executable, "-m", "dedup_job", "run", *names, "--yes"]
        with tempfile.TemporaryDirectory(prefix="dedup-cold-") as cache:
            cold = {"XDG_CACHE_HOME": cache, **self._subject.environment}
            for _ in range(count):
                process = subprocess.Popen(
                    command,
                    env=environment_for(self._uri, **cold),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                time.sleep(0.5 + 3 * self._random.random())  # the tables take 3 seconds and more
                process.kill()
                if not self._was_killed(process.wait(), tally):
                    break
            self._settle(tally.hit, tally, XDG_CACHE_HOME=cache)
            left = list(Path(cache).glob("dedup/lexicon*"))
            if len(left) != 1:
                tally.wrong.append("the dictionary's tables were not kept")
        return tally

    def _was_killed(self, code: int, tally: Tally) -> bool:
        """Count a process that was killed; one that ended before is none."""
        if code == _KILLED:
            tally.hit += 1
            tally.at_work += bool(self._state().get("lease"))
        elif code != 0:
            tally.wrong.append(f"exit code {code}: {self._subject.said()[-300:]}")
        return code == _KILLED

    def _settle(self, kills: int, tally: Tally, **environment: str) -> None:
        """Let the run end, and compare; then all is removed."""
        checkpoint = self._state().get("checkpoint") or {}
        began = time.monotonic()
        code = self._subject.run(**environment)
        seconds = time.monotonic() - began
        tally.longest = max(tally.longest, seconds)
        wrong = [*self._subject.differences(), *self._rows(1 + bool(checkpoint.get("finished")))]
        if code != 0:
            wrong.append(f"exit code {code}: {self._subject.said()[-300:]}")
        if seconds > _AT_ONCE:
            wrong.append(f"the run after it took {seconds:.0f} s")
        there = self._snapshot(tally)
        if there is None or there.facts["generation"] != self._state()["generation"]:
            wrong.append("the run that ended left no snapshot of its own")
        if partial := list(self._folder.glob(f".{self._state()['id']}.*")):
            wrong.append(f"half-written snapshots are left: {len(partial)}")
        tally.wrong += wrong
        tally.good += 0 if wrong else kills
        self._file().unlink(missing_ok=True)
        self._subject.drop()

    def _rows(self, most: int) -> list[str]:
        """Return what is wrong with the rows of the runs: one that did it all, and an empty one."""
        rows = list(self._subject.database["target.runs"].find().sort("_id", 1))
        if len(rows) > most or any(row["counts"]["scanned"] for row in rows[1:]):
            return [f"{len(rows)} rows of runs, {most} expected"]
        return [] if rows[0]["status"] == "done" else [f"the run's row says {rows[0]['status']}"]

    def _stopped(self) -> snapshot.Snapshot:
        """Stop a run in its middle, which saves a snapshot; return it."""
        process = self._subject.start()
        self._subject.wait_for_batches(process)
        process.terminate()
        code = self._subject.end(process)
        if code != _STOPPED:
            raise RuntimeError(f"SIGTERM ended a run with {code}:\n{self._subject.said()}")
        return snapshot.read(self._file())

    def _parts(self) -> int:
        """Return how many arrays a snapshot holds."""
        state = self._subject.database["alone.state"].find_one() or {}
        return len(snapshot.read(self._folder / f"{state['id']}.index").parts)

    def _snapshot(self, tally: Tally) -> snapshot.Snapshot | None:
        """Return the snapshot of the target; one that is not whole is wrong."""
        try:
            return snapshot.read(self._file())
        except NoSnapshotError:
            return None
        except SnapshotError as e:
            tally.wrong.append(f"a snapshot that is not whole: {e}")
            return None

    def _file(self) -> Path:
        return self._folder / f"{self._state().get('id')}.index"

    def _state(self) -> dict[str, Any]:
        return self._subject.database["target.state"].find_one() or {}
