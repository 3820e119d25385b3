"""Cleaning: from the raw value of a text field to clean text."""

from __future__ import annotations

from dedup_job.cleaning.cleaner import Cleaned, Cleaner, CleaningSettings

__all__ = ["Cleaned", "Cleaner", "CleaningSettings"]
