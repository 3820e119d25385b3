"""Two runs of one target: 32 started together, and one that slept through its lease and wakes up.

A run is stopped (SIGSTOP), its lease runs out, another takes over and finishes; then it is woken
(SIGCONT) and must end with 6 without a write. To keep it short the lease is ended by hand and the
server ends open transactions after seconds; one round waits for both as they are, a minute each.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil
from pymongo.client_session import ClientSession

from dedup_job.mongo.target import Target
from tests.faults.points import Point, die_at
from tests.faults.servers import Client, replica_set, wait_for
from tests.faults.subject import Subject
from tests.faults.table import Row, times

PORTS = (27410, 27411, 27412)
RACERS = 32
BATCHES = 60  # 3,000 documents in batches of 50, as in Subject
_SHORT, _USUAL = 3, 60  # seconds after which the server ends an open transaction
_LEASE_LOST, _LEASE_HELD = 6, 11
First = Callable[[], None]


def run(scale: float) -> Iterator[Row]:
    """Let runs compete on three servers; at scale 1 one round waits for the lease itself."""
    folders = tempfile.TemporaryDirectory(prefix="dedup-races-")
    with replica_set(PORTS) as servers, folders as folder:
        subject = Subject(servers.uri, Path(folder))
        yield together(subject, Path(folder), RACERS if scale >= 1 else 8)
        sleep = Sleep(subject)
        kinds = [Sleeper(), Sleeper(inside), Sleeper(before_commit)]
        if scale >= 1:
            sleep.round(kinds, for_real=True)
        with short_transactions([node.client for node in servers.nodes]):
            for number, kind in enumerate(kinds):  # the two within a transaction share their number
                full = 5 if number == 0 else 3
                while kind.hit < times(full, scale):
                    sleep.round([kind])
        yield kinds[0].row("stopped beyond its lease at a random moment")
        yield kinds[1].row("stopped beyond its lease between insert and commit")
        yield kinds[2].row("stopped beyond its lease before the commit")


def together(subject: Subject, folder: Path, racers: int) -> Row:
    """Start runs that wait for each other before they touch the target; one of them may run."""
    barrier = Path(tempfile.mkdtemp(dir=folder))
    runs = [subject.start(first=partial(wait_at, barrier)) for _ in range(racers)]
    wait_for(lambda: len(list(barrier.iterdir())) >= racers, 120)
    (barrier / "go").touch()
    codes = [subject.end(process) for process in runs]
    held = sum("another run holds the lease" in subject.said(back) for back in range(racers))
    wrong = subject.differences()
    rows = subject.database["target.runs"].count_documents({})
    good = codes.count(0) == 1 and codes.count(_LEASE_HELD) == held == racers - 1
    subject.drop()
    counts = ", ".join(f"{codes.count(code)} with {code}" for code in sorted(set(codes)))
    detail = "; ".join([f"ended: {counts}; {rows} row of runs", *wrong])
    return Row(f"{racers} runs started together", 1, int(good and rows == 1 and not wrong), detail)


def wait_at(folder: Path) -> None:
    """Let this process wait for the others before it looks at the target."""
    original = Target.hold

    @contextmanager
    def held_together(target: Target) -> Iterator[None]:
        (folder / str(os.getpid())).touch()
        wait_for(lambda: (folder / "go").exists(), 120, 0.005)
        with original(target):
            yield

    Target.hold = held_together  # type: ignore[method-assign]


def inside(time: int) -> None:
    """Let this process stop in an open transaction, with documents inserted."""
    die_at(Point.INSIDE, time, signal.SIGSTOP)


def before_commit(time: int) -> None:
    """Let this process stop in an open transaction that has changed the state, too."""
    original, passed = ClientSession.commit_transaction, [0]

    def commit(session: ClientSession) -> None:
        passed[0] += 1
        if passed[0] == time:
            os.kill(os.getpid(), signal.SIGSTOP)
        original(session)

    ClientSession.commit_transaction = commit  # type: ignore[method-assign]


@contextmanager
def short_transactions(clients: Sequence[Client]) -> Iterator[None]:
    """Let the servers end a transaction that stays open after seconds, not after a minute."""
    name = "transactionLifetimeLimitSeconds"
    for seconds in (_SHORT, _USUAL):
        for client in clients:
            client.admin.command("setParameter", 1, **{name: seconds})
        if seconds == _SHORT:
            yield


@dataclass(slots=True)
class Sleeper:
    """Where runs are stopped (None: at a random moment), and what became of them."""

    where: Callable[[int], None] | None = None
    hit: int = 0
    good: int = 0
    real: int = 0  # of those hit: the lease ran out by itself
    longest: float = 0.0  # seconds of the run that took over
    wrong: list[str] = field(default_factory=list)

    def row(self, fault: str) -> Row:
        """Return the line of the table."""
        told = f"{self.real} waited for the lease's own end; the run that took over needed "
        told += f"{self.longest:.0f} s at most; woken it ended with 6, nothing written"
        return Row(fault, self.hit, self.good, "; ".join([told, *self.wrong[:3]]))


class Sleep:
    """Stops runs, lets others take over, and wakes them."""

    def __init__(self, subject: Subject) -> None:
        """Take whose runs."""
        self._subject = subject
        self._random = random.Random(2)
        self._seconds = subject.seconds()

    def round(self, kinds: Sequence[Sleeper], *, for_real: bool = False) -> None:
        """Stop a run of each kind; then for each: lease over, another run, awake again."""
        stopped = [self._stopped(kind, f"t{n}") for n, kind in enumerate(kinds)]
        for number, (kind, process) in enumerate(zip(kinds, stopped, strict=True)):
            target = f"t{number}"
            self._end_lease(target, for_real=for_real)
            began = time.monotonic()
            wrong = self._taken_over(target)
            kind.longest = max(kind.longest, time.monotonic() - began)
            wrong += self._woken(process, target)
            kind.hit += 1
            kind.real += for_real
            kind.wrong += wrong
            kind.good += not wrong
            self._subject.drop(target)

    def _stopped(self, kind: Sleeper, target: str) -> BaseProcess:
        """Return a run that was stopped with the lease held and something left to do."""
        while True:
            if kind.where is None:
                process = self._subject.start(target)
                time.sleep(self._random.random() * self._seconds)
                if process.is_alive() and process.pid:
                    os.kill(process.pid, signal.SIGSTOP)
            else:
                at = partial(kind.where, self._random.randint(1, BATCHES))
                process = self._subject.start(target, first=at)
            wait_for(partial(_stopped_or_over, process))
            lease = self._state(target).get("lease") or {}
            if lease.get("pid") == process.pid and not self._subject.finished(target):
                return process
            process.kill()  # too early or too late
            process.join()
            self._subject.drop(target)

    def _end_lease(self, target: str, *, for_real: bool) -> None:
        """Wait until the lease is over by the server's clock, or let it be over."""
        states = self._subject.database[f"{target}.state"]
        if for_real:
            over = {"$expr": {"$lt": ["$lease.expires", "$$NOW"]}}
            wait_for(lambda: states.find_one(over), 90, 0.5)
        else:
            states.update_one({}, {"$set": {"lease.expires": datetime(2000, 1, 1)}})

    def _taken_over(self, target: str) -> list[str]:
        """Let another run take over and finish; return what is wrong."""
        code = self._subject.run(target)
        wrong = self._subject.differences(target)
        return wrong if code == 0 else [*wrong, f"the other ended with {code}"]

    def _woken(self, process: BaseProcess, target: str) -> list[str]:
        """Wake the first run; return what is wrong with its end."""
        before = self._all(target)
        said = self._subject.said(1)
        assert process.pid is not None  # it was started
        os.kill(process.pid, signal.SIGCONT)
        code = self._subject.end(process)
        wrong = [] if code == _LEASE_LOST else [f"woken it ended with {code}: {said[-200:]}"]
        after = self._all(target)
        return [
            *wrong,
            *(f"woken it wrote to T{part}" for part in before if before[part] != after[part]),
        ]

    def _all(self, target: str) -> dict[str, list[dict[str, Any]]]:
        parts = ("", ".ledger", ".runs", ".state")
        return {p: list(self._subject.database[target + p].find().sort("_id", 1)) for p in parts}

    def _state(self, target: str) -> dict[str, Any]:
        return self._subject.database[f"{target}.state"].find_one() or {}


def _is_stopped(process: BaseProcess) -> bool:
    try:
        return psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


def _stopped_or_over(process: BaseProcess) -> bool:
    return _is_stopped(process) or process.exitcode is not None
