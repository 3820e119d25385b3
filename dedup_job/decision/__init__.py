"""Candidates -> decisions, first wins. No I/O, no clock."""

from dedup_job.decision.first_wins import FirstWins

__all__ = ["FirstWins"]
