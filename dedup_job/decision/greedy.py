"""First wins: a document is kept unless an earlier kept document is its duplicate.

A document is compared with kept documents only, never with a dropped one, so unlike texts are
not chained together over a row of likenesses. Documents are looked up and compared all at once,
and decided as if it were one after the other.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import Any

import numpy as np

from dedup_job.columns import NEAR, Batch, Decisions, Replaced
from dedup_job.decision.batches import Taken, choose
from dedup_job.decision.compared import BatchTexts
from dedup_job.decision.ranks import Copies, KeptRanks, PartRanks
from dedup_job.decision.rounds import Rules
from dedup_job.decision.settings import MOST_CANDIDATES, DecisionSettings
from dedup_job.decision.texts import Fetch
from dedup_job.decision.weighing import SimilarityThreshold
from dedup_job.index import KeptIndex
from dedup_job.index.look_up import meetings
from dedup_job.judgment import Judge
from dedup_job.judgment.judge import NAMES

_AT_ONCE, _CROWDED = 5000, 1000  # texts looked up and compared at once; where many are alike
_MEETINGS = 4  # pairs a text above which they are many


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

        judge, threads: see BatchTexts; copies: asked where batches have ranks.
        """
        self._kept = kept
        self._threshold = SimilarityThreshold(settings)
        self._rules = Rules(MOST_CANDIDATES, by_distance=not settings.judges)
        self._compares, self._judges = settings.compares, settings.judges
        self._texts = BatchTexts(kept, settings, fetch, judge, threads)
        self._ranks = KeptRanks(copies, kept)

    def arrived(self) -> None:
        """Count the earliest batch under way as stored in the target; called from one thread."""
        self._texts.arrived()
        self._ranks.arrived()

    def end(self) -> None:
        """Forget all texts; nothing is decided after this."""
        self._texts.end()

    def decide(self, batch: Batch) -> Decisions:
        """Return one decision for each document of the batch, in order.

        Their texts are held until `arrived` is called for the batch.
        """
        self._texts.begin_batch(batch)
        self._ranks.begin_batch()
        documents, prints = batch.documents, batch.fingerprints
        keys = documents.keys.take(documents.rows)
        names = NAMES._replace(places=self._kept.places) if self._kept.others else NAMES
        decisions = Decisions.all_kept(prints.values, prints.short, names)
        numbers = np.full(len(prints), -1, dtype=np.int64)
        differences, missing = dict[int, Any](), dict[int, Any]()
        replaced = list[tuple[int, Taken]]()
        begun, arrivals = len(self._kept), list[int]()  # rows of those that are added, in order
        crowded = meetings(prints) > _MEETINGS * len(prints)
        size = _CROWDED if crowded else _AT_ONCE  # pairs grow with the square
        for start in range(0, len(prints), size):
            part = slice(start, start + size)
            least = self._threshold.least_agreement(documents.texts.lengths[part])
            base, some, told = len(self._kept), prints[part], decisions.part(part)
            texts = self._texts.pairs(part, base)
            ranks = PartRanks(batch.ranks[part] if batch.ranks else (), self._ranks)
            choices = choose(self._kept, texts, ranks, self._rules, least, some, told)
            rows = np.flatnonzero(choices.added)
            arrivals += (start + rows).tolist()
            self._texts.add(base, part, choices.added)
            if ranks.own:
                self._ranks.add(base, [ranks.own[row] for row in rows.tolist()])
            self._kept.add(keys.take(part).take(rows), some[rows], choices.stored[rows])
            self._kept.unindexed_texts += choices.unindexed
            self._kept.found_groups(base + np.arange(len(rows)), keys.take(start + rows))
            numbers[part] = choices.of
            differences |= {start + row: found for row, found in choices.differences.items()}
            for row, gone in choices.missing.items():
                missing[start + row] = tuple(self._kept.keys(gone))
            for row, found in choices.replaced:
                pair = found.pair if self._judges else found.pair._replace(probability=np.nan)
                if not (self._compares or pair.is_exact):
                    pair = pair._replace(similarity=np.nan)
                self._kept.forget_one(found.number)
                heir = begun + bisect_left(arrivals, start + row)
                if pair.is_exact:
                    self._kept.replace(found.number, heir)
                former = self._kept.packed_keys(np.array([found.number]))
                (group,) = self._kept.groups(np.array([found.number]), former).tolist()
                self._kept.join_group(heir, group)
                pair = pair._replace(key=former.at(0), of=keys.at(start + row), group=group)
                replaced.append((start + row, found._replace(pair=pair)))
                if found.row < 0 and not pair.is_exact:
                    self._ranks.add_near([group], [pair.key])
            if ranks.own:
                near = np.flatnonzero(told.outcomes == NEAR)
                kept = choices.of[near]
                groups = self._kept.groups(kept, self._kept.packed_keys(kept)).tolist()
                self._ranks.add_near(groups, keys.take(start + near).list())
        decisions.cut[:] = np.maximum(decisions.candidates - self._rules.most, 0)
        if not self._compares:
            decisions.similarities[decisions.outcomes == NEAR] = np.nan
        if not self._judges:
            decisions.probabilities[:] = np.nan
        added = np.array(arrivals, dtype=np.int64)
        places = begun + np.arange(len(added))
        taken = dict[int, Replaced]()
        heirs = dict[int, int]()  # rows, by the numbers of what they took the place of
        for row, one in replaced:
            heir, heirs[one.number] = begun + bisect_left(arrivals, row), row
            if one.number >= begun and one.row < 0:  # it was kept in an earlier part of this batch
                at = arrivals[one.number - begun]
                one.pair.enter(decisions, at)
                numbers[at] = heir
                differences |= {at: one.pair.differences} if one.pair.differences else {}
        for row, one in replaced:
            last = row
            while (number := begun + bisect_left(arrivals, last)) in heirs:
                last = heirs[number]
            if one.number < begun:
                taken[last] = one.pair
        duplicates, paired = ~decisions.kept, np.flatnonzero(numbers >= 0)
        of = self._kept.packed_keys(numbers[paired])
        decisions.groups[paired] = self._kept.groups(numbers[paired], of)
        if self._kept.others:
            decisions.places[paired] = self._kept.places_of(numbers[paired])
            decisions.groups[decisions.places > 0] = 0
        decisions.groups[added] = self._kept.groups(places, keys.take(added))
        here = np.flatnonzero(duplicates & (numbers >= begun))
        decisions.gave_way[here] = added[numbers[here] - begun] > here
        whole = replace(
            decisions,
            of=of.spread(paired, len(prints)),
            differences=differences,
            missing=missing,
            replaced=taken,
        )
        return whole.among(documents)
