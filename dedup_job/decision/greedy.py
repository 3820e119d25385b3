"""First wins: a document is kept unless an earlier kept document is its duplicate.

The core decides (src/decision/decider.hpp); this module fetches the texts of kept documents and,
if documents have ranks, their copies. A pair of texts is looked at, and decided again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.columns import (
    CHANNELS,
    DECISION,
    Batch,
    Decisions,
    Documents,
    Fingerprints,
    NumberedTexts,
    Superseded,
)
from dedup_job.decision import MOST_CANDIDATES, DecisionSettings, Models
from dedup_job.documents import (
    Channel,
    Decision,
    Difference,
    Document,
    Duplicate,
    Kept,
    Pair,
    Reason,
    Refusal,
    names_of,
)
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.judgment import JOINED, NAMES, Judge, TextPairs, Verdicts, Weighed
from dedup_job.native.bytes_column import BytesColumn, strings_of

PART = 5000
"""Documents that are looked up and compared at once; a fifth of it where many are alike."""
MEMORY = 3 << 24
"""Bytes of kept texts that are held once they are stored; a quarter as many stay read."""
_QUESTIONS = 4  # to the target at once: most of the time it waits for its disk
_LEAST_KEYS, _MOST_KEYS = 100, 2000  # in one question

Fetch = Callable[[BytesColumn], NumberedTexts]
"""Returns the texts of n keys with the rows of the keys; missing documents are omitted."""


class Copies(Protocol):
    """Ranks and near duplicates of kept documents."""

    def ranks_of(self, keys: BytesColumn) -> Sequence[bytes]:
        """Return the ranks of n keys; of one that is gone an empty one, which no document has.

        The better copy has the larger one, byte by byte.
        """

    def near_of(self, groups: Mapping[int, list[bytes]], most: int) -> Mapping[int, list[str]]:
        """Return texts of near duplicates by group, given keys of some that may not be stored yet.

        Of a group with more than `most`, any that are more.
        """


def by_key(fetch: Callable[[Sequence[bytes]], Mapping[bytes, str]]) -> Fetch:
    """Return a `Fetch` made of a function that maps keys to texts."""

    def fetched(keys: BytesColumn) -> NumberedTexts:
        given = keys.list()
        found = fetch(given)
        return NumberedTexts.of({row: found[key] for row, key in enumerate(given) if key in found})

    return fetched


class GreedyDeduplicator:
    """Decides documents one after the other and adds the kept ones to the index."""

    def __init__(
        self,
        kept: KeptIndex,
        settings: DecisionSettings,
        fetch: Fetch,
        judge: Judge | None = None,
        copies: Copies | None = None,
        threads: int = 1,
    ) -> None:
        """Take the index of the kept documents, and the function that fetches their texts.

        judge: None where texts are not compared; copies: asked where batches have ranks; threads:
        how many look up and compare.
        """
        self._kept, self._settings = kept, settings
        self._judge, self._threads = judge, threads
        self._fetch, self._copies = partial(_in_few_questions, fetch), copies
        self._core: _core.Decider | None = None
        self._stored = 0  # batches

    def _decider(self) -> _core.Decider:
        if self._core is None:
            self._core = _core.Decider(
                self._kept.core,
                None if self._judge is None else self._judge.core,
                judging=_core.JUDGINGS.index(self._settings.judge),
                similarity=self._settings.similarity,
                most_candidates=MOST_CANDIDATES,
                threads=self._threads,
                part=PART,
                memory=MEMORY,
            )
        return self._core

    def arrived(self) -> None:
        """Count the earliest batch under way as stored in the target; called from one thread."""
        self._stored += 1

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Seconds spent so far: in all, in several threads, and waiting for the target's texts."""
        return self._decider().seconds

    def end(self) -> None:
        """Forget all texts; nothing is decided after this."""
        self._core, self._stored = None, 0

    def decide(self, batch: Batch) -> Decisions:
        """Return one decision for each document of the batch, in order.

        Their texts are held until `arrived` is called for the batch.
        """
        documents, prints, copies = batch.documents, batch.fingerprints, self._copies
        sketches = prints.sketches
        channels = sketches.channels if sketches else ()
        found = self._decider().decide(
            documents.keys.take(documents.rows),
            documents.texts.utf8(),
            documents.texts.lengths,
            prints.arrays,
            np.array([CHANNELS.index(channel) for channel in channels], dtype=np.uint8),
            sketches.read if sketches else None,
            strings_of(batch.ranks) if batch.ranks else None,
            self._fetch,
            None if copies is None else (lambda keys: copies.ranks_of(BytesColumn(*keys))),
            None if copies is None else copies.near_of,
            self._stored,
        )
        rows, of, differences, missing, (at, keys, of_copies, dropped, named) = found
        names = NAMES
        if self._kept.others:
            names = names._replace(places=tuple(self._kept.core.collections))
        superseded = None
        if len(at):
            decided = Decisions(
                dropped.view(DECISION), BytesColumn(*of_copies), names, _named(named)
            )
            decided["superseded"][:] = True
            superseded = Superseded(at, BytesColumn(*keys), decided)
        return Decisions(
            rows.view(DECISION),
            BytesColumn(*of),
            names,
            _named(differences),
            missing,
            superseded=superseded,
        ).among(documents)


def _in_few_questions(
    fetch: Fetch, keys: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]
) -> tuple[NDArray[np.int64], BytesColumn]:
    """Return which of n keys have a text, int64 (m,), ascending, and m texts."""
    every = BytesColumn(*keys)
    n = len(every.lengths)
    size = min(max(-(-n // _QUESTIONS), _LEAST_KEYS), _MOST_KEYS)
    starts = range(0, n, size)
    parts = [every.take(slice(start, start + size)) for start in starts]
    if len(parts) == 1:
        found = fetch(every)
        return found.numbers, found.texts.utf8()
    with ThreadPoolExecutor(_QUESTIONS) as pool:
        answers = [*pool.map(fetch, parts)]
    texts = strings_of([text for one in answers for text in one.texts.utf8().list()])
    return np.concatenate(
        [start + one.numbers for start, one in zip(starts, answers, strict=True)]
    ), texts


def _named(
    found: Mapping[int, Iterable[tuple[int, int, str, str]]],
) -> dict[int, tuple[Difference, ...]]:
    return {
        row: tuple(
            Difference(_core.DIFFERENCE_KINDS[kind], _core.PARTS[part], of, text)
            for kind, part, of, text in differences
        )
        for row, differences in found.items()
    }


_KEY = b"\x10_id\0\0\0\0\0"  # of the other text


@dataclass(frozen=True, slots=True)
class PairView:
    """A text and an earlier one.

    distance: in bits; None where either is short, which has no simhash. similarity: of their
    canonical forms; required: the least where similarity decides.
    channels: those that find the pair. differences, weighed: what the judge finds, whether or not
    it decides; None of equal texts. refused_by: the first thing that keeps the pair apart
    (channels, sketch, a guard, "unlikely" or similarity); None where the pair are duplicates.
    """

    equal: bool
    distance: int | None
    similarity: float
    required: float
    channels: tuple[Channel, ...]
    differences: Sequence[Difference]
    weighed: Weighed | None
    refused_by: str | None


def shared_channels(
    one: Fingerprints, other: Fingerprints, index: IndexSettings
) -> list[tuple[Channel, ...]]:
    """Return by which channels texts and earlier ones find each other, n pairs, row by row."""
    near = np.bitwise_count(one.values ^ other.values) <= index.distance
    near &= ~(one.short | other.short) & (Channel.SIMHASH in index.candidate_generators)
    found = [{Channel.SIMHASH} if is_near else set() for is_near in near.tolist()]
    if one.sketches is not None and other.sketches is not None:
        for row, column in np.argwhere(one.sketches.keys == other.sketches.keys).tolist():
            found[row].add(one.sketches.channels[column])
    return [tuple(channel for channel in Channel if channel in own) for own in found]


class PairRecheck:
    """Decides texts against others once more, as a run does that finds each of them."""

    def __init__(self, decision: DecisionSettings, index: IndexSettings, models: Models) -> None:
        self._decision, self._index, self._models = decision, index, models

    def view(self, text: str, other: str) -> PairView:
        """Look at a text and an earlier one; differences are named whatever decides."""
        fingerprints = self._models.fingerprinter.fingerprint([text, other])
        distance = int(np.bitwise_count(fingerprints.values[0] ^ fingerprints.values[1]))
        (channels,) = shared_channels(fingerprints[:1], fingerprints[1:2], self._index)
        judge, pair = self._models.any_judge, self._pairs([text], [other])
        measured = judge.measure(pair)[0]
        index = KeptIndex(self._index)
        index.add(strings_of([_KEY]), fingerprints[1:2])
        decided = self.decision(text, index, by_key(lambda _: {_KEY: other}))
        refused_by = None
        if isinstance(decided, Kept):
            refused_by = decided.nearest.kind if decided.nearest else ""
            refused_by = refused_by or ("sketch" if channels else "channels")
        return PairView(
            equal=text == other,
            distance=None if fingerprints.short.any() else distance,
            similarity=float(measured["similarity"]),
            required=float(measured["required"]),
            channels=(Channel.TEXT,) if text == other else channels,
            differences=() if text == other else judge.explain(pair)[1][0],
            weighed=None if text == other else judge.weigh(text, other),
            refused_by=None if text == other else refused_by,
        )

    def decision(self, content: str | Refusal, index: KeptIndex, fetch: Fetch) -> Decision:
        """Return the decision of a run whose next document is this one."""
        documents = Documents.of([Document(None, b"", b"", content)])
        prints = self._models.fingerprinter.fingerprint(documents.texts)
        engine = GreedyDeduplicator(index, self._decision, fetch, self._models.judge)
        return engine.decide(Batch(documents, prints))[0]

    def decide(self, texts: Sequence[str], originals: Sequence[str]) -> list[Duplicate | str]:
        """Return the ledger entry of each text, or the guard that keeps it from being a duplicate.

        `of` and `cluster` say nothing; `found_by` names all channels that find the original. A run
        may have left some out.
        """
        if not texts:
            return []
        prints, theirs = map(self._models.fingerprinter.fingerprint, (texts, originals))
        pairs = self._pairs(texts, originals)
        details, named = self._verdicts(pairs), self._differences(pairs)
        distances = np.bitwise_count(prints.values ^ theirs.values)
        found_by = shared_channels(prints, theirs, self._index)
        decided: list[Duplicate | str] = []
        for i, (text, original) in enumerate(zip(texts, originals, strict=True)):
            short = bool(prints.short[i])
            if text == original:
                pair = Pair(b"", 0, 1.0, (str(Channel.TEXT),))
                decided.append(Duplicate(Reason.EXACT, short, pair))
            elif details["state"][i] != JOINED:
                decided.append(NAMES.kinds[int(details["apart"][i])])
            else:
                pair = Pair(
                    b"",
                    int(distances[i]),
                    float(details["similarity"][i]) if self._decision.compares else None,
                    tuple(map(str, found_by[i])),
                    differences=named[i],
                    richer=names_of(int(details["richer"][i]), NAMES.richer),
                    left_out=int(details["left_out"][i]) / 100,
                    probability=_known(details["probability"][i]),
                )
                decided.append(Duplicate(Reason.NEAR, short, pair))
        return decided

    def keep_apart(
        self, texts: Sequence[str], others: Sequence[str]
    ) -> list[tuple[str | None, float, float | None]]:
        """Return the guard that keeps each pair apart, or None; its similarity and probability.

        The last is the probability that they are the same, None where the model does not say.
        """
        if not texts:
            return []
        details = self._verdicts(self._pairs(texts, others))
        kinds = [
            None if state == JOINED else NAMES.kinds[code]
            for state, code in zip(
                details["state"].tolist(), details["apart"].tolist(), strict=True
            )
        ]
        likely = map(_known, details["probability"].tolist())
        return list(zip(kinds, details["similarity"].tolist(), likely, strict=True))

    def _pairs(self, texts: Sequence[str], others: Sequence[str]) -> TextPairs:
        rows, judge = np.arange(len(texts)), self._models.any_judge
        return judge.read(texts), rows, judge.read(others), rows

    def _verdicts(self, pairs: TextPairs) -> Verdicts:
        verdicts = self._models.any_judge.judge(pairs)
        if self._decision.judges:
            verdicts["similarity"] = self._models.any_judge.measure(pairs)["similarity"]
        return verdicts

    def _differences(self, pairs: TextPairs) -> list[tuple[Difference, ...]]:
        if not self._decision.judges:
            return [()] * len(pairs[1])
        return [
            tuple(
                Difference(
                    one.kind, one.place, one.of[: _core.MOST_SHOWN], one.text[: _core.MOST_SHOWN]
                )
                for one in found[: _core.MOST_NAMED]
            )
            for found in self._models.any_judge.explain(pairs)[1]
        ]


def _known(probability: float) -> float | None:
    return None if np.isnan(probability) else float(probability)
