"""How many threads prepare texts where nobody says how many."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from pathlib import Path

import psutil

_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container, cgroups v2
_OURS, _DATABASE = 1, 4  # cores of the other stages; of so many one is left to a local database
_LEAST, _MOST = 2, 16  # one alone leaves a core idle; more would wait for the one that decides


def preparing_threads(hosts: Iterable[str]) -> int:
    """Return how many threads clean and fingerprint texts; hosts: of the database's servers."""
    cores = available_cores()
    local = -(-cores // _DATABASE) if any(map(_is_local, hosts)) else 0
    return min(max(cores - _OURS - local, _LEAST), _MOST, cores)


def available_cores(quota: Path = _QUOTA) -> int:
    """Return the cores that this process may use, by its affinity and the container's quota."""
    cores = psutil.cpu_count() or 1
    if hasattr(psutil.Process, "cpu_affinity"):
        cores = len(psutil.Process().cpu_affinity()) or cores
    try:
        most, period = quota.read_text().split()
        return max(min(cores, int(most) // int(period)), 1)
    except (OSError, ValueError, ZeroDivisionError):  # no container, or no quota ("max")
        return cores


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".sock"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
