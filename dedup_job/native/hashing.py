"""The stable hash of a text: the same on every machine and in every process."""

from __future__ import annotations

import xxhash


def text_hash(text: str) -> int:
    """xxh64 of the UTF-8 bytes (lone surrogates pass), seed 0."""
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


def is_text_hash(fingerprint: int, text: str) -> bool:
    """Tell whether a stored fingerprint is that of a short text.

    A short text has one feature, itself, so its simhash is its hash. That a simhash over several
    tokens equals the hash of the whole text by chance has probability 2**-64.
    """
    return fingerprint == text_hash(text)
