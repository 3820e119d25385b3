"""Whether the index of a run will fit into memory, said before the run rather than by its end."""

from __future__ import annotations

import logging
from pathlib import Path

import psutil

from dedup_job.documents import Channel
from dedup_job.errors import UsageError
from dedup_job.index import IndexSettings

log = logging.getLogger("dedup")
_REST = 500e6  # bytes: dictionary, native code, batches under way
_CGROUP = Path("/sys/fs/cgroup")  # of a container, cgroups v2


def check_memory(
    allowed: int | None, index: IndexSettings, each: float, kept: int, more: int
) -> None:
    """Raise UsageError where the index may need more bytes than are allowed.

    each: bytes that a kept document takes; kept: documents that it begins with; more: those to be
    decided, all of which may be kept. Where nothing is said about memory (None), a warning is
    given if the machine has less.
    """
    needed = _REST + (kept + more) * each
    limit = _available() if allowed is None else allowed
    if needed <= limit:
        return
    whose = "this machine has" if allowed is None else "run.max_memory allows"
    left = " available" if allowed is None else ""
    way_out = _way_out(allowed, index, each, kept, limit)
    message = (
        f"the index may need {needed / 1e9:,.1f} GB for {kept:,} documents kept and about "
        f"{more:,} to be decided ({each:.0f} bytes each and {_REST / 1e9:.1f} GB for "
        f"the rest), and {whose} {limit / 1e9:,.1f} GB{left}. {way_out}"
    )
    if allowed is None:
        log.warning("%s", message)
    else:
        raise UsageError(message)


def _way_out(
    allowed: int | None, index: IndexSettings, each: float, kept: int, limit: float
) -> str:
    """Return what can be done about it."""
    ways = ["raise --max-memory" if allowed is not None else "use a machine with more"]
    fits = int((limit - _REST) / each) - kept
    if fits > 0:
        ways.append(f"decide no more than --limit {fits}")
    if Channel.MINHASH in index.channels:
        without = index.model_copy(update={"channels": (Channel.SIMHASH,)})
        saved = index.bytes_each(judged=False) - without.bytes_each(judged=False)
        ways.append(
            f'begin a new target with index.channels = ["simhash"], {each - saved:.0f} bytes each'
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
