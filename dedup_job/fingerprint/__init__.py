"""Text -> 64-bit simhash: batches of texts in, uint64 (n,) out."""

from dedup_job.fingerprint.fingerprinter import Explanation, Fingerprinter
from dedup_job.fingerprint.settings import FingerprintSettings
from dedup_job.fingerprint.sketch import Sketcher
from dedup_job.native.code_points import TextColumn, pack
from dedup_job.native.hashing import is_text_hash, text_hash

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
