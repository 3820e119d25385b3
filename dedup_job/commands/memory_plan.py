"""How much memory the index of a number of documents needs, and how much of it a run may take."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple

from dedup_job.commands.cores import available_memory
from dedup_job.documents import Channel
from dedup_job.errors import UsageError
from dedup_job.index.layout import Layout, layout_of, room_for
from dedup_job.messages import Message
from dedup_job.settings import Settings

log = logging.getLogger("dedup")
PROCESS = 500e6  # bytes without the index: dictionary, native code, batches under way
_LEAST = 100e6  # of the part of the index that grows
_PACKING = 1.1  # times as much memory as it takes while it is packed
_ID, _EQUAL = (13, 13), (17, 16)  # bytes in memory and on disk: an ObjectId; what finds equal texts
_KEYS = {"minhash": (130, 112), "sentences": (7, 5), "canonical form": (7, 5)}


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
        return str(self.told)

    @property
    def told(self) -> Message:
        """The same, to be translated."""
        return Message(
            "{total:,.1f} GB for {documents:,} documents ({each:.0f} bytes each and "
            "{process:,.1f} GB for the rest)",
            total=(PROCESS + self.bytes) / 1e9,
            documents=self.documents,
            each=self.each,
            process=PROCESS / 1e9,
        )


def index_needs(settings: Settings, documents: int) -> IndexNeeds:
    """Return what an index of so many documents takes, as measured, with ObjectIds."""
    index, keys = settings.index, [*map(str, settings.index.candidate_generators)]
    if settings.decision.judges:
        keys.append(Message("canonical form"))  # by which a judge finds more
    room = room_for(documents)
    layout = layout_of(index.distance, room, index.blocks)
    near = layout.bytes_each(room // 2)  # the most: a new layout is half full
    parts: dict[str, tuple[float, float]]
    parts = {Message("ids"): _ID, Message("equal texts"): _EQUAL}
    parts |= {Message("fingerprints"): (near, near)}
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
            Message(
                "run.max_memory allows {allowed:,.1f} GB; a run takes {least:,.1f} GB at least, "
                "however small its index. Raise --max-memory.",
                allowed=allowed / 1e9,
                least=(PROCESS + _LEAST) / 1e9,
            )
        )
    needs = index_needs(settings, documents)
    if documents and PROCESS + needs.bytes > limit:
        log.warning("%s", _too_large(settings, needs, limit))
    return max((limit - PROCESS) / _PACKING, _LEAST)


def _too_large(settings: Settings, needs: IndexNeeds, limit: float) -> Message:
    """Say that an index does not fit into memory, what is done about it, and what can be."""
    if settings.run.max_memory is None:
        has = Message("this machine has {memory:,.1f} GB available", memory=limit / 1e9)
        way_out = Message("use a machine with more")
    else:
        has = Message("run.max_memory allows {memory:,.1f} GB", memory=limit / 1e9)
        way_out = Message("raise --max-memory")
    if Channel.MINHASH in settings.index.candidate_generators:
        way_out = Message(
            "{way_out}, or begin a new target with index.candidate_generators = "
            '["simhash"], {each:.0f} bytes each',
            way_out=way_out,
            each=needs.each - needs.memory[str(Channel.MINHASH)],
        )
    return Message(
        "the index may need {needs}, and {has}. What does not fit is put into files, packed, in "
        "the folder of the index, and read from there, which is slower. What can be done: "
        "{way_out}.",
        needs=needs.told,
        has=has,
        way_out=way_out,
    )
