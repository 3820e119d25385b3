"""Pairs of texts that are near in some way, found among many and compared. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.check import Check
from dedup_job.decision.settings import Comparing, DecisionSettings
from dedup_job.decision.weighing import least_agreement
from dedup_job.documents import Channel, Fingerprints
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.proposals import BY_SIMHASH

WIDEST = 7  # bits
CHANNELS = (Channel.SIMHASH, Channel.MINHASH)
MOST_OF_A_TEXT = 50  # pairs
_BLOCK = 256  # texts looked up at once
_LEAST_OF_A_BLOCK = 10
_MOST_FOUND = 10_000_000  # pairs, before some are drawn
_AT_ONCE = 100_000  # pairs compared at once


@dataclass(frozen=True, slots=True)
class Pairs:
    """c pairs of texts that are near in some way.

    rows, others: int64 (c,), the later and the earlier text; distances: uint8 (c,), in bits, more
    than WIDEST where simhash does not find the pair; by_minhash, compared, similar: bool (c,),
    whether a band is shared, whether the sketches are alike enough for a run to compare the texts,
    whether these are alike enough; similarities: float64 (c,). asked: so many texts were looked
    up; cut: of them those with more than MOST_OF_A_TEXT pairs, of which so many were drawn.
    """

    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    distances: NDArray[np.uint8]
    by_minhash: NDArray[np.bool_]
    compared: NDArray[np.bool_]
    similarities: NDArray[np.float64]
    similar: NDArray[np.bool_]
    asked: int = 0
    cut: int = 0

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.rows)


def find_pairs(
    texts: Sequence[str],
    fingerprints: Fingerprints,
    settings: DecisionSettings,
    advance: Callable[[int], None] = lambda _: None,
) -> Pairs:
    """Find the pairs among n texts, all unlike, that are within WIDEST bits or share a band.

    fingerprints: with the sketches of CHANNELS. Where the settings compare nothing, the measure is
    Jaccard's. Where texts have very many pairs, as those of one template, some texts are drawn and
    some of their pairs. advance is told how many texts are done.
    """
    judged = settings.judges
    if settings.compare is Comparing.NONE:
        settings = settings.model_copy(update={"compare": Comparing.JACCARD})
    random = np.random.default_rng(0)
    index = KeptIndex(IndexSettings(distance=WIDEST, channels=CHANNELS))
    found, asked, cut = [_Found.none()], 0, 0
    total, each = 0, 0.0  # pairs so far, and of a text of the block before
    for start in range(0, len(texts), _BLOCK):
        stop = min(start + _BLOCK, len(texts))
        allowed = (_MOST_FOUND * stop / len(texts) - total) / max(each, 1.0)
        count = int(np.clip(allowed, min(_LEAST_OF_A_BLOCK, stop - start), stop - start))
        rows = np.sort(random.permutation(stop - start)[:count]) + start
        part = _look_up(index, fingerprints, rows, start, stop)
        total, each = total + len(part.rows), len(part.rows) / count
        part, more = part.drawn(random)
        found.append(part)
        asked, cut = asked + count, cut + more
        index.add([i.to_bytes(8, "big") for i in range(start, stop)], fingerprints[start:stop])
        advance(stop)
    return _compared(texts, _Found.together(found), Check(settings), judged, asked, cut)


class _Found(NamedTuple):
    """What is found before the texts are compared; as in Pairs."""

    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    distances: NDArray[np.uint8]
    by_minhash: NDArray[np.bool_]
    agreements: NDArray[np.uint8]

    @classmethod
    def none(cls) -> _Found:
        empty = np.empty(0, dtype=np.int64)
        small = empty.astype(np.uint8)
        return cls(empty, empty, small, empty.astype(np.bool_), small)

    @classmethod
    def together(cls, parts: Sequence[_Found]) -> _Found:
        columns: Iterable[Sequence[NDArray[Any]]] = zip(*parts, strict=True)
        return cls(*map(np.concatenate, columns))

    def drawn(self, random: np.random.Generator) -> tuple[_Found, int]:
        """Draw MOST_OF_A_TEXT pairs of each text, text by text; count the texts with more."""
        order = np.lexsort((random.random(len(self.rows)), self.rows))
        _, starts, totals = np.unique(self.rows[order], return_index=True, return_counts=True)
        rank = np.arange(len(order)) - np.repeat(starts, totals)
        chosen = order[rank < MOST_OF_A_TEXT]
        columns: list[NDArray[Any]] = [column[chosen] for column in self]
        return _Found(*columns), int(np.sum(totals > MOST_OF_A_TEXT))


def _look_up(
    index: KeptIndex, prints: Fingerprints, rows: NDArray[np.int64], start: int, stop: int
) -> _Found:
    """Find the pairs of some texts with the texts before `start`, and with those from there on.

    The texts up to `stop` are looked up with them, lest earlier ones that were not drawn be missed.
    """
    some = prints[rows]
    before = index.look_up(some, np.zeros(len(some), dtype=np.int64)).before
    own = KeptIndex(IndexSettings(distance=WIDEST, channels=CHANNELS))
    block = prints[start:stop]
    own.add([i.to_bytes(8, "big") for i in range(start, stop)], block)
    within = own.look_up(some, np.zeros(len(some), dtype=np.int64)).before
    within = within.chosen(within.numbers + start < rows[within.rows])
    columns = np.concatenate([before.columns, within.columns])
    distances = np.concatenate([before.distances, within.distances])
    return _Found(
        rows[np.concatenate([before.rows, within.rows])],
        np.concatenate([before.numbers, within.numbers + start]),
        np.where(columns & BY_SIMHASH, distances, np.uint8(64)),
        (columns & ~np.uint32(BY_SIMHASH)) != 0,
        np.concatenate([before.agreements, within.agreements]),
    )


def _compared(
    texts: Sequence[str], found: _Found, check: Check, judged: bool, asked: int, cut: int
) -> Pairs:
    """Compare the texts of all pairs."""
    count = len(found.rows)
    similarities, similar = np.zeros(count), np.zeros(count, dtype=np.bool_)
    compared = np.zeros(count, dtype=np.bool_)
    for start in range(0, count, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        used, rows = np.unique(found.rows[some], return_inverse=True)
        own = [texts[i] for i in used.tolist()]
        others, other_rows = np.unique(found.others[some], return_inverse=True)
        verdict = check.compare(own, rows, [texts[i] for i in others.tolist()], other_rows)
        similarities[some], similar[some] = verdict.similarities, verdict.agree
        compared[some] = found.agreements[some] >= least_agreement(check, own, judged=judged)[rows]
    return Pairs(
        found.rows,
        found.others,
        found.distances,
        found.by_minhash,
        compared,
        similarities,
        similar,
        asked,
        cut,
    )
