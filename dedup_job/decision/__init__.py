"""Candidates -> decisions, first wins. No I/O, no clock."""

from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.comparison import Comparison
from dedup_job.decision.equipment import Equipment
from dedup_job.decision.first_wins import FirstWins
from dedup_job.decision.pair import PairRecheck
from dedup_job.decision.settings import AbortSettings, DecisionSettings, Judging
from dedup_job.decision.texts import by_key

__all__ = [
    "AbortConditions",
    "AbortSettings",
    "Comparison",
    "DecisionSettings",
    "Equipment",
    "FirstWins",
    "Judging",
    "PairRecheck",
    "by_key",
]
