"""What this process may take of the machine or of its container: cores, threads, memory."""

import ipaddress
import logging
from collections.abc import Iterable
from pathlib import Path

import psutil

from dedup_job.documents import Channel
from dedup_job.messages import Message, UsageError
from dedup_job.settings import Settings

log = logging.getLogger("dedup")

_CGROUP = Path("/sys/fs/cgroup")  # of a container, cgroups v2
_OURS, _DATABASE = 1, 4  # cores of the other stages; of so many one is left to a local database
_LEAST, _MOST = 2, 16  # one alone leaves a core idle; more would wait for the one that decides

PROCESS = 500e6  # bytes without the index: dictionary, native code, batches under way
_LEAST_GROWING = 100e6  # bytes of the part of the index that grows
_PACKING = 1.1  # times as much memory as it takes while it is packed
_EACH = 13 + 17 + 31.6  # bytes a document: an ObjectId, what finds equal texts, near ones
_KEYS = {Channel.MINHASH: 130, Channel.SENTENCES: 7, Channel.FORM: 7}


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
    """Return the bytes that this process may still take of the machine, or of its container."""
    available = float(psutil.virtual_memory().available)
    most, used = _numbers("memory.max"), _numbers("memory.current")
    return min(available, most[0] - used[0]) if most and used else available


def _numbers(name: str) -> list[float]:
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


def needed_memory(settings: Settings, documents: int) -> float:
    """Return the bytes that a process with an index of n documents takes, with ObjectIds."""
    index = settings.index
    channels = {*index.candidate_generators, *[Channel.FORM] * settings.decision.judges}
    keys = sum(_KEYS.get(channel, 0) for channel in channels)
    return PROCESS + documents * (_EACH + keys)


def index_memory(settings: Settings, documents: int = 0) -> float:
    """Return how many bytes the growing part of an index may take; more is spilled to files.

    Warns if an index of n documents needs more. Raises UsageError if the memory allowed is too
    little for any index.
    """
    allowed = settings.run.max_memory
    limit = available_memory() if allowed is None else allowed
    if allowed is not None and allowed < PROCESS + _LEAST_GROWING:
        raise UsageError(
            "run.max_memory allows {allowed:,.1f} GB; a run takes {least:,.1f} GB at least, "
            "however small its index. Raise it.",
            allowed=allowed / 1e9,
            least=(PROCESS + _LEAST_GROWING) / 1e9,
        )
    needed = needed_memory(settings, documents)
    if documents and needed > limit:
        said = Message(
            "the run may need {needed:,.1f} GB for an index of {documents:,} documents, and it has "
            "{limit:,.1f} GB (run.max_memory, or what this machine has). What does not fit is put "
            "into files in the folder of the index and read from there, which is slower.",
            needed=needed / 1e9,
            documents=documents,
            limit=limit / 1e9,
        )
        log.warning(said)
    return max((limit - PROCESS) / _PACKING, _LEAST_GROWING)
