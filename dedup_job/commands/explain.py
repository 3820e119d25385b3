"""What is known of one decision: read from the ledger, target and source, and looked at anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import Opened, opened
from dedup_job.commands.texts import Neighbourhood
from dedup_job.decision.pair import PairView, PairViewer
from dedup_job.documents import Document, Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.fingerprint import Explanation, Fingerprinter
from dedup_job.mongo.bson.edit import type_name_at
from dedup_job.mongo.bson.extended_json import readings, shown, shown_value, unmistakable
from dedup_job.mongo.care.lists import Lister
from dedup_job.mongo.care.records import KeptRecord, Record, Records
from dedup_job.printing import for_shell
from dedup_job.report.progress import QUIET, Progress
from dedup_job.report.samples import Sample
from dedup_job.report.wanted import Wanted
from dedup_job.settings import Settings

_MAX_VIEWED = 64
_MAX_LISTED = 20
_MAX_SHOWN = 200  # characters of an _id that a message repeats


@dataclass(frozen=True, slots=True)
class Side:
    """A document of a pair: its `_id` as shown, its text or why there is none."""

    id: str
    text: str | None
    why_not: str = ""
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """A kept document near another: whether it was kept before that one, where that is known."""

    side: Side
    view: PairView
    before: bool | None


@dataclass(frozen=True, slots=True)
class Explained:
    """All that there is to say of one `_id`.

    settings_of: the run whose settings these are, 0 where they were given; also: other readings of
    the id that exist, unmistakable; left, right: the texts of a duplicate and of the kept document,
    with their view; near: of a kept one, the nearest candidates of all that were found; duplicates:
    of a kept one, the first of `dropped` that were dropped for it.
    """

    id: str
    target: str
    source: str
    settings: Settings
    settings_of: int
    also: tuple[str, ...]
    row: Mapping[str, Any] | None
    kept: KeptRecord | None
    run: Mapping[str, Any] | None
    left: Side
    right: Side | None = None
    view: PairView | None = None
    near: tuple[Near, ...] = ()
    found: int = 0
    among: int = 0
    duplicates: tuple[Sample, ...] = ()
    dropped: int = 0


def explain_id(
    settings: Settings, name: str, written: str, progress: Progress = QUIET, *, given: bool = True
) -> Explained:
    """Look an `_id` up in a target; UsageError where no run decided it.

    given: the settings are the user's own; else those of the target's last run are used.
    """
    with opened(settings, name, progress, given=given) as on:
        return _explained(on, written)


def _explained(on: Opened, written: str) -> Explained:
    on.progress.stage("looking the document up")
    records = Records(on.target)
    record, *others = decided_records(on, records, written)
    row, kept = record.row, record.kept
    number = row["run"] if row else kept.run if kept else 0
    base = Explained(
        id=shown(record.key),
        target=on.target.name,
        source=on.target.source.full_name,
        settings=on.settings,
        settings_of=on.settings_of,
        also=tuple(unmistakable(other.key) for other in others),
        row=row,
        kept=kept,
        run=on.target.run(number) if number else None,
        left=_source_side(on.settings, record),
    )
    if row is not None and row.get("decision") != "duplicate":
        return base
    on.progress.stage("loading the dictionary")
    if row is not None:
        return _with_pair(base, on, *records.kept_by_row(row))
    assert kept is not None  # it is decided
    return _with_duplicates(_with_near(base, on, record.key, kept), on, record.key)


def _with_duplicates(base: Explained, on: Opened, key: bytes) -> Explained:
    on.progress.stage("looking for its duplicates")
    lister = Lister(on.target, Cleaner(on.settings.cleaning).clean_all, Wanted("dropped"), key)
    duplicates, dropped = lister.counted(_MAX_LISTED)
    return replace(base, duplicates=tuple(duplicates), dropped=dropped)


def decided_records(on: Opened, records: Records, written: str) -> list[Record]:
    """Return the decided documents that the id may mean; UsageError says what to check."""
    found = records.find(written)
    decided = [record for record in found if record.decided]
    if decided:
        return decided
    if not [*readings(written)]:
        raise UsageError(f"the _id {written!r} is not in UTF-8, as ids are.")
    tried = ", ".join(_brief(shown_value(value)) for value in readings(written))
    name = _brief(repr(written))
    message = f"no run of the target {on.target.name} decided an _id {name} (read as {tried})."
    source = on.target.source.full_name
    if found:
        raise UsageError(
            f"{message} The source {source} holds {shown(found[0].key)}: it came after the last "
            "run, or --limit, --query or a stop left it out. The next `dedup run` decides it."
        )
    raise UsageError(
        f"{message} Nor does the source {source} hold it. Check the id, its type (extended JSON "
        'says which: \'{"$oid": "..."}\', 17, \'"17"\') and --target.'
    )


def several(written: str, records: Sequence[Record]) -> UsageError:
    """Return what refuses an id that may mean several documents."""
    names = " or ".join(for_shell(unmistakable(record.key)) for record in records)
    return UsageError(
        f"{written!r} may be one of several; write the one you mean, quoted for a shell: {names}."
    )


def _brief(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _source_side(settings: Settings, record: Record) -> Side:
    """Return the text of the source document, or of the ledger's copy, cleaned as by a run."""
    name = shown(record.key)
    if record.dropped is None:
        return Side(name, None, "the source no longer holds it")
    content = record.dropped.content
    if not isinstance(content, str):
        return Side(name, None, refusal(record.dropped, settings.source.field))
    text = Cleaner(settings.cleaning).clean(content)
    return Side(name, text or None, "" if text else "nothing is left of it after cleaning")


def refusal(document: Document, field: str) -> str:
    """Return in words why a document has no text in its field."""
    content = document.content
    if isinstance(content, Quarantined):
        return f"{content.reason}: {content.detail}"
    if content != Skipped(Reason.NOT_TEXT):
        return f"field `{field}` is missing now"
    return f"field `{field}` is {type_name_at(document.raw, field.split('.'))} now, not text"


def _kept_side(key: bytes, kept: KeptRecord | None) -> Side:
    if kept is None:
        return Side(shown(key), None, "the target no longer holds it")
    return Side(shown(key), kept.text, "" if kept.text is not None else "its text is gone")


def _with_pair(base: Explained, on: Opened, key: bytes, kept: KeptRecord | None) -> Explained:
    fingerprinter = on.equipment.fingerprinter
    left, right = _seen(base.left, fingerprinter), _seen(_kept_side(key, kept), fingerprinter)
    view = None
    if left.text is not None and right.text is not None:
        prints = fingerprinter.fingerprint([left.text, right.text])
        viewer = PairViewer(on.settings.decision, on.settings.index, on.equipment.any_judge)
        view = viewer.view(left.text, right.text, prints)
    return replace(base, left=left, right=right, view=view)


def _with_near(base: Explained, on: Opened, key: bytes, kept: KeptRecord) -> Explained:
    """Look for the nearest candidates of a kept document among all that are kept now."""
    left = _seen(_kept_side(key, kept), on.equipment.fingerprinter)
    if left.text is None:
        return replace(base, left=left)
    around = Neighbourhood(on, left.text)
    numbers = around.found()
    own = around.number_of(key, numbers)
    others = [number for number in numbers if number != own]
    near = [
        Near(Side(shown(one.key), one.text), one.view, None if own is None else one.number < own)
        for one in around.look_at(others[:_MAX_VIEWED])
    ]
    near.sort(
        key=lambda n: (-n.view.similarity, 64 if n.view.distance is None else n.view.distance)
    )
    return replace(base, left=left, near=tuple(near), found=len(others), among=len(around) - 1)


def _seen(side: Side, fingerprinter: Fingerprinter) -> Side:
    if side.text is None:
        return side
    return replace(side, explanation=fingerprinter.explain(side.text))
