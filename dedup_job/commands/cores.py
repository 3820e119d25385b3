"""What this process may take of the machine or of its container: cores, threads, memory."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from pathlib import Path

import psutil

_CGROUP = Path("/sys/fs/cgroup")  # of a container, cgroups v2
_OURS, _DATABASE = 1, 4  # cores of the other stages; of so many one is left to a local database
_LEAST, _MOST = 2, 16  # one alone leaves a core idle; more would wait for the one that decides


def preparing_threads(hosts: Iterable[str]) -> int:
    """Return how many threads clean and fingerprint texts; hosts: of the database's servers."""
    cores = available_cores()
    local = -(-cores // _DATABASE) if any(map(_is_local, hosts)) else 0
    return min(max(cores - _OURS - local, _LEAST), _MOST, cores)


def available_cores() -> int:
    """Return the cores that this process may use, by its affinity and the container's quota."""
    cores = psutil.cpu_count() or 1
    if hasattr(psutil.Process, "cpu_affinity"):
        cores = len(psutil.Process().cpu_affinity()) or cores
    quota = _numbers("cpu.max")
    return max(min(cores, int(quota[0] // quota[1])), 1) if quota else cores


def available_memory() -> float:
    """Return the bytes that this process may still take, in a container what is left of its own."""
    available = float(psutil.virtual_memory().available)
    most, used = _numbers("memory.max"), _numbers("memory.current")
    return min(available, most[0] - used[0]) if most and used else available


def _numbers(name: str) -> list[float]:
    """Return the numbers of a file of the container, none without a container or a limit."""
    try:
        return [*map(float, (_CGROUP / name).read_text(encoding="ascii").split())]
    except (OSError, ValueError):  # ValueError: "max", no limit
        return []


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".sock"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
