"""What became of the documents of the corpus, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from dedup_job.demo.corpus import Kind, due


class Row(NamedTuple):
    """Documents of one kind: how many were planted, and how many of them were decided as due."""

    kind: Kind
    planted: int
    found: int


def score(
    corpus: Sequence[Mapping[str, Any]],
    kept: Collection[int],
    dropped: Mapping[int, int | None],
) -> list[Row]:
    """Return a row for each kind.

    dropped: the kept document by the id of its duplicate, None of a skipped document. A document
    that is lost, or both kept and dropped, is not as due.
    """
    kept = frozenset(kept)
    ends = Counter((each["kind"], _ending(each["_id"], kept, dropped)) for each in corpus)
    planted = Counter(each["kind"] for each in corpus)
    return [Row(kind, planted[kind], ends[kind, due(kind)]) for kind in Kind]


def _ending(number: int, kept: Collection[int], dropped: Mapping[int, int | None]) -> str:
    if number not in dropped:
        return "kept" if number in kept else "lost"
    if number in kept:
        return "doubled"
    return "skipped" if dropped[number] is None else "duplicate"
