"""What the runs say they decided, beside what target and ledger hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dedup_job.documents import Reason
from dedup_job.mongo.state.fields import BY_HAND, is_count
from dedup_job.runs.counts import Counts, tenths
from dedup_job.runs.run import Status

Labels = Counter[str]
ByRun = defaultdict[int, Labels]
KEPT = "kept"
LEFT = "left"  # of an undone run: documents and rows that it could not take back
_DECIDED = (KEPT, "exact", "near", "skipped", "quarantined")
_VOID, _ALIKE = "void", "similarity "
OF_KEPT = ("refused for ", _ALIKE, _VOID)  # beginnings of labels of kept documents
COUNTED = ("decision", "of", "reason", "run", "similarity", "richer", "void")
"""The fields of a row of the ledger that `labels_of` reads."""
SHORT_KEPT, SHORT_DUPLICATE = "short, kept", "short, duplicate"
REASONS: Mapping[str, tuple[Reason, ...]] = {
    "duplicate": (Reason.EXACT, Reason.NEAR),
    "skipped": (Reason.EMPTY, Reason.MISSING, Reason.NOT_TEXT),
    "quarantined": (Reason.TOO_LARGE, Reason.UNDECODABLE),
}


def no_counts() -> ByRun:
    """Return counts of no run."""
    return defaultdict(Counter)


def labels_of(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return what a row of the ledger is counted as; None where dedup does not write such a row."""
    decision, reason, run = row.get("decision"), row.get("reason"), row.get("run")
    known = isinstance(decision, str) and reason in REASONS.get(decision, ())
    if not known or not is_count(run) or "of" not in row:
        return None
    if decision != "duplicate":
        return str(decision), str(reason)
    richer = row.get("richer")
    more = (f"richer in {name}" for name in (richer if isinstance(richer, list) else ()))
    alike = row.get("similarity") if reason == Reason.NEAR else None
    return str(reason), *more, *_of_both(row.get("void"), alike)


def kept_labels_of(own: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a kept document is counted as, from what dedup added to it."""
    refused = own.get("refused")
    if not isinstance(refused, dict):
        return KEPT, *_of_both(own.get("void"), None)
    kind, alike = refused.get("class"), refused.get("similarity")
    return KEPT, f"refused for {kind}", *_of_both(own.get("void"), alike)


def _of_both(void: Any, similarity: Any) -> Iterator[str]:
    if isinstance(void, list):
        yield from [_VOID] * len(void)
    if isinstance(similarity, float) and 0 <= similarity <= 1:
        yield from map(_alike, tenths([similarity]))


def _alike(bin_: int) -> str:
    return f"{_ALIKE}{bin_ / 10} or more"


def recorded(
    rows: Mapping[int, Mapping[str, Any]],
    checkpoint: Mapping[str, Any] | None,
    out: Iterable[tuple[int, Mapping[str, Any]]],
) -> ByRun:
    """Return what there should be of each run, from the rows of `T.runs` and the checkpoint.

    The row of a run that was cut off is behind; then the checkpoint counts. out: rows that a person
    took out of the ledger, each with the number of its entry.
    """
    result = no_counts()
    for run, row in rows.items():
        if row.get("status") == str(Status.UNDONE):
            result[run][LEFT] += row.get("left", 0)
            continue
        current = checkpoint is not None and checkpoint["run"] == run
        result[run] += _labels(checkpoint["counts"] if checkpoint and current else row["counts"])
    for number, former in out:
        if rows[number].get("status") in BY_HAND:
            result[former["run"]].subtract(labels_of(former) or ())
    return result


def count_differences(
    said: ByRun,
    there: ByRun,
    not_these: Iterable[int],
    *,
    by_run: bool,
    unknown: tuple[str, ...] = (),
) -> Iterator[str]:
    """Yield a line for each run whose documents and rows are not as many as it says.

    by_run: False where kept documents do not tell their run; then they are counted together.
    unknown: beginnings of the labels that were not counted.
    """
    for run, labels in said.items():
        if LEFT in labels:  # of an undone run, whatever it is
            decided = sum(n for name, n in there[run].items() if name in _DECIDED)
            there[run] = Counter({LEFT: decided})
    for labels in (*said.values(), *there.values()):
        for name in [n for n in labels if n.startswith(unknown)]:
            del labels[name]
    if not by_run:
        total = sum(labels.pop(KEPT, 0) for labels in said.values())
        found = sum(labels.pop(KEPT, 0) for labels in there.values())
        if total != found:
            yield f"all runs: {total:,} kept by their counts, {found:,} there"
    for run in sorted((said.keys() | there.keys()) - set(not_these)):
        names = [n for n in said[run].keys() | there[run].keys() if said[run][n] != there[run][n]]
        if names:
            each = (f"{said[run][n]:,} {n} by its counts, {there[run][n]:,} there" for n in names)
            yield f"run {run}: {'; '.join(sorted(each))}"


def _labels(found: Mapping[str, Any]) -> Labels:
    counts = Counts.from_dict(found)
    alone = {name: getattr(counts, name) for name in (KEPT, "exact", "near", "skipped")}
    return Counter(
        {
            **alone,
            "quarantined": counts.quarantined,
            **counts.reasons,
            **{f"refused for {name}": n for name, n in counts.refused.items()},
            **{f"richer in {name}": n for name, n in counts.richer.items()},
            **{_alike(bin_): n for bin_, n in counts.similarities.items()},
            _VOID: counts.missing_originals,
            SHORT_KEPT: counts.short_kept,
            SHORT_DUPLICATE: counts.short_duplicate,
        }
    )
