"""A sample of pairs that a person labels, one by one: what `dedup review` shows and stores."""

from __future__ import annotations

import getpass
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import xxhash

from dedup_job.cleaning import Cleaner
from dedup_job.commands.labels import LONGEST_NAME, exported_lines, imported_rows
from dedup_job.commands.opened import Opened, opened
from dedup_job.commands.restore import Restored, restore
from dedup_job.errors import UsageError, Vanished
from dedup_job.messages import Message
from dedup_job.mongo.bson.edit import place_of
from dedup_job.mongo.bson.extended_json import shown, unmistakable
from dedup_job.mongo.errors import translated
from dedup_job.mongo.maintenance.label_store import LabelRow, LabelStore
from dedup_job.mongo.maintenance.lease_admin import existing_parts
from dedup_job.mongo.maintenance.pair_reader import PairReader
from dedup_job.mongo.maintenance.records import texts_of_dropped
from dedup_job.mongo.maintenance.sampling import Sampler
from dedup_job.mongo.reading import majority, some
from dedup_job.runs.asked_pairs import AskedPair, Label, ReviewProgress
from dedup_job.runs.decided import DUPLICATE, KEPT, DecidedDocument
from dedup_job.runs.list_filter import ListFilter, What
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.runs.share import Share
from dedup_job.runs.survey import review_sample
from dedup_job.settings import Settings

_PATIENCE = 10.0  # seconds: a person waits for the answer
_SHOWN = 100  # documents in the list of those that were dropped wrongly
_BEGINNING = 80  # characters of their texts


@dataclass(frozen=True, slots=True)
class Assignment:
    """What to review, and who does. blind: the decision is hidden until it is answered."""

    target: str
    name: str
    number: int = 100
    seed: int = 0
    blind: bool = False


def own_name(given: str | None) -> str:
    """Return the name under which answers are stored: the one given, else the user's own."""
    try:
        name = getpass.getuser() if given is None else given
    except (KeyError, OSError, ImportError) as e:
        raise UsageError(Message("this user has no name; give one with --name.")) from e
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            Message(
                "--name is {name!r}, expected 1 to {most} printable characters.",
                name=name[:LONGEST_NAME],
                most=LONGEST_NAME,
            )
        )
    return name


@contextmanager
def open_review(
    settings: Settings, wanted: Assignment, progress: Progress = QUIET
) -> Iterator[Review]:
    """Draw the sample; yield what shows it and takes answers.

    UsageError where there is no run or no pair, or a right is missing; StateMismatch where
    `T.labels` would lose what is written to it.
    """
    with opened(settings, wanted.target, progress) as on:
        labels = LabelStore(on.target)
        labels.check()
        on.progress.stage(Message("drawing a sample of pairs"))
        drawn = _draw(on, wanted)
        if not drawn:
            raise UsageError(
                Message(
                    "{target} has nothing to review: no run dropped a near duplicate or compared "
                    "two documents and kept them apart.",
                    target=on.target.name,
                )
            )
        on.target.retry.seconds = min(on.target.retry.seconds, _PATIENCE)
        on.target.retry.progress = None  # it is shown no longer
        yield Review(on, settings, wanted, drawn)


class Review:
    """A sample of pairs under review by one person. May be called from several threads."""

    def __init__(
        self,
        on: Opened,
        settings: Settings,
        wanted: Assignment,
        drawn: Sequence[DecidedDocument],
    ) -> None:
        self._on, self._settings, self._wanted = on, settings, wanted
        self._labels = LabelStore(on.target)
        self._reader = PairReader(on.target, Cleaner(on.settings.cleaning).clean_all)
        self._drawn = {_key(pair): pair for pair in drawn}
        self._keys = [*self._drawn]
        self._restoring = threading.Lock()
        self._storing = threading.Lock()
        self._said: dict[str, LabelRow] = {}
        self._opened = existing_parts(on.target)
        self.refresh()

    @property
    def target(self) -> str:
        """The namespace of the target."""
        return self._on.target.name

    @property
    def stored_in(self) -> str:
        """The namespace of the labels."""
        return self._labels.full_name

    @property
    def name(self) -> str:
        """Who answers."""
        return self._wanted.name

    def refresh(self) -> None:
        """Read this person's labels again: they may come from another process as well."""
        with translated(), self._storing:
            rows = sorted(self._labels.rows(self.name), key=lambda row: row.when)
            self._said = {_key(row.document): row for row in rows}

    def check(self) -> None:
        """Raise Vanished where a collection is gone that the page shows something of."""
        with translated():
            there = existing_parts(self._on.target)
        gone = self._opened - there - {self.stored_in}
        if gone:
            raise Vanished(
                Message(
                    "no longer in the database: {gone}. Someone dropped it while this page was "
                    "open; nothing was done. End the page with Ctrl-C in its terminal.",
                    gone=", ".join(sorted(gone)),
                )
            )
        if self._said and self.stored_in not in there:
            raise Vanished(
                Message(
                    "no longer in the database: {labels}, which held the answers. Someone dropped "
                    "it while this page was open; nothing was done. Reload the page to begin anew.",
                    labels=self.stored_in,
                )
            )

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
            pair, restored = self._read(drawn)
        number = self._keys.index(key) + 1 if key in self._drawn else 0
        hidden = self._wanted.blind and said is None
        return AskedPair(key, number, pair, said.label if said else None, hidden, restored)

    def answer(self, key: str, label: Label) -> None:
        """Store what the person says of a pair, in place of what they said before."""
        with translated(), self._storing:
            former, pair = self._said.get(key), self._known(key)
            # who changes an answer has seen the decision
            blind = self._wanted.blind if former is None else former.label is label
            blind = blind and (former is None or former.blind)
            row = LabelRow(pair, self.name, label, blind, datetime.now(UTC))
            self._labels.put([row])
            self._said = {**{k: v for k, v in self._said.items() if k != key}, key: row}

    def progress(self) -> ReviewProgress:
        """Return figures over all that this person said of the target, and what to put back."""
        with translated():
            rows = self._said
            said = Counter((row.document.decision, row.label) for row in rows.values())
            same = said[DUPLICATE, Label.SAME]
            joined = same + said[DUPLICATE, Label.DIFFERENT]
            wrong = [row.document for row in rows.values() if row.is_wrong_drop]
            return ReviewProgress(
                sum(key in rows for key in self._keys),
                len(self._keys),
                Share(same, joined),
                Share(same, same + said[KEPT, Label.SAME]),
                sum(n for (_, label), n in said.items() if label is Label.UNSURE),
                self._wrong_drops(wrong[-_SHOWN:][::-1]),
                max(len(wrong) - _SHOWN, 0),
            )

    def restore(self, keys: Sequence[str]) -> Restored:
        """Put documents of pairs back into the target; errors as of `commands.restore`."""
        chosen = [self._known(key).key for key in dict.fromkeys(keys)]
        if not chosen:
            raise UsageError(Message("no document is chosen."))
        ids = [*map(unmistakable, chosen)]
        with self._restoring:  # else the second would be refused by the lease of the first
            return restore(self._settings, self._wanted.target, ids)

    def export(self) -> Iterator[str]:
        """Yield this person's labels as lines of JSON."""
        with translated():
            yield from exported_lines(self._on, self._labels.rows(self.name))

    def import_lines(self, lines: Sequence[str]) -> int:
        """Store labels from lines of JSON, this person's own where a line names nobody.

        Returns how many are new; UsageError as of `import_labels`.
        """
        with translated():
            rows = imported_rows(self._on.target, lines, self._labels.rows(), self.name)
            self._labels.put(rows)
        self.refresh()
        return len(rows)

    def _read(self, drawn: DecidedDocument) -> tuple[DecidedDocument, bool]:
        """Return a pair with its texts, and whether the dropped one is kept by now."""
        found = self._reader.read([drawn]).get(drawn.key)
        if found is not None and found.pair.of == drawn.pair.of:
            return found, False
        texts = self._on.target.texts([*drawn.keys])
        text = texts.get(drawn.key) or self._dropped_texts([drawn.key]).get(drawn.key)
        pair = replace(
            drawn,
            id=shown(drawn.key),
            of=shown(drawn.pair.of),
            against=place_of(drawn.pair.of),
            text=text,
            other=texts.get(drawn.pair.of),
        )
        was_dropped = drawn.decision == DUPLICATE
        return pair, was_dropped and found is None and drawn.key in texts

    def _dropped_texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        return texts_of_dropped(self._on.target, self._reader.clean_all, keys)

    def _known(self, key: str) -> DecidedDocument:
        if key in self._drawn:
            return self._drawn[key]
        if key not in self._said:
            raise UsageError(Message("this page is of another review: load it anew."))
        return self._said[key].document

    def _wrong_drops(self, pairs: Sequence[DecidedDocument]) -> list[AskedPair]:
        keys = [pair.key for pair in pairs]
        target = self._on.target
        kept = {
            found.key for found in some(majority(target.documents), keys, {"_id": 1}, target.retry)
        }
        begins = {key: text[:_BEGINNING] for key, text in self._dropped_texts(keys).items() if text}
        named = [replace(p, id=shown(p.key), text=begins.get(p.key)) for p in pairs]
        return [
            AskedPair(_key(p), 0, p, Label.DIFFERENT, hidden=False, restored=p.key in kept)
            for p in named
        ]


def _draw(on: Opened, wanted: Assignment) -> list[DecidedDocument]:
    """Draw the sample; of a blind one the order tells nothing of what was decided."""
    clean_all, number = Cleaner(on.settings.cleaning).clean_all, wanted.number
    near, refused = (
        Sampler(on.target, clean_all, ListFilter(what)).draw(wanted.seed, number, number)
        for what in (What.NEAR, What.REFUSED)
    )
    drawn = review_sample(near, refused, number)
    if wanted.blind:
        drawn.sort(key=lambda pair: xxhash.xxh3_64_intdigest(pair.key, seed=wanted.seed))
    return drawn


def _key(pair: DecidedDocument) -> str:
    """Return a short name of a pair that an address or a form can hold."""
    return xxhash.xxh3_128_hexdigest(b"".join(pair.keys))
