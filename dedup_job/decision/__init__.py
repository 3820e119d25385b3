"""Candidates -> decisions, first wins. No I/O, no clock."""

from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.greedy import Copies, GreedyDeduplicator, by_key
from dedup_job.decision.models import Models
from dedup_job.decision.pair import PairRecheck
from dedup_job.decision.settings import AbortSettings, DecisionSettings, Judging

__all__ = [
    "AbortConditions",
    "AbortSettings",
    "Copies",
    "DecisionSettings",
    "GreedyDeduplicator",
    "Judging",
    "Models",
    "PairRecheck",
    "by_key",
]
