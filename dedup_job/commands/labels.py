"""Labels of pairs as lines of JSON: written for others to read, and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from dedup_job.commands.opened import Opened, opened
from dedup_job.documents import Pair
from dedup_job.errors import UsageError
from dedup_job.messages import Message, joined, said_by
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.extended_json import readings, shown_value
from dedup_job.mongo.maintenance.label_store import LabelRow, LabelStore
from dedup_job.mongo.maintenance.pair_reader import PairReader
from dedup_job.mongo.source import Source
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.parts import BREAK
from dedup_job.runs.asked_pairs import Label
from dedup_job.runs.decided import DUPLICATE, KEPT, DecidedDocument
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings

_LETTERS = {"S": Label.SAME, "D": Label.DIFFERENT, "U": Label.UNSURE}
_LETTER_OF = {label: letter for letter, label in _LETTERS.items()}
_DECISIONS = ("", DUPLICATE, KEPT)
_TOGETHER = 500  # labels; their texts are read at once
_NAMED = 10  # problems in a message
LONGEST_NAME = 100


def export_labels(settings: Settings, target: str, progress: Progress = QUIET) -> Iterator[str]:
    """Yield the labels of a target, of all names, as lines of JSON.

    A line has the texts as they are in the source (`a` of the kept document, `b` of the other), the
    label (S same, D different, U unsure), both ids, name, decision, similarity and time.
    """
    with opened(settings, target, progress) as on:
        yield from exported_lines(on, LabelStore(on.target).rows())


def import_labels(
    settings: Settings,
    target: str,
    lines: Sequence[str],
    name: str | None = None,
    progress: Progress = QUIET,
) -> int:
    """Store labels from lines of JSON; return how many are new, or later than those there are.

    name: the person who labelled, for lines without a name. UsageError names lines that are not
    labels; then none is stored.
    """
    with opened(settings, target, progress) as on:
        store = LabelStore(on.target)
        store.check()
        rows = imported_rows(on.target, lines, store.rows(), name)
        store.put(rows)
        return len(rows)


def exported_lines(on: Opened, rows: Sequence[LabelRow], between: str = "\n") -> Iterator[str]:
    """Yield labels with the texts that they are about; between: the parts of a text."""
    for start in range(0, len(rows), _TOGETHER):
        part = rows[start : start + _TOGETHER]
        texts = {key: text.replace(BREAK, between) for key, text in _texts(on, part).items()}
        for n, row in enumerate(part, start + 1):
            document = row.document
            line = {
                "n": n,
                "label": _LETTER_OF[row.label],
                "a": texts.get(document.pair.of),
                "b": texts.get(document.key),
                "id_a": shown_value(bson_edit.storable(bson_edit.own_key(document.pair.of))),
                **({"against": place} if (place := bson_edit.place_of(document.pair.of)) else {}),
                "id_b": shown_value(bson_edit.storable(document.key)),
                "kind": document.reason,
                "decision": document.decision,
                "similarity": document.pair.similarity,
                "blind": row.blind,
                "name": row.name,
                "when": row.when.isoformat(timespec="milliseconds"),
            }
            yield json.dumps(line, ensure_ascii=False)


def imported_rows(
    target: TargetReader,
    lines: Iterable[str],
    there: Sequence[LabelRow],
    name: str | None,
) -> list[LabelRow]:
    """Return the labels of lines of JSON that are new, or later than those that are there.

    name: the person who labelled, for lines without a name.
    """
    latest = {(*row.document.keys, row.name): row for row in there}
    fresh: dict[tuple[bytes, bytes, str], LabelRow] = {}
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = _row_of(line, name)
        except ValueError as e:
            problem = said_by(e)
            wrong.append(Message("line {line:,}: {problem}", line=number, problem=problem))
            continue
        own = (*row.document.keys, row.name)
        if own not in latest or latest[own].when < row.when:
            latest[own] = fresh[own] = row
    if wrong:
        head = Message("{number:,} lines are not labels; none was stored:", number=len(wrong))
        raise UsageError(problem_list(head, wrong))
    return _as_decided(target, [*fresh.values()])


def problem_list(head: Message, wrong: Sequence[str]) -> Message:
    """Return a message that names the first of many problems, a line each."""
    more = len(wrong) - _NAMED
    last = [Message("... and {number:,} more", number=more)] if more > 0 else []
    return joined([head, *wrong[:_NAMED], *last], "\n")


def object_of(line: str) -> dict[str, Any]:
    """Return what a line of JSON holds; ValueError where that is no object."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as e:
        raise ValueError(Message("it is not JSON ({why})", why=str(e))) from e
    if not isinstance(values, dict):
        raise ValueError(Message("it is not an object"))  # noqa: TRY004  # of the line's form
    return values


def _row_of(line: str, default: str | None) -> LabelRow:
    """Read a line; ValueError says what is wrong."""
    values = object_of(line)
    said = values.get("label")
    label = _LETTERS.get(said) if isinstance(said, str) else None
    if label is None:
        raise ValueError(Message("label is {label!r}, expected S, D or U", label=said))
    name = values.get("name") or default
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        given = values.get("name")
        raise ValueError(Message("name is {name!r}, expected who gave the label", name=given))
    similarity, decision = values.get("similarity"), values.get("decision", "")
    if decision not in _DECISIONS:
        raise ValueError(
            Message("decision is {decision!r}, expected duplicate or kept", decision=decision)
        )
    of_key, key = _id_of(values, "id_a"), _id_of(values, "id_b")
    if isinstance(place := values.get("against"), str) and "." in place and "\0" not in place:
        of_key = bson_edit.renamed(of_key, place.encode())
    alike = float(similarity) if isinstance(similarity, int | float) else None
    document = DecidedDocument(
        key, str(decision), str(values.get("kind") or ""), Pair(of_key, 0, alike, ())
    )
    blind, when = values.get("blind") is True, _time_of(values.get("when"))
    return LabelRow(document, name, label, blind, when)


def _id_of(values: Mapping[str, Any], name: str) -> bytes:
    written = values.get(name)
    if not isinstance(written, str | int) or isinstance(written, bool):
        raise ValueError(  # noqa: TRY004
            Message(
                "{name} is missing, the _id of a document as `dedup inspect` shows it", name=name
            )
        )
    for value in readings(str(written)):
        return bson_edit.stored(value)
    raise ValueError(Message("{name} is no _id", name=name))


def _time_of(written: Any) -> datetime:
    if written is None:
        return datetime.now(UTC)
    try:
        when = datetime.fromisoformat(written)
    except (TypeError, ValueError) as e:
        raise ValueError(
            Message("when is {when!r}, expected a time such as 2026-01-31T12:00Z", when=written)
        ) from e
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _as_decided(target: TargetReader, rows: Sequence[LabelRow]) -> list[LabelRow]:
    """Return labels with what was decided of their pairs, where a line does not say so."""
    open_ = [row.document for row in rows if not row.document.decision]
    reader = PairReader(target, list)
    dropped = reader.read(open_, texts=False)
    kept = reader.read([replace(pair, decision=KEPT) for pair in open_], texts=False)

    def decided(one: DecidedDocument) -> DecidedDocument:
        found = dropped.get(one.key)
        if found is None or found.pair.of != one.pair.of:
            found = kept.get(one.key)
        if one.decision or found is None:
            return one
        alike = found.pair.similarity
        pair = one.pair if alike is None else one.pair._replace(similarity=alike)
        return replace(one, decision=found.decision, reason=found.reason, pair=pair)

    return [replace(row, document=decided(row.document)) for row in rows]


def _texts(on: Opened, rows: Sequence[LabelRow]) -> dict[bytes, str]:
    """Return texts by key, as they are in the source; what is gone there, as in the target."""
    keys = [*dict.fromkeys(key for row in rows for key in row.document.keys)]
    own = [key for key in keys if not bson_edit.place_of(key)]
    found = Source(on.target.source, on.target.form.source, on.target.retry).texts(own)
    return {**on.target.texts([key for key in keys if key not in found]), **found}
