"""How much of an index may lie in memory, said before the run rather than by its end."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

import psutil

from dedup_job.documents import Channel
from dedup_job.errors import UsageError
from dedup_job.index import IndexSettings

log = logging.getLogger("dedup")
REST = 500e6  # bytes of a process: dictionary, native code, batches under way
_LEAST = 100e6  # of the part of the index that grows
_PACKING = 1.1  # times as much memory as it takes while it is packed
_CGROUP = Path("/sys/fs/cgroup")  # of a container, cgroups v2


def index_memory(allowed: int | None) -> float:
    """Return how many bytes the part of an index that grows may take; what is more goes into files.

    allowed: bytes for the whole process, None for what the machine has. Raises UsageError where
    they are too few for any index.
    """
    limit = _available() if allowed is None else allowed
    if allowed is not None and allowed < REST + _LEAST:
        raise UsageError(
            f"run.max_memory allows {allowed / 1e9:,.1f} GB; a run takes "
            f"{(REST + _LEAST) / 1e9:,.1f} GB at least, however small its index. Raise "
            "--max-memory."
        )
    return max((limit - REST) / _PACKING, _LEAST)


class IndexPlan(NamedTuple):
    """What an index may hold in the end.

    each: bytes that a kept document takes; kept: documents that it begins with; more: those to be
    decided, all of which may be kept.
    """

    each: float
    kept: int
    more: int

    @property
    def bytes(self) -> float:
        """Memory of the index at most."""
        return (self.kept + self.more) * self.each


def check_memory(allowed: int | None, index: IndexSettings, plan: IndexPlan) -> None:
    """Warn where the index of a run may not fit into its memory.

    allowed: as above, and the same error.
    """
    index_memory(allowed)
    limit = _available() if allowed is None else allowed
    needed = REST + plan.bytes
    if needed > limit:
        whose = "this machine has" if allowed is None else "run.max_memory allows"
        left = " available" if allowed is None else ""
        log.warning(
            "the index may need %.1f GB for %s documents kept and about %s to be decided (%.0f "
            "bytes each and %.1f GB for the rest), and %s %.1f GB%s. What does not fit is put into "
            "files, packed, in the folder of the index, and read from there, which is slower. %s",
            needed / 1e9,
            f"{plan.kept:,}",
            f"{plan.more:,}",
            plan.each,
            REST / 1e9,
            whose,
            limit / 1e9,
            left,
            _way_out(allowed, index, plan.each),
        )


def _way_out(allowed: int | None, index: IndexSettings, each: float) -> str:
    """Return what can be done about it."""
    ways = ["raise --max-memory" if allowed is not None else "use a machine with more"]
    if Channel.MINHASH in index.candidate_generators:
        without = index.model_copy(update={"candidate_generators": (Channel.SIMHASH,)})
        saved = index.bytes_each(judged=False) - without.bytes_each(judged=False)
        ways.append(
            'begin a new target with index.candidate_generators = ["simhash"], '
            f"{each - saved:.0f} bytes each"
        )
    return f"What can be done: {', or '.join(ways)}."


def _available() -> float:
    """Return the bytes that this process may still take, in a container what is left of its own."""
    available = float(psutil.virtual_memory().available)
    try:
        most = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = (_CGROUP / "memory.current").read_text(encoding="ascii").strip()
        return available if most == "max" else min(available, float(most) - float(used))
    except (OSError, ValueError):
        return available
