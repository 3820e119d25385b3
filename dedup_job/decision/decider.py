"""A document is kept unless a kept document is its duplicate; a better copy replaces it.

The core decides (src/decision/decider.hpp); this module fetches the texts of kept documents and,
if documents have ranks, their copies. `PairRecheck` decides single pairs as a run does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
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
    Names,
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
from dedup_job.judgment import JOINED, NAMES, Judge, TextPairs, VerdictReasons, Verdicts
from dedup_job.native.bytes_column import BytesColumn, strings_of

PART = 5000
"""Documents that are looked up and compared at once; a fifth of it if many are alike."""
MEMORY = 3 << 24
"""Bytes of kept texts that stay cached once they are stored; a quarter as many stay parsed."""
_QUERIES = 4  # of the target at once: most of the time it waits for its disk
_LEAST_KEYS, _MOST_KEYS = 100, 2000  # in one query

_Strings = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]  # a BytesColumn
Fetch = Callable[[BytesColumn], NumberedTexts]
"""Returns the texts of n keys, numbered by the position of the key; missing ones are omitted."""


class KeptLookup(Protocol):
    """Ranks and near duplicates of kept documents."""

    def ranks_of(self, keys: BytesColumn) -> Sequence[bytes]:
        """Return the ranks of n documents by key, the better copy's larger; b"" if missing."""

    def near_texts(self, groups: Mapping[int, list[bytes]], most: int) -> Mapping[int, list[str]]:
        """Return the texts of the near duplicates of each group.

        groups: by group the keys of near duplicates that may not be stored yet. Of a group with
        more than `most` near duplicates, any `most` + 1 are enough.
        """


def by_key(fetch: Callable[[Sequence[bytes]], Mapping[bytes, str]]) -> Fetch:
    """Return a `Fetch` that calls a function from keys to texts by key."""

    def numbered(keys: BytesColumn) -> NumberedTexts:
        listed = keys.list()
        texts = fetch(listed)
        return NumberedTexts.of({row: texts[key] for row, key in enumerate(listed) if key in texts})

    return numbered


class Decider:
    """Decides documents one after the other and adds the kept ones to the index."""

    def __init__(
        self,
        kept: KeptIndex,
        settings: DecisionSettings,
        fetch: Fetch,
        judge: Judge | None = None,
        copies: KeptLookup | None = None,
        threads: int = 1,
    ) -> None:
        """Take the index of the kept documents, and a function that fetches their texts.

        judge: None if texts are not compared; copies: needed if batches have ranks; threads: for
        look-up and comparison.
        """
        self._kept, self._settings = kept, settings
        self._judge, self._threads = judge, threads
        self._fetch, self._copies = partial(_in_queries, fetch), copies
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

    def on_settled(self) -> None:
        """Count one more batch as stored in the target, in their order; not thread-safe."""
        self._stored += 1

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Seconds so far: in all, in several threads, and waiting for texts of the target."""
        return self._decider().seconds

    def end(self) -> None:
        """Free the cached texts; `decide` must not be called afterwards."""
        self._core, self._stored = None, 0

    def decide(self, batch: Batch) -> Decisions:
        """Return the decisions on the documents of a batch; kept ones are added to the index.

        Kept texts stay cached until `on_settled` counts the batch.
        """
        documents, prints, copies = batch.documents, batch.fingerprints, self._copies
        sketches = prints.sketches
        channels = sketches.channels if sketches else ()
        found = self._decider().decide(
            documents.keys.take(documents.rows),
            documents.texts.utf8(),
            documents.texts.lengths,
            prints.core_arguments,
            np.array([CHANNELS.index(channel) for channel in channels], dtype=np.uint8),
            sketches.read if sketches else None,
            strings_of(batch.ranks) if batch.ranks else None,
            self._fetch,
            None if copies is None else (lambda keys: copies.ranks_of(BytesColumn(*keys))),
            None if copies is None else copies.near_texts,
            self._stored,
        )
        records, originals, differences, missing, (rows, keys, replacements, dropped, named) = found
        names = NAMES
        if self._kept.counts.referenced:
            names = names._replace(collections=tuple(self._kept.core.collections))
        superseded = None
        if len(rows):
            decided = _decisions(dropped, replacements, names, named)
            decided["superseded"][:] = True
            superseded = Superseded(rows, BytesColumn(*keys), decided)
        made = _decisions(records, originals, names, differences)
        return replace(made, missing=missing, superseded=superseded).with_refusals(documents)


def _in_queries(fetch: Fetch, strings: _Strings) -> tuple[NDArray[np.int64], BytesColumn]:
    keys = BytesColumn(*strings)
    n = len(keys.lengths)
    size = min(max(-(-n // _QUERIES), _LEAST_KEYS), _MOST_KEYS)
    starts = range(0, n, size)
    parts = [keys.take(slice(start, start + size)) for start in starts]
    if len(parts) == 1:
        found = fetch(keys)
        return found.numbers, found.texts.utf8()
    with ThreadPoolExecutor(_QUERIES) as pool:
        answers = [*pool.map(fetch, parts)]
    texts = strings_of([text for one in answers for text in one.texts.utf8().list()])
    numbers = [start + one.numbers for start, one in zip(starts, answers, strict=True)]
    return np.concatenate(numbers), texts


def _decisions(
    records: NDArray[np.uint8],
    originals: _Strings,
    names: Names,
    found: Mapping[int, Iterable[tuple[int, int, str, str]]],
) -> Decisions:
    differences = {
        row: tuple(
            Difference(_core.DIFFERENCE_KINDS[kind], _core.PARTS[part], of, text)
            for kind, part, of, text in some
        )
        for row, some in found.items()
    }
    return Decisions(records.view(DECISION), BytesColumn(*originals), names, differences)


_KEEPING_APART = ["state", "apart", "similarity", "probability"]  # fields of a verdict
_KEY = b"\x10_id\0\0\0\0\0"  # of the earlier text


@dataclass(frozen=True, slots=True)
class PairView:
    """The comparison of a text with an earlier one.

    distance: of the fingerprints in bits, None if either text is short. similarity: of the
    canonical forms; required: the least of a duplicate if similarity decides. channels: by which
    the pair is found. differences, weighed: by the judge, whether or not it decides; none for equal
    texts. refused_by: why the texts are no duplicates: "channels", "sketch", a guard, "unlikely" or
    "similarity"; None for duplicates.
    """

    equal: bool
    distance: int | None
    similarity: float
    required: float
    channels: tuple[Channel, ...]
    differences: Sequence[Difference]
    weighed: VerdictReasons | None
    refused_by: str | None


def shared_channels(
    left: Fingerprints, right: Fingerprints, index: IndexSettings
) -> list[tuple[Channel, ...]]:
    """Return the channels by which the texts of n pairs find each other, row by row."""
    near = np.bitwise_count(left.values ^ right.values) <= index.distance
    near &= ~(left.short | right.short) & (Channel.SIMHASH in index.candidate_generators)
    found = [{Channel.SIMHASH} if is_near else set() for is_near in near.tolist()]
    if left.sketches is not None and right.sketches is not None:
        for row, column in np.argwhere(left.sketches.keys == right.sketches.keys).tolist():
            found[row].add(left.sketches.channels[column])
    return [tuple(channel for channel in Channel if channel in own) for own in found]


class PairRecheck:
    """Decides pairs of texts again, as a run does if the earlier text is a candidate."""

    def __init__(self, decision: DecisionSettings, index: IndexSettings, models: Models) -> None:
        self._decision, self._index, self._models = decision, index, models

    def view(self, text: str, earlier: str) -> PairView:
        """Return the comparison of a text with an earlier one."""
        fingerprints = self._models.fingerprinter.fingerprint([text, earlier])
        distance = int(np.bitwise_count(fingerprints.values[0] ^ fingerprints.values[1]))
        (channels,) = shared_channels(fingerprints[:1], fingerprints[1:2], self._index)
        judge, pair = self._models.any_judge, self._pairs([text], [earlier])
        measured = judge.measure(pair)[0]
        index = KeptIndex(self._index)
        index.add(strings_of([_KEY]), fingerprints[1:2])
        decided = self.decide_document(text, index, by_key(lambda _: {_KEY: earlier}))
        refused_by = None
        if isinstance(decided, Kept):
            refused_by = decided.nearest.kind if decided.nearest else ""
            refused_by = refused_by or ("sketch" if channels else "channels")
        return PairView(
            equal=text == earlier,
            distance=None if fingerprints.short.any() else distance,
            similarity=float(measured["similarity"]),
            required=float(measured["required"]),
            channels=(Channel.TEXT,) if text == earlier else channels,
            differences=() if text == earlier else judge.explain(pair)[1][0],
            weighed=None if text == earlier else judge.verdict_reasons(text, earlier),
            refused_by=None if text == earlier else refused_by,
        )

    def decide_document(self, content: str | Refusal, index: KeptIndex, fetch: Fetch) -> Decision:
        """Return the decision on a document of a run with this index of kept documents."""
        documents = Documents.of([Document(None, b"", b"", content)])
        prints = self._models.fingerprinter.fingerprint(documents.texts)
        engine = Decider(index, self._decision, fetch, self._models.judge)
        return engine.decide(Batch(documents, prints))[0]

    def decide_pairs(self, texts: Sequence[str], originals: Sequence[str]) -> list[Duplicate | str]:
        """Return each text as a duplicate of its original, or the name of what keeps them apart.

        `of` of the pair is empty; `found_by` has all channels that find the original, of which a
        run may have left some out.
        """
        if not texts:
            return []
        prints, original_prints = map(self._models.fingerprinter.fingerprint, (texts, originals))
        pairs = self._pairs(texts, originals)
        details, differences = self._verdicts(pairs), self._differences(pairs)
        distances = np.bitwise_count(prints.values ^ original_prints.values)
        found_by = shared_channels(prints, original_prints, self._index)
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
                    differences=differences[i],
                    richer=names_of(int(details["richer"][i]), NAMES.richer),
                    left_out=int(details["left_out"][i]) / 100,
                    probability=_known(details["probability"][i]),
                )
                decided.append(Duplicate(Reason.NEAR, short, pair))
        return decided

    def apart_reasons(
        self, texts: Sequence[str], originals: Sequence[str]
    ) -> list[tuple[str | None, float, float | None]]:
        """Return for each pair the name of what keeps it apart, its similarity and probability.

        The name is None for duplicates, the probability if the model does not decide.
        """
        if not texts:
            return []
        verdicts = self._verdicts(self._pairs(texts, originals))
        return [
            (None if state == JOINED else NAMES.kinds[code], similarity, _known(probability))
            for state, code, similarity, probability in verdicts[_KEEPING_APART].tolist()
        ]

    def _pairs(self, texts: Sequence[str], originals: Sequence[str]) -> TextPairs:
        rows, judge = np.arange(len(texts)), self._models.any_judge
        return judge.parsed(texts), rows, judge.parsed(originals), rows

    def _verdicts(self, pairs: TextPairs) -> Verdicts:
        verdicts = self._models.any_judge.judge(pairs)
        if self._decision.judges:
            verdicts["similarity"] = self._models.any_judge.measure(pairs)["similarity"]
        return verdicts

    def _differences(self, pairs: TextPairs) -> list[tuple[Difference, ...]]:
        if not self._decision.judges:
            return [()] * len(pairs[1])
        named, shown = slice(_core.MOST_NAMED), slice(_core.MOST_SHOWN)
        return [
            tuple(one._replace(of=one.of[shown], text=one.text[shown]) for one in found[named])
            for found in self._models.any_judge.explain(pairs)[1]
        ]


def _known(probability: float) -> float | None:
    return None if np.isnan(probability) else float(probability)
