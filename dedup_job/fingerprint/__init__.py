"""Text -> 64-bit simhash: batches of texts in, uint64 (n,) out."""

from dedup_job.fingerprint.fingerprinter import Explanation, Fingerprinter, Sketcher
from dedup_job.fingerprint.settings import FingerprintSettings
from dedup_job.native.texts import TextColumn, is_text_hash, pack, text_hash

__all__ = [
    "Explanation",
    "FingerprintSettings",
    "Fingerprinter",
    "Sketcher",
    "TextColumn",
    "is_text_hash",
    "pack",
    "text_hash",
]
