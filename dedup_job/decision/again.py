"""Duplicates decided once more, each against its original alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedup_job.decision.equipment import Equipment
from dedup_job.decision.pair import shared_channels
from dedup_job.decision.settings import Comparing, DecisionSettings
from dedup_job.decision.weighing import Weighing
from dedup_job.documents import Channel, Duplicate, Reason
from dedup_job.index import IndexSettings
from dedup_job.judgment import names_of_richer


class Again:
    """Decides n texts against n originals, as a run does that finds each original."""

    def __init__(
        self, decision: DecisionSettings, index: IndexSettings, equipment: Equipment
    ) -> None:
        self._weighing = Weighing(decision, equipment.judge)
        self._compares = decision.compare is not Comparing.NONE
        self._index = index
        self._fingerprinter = equipment.fingerprinter

    def decide(self, texts: Sequence[str], originals: Sequence[str]) -> list[Duplicate | str]:
        """Return of each text what the ledger says of it, or what keeps it from being a duplicate.

        `of` and `cluster` say nothing; `found_by` names all channels that find the original, of
        which a run may have left some out.
        """
        if not texts:
            return []
        rows = np.arange(len(texts))
        prints = self._fingerprinter.fingerprint(texts)
        theirs = self._fingerprinter.fingerprint(originals)
        weighed = self._weighing.weigh(texts, rows, originals, rows)
        alike = (
            -weighed.cost
            if self._weighing.judge is None
            else self._weighing.check.compare(texts, rows, originals, rows).similarities
        )
        named = self._weighing.differences(texts, originals)
        distances = np.bitwise_count(prints.values ^ theirs.values)
        found_by = shared_channels(prints, theirs, self._index)
        decided: list[Duplicate | str] = []
        for i, (text, original) in enumerate(zip(texts, originals, strict=True)):
            short = bool(prints.short[i])
            if text == original:
                by = (str(Channel.TEXT),)
                decided.append(Duplicate(b"", 0, 1.0, by, Reason.EXACT, short))
            elif not weighed.joined[i]:
                decided.append(self._weighing.kind(int(weighed.kinds[i])))
            else:
                decided.append(
                    Duplicate(
                        b"",
                        int(distances[i]),
                        float(alike[i]) if self._compares else None,
                        tuple(map(str, found_by[i])),
                        Reason.NEAR,
                        short,
                        differences=named[i],
                        richer=names_of_richer(int(weighed.richer[i])),
                    )
                )
        return decided
