"""Faults injected into runs at work, one run after the other, until there were enough."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

from tests.faults.subject import Subject
from tests.faults.table import Row

_ENDED_WELL = (0, 3)  # 3: some documents are quarantined
_MAX_RUNS_IN_VAIN = 3
Fault = Callable[[BaseProcess], bool]


@dataclass(frozen=True, slots=True)
class Injection:
    """How a fault is injected.

    gap: documents between two faults, a random number up to this; per_run: faults in one run;
    left: with no more documents than these before it, a run may not have noticed.
    """

    gap: int = 400
    per_run: int = 5
    left: int = 100
    uri: str | None = None
    batch: int = 10


def inject(
    subject: Subject,
    name: str,
    count: int,
    fault: Fault,
    how: Injection | None = None,
    proof: Callable[[], str] = lambda: "",
) -> Row:
    """Inject a fault so often; each run must end as the one left alone.

    fault: brings it about and tells whether the process, which is given, was there. It
    counts where the run still had batches to write.
    """
    how = how or Injection()
    rng = random.Random(name)
    total = subject.documents
    hits = good = runs = vain = 0
    longest = 0.0
    wrong: list[str] = []
    while hits < count and vain < _MAX_RUNS_IN_VAIN:
        process = start(subject, how)
        here = 0
        while here < min(how.per_run, count - hits):
            if not subject.wait_for_batches(process, more=rng.randrange(1, how.gap)):
                break
            left = total - subject.scanned()
            here += fault(process) and how.left < left <= total
            longest = max(longest, _seconds_until_it_goes_on(subject, process))
        differences = ended(subject, process)
        runs, hits, vain = runs + 1, hits + here, vain + (not here)
        good += 0 if differences else here
        wrong += differences
        subject.drop()
    told = f"met by {runs} run{'s' if runs > 1 else ''}, at work again within {longest:.1f} s"
    return Row(name, hits, good, "; ".join(filter(None, [told, proof(), *wrong])))


def _seconds_until_it_goes_on(subject: Subject, process: BaseProcess) -> float:
    """Return how long after a fault the next batch is written."""
    began = time.monotonic()
    subject.wait_for_batches(process)
    return time.monotonic() - began


def start(subject: Subject, how: Injection) -> BaseProcess:
    """Start a run that meets faults so."""
    return subject.start(uri=how.uri, DEDUP_RUN__BATCH_DOCUMENTS=str(how.batch))


def ended(subject: Subject, process: BaseProcess) -> list[str]:
    """Wait for the end of a run; return in what it did not end as the one left alone."""
    try:
        code = subject.end(process)
    except TimeoutError as e:
        return [str(e)]
    if code not in _ENDED_WELL:
        return [f"ended with {code}: {subject.said().strip()[-500:]}"]
    return subject.differences()
