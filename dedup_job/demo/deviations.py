"""The documents that did not become what is due, each with the reason that the run recorded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dedup_job.demo.corpus import Kind, due
from dedup_job.demo.score import ending


class Compared(NamedTuple):
    """The kept document that a document was compared with, if any, and what came of it.

    reason: of a duplicate and of what is skipped, that of the ledger; of a kept document what keeps
    the two apart.
    """

    of: int | None
    reason: str


NOTHING = Compared(None, "")


@dataclass(frozen=True, slots=True)
class Deviation:
    """A document that did not become what is due.

    became: kept, duplicate, skipped, lost or doubled; words, other: what it says where `of` says
    something else, either may be "".
    """

    number: int
    kind: Kind
    became: str
    of: int | None
    reason: str
    words: str = ""
    other: str = ""


def deviations(
    corpus: Sequence[Mapping[str, Any]],
    kept_ids: Collection[int],
    dropped: Mapping[int, int | None],
    compared: Mapping[int, Compared],
) -> list[Deviation]:
    """Return them in the order of the corpus; their differences are not looked at."""
    kept = frozenset(kept_ids)
    ends = {document["_id"]: ending(document["_id"], kept, dropped) for document in corpus}
    return [
        Deviation(number, Kind(document["kind"]), ends[number], *compared.get(number, NOTHING))
        for document in corpus
        if ends[number := document["_id"]] != due(document["kind"])
    ]
