"""How much memory the index of a number of documents needs, and how much of it a run may take."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple

from dedup_job.commands.cores import available_memory
from dedup_job.documents import Channel
from dedup_job.errors import UsageError
from dedup_job.index.layout import Layout, layout_of, room_for
from dedup_job.settings import Settings

log = logging.getLogger("dedup")
PROCESS = 500e6  # bytes without the index: dictionary, native code, batches under way
_LEAST = 100e6  # of the part of the index that grows
_PACKING = 1.1  # times as much memory as it takes while it is packed
_ID, _EQUAL = (13, 13), (17, 16)  # bytes in memory and on disk: an ObjectId; what finds equal texts
_KEYS = {"minhash": (190, 112), "sentences": (10, 5), "canonical form": (10, 5)}


class IndexNeeds(NamedTuple):
    """What an index of so many documents takes.

    memory, disk: bytes for each document by part, while it grows and as it lies in files.
    """

    documents: int
    layout: Layout
    memory: Mapping[str, float]
    disk: Mapping[str, float]

    @property
    def each(self) -> float:
        """Bytes of memory for each document."""
        return sum(self.memory.values())

    @property
    def bytes(self) -> float:
        """Memory of the index."""
        return self.documents * self.each

    def __str__(self) -> str:
        """Say how much memory a process with this index needs."""
        return (
            f"{(PROCESS + self.bytes) / 1e9:,.1f} GB for {self.documents:,} documents "
            f"({self.each:.0f} bytes each and {PROCESS / 1e9:,.1f} GB for the rest)"
        )


def index_needs(settings: Settings, documents: int) -> IndexNeeds:
    """Return what an index of so many documents takes, as measured, with ObjectIds."""
    index, keys = settings.index, [*map(str, settings.index.candidate_generators)]
    if settings.decision.judges:
        keys.append("canonical form")  # by which a judge finds more
    room = room_for(documents)
    layout = layout_of(index.distance, room, index.blocks)
    near = layout.bytes_each(room // 2)  # the most: a new layout is half full
    parts = {"ids": _ID, "equal texts": _EQUAL, "fingerprints": (near, near)}
    parts |= {name: _KEYS[name] for name in keys if name in _KEYS}
    memory, disk = ({name: part[i] for name, part in parts.items()} for i in (0, 1))
    return IndexNeeds(documents, layout, memory, disk)


def index_memory(settings: Settings, documents: int = 0) -> float:
    """Return how many bytes the part of an index that grows may take; what is more goes into files.

    Warns where an index of so many documents needs more. Raises UsageError where the memory allowed
    is too little for any index.
    """
    allowed = settings.run.max_memory
    limit = available_memory() if allowed is None else allowed
    if allowed is not None and allowed < PROCESS + _LEAST:
        raise UsageError(
            f"run.max_memory allows {allowed / 1e9:,.1f} GB; a run takes "
            f"{(PROCESS + _LEAST) / 1e9:,.1f} GB at least, however small its index. Raise "
            "--max-memory."
        )
    needs = index_needs(settings, documents)
    if documents and PROCESS + needs.bytes > limit:
        has = f"{limit / 1e9:,.1f} GB"
        log.warning(
            "the index may need %s, and %s. What does not fit is put into files, packed, in the "
            "folder of the index, and read from there, which is slower. What can be done: %s.",
            needs,
            f"this machine has {has} available"
            if allowed is None
            else f"run.max_memory allows {has}",
            ", or ".join(_ways_out(settings, needs)),
        )
    return max((limit - PROCESS) / _PACKING, _LEAST)


def _ways_out(settings: Settings, needs: IndexNeeds) -> list[str]:
    """Return what can be done where an index does not fit into memory."""
    ways = ["use a machine with more" if settings.run.max_memory is None else "raise --max-memory"]
    if Channel.MINHASH in settings.index.candidate_generators:
        each = needs.each - needs.memory[str(Channel.MINHASH)]
        ways.append(
            'begin a new target with index.candidate_generators = ["simhash"], '
            f"{each:.0f} bytes each"
        )
    return ways
