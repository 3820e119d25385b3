"""Check of a target from the data alone: source, target, ledger and runs against each other.

Ids are compared page by page in the server's order, so memory stays flat for all types of ids.
Nothing is written and no lease is taken.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from dedup_job.messages import LeaseHeld, Message, StateMismatch, joined, message_of
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.audit_rows import AuditContext, check_page
from dedup_job.mongo.commits import unsettled
from dedup_job.mongo.connection import AnyCollection
from dedup_job.mongo.id_keys import reference_name, shown
from dedup_job.mongo.raw_bson import RawPage
from dedup_job.mongo.reading import BY_ID, ID_PAGE, ROW_PAGE, estimated
from dedup_job.mongo.replacing import RunChunks, chunks_of_runs
from dedup_job.mongo.rows import groups_in, run_of
from dedup_job.mongo.state import holder
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Progress, Status
from dedup_job.runs.status import Check

_NAMED = {"_id": 1, "of": 1, "against": 1, "group": 1}
KEPT, REMAINING = "kept", "left"  # REMAINING: documents and rows of an undone run, of any kind
_KINDS = (KEPT, "exact", "near", "skipped", "quarantined")
_NO_RUN = "None"  # of the form `classic`
ByRun = Counter[tuple[str, str]]
"""Numbers of documents and rows by run and kind."""


@dataclass
class Checker(AuditContext):
    """Reads source, target and ledger once each, and again only if their numbers differ."""

    target: Target
    progress: Progress
    _done: int = field(init=False, default=0)

    def check(self, sample: int | None) -> int:
        """Check the target; add findings to `tally` and return the target's generation.

        sample: number of documents and rows to compare, at random; None for all. A half-done commit
        of a killed process is the only finding, since it looks like faults. Raises LeaseHeld while
        a run writes.
        """
        target = self.target
        state = target.retry(target.state.read) or {}
        self._check_alone(state["token"])
        half = self._half_done(state)
        self.tally.add(Check.HALF, len(half), half)
        if not half:
            documents = estimated([target.source, *target.decided], target.retry)
            self.progress.total(documents, Message("checking"))
            self._compare_ids()
            self._find_originals()
            self.progress.stage(Message("comparing the counts"))
            self._compare_counts(state)
            self.progress.stage(Message("comparing rows"))
            for collection in target.decided:
                for page in self._sample(collection, sample):
                    check_page(
                        self, self._count_page(page), are_kept=collection is target.documents
                    )
        self._check_alone(state["token"])
        return int(state["generation"])

    def _half_done(self, state: Mapping[str, Any]) -> list[bytes | str]:
        half = list[bytes | str]()
        if (undoing := state.get("undo")) is not None:
            half.append(Message("run {run}, being undone", run=undoing))
        records = unsettled(self.target.state.collection, state)
        for run, keys, first, *_ in records:
            chunks = RunChunks(self.target.runs, run, self.target.retry)
            removed = chunks.read(first) if first is not None else ()
            half += {*keys, *(key for chunk in removed for key in chunk.keys)}
        return half

    def _check_alone(self, token: int) -> None:
        retry, state = self.target.retry, self.target.state
        if (lease := retry(state.live_lease)) or (retry(state.read) or {}).get("token") != token:
            raise LeaseHeld(
                "a run writes to {target} or did so meanwhile ({who}), so nothing can be said "
                "of it. Check again when it is done.",
                target=self.target.name,
                who=str(holder(lease)) if lease else Message("another process"),
            )

    def _count_page(self, page: RawPage) -> RawPage:
        self._done += len(page)
        self.progress.advance(self._done)
        return page

    def _compare_ids(self) -> None:
        target, tally, known = self.target, self.tally, [0, 0]
        for page in target.reader(target.source).scan(ID_PAGE, None, BY_ID):
            keys = self._count_page(page).keys.list()
            in_target, in_ledger = (target.present_sorted_keys(c, keys) for c in target.decided)
            decided, twice = in_target | in_ledger, in_target & in_ledger
            known = [known[0] + len(in_target), known[1] + len(in_ledger)]
            tally.add(Check.UNDECIDED, len(keys), [k for k in keys if k not in decided])
            tally.add(Check.TWICE, len(decided), [k for k in keys if k in twice])
        for collection, number in zip(target.decided, known, strict=True):
            counted = target.reader(collection).count()
            tally.add(Check.GONE, counted)
            if counted != number:
                self._find_gone(collection)

    def _find_gone(self, collection: AnyCollection) -> None:
        target, name = self.target, collection.full_name
        self.progress.stage(Message("looking for what only {name} holds", name=name))
        for page in target.reader(collection).scan(ID_PAGE, None, BY_ID):
            keys = page.keys.list()
            in_source = target.present_sorted_keys(target.source, keys)
            alone = [key for key in keys if key not in in_source]
            self.tally.add(Check.GONE, 0, alone)
            if collection is target.documents:
                twice = target.present_sorted_keys(target.ledger, alone)
                self.tally.add(Check.TWICE, len(alone), [*twice])

    def _find_originals(self) -> None:
        target, groups = self.target, set[int]()
        named, documents = {"dedup.group": {"$ne": None}}, target.reader(target.documents)
        for heads in documents.scan(ROW_PAGE, named, {"dedup.group": 1}):
            for key, group in groups_in(heads.keys.list(), heads.raw.list()).items():
                self.tally.add(Check.CONTRADICTS, 0, [key] if group in groups else [])
                groups.add(group)
        duplicates = {"decision": "duplicate"}
        for page in target.reader(target.ledger).scan(ROW_PAGE, duplicates, _NAMED):
            pairs = [
                (row, key) for row in self._count_page(page) if (key := id_keys.named_key(row.raw))
            ]
            keys = {key for _, key in pairs if not reference_name(key)}
            missing = keys - target.present_keys(target.documents, [*keys])
            lost_pairs = ((row, key) for row, key in pairs if key in missing)
            alone = [p for p in lost_pairs if raw_bson.field(p[0].raw, "group") not in groups]
            # rows of documents that the source lacks cannot be decided again, nor reverted
            own = target.present_keys(target.source, [row.key for row, _ in alone])
            lost = [_of(shown(row.key), shown(key)) for row, key in alone if row.key in own]
            self.tally.add(Check.ORIGINAL, len(pairs), lost)
            if references := {key for _, key in pairs} - keys:
                missing = references - target.texts([*references]).keys()
                absent = ((row, key) for row, key in pairs if key in missing)
                lost = [_of(shown(r.key), _of(shown(k), reference_name(k))) for r, k in absent]
                self.tally.add(Check.ELSEWHERE, len(references), lost)

    def _compare_counts(self, state: Mapping[str, Any]) -> None:
        lines = list[str]()
        try:
            lines += _count_differences(self.target, state)
            self.target.check_runs(state)
        except StateMismatch as e:
            lines.append(message_of(e))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            why = f"{type(e).__name__}: {e}"
            lines.append(Message("a row of a run, or the state, cannot be read: {why}", why=why))
        self.tally.add(Check.RECORDS, estimated([self.target.runs], self.target.retry) + 1, lines)

    def _sample(self, collection: AnyCollection, sample: int | None) -> Iterable[RawPage]:
        reader = self.target.reader(collection)
        if not sample:
            return reader.scan(ROW_PAGE) if sample is None else ()
        ids = reader.aggregate([{"$sample": {"size": sample}}, {"$project": BY_ID}])
        keys = dict.fromkeys(id_keys.id_key_in(bytes(one.raw)) for one in ids)
        return reader.fetch([*keys], ROW_PAGE)


def _of(one: str, original: str) -> Message:
    return Message("{one} of {other}", one=one, other=original)


def _count_differences(target: TargetReader, state: Mapping[str, Any]) -> Iterator[Message]:
    rows = target.run_rows()
    recorded, counted = _recorded(target, rows, state), _counted(target)
    undone = [str(row["_id"]) for row in rows if row["status"] == str(Status.UNDONE)]
    for run, counts in product(undone, (recorded, counted)):
        counts[run, REMAINING] += sum(counts.pop((run, kind), 0) for kind in _KINDS)
    if not target.rows.has_runs:  # then the documents of all runs are one number
        recorded[_NO_RUN, KEPT] = sum(recorded.pop(k) for k in [*recorded] if k[1] == KEPT)
    differing = [k for k in recorded.keys() | counted.keys() if recorded[k] != counted[k]]
    for run in sorted({run for run, _ in differing}):
        each = [
            Message(
                "{said:,} {label} by its counts, {there:,} there",
                said=recorded[run, kind],
                label=Message(kind),
                there=counted[run, kind],
            )
            for kind in sorted(kind for own, kind in differing if own == run)
        ]
        line = Message("run {run}: {each}") if run != _NO_RUN else Message("without a run: {each}")
        yield Message(line, run=run, each=joined(each, "; "))
    checkpoint = state["checkpoint"] or {"run": 0}
    for row in rows:
        is_last = row["_id"] == checkpoint["run"] and row["status"] == str(Status.DONE)
        if is_last and row["counts"] != checkpoint["counts"]:
            yield Message("run {run}: its row and the state count otherwise", run=row["_id"])


def _recorded(
    target: TargetReader, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]
) -> ByRun:
    numbers, checkpoint = ByRun(), state["checkpoint"] or {"run": 0}
    for row in rows:
        number = row["_id"]
        if row["status"] == str(Status.UNDONE):
            numbers[str(number), REMAINING] = row.get("left", 0)
            continue
        counts = Counts.from_dict((checkpoint if checkpoint["run"] == number else row)["counts"])
        numbers.update({(str(number), kind): getattr(counts, kind) for kind in _KINDS})
    for number, chunk in chunks_of_runs(target.runs, target.retry):
        for one in chunk.kept:
            # a better copy counts as the duplicate that it would have been, and is kept
            run = run_of(one.raw, is_kept=True) if target.rows.has_runs else None
            if chunk.again or run != number:
                numbers[str(run), KEPT] -= 1
                numbers[str(number), KEPT] += not chunk.again
        for one in chunk.rows:
            decision, reason = (raw_bson.field(one.raw, name) for name in ("decision", "reason"))
            numbers[str(run_of(one.raw, is_kept=False)), _kind(decision, reason)] -= 1
    return numbers


def _kind(decision: Any, reason: Any) -> str:
    return str(reason if decision == "duplicate" else decision)


def _counted(target: TargetReader) -> ByRun:
    kept: Any = {"run": "$dedup.run" if target.rows.has_runs else None, "decision": KEPT}
    rows = {"run": "$run", "decision": "$decision", "reason": "$reason"}
    numbers = ByRun()
    for collection, by in zip(target.decided, (kept, rows), strict=True):
        for one, n in _grouped(target, collection, by):
            numbers[str(one.get("run")), _kind(one.get("decision"), one.get("reason"))] += n
    return numbers


def stored_counts(target: TargetReader) -> Counts:
    """Return the counts of target and ledger; rows of unknown decisions count as quarantined."""
    superseded = {"$gt": ["$kept_by", None]}
    by = {"d": "$decision", "r": "$reason", "a": "$against", "k": superseded}
    counts = Counts(kept=estimated([target.documents], target.retry))
    for group, n in _grouped(target, target.ledger, by):
        reason, against = str(group.get("r")), group.get("a")
        name = _kind(group.get("d"), reason)
        more = {name if name in _KINDS[1:] else "quarantined": n, "replaced": n * group["k"]}
        reasons = {} if group.get("d") == "duplicate" else {reason: n}
        counts += Counts(**more, reasons=reasons, against={str(against): n} if against else {})
    return counts


def _grouped(
    target: TargetReader, collection: AnyCollection, by: Mapping[str, Any]
) -> Iterator[tuple[Any, int]]:
    steps = [{"$group": {"_id": by, "n": {"$sum": 1}}}]
    for one in target.reader(collection).aggregate(steps):
        yield one["_id"], int(one["n"])
