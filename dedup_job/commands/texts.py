"""What the tool sees in a text, how it compares two, and what a target holds near one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Documents, Fingerprints
from dedup_job.commands.opened import Opened, opened
from dedup_job.decision import Equipment, FirstWins
from dedup_job.decision.pair import PairView, PairViewer
from dedup_job.documents import Decision, Document, too_long
from dedup_job.errors import UsageError
from dedup_job.fingerprint import Explanation
from dedup_job.index import KeptIndex
from dedup_job.job.index_loading import load_index
from dedup_job.report.progress import QUIET, Progress
from dedup_job.settings import Settings, expect_settings

_MAX_VIEWED = 1000
_KEY = b"\x02_id\0\x01\0\0\0\0"  # of a document that is in no collection: only a key is needed


@dataclass(frozen=True, slots=True)
class SeenText:
    """A text as the tool sees it.

    text: cleaned; value: the fingerprint, 64 bits; short: the text has too few features, so its
    fingerprint is a hash of the whole; why: tokens, route and weights.
    """

    text: str
    value: int
    short: bool
    why: Explanation


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """Two texts, how they are compared, and the settings that this takes."""

    one: SeenText
    other: SeenText
    view: PairView
    settings: Settings


def fingerprint_texts(
    settings: Settings, texts: Sequence[str], progress: Progress = QUIET
) -> list[SeenText]:
    """Clean texts and return their fingerprints."""
    return _see(texts, settings, expect_settings(settings).equipment(progress.stage))[0]


def compare_texts(
    settings: Settings,
    one: str,
    other: str,
    target: str | None = None,
    progress: Progress = QUIET,
    *,
    given: bool = True,
) -> ComparedTexts:
    """Compare two texts; target: as the last run of this target does it."""
    if target is not None:
        with opened(settings, target, progress, given=given) as on:
            settings = on.settings
    equipment = expect_settings(settings).equipment(progress.stage)
    (first, second), prints = _see([one, other], settings, equipment)
    viewer = PairViewer(settings.decision, settings.index, equipment.any_judge)
    return ComparedTexts(first, second, viewer.view(first.text, second.text, prints), settings)


def _see(
    texts: Sequence[str], settings: Settings, equipment: Equipment
) -> tuple[list[SeenText], Fingerprints]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise UsageError("texts must be a sequence of str.")
    fingerprinter = equipment.fingerprinter
    cleaned = Cleaner(settings.cleaning).clean_all(texts)
    prints = fingerprinter.fingerprint(cleaned)
    seen = [
        SeenText(text, int(prints.values[i]), bool(prints.short[i]), fingerprinter.explain(text))
        for i, text in enumerate(cleaned)
    ]
    return seen, prints


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A kept document near a text; number: by the order in which documents were kept."""

    number: int
    key: bytes
    text: str
    view: PairView


@dataclass(frozen=True, slots=True)
class Answer:
    """The kept documents near a text, and what a run would do with it.

    nearest: duplicates first, then the most similar, or the nearest within a distance; found: how
    many there are in all, of `kept` documents; settings_of: the run whose settings these are, 0
    where they were given.
    """

    nearest: list[Neighbour]
    found: int
    kept: int
    decision: Decision
    settings_of: int


def query_target(
    settings: Settings,
    target: str,
    text: str,
    progress: Progress = QUIET,
    *,
    limit: int = 10,
    distance: int | None = None,
    given: bool = True,
) -> Answer:
    """Look for kept documents near a text as a run does; write nothing.

    distance: of fingerprints, 0 to 7 bits, to find all documents within it instead. Raises
    UsageError where a run would not compare the text.
    """
    _cleaned(expect_settings(settings), text)  # what cannot be asked is refused before connecting
    with opened(settings, target, progress, given=given) as on:
        progress.stage("loading the dictionary")
        around = Neighbourhood(on, _cleaned(on.settings, text), distance or 0)
        if distance is None:
            numbers = around.found()
            found, near = len(numbers), around.look_at(numbers[:_MAX_VIEWED])
            near.sort(key=lambda n: (n.view.refused_by is not None, -n.view.similarity))
        else:
            keys = around.within(distance)
            found, near = len(keys), around.look_at_keys(keys[:limit])
        kept = len(around)
        return Answer(near[:limit], found, kept, around.decision(), on.settings_of)


def _cleaned(settings: Settings, text: str) -> str:
    cleaned = Cleaner(settings.cleaning).clean(text)
    if len(cleaned) > (most := settings.source.max_chars):
        raise UsageError(
            f"{too_long(len(cleaned), most).detail} (source.max_chars): a run quarantines it."
        )
    if cleaned:
        return cleaned
    raise UsageError(
        "nothing is left of the text after cleaning: a run skips it. See "
        "`dedup fingerprint --explain`."
    )


class Neighbourhood:
    """A text among all that a target holds."""

    def __init__(self, on: Opened, text: str, widest: int = 0) -> None:
        """Take a cleaned text; widest: distance in bits that it is asked for, beyond a run's."""
        settings = on.settings.index
        widest = max(widest, settings.distance)  # with its own the index is used as it lies
        self._on, self._text = on, text
        self._index = KeptIndex(settings.model_copy(update={"distance": widest}))
        load_index(on.target, on.snapshots, self._index, on.progress)
        self._viewer = PairViewer(on.settings.decision, settings, on.equipment.any_judge)
        self.prints: Fingerprints = on.equipment.fingerprinter.fingerprint([text])

    def __len__(self) -> int:
        """Return the number of kept documents."""
        return len(self._index)

    def number_of(self, key: bytes, numbers: Sequence[int]) -> int | None:
        """Return which of the numbers stands for a key."""
        return dict(zip(self._index.keys(numbers), numbers, strict=True)).get(key)

    def found(self) -> list[int]:
        """Return the numbers of what any channel finds, those with the likest sketches first."""
        found = self._index.look_up(self.prints, np.zeros(1, dtype=np.int64)).candidates
        order = np.lexsort((found.numbers, found.distances, -found.agreements.astype(np.int64)))
        numbers: list[int] = found.numbers[order].tolist()
        same = int(self._index.equal(self.prints)[0])
        return numbers if same < 0 or same in numbers else [same, *numbers]

    def within(self, distance: int) -> list[bytes]:
        """Return the keys of the documents within a distance of bits, the nearest first."""
        return [near.key for near in self._index.near(self.prints, distance)]

    def decision(self) -> Decision:
        """Decide the text as the next document of a run; one that is kept is in the index then."""
        engine = FirstWins.fetching(
            self._index,
            self._on.settings.decision,
            self._on.target.texts_of,
            self._on.equipment.judge,
        )
        documents = Documents.of([Document(None, _KEY, b"", self._text)])
        return engine.decide(Batch(documents, self.prints))[0]

    def look_at(self, numbers: Sequence[int]) -> list[Neighbour]:
        """Look at some of them; those that are gone from the target are left out."""
        return self._look_at(dict(zip(self._index.keys(numbers), numbers, strict=True)))

    def look_at_keys(self, keys: Sequence[bytes]) -> list[Neighbour]:
        """Look at some of them by their keys."""
        return self._look_at(dict.fromkeys(keys, -1))

    def _look_at(self, numbers: dict[bytes, int]) -> list[Neighbour]:
        texts = self._on.target.texts([*numbers])
        fingerprint = self._on.equipment.fingerprinter.fingerprint
        return [
            Neighbour(number, key, text, self._viewer.view(self._text, text, fingerprint(pair)))
            for key, number in numbers.items()
            if (text := texts.get(key)) is not None
            for pair in [[self._text, text]]
        ]
