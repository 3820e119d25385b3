"""What rows of `T.runs` and the state say, beside each other and what the target shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from bson import ObjectId

from dedup_job.errors import StateMismatch
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import shown_value
from dedup_job.mongo.maintenance.ledger_removals import Entry
from dedup_job.mongo.maintenance.run_counts import Audited, key_of
from dedup_job.mongo.maintenance.shapes import (
    ENTRY,
    PIECE_ROW,
    RUN,
    STATE,
    differing,
    ledger_misfits,
)
from dedup_job.mongo.reading import look_up
from dedup_job.mongo.state.document import next_run
from dedup_job.mongo.state.fields import is_by_hand, is_by_id, misfits
from dedup_job.mongo.state.pieces import piece_id, undecided_again
from dedup_job.mongo.state.stamp import CONTENT
from dedup_job.runs.check import named
from dedup_job.runs.counts import Counts, Histogram
from dedup_job.runs.run import Status

Document = dict[str, Any]
_NO_RUN: Mapping[str, Any] = {  # of what a person did
    **dict.fromkeys(("query", "limit", "expected")),
    **dict.fromkeys(("known", "left_out", "docs_per_second"), 0),
    **{name: {} for name in ("changed", "stages")},
    **{name: [] for name in ("profile", "clusters")},
}
_ENDED = (str(Status.DONE), str(Status.STOPPED), str(Status.FAILED))


def foreign_records(
    rows: Sequence[Document], pieces: Sequence[Document], state: Mapping[str, Any]
) -> list[str]:
    """Return a line for each row of `T.runs`, and for the state, that dedup does not write so."""
    lines = [_line(row, misfits(ENTRY if is_by_hand(row) else RUN, row)) for row in rows]
    for piece in pieces:
        found = misfits(PIECE_ROW, piece)
        for i, row in enumerate(() if found else piece["rows"]):
            found += [f"rows.{i}.{name}" for name in ledger_misfits(row)]
        lines.append(_line(piece, found))
    lines.append(_line(state, misfits(STATE, state)))
    return [*filter(None, lines)]


@dataclass(frozen=True, slots=True)
class RunChecker:
    """Compares what is recorded: rows of runs, pieces of what was taken out, the state.

    strange_settings: returns those settings of a row that no run has. decided: how many documents
    and rows there are, None where that does not tell.
    """

    on: Audited
    pieces: Sequence[Document]
    strange_settings: Callable[[Mapping[str, Any]], list[str]]
    decided: int | None

    def contradictions(self) -> list[str]:
        """Return a line for each row with values that cannot be together; all fit their fields."""
        known = accumulate(0 if is_by_hand(r) else r["counts"]["scanned"] for r in self.on.runs)
        before = zip(self.on.runs, (0, *known), strict=False)
        lines = [_line(row, self._of_run(row, scanned)) for row, scanned in before]
        lines += [_line(piece, self._of_piece(piece)) for piece in self.pieces]
        lines.append(_line(self.on.state, self._of_state()))
        return [*filter(None, lines)]

    def _of_run(self, row: Mapping[str, Any], before: int) -> Iterator[str]:
        counts, seconds = Counts.from_dict(row["counts"]), row["seconds"]
        yield from _of_counts(row["counts"], "counts")
        yield from differing(row["rates"], counts.rates(), "rates")
        yield from (f"settings.{name}" for name in self.strange_settings(row))
        if "undone" not in row:  # once all are, other settings may follow
            yield from _unlike(row["settings"], self.on.state["settings"])
        ended, finished = row["status"] in _ENDED, row["finished"]
        together = row["status"] == str(Status.RUNNING) or (ended and finished)
        speed = counts.scanned / seconds if seconds else 0.0
        left = [piece for piece in self.pieces if piece["of"] == row["_id"]]
        left = [piece for piece in left if piece["piece"] < row.get("pieces", 0)]
        right = {
            "_id": row["_id"] < next_run(self.on.state),
            "source": row["source"] == self.on.state["source"],
            "known": row["known"] <= before,
            "token": row.get("token", 0) <= self.on.state["token"],
            "limit": not row["limit"] or counts.scanned <= row["limit"],
            "finished": finished is None or row["started"] <= finished,
            "status": row["status"] != str(Status.RUNNING) or finished is None,
            "docs_per_second": not together or row["docs_per_second"] == speed,
            "undone": ("undone" in row) == (row["status"] == str(Status.UNDONE)),
            "left": "left" not in row or "undone" in row,
        }
        halfway = "undone" in row or self.on.state.get("undo") == row["_id"]
        if is_by_hand(row) and not halfway:
            sums = (sum(piece[name] for piece in left) for name in ("documents", "short"))
            values = Entry(row["_id"], row["status"], row["given"], len(left), *sums).values()
            yield from differing({name: row[name] for name in values}, values, "")
        if is_by_hand(row):
            right |= {name: row[name] == value for name, value in _NO_RUN.items()}
        yield from _wrong(right)
        yield from self._of_largest(row)

    def _of_largest(self, row: Mapping[str, Any]) -> Iterator[str]:
        """Yield the kept documents that a run names with another number of duplicates."""
        number = row["_id"]
        former = [one for piece in self.pieces for one in piece["rows"]]
        if not self.on.is_settled:
            return
        is_whole = "undone" not in row and is_by_id(row)
        if any(one.get("run") == number for one in former) or not is_whole:
            return
        for i, one in enumerate(row["clusters"]):
            there = self.on.named.get((number, key_of(one)))
            is_plain = isinstance(one["_id"], int | str | ObjectId)  # others may stand otherwise
            if there not in (None, one["duplicates"]) and (there or is_plain):
                yield f"clusters.{i}"

    def _of_piece(self, piece: Mapping[str, Any]) -> Iterator[str]:
        right = {
            "_id": piece["_id"] == piece_id(piece["of"], piece["piece"]),
            "of": any(row["_id"] == piece["of"] and is_by_hand(row) for row in self.on.runs),
            "documents": piece["documents"] == len(piece["rows"]),
            "short": piece["short"] <= piece["documents"],
        }
        yield from _wrong(right)

    def _of_state(self) -> Iterator[str]:
        state, numbers = self.on.state, {row["_id"]: row for row in self.on.runs}
        given = [n for n, row in numbers.items() if is_by_hand(row) or "undone" in row]
        highest, undoing = state.get("last_run"), state.get("undo") is not None
        is_known = undoing or highest is None or highest in numbers
        if not is_known or (highest or 0) < max(given, default=0):
            yield "last_run"
        if undoing and state["undo"] not in (*numbers, highest):
            yield "undo"
        if state.get("undo_from") is not None and not undoing:
            yield "undo_from"
        rules, recorded = state["settings"].get("rules"), numbers.values()
        if rules != self.on.target.stamp.get("rules") and not any(
            row["versions"].get("rules") == str(rules) for row in recorded
        ):
            yield "settings.rules"
        if checkpoint := state["checkpoint"]:
            yield from _of_counts(checkpoint["counts"], "checkpoint.counts")
            if (run := numbers.get(checkpoint["run"])) is not None:
                yield from _beside(checkpoint, run)
                yield from _unlike(run["settings"], state["settings"], is_last=True)
            elif checkpoint["counts"]["scanned"]:  # else it was cut off before it began
                yield "checkpoint.run"
            if not undoing and not state["intent"]:
                later = max(given, default=0) > checkpoint["run"]
                yield from self._last_id(checkpoint, run or {}, later=later)
        if (bookmark := state.get("bookmark")) is not None:
            try:
                self.on.target.read_bookmark(bookmark)
            except StateMismatch:
                yield "bookmark"
            else:
                yield from self._of_bookmark(bookmark, numbers)

    def _last_id(
        self, checkpoint: Mapping[str, Any], run: Mapping[str, Any], *, later: bool
    ) -> Iterator[str]:
        """Yield the last id if it is not the last one that its run decided.

        later: something was taken out or back after it.
        """
        found, number = checkpoint["last_id"], checkpoint["run"]
        counts = Counts.from_dict(checkpoint["counts"])
        own = [*self.on.last.get(number, {}).values()]
        if found is None and later:  # a later run was undone
            return
        if found is None or not counts.scanned:
            # no huge one is named
            is_right = found is None and counts.scanned <= counts.quarantined
        elif not all(map(bson_edit.is_writable, own)):
            is_right = True  # it stands there as another one
        elif (
            later or not is_by_id(run) or not (self.on.is_settled and self.on.target.rows.has_runs)
        ):
            is_right = any(row["status"] == str(Status.REQUEUED) for row in self.on.runs)
            keys = [bson_edit.stored(found)]
            is_right = is_right or any(
                self.on.target.held_by(c, keys) for c in self.on.target.decided
            )
        else:
            key = bson_edit.stored(found)
            is_right = key in own and not self._is_passed(key, own)
        if not is_right:
            yield "checkpoint.last_id"

    def _is_passed(self, key: bytes, others: Sequence[bytes]) -> bool:
        """Tell whether one of some decided ids comes after another, in the server's order."""
        later = {"_id": 1, "later": {"$gt": ["$_id", {"$literal": bson_edit.id_value(key)}]}}
        only = bson_edit.among([other for other in others if other != key])
        return any(
            bson_edit.fields_of(row.raw)["later"]
            for collection in self.on.target.decided
            for row in look_up(collection, only, later, self.on.target.retry)
        )

    def _of_bookmark(
        self, bookmark: Mapping[str, Any], rows: Mapping[int, Mapping[str, Any]]
    ) -> Iterator[str]:
        scanned = {n: row["counts"]["scanned"] for n, row in rows.items() if not is_by_hand(row)}
        if checkpoint := self.on.state["checkpoint"]:  # of a run that was cut off its row is behind
            scanned[checkpoint["run"]] = checkpoint["counts"]["scanned"]
        later = {run: n for run, n in scanned.items() if run > bookmark["run"]}
        again = undecided_again(self.on.target.runs, [*later], self.on.target.retry)
        then = bookmark["decided"] + sum(later.values()) - sum(again)
        run = rows.get(bookmark["run"])
        right = {
            # the row of a run that was cut off at its end does not say so yet
            "run": run is not None and run["status"] in (str(Status.DONE), str(Status.RUNNING)),
            "query": run is None or run["query"] == bookmark["query"],
            "followed": bookmark["followed"] < max(bookmark["run"], 1),
            "decided": self.decided in (None, then),
        }
        yield from _wrong(right, "bookmark.")


def _of_counts(found: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield the counts that do not add up."""
    counts = Counts.from_dict(found)
    compared, most = counts.kept + counts.near, counts.candidates.most
    yield from differing(found, counts.as_dict(), path)
    classes = counts.candidates.classes
    right = {
        "reasons": sum(counts.reasons.values()) == counts.skipped + counts.quarantined,
        "similar": all(n <= counts.refused.get(k, 0) for k, n in counts.similar.items()),
        "candidates.classes": counts.candidates.count == compared,
        "candidates.max": max(classes, default=0) == max(Histogram.of([most]).classes),
        "candidates.total": counts.candidates.total >= most,
        "short.kept": counts.short_kept <= counts.kept,
        "short.duplicate": counts.short_duplicate <= counts.duplicates,
        "cut": counts.cut <= compared,
    }
    yield from _wrong(right, f"{path}.")


def _unlike(
    settings: Mapping[str, Any], stamp: Mapping[str, Any], *, is_last: bool = False
) -> Iterator[str]:
    """Yield the settings of a run that are not those that its target was made with.

    is_last: the version that wrote the stamp recorded them, so none may be missing.
    """
    for section, part in stamp.items():
        own = settings.get(section, {})
        for name, value in part.items() if isinstance(part, Mapping) else ():
            is_file = isinstance(value, str) and value.startswith(CONTENT)
            is_other = name in own and own[name] != value and not is_file and name != "judge"
            if is_other or (is_last and name not in own):
                yield f"settings.{section}.{name}"


def _beside(checkpoint: Mapping[str, Any], run: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the checkpoint says unlike the row of its run."""
    names = ["query", "limit", "started"]
    if run["status"] == str(Status.DONE) and run["finished"]:
        names += ["seconds", "counts"]
    for name in names:
        yield from differing(checkpoint[name], run[name], f"checkpoint.{name}")
    ends = {str(Status.DONE): True, str(Status.STOPPED): False}
    if checkpoint["finished"] is not ends.get(run["status"], checkpoint["finished"]):
        yield "checkpoint.finished"


def _wrong(right: Mapping[str, bool], path: str = "") -> Iterator[str]:
    return (f"{path}{name}" for name, is_right in right.items() if not is_right)


def _line(row: Mapping[str, Any], wrong: Iterable[str]) -> str:
    found = [*wrong]
    return named(shown_value(row.get("_id")), found) if found else ""
