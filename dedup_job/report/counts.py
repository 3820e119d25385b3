"""Counts that add up: of a batch, a run, or many runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from dedup_job.documents import (
    NOTHING_TRIED,
    Decision,
    Duplicate,
    Kept,
    Quarantined,
    Reason,
    Skipped,
)
from dedup_job.report.histogram import Histogram, Tenths

_NO_TENTHS = Tenths().counts


@dataclass(frozen=True, slots=True)
class Counts:
    """How many documents were decided in which way.

    Every document is one of kept, exact, near, skipped, quarantined; the others count some of
    them once more. refused: kept documents that had candidates, by what kept the nearest one
    apart, the class of a difference or "similarity"; richer: near duplicates by what they have that
    the kept document lacks, which can be several; cut: documents with more candidates than are
    compared; missing_originals: candidates that someone removed from the target; candidates: of
    each document with a text that has no equal; similarities: of near duplicates, and of kept
    documents that had candidates with the nearest one.
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
    cut: int = 0
    missing_originals: int = 0
    candidates: Histogram = field(default_factory=Histogram)
    similarities: Tenths = field(default_factory=Tenths)

    @classmethod
    def of(cls, decisions: Sequence[Decision]) -> Counts:
        """Count decisions."""
        n: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        richer: Counter[str] = Counter()
        alone, others = _parted(decisions)
        n["kept"], n["short_kept"] = len(alone), sum(decision.short for decision in alone)
        candidates = [0] * len(alone)
        best: list[float] = []
        for decision in others:
            if isinstance(decision, Kept) or (
                isinstance(decision, Duplicate) and decision.reason is Reason.NEAR
            ):
                candidates.append(decision.tried.candidates)
                n["cut"] += decision.tried.cut > 0
                n["missing_originals"] += len(decision.tried.missing_originals)
            match decision:
                case Kept():
                    n["kept"] += 1
                    n["short_kept"] += decision.short
                    if (near := decision.tried.refused) is not None:
                        refused[near.kind] += 1
                        best.append(near.similarity)
                case Duplicate():
                    n["exact" if decision.reason is Reason.EXACT else "near"] += 1
                    if decision.reason is Reason.NEAR and decision.similarity is not None:
                        best.append(decision.similarity)
                    n["short_duplicate"] += decision.short
                    richer.update(decision.richer)
                case Skipped():
                    n["skipped"] += 1
                    reasons[str(decision.reason)] += 1
                case Quarantined():
                    n["quarantined"] += 1
                    reasons[str(decision.reason)] += 1
                case _:
                    assert_never(decision)
        return cls(
            **n,
            reasons=dict(reasons),
            refused=dict(refused),
            richer=dict(richer),
            candidates=Histogram.of(candidates),
            similarities=Tenths.of(best),
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            kept=self.kept + other.kept,
            exact=self.exact + other.exact,
            near=self.near + other.near,
            skipped=self.skipped + other.skipped,
            quarantined=self.quarantined + other.quarantined,
            short_kept=self.short_kept + other.short_kept,
            short_duplicate=self.short_duplicate + other.short_duplicate,
            reasons=dict(Counter(self.reasons) + Counter(other.reasons)),
            refused=dict(Counter(self.refused) + Counter(other.refused)),
            richer=dict(Counter(self.richer) + Counter(other.richer)),
            cut=self.cut + other.cut,
            missing_originals=self.missing_originals + other.missing_originals,
            candidates=self.candidates + other.candidates,
            similarities=self.similarities + other.similarities,
        )

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
        """Duplicates per scanned document, 0 where nothing was scanned."""
        return self.duplicates / self.scanned if self.scanned else 0.0

    @property
    def valid_rate(self) -> float:
        """Kept documents per scanned document, 0 where nothing was scanned."""
        return self.kept / self.scanned if self.scanned else 0.0

    def rates(self) -> dict[str, Any]:
        """Return shares of the scanned documents by name."""
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
        """Return the counts as the report and the run's row hold them."""
        return {
            "scanned": self.scanned,
            "kept": self.kept,
            "duplicate": {"exact": self.exact, "near": self.near},
            "skipped": self.skipped,
            "quarantined": self.quarantined,
            "short": {"kept": self.short_kept, "duplicate": self.short_duplicate},
            "reasons": dict(sorted(self.reasons.items())),
            "refused": dict(sorted(self.refused.items())),
            "richer": dict(sorted(self.richer.items())),
            "cut": self.cut,
            "void": self.missing_originals,
            "candidates": self.candidates.as_dict(),
            "similarities": list(self.similarities.counts),
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Counts:
        """Read back what `as_dict` wrote."""
        return cls(
            kept=row["kept"],
            exact=row["duplicate"]["exact"],
            near=row["duplicate"]["near"],
            skipped=row["skipped"],
            quarantined=row["quarantined"],
            short_kept=row["short"]["kept"],
            short_duplicate=row["short"]["duplicate"],
            reasons=dict(row["reasons"]),
            refused=dict(row.get("refused", {})),
            richer=dict(row.get("richer", {})),
            cut=row.get("cut", 0),
            missing_originals=row.get("void", 0),
            candidates=Histogram.from_dict(row.get("candidates", {})),
            similarities=Tenths(tuple(row.get("similarities", _NO_TENTHS))),
        )


def _parted(decisions: Sequence[Decision]) -> tuple[list[Kept], list[Decision]]:
    """Part the kept documents that met nothing, as most do, from all others."""
    alone = [d for d in decisions if isinstance(d, Kept) and d.tried is NOTHING_TRIED]
    if len(alone) == len(decisions):
        return alone, []
    return alone, [d for d in decisions if not (isinstance(d, Kept) and d.tried is NOTHING_TRIED)]
