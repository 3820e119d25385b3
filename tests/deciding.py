"""The decision stage as the tests use it: by fingerprint alone, as the plain recipe decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dedup_job.decision import DecisionSettings, FirstWins
from dedup_job.documents import Batch, Decision, Duplicate, Kept, KeptPage
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.judgment import Judge

BY_SIMHASH = {"channels": ("simhash",)}
UNSEEN = DecisionSettings(compare="none")  # every candidate is a duplicate
# the same for `run_here`
BY_SIMILARITY = {"decision__judge": "similarity"}
PLAIN = {"index__channels": ["simhash"], "decision__compare": "none"}


def as_of_any_process(decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions without what each process counts anew."""
    return [d._replace(cluster=0) if isinstance(d, Duplicate) else d for d in decisions]


class Decider:
    """Decides batches, and holds the texts that a target would hold."""

    def __init__(
        self, decision: DecisionSettings = UNSEEN, judge: Judge | None = None, **index: Any
    ) -> None:
        """Take settings of the index over those of the plain recipe."""
        self._judge = judge
        self.settings, self._decision = IndexSettings(**(BY_SIMHASH | index)), decision
        self.texts: dict[bytes, str] = {}
        self.asked: list[bytes] = []
        self.forget()

    def forget(self) -> None:
        """Begin anew; what the target holds stays."""
        self.index = KeptIndex(self.settings)
        self.first_wins = FirstWins(self.index, self._decision, self._fetch, self._judge)

    def remember(self, pages: Iterable[KeptPage], texts: Mapping[bytes, str]) -> None:
        """Take in what former runs kept."""
        given = list(pages)
        self.texts |= texts
        self.index.remember(lambda: given)

    def decide(self, batch: Batch) -> list[Decision]:
        """Return the decisions; what is kept is in the target afterwards."""
        decisions = self.first_wins.decide(batch)
        for document, decision in zip(batch.documents, decisions, strict=True):
            if isinstance(decision, Kept):
                self.texts[document.key] = str(document.content)
        self.first_wins.arrived()
        return decisions

    def _fetch(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        self.asked += keys
        return {key: self.texts[key] for key in keys if key in self.texts}
