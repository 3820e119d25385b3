"""Candidates -> decisions, first wins. No I/O, no clock."""

from dedup_job.decision.comparison import Comparison
from dedup_job.decision.first_wins import FirstWins, Neighbour

__all__ = ["Comparison", "FirstWins", "Neighbour"]
