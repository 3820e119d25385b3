"""The decision stage as the tests use it: by fingerprint alone, as the plain recipe decides."""

from dataclasses import replace

import numpy as np

from dedup_job.columns import CHANNELS, CODES, NEAR, Decisions, Names
from dedup_job.decision import DecisionSettings
from dedup_job.decision.decider import Decider, by_key
from dedup_job.documents import Duplicate, Kept
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.native.bytes_column import strings_of
from tests.judging import judge_for

BY_SIMHASH = {"candidate_generators": ("simhash",)}
UNCOMPARED = DecisionSettings(judge="none")  # every candidate is a duplicate
# settings for `run_here`
BY_SIMILARITY = {"decision__judge": "similarity"}
PLAIN = {"index__candidate_generators": ["simhash"], "decision__judge": "none"}


def decisions_of(values, tried=()):
    """Return decisions in columns.

    tried: of each text, the numbers of candidates found and not compared, keys of missing ones.
    """
    found = (getattr(v, "nearest", None) or getattr(v, "pair", None) for v in values)
    pairs = {row: pair for row, pair in enumerate(found) if pair}
    kinds = sorted({"", *(pair.kind for pair in pairs.values())})
    richer = sorted({name for pair in pairs.values() for name in pair.richer})
    texts = [v if isinstance(v, Kept | Duplicate) else None for v in values]
    made = Decisions.all_kept(
        np.array([v.fingerprint if isinstance(v, Kept) else 0 for v in values], dtype=np.uint64),
        Names(tuple(kinds), tuple(richer)),
    )
    made["short"][:] = [v is not None and v.short for v in texts]
    refusals = {row: v for row, v in enumerate(values) if texts[row] is None}
    for row, value in enumerate(values):
        if not isinstance(value, Kept):
            made["outcome"][row] = CODES[value.reason]
        if tried and (isinstance(value, Kept) or made["outcome"][row] == NEAR):
            made["candidates"][row], made["cut"][row], missing = tried[row]
            if missing:
                made.missing[row] = missing
    for row, pair in pairs.items():
        made["distance"][row], made["apart"][row] = pair.distance, kinds.index(pair.kind)
        made["similarity"][row] = np.nan if pair.similarity is None else pair.similarity
        made["probability"][row] = np.nan if pair.probability is None else pair.probability
        made["channels"][row] = sum(1 << CHANNELS.index(name) for name in pair.found_by)
        made["richer"][row] = sum(1 << richer.index(name) for name in pair.richer)
        made.differences[row] = pair.differences
    of = strings_of([pairs[row].of if row in pairs else b"" for row in range(len(values))])
    return replace(made, of=of, refusals=refusals)


class MemoryTarget:
    """A decider with its target in memory: the texts of the kept documents."""

    def __init__(self, decision=UNCOMPARED, **index):
        """Take the settings of decision and index; by default those of the plain recipe."""
        self._judge = judge_for(decision)
        self.settings, self._decision = IndexSettings(**(BY_SIMHASH | index)), decision
        self.texts = {}
        self.ranks = {}
        self._source = {}
        self._near = {}  # groups of near duplicates in the ledger
        self.fetched = []
        self.restart()

    def restart(self):
        """Begin with an empty index; the texts of the target stay."""
        self.index = KeptIndex(self.settings)
        fetch = by_key(self._fetch)
        self.decider = Decider(self.index, self._decision, fetch, self._judge, self)

    def decide(self, batch):
        """Return the decisions, and commit them: kept texts are in the target afterwards."""
        documents = [*batch.documents]
        self._source |= {one.key: str(one.content) for one in documents}
        decisions = self.decider.decide(batch)
        for document, decision in zip(batch.documents, decisions, strict=True):
            if isinstance(decision, Kept):
                self.texts[document.key] = str(document.content)
        for row in np.flatnonzero(decisions["outcome"] == NEAR).tolist():
            self._near[documents[row].key] = int(decisions["group"][row])
        if decisions.superseded is not None:
            _, keys, dropped = decisions.superseded
            for key, one in zip(keys.list(), dropped.rows, strict=True):
                del self.texts[key]
                if one["outcome"] == NEAR:
                    self._near[key] = int(one["group"])
        self.decider.on_settled()
        return decisions

    def ranks_of(self, keys):
        """Return the ranks of documents of the target; see `Copies`."""
        return [self.ranks[key] if key in self.texts else b"" for key in keys.list()]

    def near_texts(self, groups, most):
        """Return the texts of the near duplicates of groups; see `Copies`."""
        stored = {group: [k for k, own in self._near.items() if own == group] for group in groups}
        keys = {group: [*stored[group], *more][: most + 1] for group, more in groups.items()}
        return {group: [self._source[key] for key in own] for group, own in keys.items()}

    def _fetch(self, keys):
        self.fetched += keys
        return {key: self.texts[key] for key in keys if key in self.texts}
