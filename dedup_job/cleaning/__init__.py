"""Cleaning: from the raw value of a text field to clean text."""

from __future__ import annotations

from dedup_job.cleaning.cleaner import Cleaner
from dedup_job.cleaning.settings import CleaningSettings

__all__ = ["Cleaner", "CleaningSettings"]
