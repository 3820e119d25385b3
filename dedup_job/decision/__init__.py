"""Candidates -> decisions, first wins. No I/O, no clock."""

from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.greedy import Copies, GreedyDeduplicator, PairRecheck, by_key
from dedup_job.decision.settings import AbortSettings, DecisionSettings, Judging, Models
from dedup_job.index.kept import Comparison

__all__ = [
    "AbortConditions",
    "AbortSettings",
    "Comparison",
    "Copies",
    "DecisionSettings",
    "GreedyDeduplicator",
    "Judging",
    "Models",
    "PairRecheck",
    "by_key",
]
