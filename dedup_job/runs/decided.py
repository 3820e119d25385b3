"""Decided documents, for lists, pages and labels; filters and counts of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

from dedup_job.documents import Pair, Reason, Skipped, names_of
from dedup_job.messages import UsageError
from dedup_job.printing import id_as_json

if TYPE_CHECKING:
    from dedup_job.columns import Decisions

KEPT, DUPLICATE = "kept", "duplicate"
"""The decisions on documents that were compared."""
NO_PAIR = Pair(b"", 0, None, ())
"""The pair of a document that was not compared."""


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """A document with its decision, and the kept document that it was compared with, if any.

    key: the `_id` field; id, of: `_id` of the document and of the kept one, as restore and inspect
    read it; written: `_id` for a command, whole and unambiguous, "" unless requested. decision:
    `duplicate`, `kept`, `skipped` and so on, "" if unknown; reason: of a kept document the name of
    what keeps the pair apart. run: 0 if unknown. text, other: cleaned texts of both, None if
    missing or not requested. detail: why it was quarantined; kept_by: of a kept document, the rule
    by which the other one is the better copy. duplicates: their number, in a list of groups.
    against: the reference collection of `of`, "" for the target.
    """

    key: bytes
    decision: str = ""
    reason: str = ""
    pair: Pair = NO_PAIR
    id: str = ""
    of: str = ""
    written: str = ""
    run: int = 0
    text: str | None = None
    other: str | None = None
    detail: str = ""
    kept_by: str = ""
    duplicates: int | None = None
    against: str = ""

    @property
    def keys(self) -> tuple[bytes, bytes]:
        """The keys of both documents, which identify the pair."""
        return self.pair.of, self.key

    def as_row(self, *, texts: bool) -> dict[str, Any]:
        """Return the JSON values by column, None for missing ones; texts: whether with texts."""
        if self.duplicates is not None:
            row: dict[str, Any] = {"id": self.id, "duplicates": self.duplicates}
            return {**row, "text": self.text} if texts else row
        row = {
            "id": self.id,
            "decision": self.decision,
            "reason": self.reason or None,
            "of": self.of or None,
            "against": self.against or None,
            "similarity": self.pair.similarity,
            "probability": self.pair.probability,
            "left_out": self.pair.left_out or None,
            "run": self.run or None,
            "differences": [one.as_row() for one in self.pair.differences],
            "detail": self.detail or None,
            **({"kept_by": self.kept_by} if self.kept_by else {}),
        }
        return {**row, "text": self.text, "other": self.other} if texts else row

    def as_json(self, *, texts: bool) -> dict[str, Any]:
        """Return the same values as `as_row` with ids in extended JSON."""
        row = self.as_row(texts=texts)
        return row | {name: id_as_json(row[name]) for name in ("id", "of") if row.get(name)}


class ListKind(StrEnum):
    """The kinds of documents that `dedup list` lists."""

    DROPPED = "dropped"
    NEAR = "near"
    EXACT = "exact"
    REFUSED = "refused"
    KEPT = "kept"
    SKIPPED = "skipped"
    QUARANTINED = "quarantined"
    GROUPS = "groups"
    CHANGED = "changed"
    DELETED = "deleted"


PAIRS = (ListKind.DROPPED, ListKind.NEAR, ListKind.EXACT, ListKind.REFUSED)
"""The lists whose documents have a second text to compare with."""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """The filter of a list of documents.

    what: a value of `ListKind`; of: of pairs, the `_id` of the kept document, as a person writes
    it; kind: of pairs, the kind of a difference, for `refused` the name of what keeps them apart;
    run: only documents that this run decided, or found changed.
    """

    what: str
    of: str | None = None
    kind: str | None = None
    run: int | None = None

    def check(self) -> None:
        """Raise UsageError for unknown values, or ones that exclude each other."""
        # here: --help should not wait for it
        from dedup_job.judgment import NAMES, DifferenceKind

        if self.what not in [*ListKind]:
            raise UsageError(
                "what is {what!r}, expected one of {known}.",
                what=self.what,
                known=", ".join(ListKind),
            )
        if self.what not in PAIRS and (self.of is not None or self.kind is not None):
            raise UsageError(
                "{what} are listed without a second text, so neither --of nor --class applies; "
                "they do to {pairs}.",
                what=self.what,
                pairs=", ".join(PAIRS),
            )
        kinds = NAMES.kinds if self.what == ListKind.REFUSED else [*DifferenceKind]
        if self.kind is not None and self.kind not in kinds:
            raise UsageError(
                "--class is {kind!r}, expected one of {kinds}.",
                kind=self.kind,
                kinds=", ".join(kinds),
            )


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of documents by decision.

    Every document is one of kept, exact, near, skipped, quarantined; the other counts are of
    subsets. refused: kept documents with candidates, by the name of what keeps the nearest one
    apart; similar: of these, with a similarity of decision.similarity or more; richer: near
    duplicates by the kinds of content that the kept document lacks, some in several; against:
    duplicates of documents of reference collections, by collection; cut: documents with more
    candidates than are compared; missing_originals: candidates that were removed from the target;
    replaced: kept documents that a better copy superseded, each counted as its duplicate;
    cut_documents, cut_characters: cut off by cleaning at markers, in documents with a text;
    most_candidates: of one document without an equal one.
    """

    kept: int = 0
    exact: int = 0
    near: int = 0
    skipped: int = 0
    quarantined: int = 0
    short_kept: int = 0
    short_duplicate: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    richer: Mapping[str, int] = field(default_factory=dict)
    similar: Mapping[str, int] = field(default_factory=dict)
    against: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0
    missing_originals: int = 0
    replaced: int = 0
    cut_documents: int = 0
    cut_characters: int = 0
    most_candidates: int = 0

    @classmethod
    def of(cls, decisions: "Decisions", similar_from: float = 1.0) -> "Counts":
        """Return the counts of decisions; similar_from: the least similarity of `similar`."""
        kept, exact, near = decisions.kept, *map(decisions.have_reason, (Reason.EXACT, Reason.NEAR))
        refused, alike = decisions.refused, decisions["similarity"].copy()
        if decisions.superseded is not None:
            # a better copy counts as the duplicate of the former one: the target does not grow
            rows, _, dropped = decisions.superseded
            kept[rows] = refused[rows] = False
            exact[rows], near[rows] = (
                dropped.have_reason(Reason.EXACT),
                dropped.have_reason(Reason.NEAR),
            )
            alike[rows] = dropped["similarity"]
        kinds, richer = Counter(decisions["apart"][refused].tolist()), Counter[str]()
        similar = Counter(decisions["apart"][refused & (alike >= similar_from)].tolist())
        for bits, count in Counter(decisions["richer"][near].tolist()).items():
            richer.update(dict.fromkeys(names_of(bits, decisions.names.richer), count))
        against = Counter(
            decisions["collection"][exact | near].tolist() if decisions.names.collections else ()
        )
        refusals = decisions.refusals.values()
        skipped = sum(isinstance(refusal, Skipped) for refusal in refusals)
        replaced = len(decisions.superseded.rows) if decisions.superseded else 0
        return cls(
            kept=int(kept.sum()),
            exact=int(exact.sum()),
            near=int(near.sum()),
            skipped=skipped,
            quarantined=len(refusals) - skipped,
            short_kept=int(decisions["short"][kept].sum()),
            short_duplicate=int(decisions["short"][exact | near].sum()),
            reasons=dict(Counter(str(refusal.reason) for refusal in refusals)),
            refused={decisions.names.kinds[code]: count for code, count in kinds.items()},
            similar={decisions.names.kinds[code]: count for code, count in similar.items()},
            richer=dict(richer),
            against={decisions.names.collections[code]: n for code, n in against.items() if code},
            cut=int((decisions["cut"] > 0).sum()),
            missing_originals=sum(map(len, decisions.missing.values())),
            replaced=int(decisions["superseded"].sum()) + replaced,
            most_candidates=int(decisions["candidates"][kept | near].max(initial=0)),
        )

    def __add__(self, more: "Counts") -> "Counts":
        sums: dict[str, Any] = {}
        for name in (one.name for one in fields(self)):
            a, b = getattr(self, name), getattr(more, name)
            sums[name] = dict(Counter(a) + Counter(b)) if isinstance(a, Mapping) else a + b
        most = max(self.most_candidates, more.most_candidates)
        return Counts(**{**sums, "most_candidates": most})

    @property
    def duplicates(self) -> int:
        """Exact and near duplicates."""
        return self.exact + self.near

    @property
    def scanned(self) -> int:
        """All documents decided."""
        return self.kept + self.duplicates + self.skipped + self.quarantined

    @property
    def repeat_rate(self) -> float:
        """Duplicates per scanned document, 0 without any."""
        return self.duplicates / self.scanned if self.scanned else 0.0

    @property
    def valid_rate(self) -> float:
        """Kept documents per scanned document, 0 without any."""
        return self.kept / self.scanned if self.scanned else 0.0

    def rates(self) -> dict[str, Any]:
        """Return the rates of the report: shares of the scanned documents, by name."""
        scanned = max(self.scanned, 1)
        return {
            "repeat_rate": self.repeat_rate,
            "valid_rate": self.valid_rate,
            "exact": self.exact / scanned,
            "near": self.near / scanned,
            "short": (self.short_kept + self.short_duplicate) / scanned,
            "refused": {name: n / scanned for name, n in sorted(self.refused.items())},
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as nested values of the report and of the row of a run."""
        row: dict[str, Any] = {"scanned": self.scanned}
        for name in (one.name for one in fields(self)):
            value = getattr(self, name)
            if value or name not in _RARE:
                *above, last = _PATHS.get(name, name).split(".")
                into = row
                for part in above:
                    into = into.setdefault(part, {})
                into[last] = dict(sorted(value.items())) if isinstance(value, Mapping) else value
        return row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Counts":
        """Return the counts of values that `as_dict` wrote."""
        found: dict[str, Any] = {}
        for name in (one.name for one in fields(cls)):
            if name not in _RARE or name in row:
                found[name] = reduce(getitem, _PATHS.get(name, name).split("."), row)
        return cls(**found)


_RARE = ("similar", "against", "replaced")  # left out of a row if empty
_PATHS = {  # in a row, if not the name of the count
    "exact": "duplicate.exact",
    "near": "duplicate.near",
    "short_kept": "short.kept",
    "short_duplicate": "short.duplicate",
    "missing_originals": "void",
    "cut_documents": "cleaning.cut.documents",
    "cut_characters": "cleaning.cut.characters",
    "most_candidates": "candidates.max",
}
