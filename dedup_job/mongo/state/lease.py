"""Who holds the lease of a target, and whether that process is still there."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from dedup_job.runs.run import in_utc
from dedup_job.runs.status import Holder

LEASE_SECONDS = 60
RENEW_SECONDS = 10
RENEW_TIMEOUT = 8.0  # a renewal that takes longer is given up for the next one
OVERDUE_SECONDS = 45.0  # without renewal a run writes nothing more, well before others may begin
_SAME_SECONDS = 2.0  # between two views of when one process started


def clock() -> float:
    """Return seconds of a clock that nobody sets and that goes on while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def expiry() -> dict[str, Any]:
    """Return when a lease ends that is taken or renewed now, by the server's clock."""
    return {"$add": ["$$NOW", LEASE_SECONDS * 1000]}


def owner() -> dict[str, Any]:
    """Return what tells this process from all others."""
    boot, process = _boot(), psutil.Process()
    started = process.create_time() - boot
    ids = {"host": platform.node(), "machine": _machine(), "pid": process.pid}
    return {**ids, "process_started": started}


def is_dead(lease: Mapping[str, Any]) -> bool:
    """Tell whether the holder was a process of this machine that is gone."""
    if not is_here(lease) or not {"pid", "process_started"} <= lease.keys():
        return False
    boot = _boot()
    try:
        process = psutil.Process(lease["pid"])
        return bool(
            abs(process.create_time() - boot - lease["process_started"]) > _SAME_SECONDS
            or process.status() == psutil.STATUS_ZOMBIE
        )
    except psutil.NoSuchProcess:
        return True


def is_here(lease: Mapping[str, Any]) -> bool:
    """Tell whether the holder is or was a process of this machine."""
    return bool(lease.get("machine") == _machine())


def holder(lease: Mapping[str, Any]) -> Holder:
    """Return who holds a lease since when."""
    alive = not is_dead(lease) if is_here(lease) else None
    since, expires = in_utc(lease.get("since")), in_utc(lease.get("expires"))
    return Holder(str(lease.get("host")), lease.get("pid", 0), since, expires, alive)


def _boot() -> float:
    """Return the time that starts of processes are counted from.

    On Linux their time of day is that of the boot and some seconds, and the former changes when
    the clock is set: a live holder must not look like another process then. Asked before psutil is
    told of the process, which remembers it.
    """
    return psutil.boot_time() if psutil.LINUX else 0.0


def _machine() -> str:
    parts = [platform.node()]
    for place in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        path = Path(place)
        if path.is_symlink():
            parts.append(str(path.readlink()))
        elif path.exists():
            parts.append(path.read_text().strip())
    return "|".join(parts)
