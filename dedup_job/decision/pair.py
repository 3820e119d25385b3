"""A pair of texts looked at, and decided again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dedup_job._core import MOST_NAMED, MOST_SHOWN
from dedup_job.columns import Batch, Documents, Fingerprints
from dedup_job.decision.greedy import GreedyDeduplicator, by_key
from dedup_job.decision.models import Models
from dedup_job.decision.settings import DecisionSettings
from dedup_job.documents import (
    Channel,
    Decision,
    Difference,
    Document,
    Duplicate,
    Kept,
    Pair,
    Reason,
    names_of,
)
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.judgment import JOINED, NAMES, TextPairs, Verdicts, Weighed
from dedup_job.native.bytes_column import strings_of

_KEY = b"\x10_id\0\0\0\0\0"  # of the other text
_TEXT, _OTHER = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)  # rows of the two


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
        judge = self._models.any_judge
        both = judge.read([text, other])
        pair = (both, _TEXT, both, _OTHER)
        measured = judge.measure(pair)[0]
        distance = int(np.bitwise_count(fingerprints.values[0] ^ fingerprints.values[1]))
        has_distance = not fingerprints.short.any()
        (channels,) = shared_channels(fingerprints[:1], fingerprints[1:2], self._index)
        decided = self._decided(text, other, fingerprints)
        refused_by = None
        if isinstance(decided, Kept):
            refused_by = decided.nearest.kind if decided.nearest else ""
            refused_by = refused_by or ("sketch" if channels else "channels")
        return PairView(
            equal=text == other,
            distance=distance if has_distance else None,
            similarity=float(measured["similarity"]),
            required=float(measured["required"]),
            channels=(Channel.TEXT,) if text == other else channels,
            differences=() if text == other else judge.explain(pair)[1][0],
            weighed=None if text == other else judge.weigh(text, other),
            refused_by=None if text == other else refused_by,
        )

    def _decided(self, text: str, other: str, fingerprints: Fingerprints) -> Decision:
        """Return the decision of a run on a text after the other one."""
        index = KeptIndex(self._index)
        index.add(strings_of([_KEY]), fingerprints[1:2])
        fetch = by_key(lambda _: {_KEY: other})
        engine = GreedyDeduplicator(index, self._decision, fetch, self._models.judge)
        documents = Documents.of([Document(None, b"", b"", text)])
        return engine.decide(Batch(documents, fingerprints[:1]))[0]

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
                Difference(one.kind, one.place, one.of[:MOST_SHOWN], one.text[:MOST_SHOWN])
                for one in found[:MOST_NAMED]
            )
            for found in self._models.any_judge.explain(pairs)[1]
        ]


def _known(probability: float) -> float | None:
    return None if np.isnan(probability) else float(probability)
