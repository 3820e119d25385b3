"""Text -> 64-bit simhash: batches of texts in, uint64 (n,) out. No I/O, no clock."""

from dedup_job.fingerprint.fingerprinter import Fingerprinter
from dedup_job.fingerprint.hashing import is_text_hash, text_digest, text_hash
from dedup_job.fingerprint.keywords import JiebaKeywords, KeywordExtractor
from dedup_job.fingerprint.settings import FingerprintSettings
from dedup_job.fingerprint.simhash import hamming

__all__ = [
    "FingerprintSettings",
    "Fingerprinter",
    "JiebaKeywords",
    "KeywordExtractor",
    "hamming",
    "is_text_hash",
    "text_digest",
    "text_hash",
]
