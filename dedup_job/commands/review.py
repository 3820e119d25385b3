"""Labels of pairs: given one by one to a sample, written as lines of JSON, and read again."""

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

from dedup_job.commands.opened import Opened, opened
from dedup_job.documents import Pair
from dedup_job.messages import Message, UsageError, joined, said_by
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.checks import check_target_lasts
from dedup_job.mongo.connection import translated
from dedup_job.mongo.id_keys import MALFORMED, parsed, shown_value
from dedup_job.mongo.reading import in_turn
from dedup_job.mongo.records import LabelRow, PairReader, label_rows, put_labels, texts_of_dropped
from dedup_job.mongo.sampling import Sampler
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import BREAK
from dedup_job.printing import id_as_json
from dedup_job.runs.decided import DUPLICATE, KEPT, DecidedDocument, ListFilter, What
from dedup_job.runs.run import QUIET, Progress
from dedup_job.runs.survey import AskedPair, Label, ReviewProgress, Share, review_sample
from dedup_job.settings import Settings, placed, what_is_wrong

_PATIENCE = 10.0  # seconds: a person waits for the answer
_LONGEST_NAME = 100
T = TypeVar("T")
LETTERS = {"S": Label.SAME, "D": Label.DIFFERENT, "U": Label.UNSURE}
LETTER_OF = {label: letter for letter, label in LETTERS.items()}
_WRONG = Message("{number:,} lines are not labels; none was stored:")
NAMED = 10
"""Problems in a message."""


def own_name(given: str | None) -> str:
    """Return the name under which answers are stored: the one given, else the user's own."""
    try:
        name = getpass.getuser() if given is None else given
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

    Raises UsageError without a run or a pair, StateMismatch if labels would not last.
    """
    with opened(settings, target, progress) as on:
        check_target_lasts(on.target.documents)
        on.progress.stage(Message("drawing a sample of pairs"))
        number, seed = sample
        near, refused = (
            Sampler(on.target, ListFilter(what)).draw(seed, number, number)
            for what in (What.NEAR, What.REFUSED)
        )
        drawn = review_sample(near, refused, number)
        if not drawn:
            raise UsageError(
                "{target} has nothing to review: no run dropped a near duplicate or compared "
                "two documents and kept them apart.",
                target=on.target.name,
            )
        on.target.retry.seconds = min(on.target.retry.seconds, _PATIENCE)
        on.target.retry.progress = QUIET  # it is shown no longer
        yield Review(on, name, drawn)


class Review:
    """A sample of pairs under review by one person, for several threads; stored_in: a namespace."""

    def __init__(self, on: Opened, name: str, drawn: Sequence[DecidedDocument]) -> None:
        self._on, self.target, self.name = on, on.target.name, name
        self.stored_in = on.target.labels.full_name
        self._reader = PairReader(on.target)
        self._drawn = {_key(pair): pair for pair in drawn}
        self._keys = [*self._drawn]
        self._storing = threading.Lock()
        self._said: dict[str, LabelRow] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read this person's labels again: they may come from another process as well."""
        with translated(), self._storing:
            rows = sorted(label_rows(self._on.target, self.name), key=lambda row: row.when)
            self._said = {_key(row.document): row for row in rows}

    def next_open(self, after: str | None = None) -> str | None:
        """Return the first pair without an answer behind this one, then from the beginning."""
        start = self._keys.index(after) + 1 if after in self._drawn else 0
        order = [*self._keys[start:], *self._keys[:start]]
        return next((key for key in order if key not in self._said), None)

    def before(self, key: str | None) -> str:
        """Return the pair before this one in the sample; the first one has none before it."""
        place = self._keys.index(key) if key in self._drawn else len(self._keys)
        return self._keys[max(place - 1, 0)]

    def pair(self, key: str) -> AskedPair:
        """Return a pair with its texts; UsageError where it is not of this review."""
        said, drawn = self._said.get(key), self._known(key)
        with translated():
            pair = self._read(drawn)
        number = self._keys.index(key) + 1 if key in self._drawn else 0
        return AskedPair(key, number, pair, said.label if said else None)

    def answer(self, key: str, label: Label) -> None:
        """Store what the person says of a pair, in place of what they said before."""
        with translated(), self._storing:
            row = LabelRow(self._known(key), self.name, label, datetime.now(UTC))
            put_labels(self._on.target, [row])
            self._said = {**{k: v for k, v in self._said.items() if k != key}, key: row}

    def progress(self) -> ReviewProgress:
        """Return figures over all that this person said of the target."""
        rows = self._said
        said = Counter((row.document.decision, row.label) for row in rows.values())
        same = said[DUPLICATE, Label.SAME]
        return ReviewProgress(
            sum(key in rows for key in self._keys),
            len(self._keys),
            Share(same, same + said[DUPLICATE, Label.DIFFERENT]),
            Share(same, same + said[KEPT, Label.SAME]),
            sum(n for (_, label), n in said.items() if label is Label.UNSURE),
        )

    def _read(self, drawn: DecidedDocument) -> DecidedDocument:
        found = self._reader.read([drawn]).get(drawn.key)
        if found is not None and found.pair.of == drawn.pair.of:
            return found
        texts = self._on.target.texts([*drawn.keys])
        text, other = texts.get(drawn.key), texts.get(drawn.pair.of)
        if text is None:
            text = texts_of_dropped(self._on.target, [drawn.key]).get(drawn.key)
        said = drawn.key, drawn.decision, drawn.reason, drawn.pair
        return self._reader.named(*said, text=text, other=other)

    def _known(self, key: str) -> DecidedDocument:
        if key in self._drawn:
            return self._drawn[key]
        if key not in self._said:
            raise UsageError("this page is of another review: load it anew.")
        return self._said[key].document


def _key(pair: DecidedDocument) -> str:
    return xxhash.xxh3_128_hexdigest(b"".join(pair.keys))


def export_labels(settings: Settings, target: str, progress: Progress = QUIET) -> Iterator[str]:
    """Yield the labels of a target, of all names, as lines of JSON."""
    with opened(settings, target, progress) as on:
        for line in label_lines(on):
            yield json.dumps(line, ensure_ascii=False)


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
        check_target_lasts(on.target.documents)
        latest = {(*row.document.keys, row.name): row.when for row in label_rows(on.target)}
        fresh: dict[Any, LabelRow] = {}
        for row in read_lines(lines, lambda line, _: _Line(**line).row(name), _WRONG):
            own = (*row.document.keys, row.name)
            if own not in latest or latest[own] < row.when:
                latest[own], fresh[own] = row.when, row
        put_labels(on.target, _as_decided(on.target, [*fresh.values()]))
        return len(fresh)


def label_lines(on: Opened, between: str = "\n") -> Iterator[dict[str, Any]]:
    """Yield all labels with the texts that they are about; between: the parts of a text."""
    numbers = count(1)
    for part in in_turn(label_rows(on.target)):
        texts = {key: text.replace(BREAK, between) for key, text in _texts(on, part).items()}
        for row in part:
            document = row.document
            place = id_keys.place_of(document.pair.of)
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
    return id_as_json(shown_value(id_keys.storable(id_keys.own_key(key))))


def _texts(on: Opened, rows: Sequence[LabelRow]) -> dict[bytes, str]:
    keys = [*dict.fromkeys(key for row in rows for key in row.document.keys)]
    own = [key for key in keys if not id_keys.place_of(key)]
    found = on.target.origin.texts(own)
    return {**on.target.texts([key for key in keys if key not in found]), **found}


class _Line(BaseModel):
    label: Literal["S", "D", "U"]
    id_a: Any
    id_b: Any
    against: str = Field("", pattern=r"^([^.\x00]+\.[^\x00]+)?$")
    name: str | None = None
    when: datetime | None = None

    def row(self, default: str | None) -> LabelRow:
        """Return the label; ValueError if its name or an _id is none. default: a name."""
        name = self.name or default or ""
        if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
            raise ValueError(Message("name is {name!r}, expected who gave the label", name=name))
        of, key = (id_keys.stored(parsed(json.dumps(each))) for each in (self.id_a, self.id_b))
        of = raw_bson.renamed(of, self.against.encode()) if self.against else of
        when = self.when or datetime.now(UTC)
        return LabelRow(
            DecidedDocument(key, "", "", Pair(of, 0, None, ())),
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
    """Return a value for each line of JSON; UsageError names the first wrong lines below a head.

    read: makes the value of an object, and of the words for its line; ValueError if it is wrong.
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
            problem = said_by(e)
            if isinstance(e, ValidationError):
                (first, *_) = e.errors()
                problem = placed(".".join(map(str, first["loc"])), what_is_wrong(first))
            wrong.append(Message("{where}: {problem}", where=where, problem=problem))
    if wrong:
        raise UsageError(problem_list(Message(head, number=len(wrong)), wrong))
    return values


def problem_list(head: Message, wrong: Sequence[str]) -> Message:
    """Return a message that names the first of many problems, a line each."""
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


def _as_decided(target: TargetReader, rows: Sequence[LabelRow]) -> list[LabelRow]:
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
