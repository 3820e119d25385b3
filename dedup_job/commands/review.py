"""Labels of pairs: given one by one to a sample, exported and imported as lines of JSON."""

import getpass
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal, TypeVar

import xxhash
from pydantic import BaseModel, Field, ValidationError

from dedup_job.commands.session import Session, open_target
from dedup_job.documents import Pair
from dedup_job.messages import Message, UsageError, joined, message_of
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.checks import check_target_lasts
from dedup_job.mongo.connection import translate_errors
from dedup_job.mongo.id_keys import MALFORMED, parsed, shown_value
from dedup_job.mongo.reading import in_turn
from dedup_job.mongo.records import (
    LabelRow,
    PairReader,
    label_rows,
    texts_of_dropped,
    write_pair_labels,
)
from dedup_job.mongo.sampling import Sampler
from dedup_job.mongo.target import Target
from dedup_job.native.bytes_column import BREAK
from dedup_job.printing import id_as_json
from dedup_job.runs.decided import DUPLICATE, KEPT, DecidedDocument, ListFilter, ListKind
from dedup_job.runs.run_record import QUIET, Progress
from dedup_job.runs.survey import AskedPair, Label, Proportion, ReviewProgress, review_sample
from dedup_job.settings import Settings, located, validation_message

_PATIENCE = 10.0  # seconds: a person waits for the answer
_LONGEST_NAME = 100
T = TypeVar("T")
LETTERS = {"S": Label.SAME, "D": Label.DIFFERENT, "U": Label.UNSURE}
LETTER_OF = {label: letter for letter, label in LETTERS.items()}
_WRONG = Message("{number:,} lines are not labels; none was stored:")
NAMED = 10
"""Largest number of problems that a message names."""


def own_name(name: str | None) -> str:
    """Return the name to store answers under, by default the user's; UsageError if unusable."""
    try:
        name = getpass.getuser() if name is None else name
    except (KeyError, OSError, ImportError) as e:
        raise UsageError("this user has no name; give one with --name.") from e
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError(
            "--name is {name!r}, expected 1 to {most} printable characters.",
            name=name[:_LONGEST_NAME],
            most=_LONGEST_NAME,
        )
    return name


@contextmanager
def open_review(
    settings: Settings,
    target: str,
    name: str,
    sample: tuple[int, int],
    progress: Progress = QUIET,
) -> "Iterator[Review]":
    """Draw a sample, by number and seed; yield its review by a person of this name.

    UsageError without a run or a pair, StateMismatch if labels would not last.
    """
    with open_target(settings, target, progress) as session:
        check_target_lasts(session.target.documents)
        progress.stage(Message("drawing a sample of pairs"))
        number, seed = sample
        near, refused = (
            Sampler(session.target, ListFilter(what)).draw(seed, number, number)
            for what in (ListKind.NEAR, ListKind.REFUSED)
        )
        pairs = review_sample(near, refused, number)
        if not pairs:
            raise UsageError(
                "{target} has nothing to review: no run dropped a near duplicate or compared "
                "two documents and kept them apart.",
                target=session.target.name,
            )
        retry = session.target.retry
        retry.seconds = min(retry.seconds, _PATIENCE)
        retry.progress = QUIET  # it is shown no longer
        yield Review(session.target, name, pairs)


class Review:
    """A thread-safe review of sampled pairs by one person; stored_in: namespace of the labels."""

    def __init__(self, target: Target, name: str, pairs: Sequence[DecidedDocument]) -> None:
        self._target, self.target, self.name = target, target.name, name
        self.stored_in = target.labels.full_name
        self._reader = PairReader(target)
        self._pairs = {_key(pair): pair for pair in pairs}
        self._keys = [*self._pairs]
        self._storing = threading.Lock()
        self._labels: dict[str, LabelRow] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read this person's labels again, since another process may have stored some."""
        with translate_errors(), self._storing:
            rows = sorted(label_rows(self._target, self.name), key=lambda row: row.when)
            self._labels = {_key(row.document): row for row in rows}

    def next_unanswered(self, after: str | None = None) -> str | None:
        """Return the key of the next pair without an answer, from the start at the end; or None."""
        start = self._keys.index(after) + 1 if after in self._pairs else 0
        order = [*self._keys[start:], *self._keys[:start]]
        return next((key for key in order if key not in self._labels), None)

    def previous(self, key: str | None) -> str:
        """Return the key of the pair before this one in the sample, or of the first one."""
        position = self._keys.index(key) if key in self._pairs else len(self._keys)
        return self._keys[max(position - 1, 0)]

    def pair(self, key: str) -> AskedPair:
        """Return a pair with its texts and label; UsageError if it is not of this review."""
        stored, known = self._labels.get(key), self._known(key)
        with translate_errors():
            pair = self._read(known)
        number = self._keys.index(key) + 1 if key in self._pairs else 0
        return AskedPair(key, number, pair, stored.label if stored else None)

    def answer(self, key: str, label: Label) -> None:
        """Store the person's label of a pair in place of the former one."""
        with translate_errors(), self._storing:
            row = LabelRow(self._known(key), self.name, label, datetime.now(UTC))
            write_pair_labels(self._target, [row])
            self._labels = {**{k: v for k, v in self._labels.items() if k != key}, key: row}

    def progress(self) -> ReviewProgress:
        """Return the figures over all labels that this person gave for the target."""
        rows = self._labels
        counts = Counter((row.document.decision, row.label) for row in rows.values())
        same = counts[DUPLICATE, Label.SAME]
        return ReviewProgress(
            sum(key in rows for key in self._keys),
            len(self._keys),
            Proportion(same, same + counts[DUPLICATE, Label.DIFFERENT]),
            Proportion(same, same + counts[KEPT, Label.SAME]),
            sum(n for (_, label), n in counts.items() if label is Label.UNSURE),
        )

    def _read(self, pair: DecidedDocument) -> DecidedDocument:
        found = self._reader.read([pair]).get(pair.key)
        if found is not None and found.pair.of == pair.pair.of:
            return found
        texts = self._target.texts([*pair.keys])
        text, other = texts.get(pair.key), texts.get(pair.pair.of)
        if text is None:
            text = texts_of_dropped(self._target, [pair.key]).get(pair.key)
        decided = pair.key, pair.decision, pair.reason, pair.pair
        return self._reader.named(*decided, text=text, other=other)

    def _known(self, key: str) -> DecidedDocument:
        if key in self._pairs:
            return self._pairs[key]
        if key not in self._labels:
            raise UsageError("this page is of another review: reload it.")
        return self._labels[key].document


def _key(pair: DecidedDocument) -> str:
    return xxhash.xxh3_128_hexdigest(b"".join(pair.keys))


def export_labels(settings: Settings, target: str, progress: Progress = QUIET) -> Iterator[str]:
    """Yield the labels of a target, of all names, as lines of JSON."""
    with open_target(settings, target, progress) as session:
        for line in label_objects(session):
            yield json.dumps(line, ensure_ascii=False)


def import_labels(
    settings: Settings,
    target: str,
    lines: Sequence[str],
    name: str | None = None,
    progress: Progress = QUIET,
) -> int:
    """Store labels from lines of JSON that are new or later than stored ones; return their number.

    name: the person who labelled, for lines without a name. UsageError names malformed lines; then
    none is stored.
    """
    with open_target(settings, target, progress) as session:
        check_target_lasts(session.target.documents)
        latest = {(*row.document.keys, row.name): row.when for row in label_rows(session.target)}
        fresh: dict[Any, LabelRow] = {}
        for row in read_lines(lines, lambda line, _: _Line(**line).row(name), _WRONG):
            own = (*row.document.keys, row.name)
            if own not in latest or latest[own] < row.when:
                latest[own], fresh[own] = row.when, row
        write_pair_labels(session.target, _with_decisions(session.target, [*fresh.values()]))
        return len(fresh)


def label_objects(session: Session, separator: str = "\n") -> Iterator[dict[str, Any]]:
    """Yield the labels of a target as JSON objects with both texts; separator: between fields."""
    numbers = count(1)
    for part in in_turn(label_rows(session.target)):
        found = _texts(session.target, part)
        texts = {key: text.replace(BREAK, separator) for key, text in found.items()}
        for row in part:
            document = row.document
            place = id_keys.reference_name(document.pair.of)
            yield {
                "n": next(numbers),
                "label": LETTER_OF[row.label],
                "a": texts.get(document.pair.of),
                "b": texts.get(document.key),
                "id_a": _id_as_json(document.pair.of),
                **({"against": place} if place else {}),
                "id_b": _id_as_json(document.key),
                "kind": document.reason,
                "decision": document.decision,
                "similarity": document.pair.similarity,
                "name": row.name,
                "when": row.when.isoformat(timespec="milliseconds"),
            }


def _id_as_json(key: bytes) -> Any:
    return id_as_json(shown_value(id_keys.lossless_value(id_keys.own_key(key))))


def _texts(target: Target, rows: Sequence[LabelRow]) -> dict[bytes, str]:
    keys = [*dict.fromkeys(key for row in rows for key in row.document.keys)]
    found = target.origin.texts([key for key in keys if not id_keys.reference_name(key)])
    return {**target.texts([key for key in keys if key not in found]), **found}


class _Line(BaseModel):
    label: Literal["S", "D", "U"]
    id_a: Any
    id_b: Any
    against: str = Field("", pattern=r"^([^.\x00]+\.[^\x00]+)?$")
    name: str | None = None
    when: datetime | None = None

    def row(self, default: str | None) -> LabelRow:
        """Return the label; ValueError if its name or an `_id` is unusable. default: the name."""
        name = self.name or default or ""
        if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
            raise ValueError(Message("name is {name!r}, expected who gave the label", name=name))
        original, key = (
            id_keys.key_from_value(parsed(json.dumps(id_))) for id_ in (self.id_a, self.id_b)
        )
        if self.against:
            original = raw_bson.renamed(original, self.against.encode())
        when = self.when or datetime.now(UTC)
        return LabelRow(
            DecidedDocument(key, "", "", Pair(original, 0, None, ())),
            name,
            LETTERS[self.label],
            when if when.tzinfo else when.replace(tzinfo=UTC),
        )


def read_lines(
    lines: Iterable[str],
    read: Callable[[dict[str, Any], Message], T],
    head: Message,
    file: str = "",
) -> list[T]:
    """Return a value for each line of JSON; UsageError lists malformed lines below a head.

    read: returns the value of an object, given the name of its line; ValueError if malformed.
    """
    values, wrong = list[T](), list[str]()
    for number, line in enumerate(lines, 1):
        where = Message("line {line:,}", line=number)
        if file:
            where = Message("{file}, line {line:,}", file=file, line=number)
        try:
            if line.strip():
                values.append(read(_object_of(line), where))
        except (ValueError, *MALFORMED) as e:
            problem = message_of(e)
            if isinstance(e, ValidationError):
                (first, *_) = e.errors()
                problem = located(".".join(map(str, first["loc"])), validation_message(first))
            wrong.append(Message("{where}: {problem}", where=where, problem=problem))
    if wrong:
        raise UsageError(problem_list(Message(head, number=len(wrong)), wrong))
    return values


def problem_list(head: Message, wrong: Sequence[str]) -> Message:
    """Return a message of the head and the first problems, a line each."""
    more = len(wrong) - NAMED
    last = [Message("... and {number:,} more", number=more)] if more > 0 else []
    return joined([head, *wrong[:NAMED], *last], "\n")


def _object_of(line: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as e:
        raise ValueError(Message("it is not JSON ({why})", why=str(e))) from e
    if not isinstance(values, dict):
        raise ValueError(Message("it is not an object"))  # noqa: TRY004  # of the line's form
    return values


def _with_decisions(target: Target, rows: Sequence[LabelRow]) -> list[LabelRow]:
    pairs, reader = [row.document for row in rows], PairReader(target)
    dropped = reader.read(pairs, texts=False)
    kept = reader.read([replace(pair, decision=KEPT) for pair in pairs], texts=False)

    def decided(one: DecidedDocument) -> DecidedDocument:
        found = dropped.get(one.key)
        if found is None or found.pair.of != one.pair.of:
            found = kept.get(one.key)
        if found is None:
            return one
        pair = one.pair._replace(similarity=found.pair.similarity)
        return replace(one, decision=found.decision, reason=found.reason, pair=pair)

    return [replace(row, document=decided(row.document)) for row in rows]
