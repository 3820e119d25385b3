"""Texts as the native code takes them, under the name this package uses."""

from dedup_job.packed import Packed, pack

__all__ = ["Packed", "pack"]
