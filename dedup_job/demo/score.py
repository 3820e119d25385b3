"""Compares the result of a run with the labels of the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dedup_job.demo.corpus import Kind, due


class Row(NamedTuple):
    """What became of the documents of one kind; a lost or doubled document is not as due."""

    kind: Kind
    documents: int
    kept: int
    duplicates: int
    skipped: int
    as_due: int


@dataclass(frozen=True, slots=True)
class Score:
    """How a result compares with the labels; all fields but the first count documents."""

    by_kind: Mapping[Kind, Row]
    planted: int  # copies of a document that is due to be kept, by the chain of `of`
    found: int  # ... that were dropped as duplicates
    innocents_dropped: int  # due to be kept, dropped as duplicates
    lost: int  # neither kept nor dropped
    doubled: int  # both kept and dropped

    def rows(self) -> Iterator[Row]:
        """Yield a row for each kind, in the order of `Kind`."""
        for kind in Kind:
            yield self.by_kind[kind]


def score(
    corpus: Sequence[Mapping[str, Any]],
    kept_ids: Collection[int],
    dropped: Mapping[int, int | None],
) -> Score:
    """Score a result; `dropped` maps an id to the kept one it duplicates, None if skipped."""
    kept = frozenset(kept_ids)
    documents = {document["_id"]: document for document in corpus}
    ends = {number: ending(number, kept, dropped) for number in documents}
    planted = {number for number in documents if _is_planted(number, documents)}
    return Score(
        by_kind={kind: _row(kind, corpus, kept, dropped) for kind in Kind},
        planted=len(planted),
        found=sum(ends[number] == "duplicate" for number in planted),
        innocents_dropped=sum(
            due(document["kind"]) == "kept" and dropped.get(number) is not None
            for number, document in documents.items()
        ),
        lost=sum(end == "lost" for end in ends.values()),
        doubled=sum(end == "doubled" for end in ends.values()),
    )


def ending(number: int, kept: Collection[int], dropped: Mapping[int, int | None]) -> str:
    """Return what became of a document: kept, duplicate, skipped, lost or doubled."""
    match number in kept, number in dropped:
        case True, True:
            return "doubled"
        case True, False:
            return "kept"
        case False, False:
            return "lost"
        case _:
            return "skipped" if dropped[number] is None else "duplicate"


def _origin(number: int, documents: Mapping[int, Mapping[str, Any]]) -> int | None:
    """Follow `of` to its end; None where it leads out of the corpus or in a circle."""
    passed: set[int] = set()
    while number in documents and number not in passed:
        passed.add(number)
        before: int | None = documents[number].get("of")
        if before is None:
            return number
        number = before
    return None


def _is_planted(number: int, documents: Mapping[int, Mapping[str, Any]]) -> bool:
    if due(documents[number]["kind"]) != "duplicate":
        return False
    origin = _origin(number, documents)
    return origin is not None and due(documents[origin]["kind"]) == "kept"


def _row(
    kind: Kind,
    corpus: Sequence[Mapping[str, Any]],
    kept: Collection[int],
    dropped: Mapping[int, int | None],
) -> Row:
    numbers = [document["_id"] for document in corpus if document["kind"] == kind]
    ends = Counter(ending(number, kept, dropped) for number in numbers)
    return Row(
        kind=kind,
        documents=len(numbers),
        kept=sum(number in kept for number in numbers),
        duplicates=sum(dropped.get(number) is not None for number in numbers),
        skipped=sum(number in dropped and dropped[number] is None for number in numbers),
        as_due=ends[due(kind)],
    )
