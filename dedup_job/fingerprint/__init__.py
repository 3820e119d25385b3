"""Text -> 64-bit simhash: batches of texts in, uint64 (n,) out."""

from dedup_job.fingerprint.fingerprinter import Explanation, Fingerprinter, Route
from dedup_job.fingerprint.hashing import is_text_hash, text_digest, text_hash
from dedup_job.fingerprint.settings import FingerprintSettings, TokenHash, Weighting
from dedup_job.fingerprint.simhash import hamming

__all__ = [
    "Explanation",
    "FingerprintSettings",
    "Fingerprinter",
    "Route",
    "TokenHash",
    "Weighting",
    "hamming",
    "is_text_hash",
    "text_digest",
    "text_hash",
]
