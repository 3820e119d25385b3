"""The naive versions: plain loops that a reader checks by eye.

They share no code with dedup_job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import jieba.analyse
import xxhash

BITS = 64
BLOCKS = 4
BLOCK_BITS = 16


def naive_hash(text: str) -> int:
    """Return the 64-bit hash of a token or of a whole text."""
    return xxhash.xxh64(text.encode("utf-8", "surrogatepass"), seed=0).intdigest()


def naive_simhash(weighted_tokens: list[tuple[str, float]]) -> int:
    """Add each token's weight where its hash has a 1, subtract it where it has a 0."""
    sums = [0.0] * BITS
    for token, weight in weighted_tokens:
        token_hash = naive_hash(token)
        for bit in range(BITS):
            if token_hash >> bit & 1:
                sums[bit] += weight
            else:
                sums[bit] -= weight
    value = 0
    for bit in range(BITS):
        if sums[bit] > 0:
            value += 2**bit
    return value


def naive_keywords(text: str, top_k: int = 30) -> list[tuple[str, float]]:
    """Return jieba's own keywords with their weights, the heaviest first."""
    return jieba.analyse.extract_tags(text, topK=top_k, withWeight=True)


def naive_fingerprint(text: str, top_k: int = 30, min_features: int = 5) -> tuple[int, bool]:
    """Return the fingerprint and whether the text is short; a short text is its own hash."""
    keywords = naive_keywords(text, top_k)
    if len(keywords) < min_features:
        return naive_hash(text), True
    return naive_simhash(keywords), False


def naive_hamming(a: int, b: int) -> int:
    """Count the bits in which two fingerprints differ."""
    distance = 0
    for bit in range(BITS):
        if (a >> bit & 1) != (b >> bit & 1):
            distance += 1
    return distance


class NaiveIndex:
    """Four blocks of 16 bits: within distance 3 at least one block is equal in both."""

    def __init__(self) -> None:
        self._fingerprints: list[int] = []
        self._buckets: dict[tuple[int, int], list[int]] = {}

    def add(self, fingerprint: int) -> None:
        """Hold one more fingerprint; its position is the number held before."""
        position = len(self._fingerprints)
        self._fingerprints.append(fingerprint)
        for block in range(BLOCKS):
            self._buckets.setdefault(self._bucket(fingerprint, block), []).append(position)

    def candidates(self, fingerprint: int, distance: int = 3) -> list[tuple[int, int]]:
        """Return (position, distance) of all held within the distance, in order of arrival."""
        if distance >= BLOCKS:
            raise ValueError("four blocks find all neighbours up to distance 3 only")
        positions: set[int] = set()
        for block in range(BLOCKS):
            positions.update(self._buckets.get(self._bucket(fingerprint, block), []))
        found = []
        for position in sorted(positions):
            apart = naive_hamming(self._fingerprints[position], fingerprint)
            if apart <= distance:
                found.append((position, apart))
        return found

    def _bucket(self, fingerprint: int, block: int) -> tuple[int, int]:
        return block, fingerprint // 2 ** (BLOCK_BITS * block) % 2**BLOCK_BITS


# decision, of, distance, reason
NaiveDecision = tuple[str, Any, int | None, str]


def naive_decide(
    documents: Iterable[tuple[Any, object]], clean: Callable[[str], str], distance: int = 3
) -> tuple[list[Any], dict[Any, NaiveDecision]]:
    """Run the whole recipe over (id, content), None standing for a missing field; first wins.

    Returns the kept ids in order, and what became of all others.
    """
    kept: list[Any] = []
    dropped: dict[Any, NaiveDecision] = {}
    kept_texts: dict[str, Any] = {}
    index, index_ids = NaiveIndex(), []
    for id_, content in documents:
        if content is None:
            dropped[id_] = ("skipped", None, None, "missing")
            continue
        if not isinstance(content, str):
            dropped[id_] = ("skipped", None, None, "not_text")
            continue
        text = clean(content)
        if text == "":
            dropped[id_] = ("skipped", None, None, "empty")
            continue
        if text in kept_texts:
            dropped[id_] = ("duplicate", kept_texts[text], 0, "exact")
            continue
        fingerprint, short = naive_fingerprint(text)
        if not short:
            nearest, least = None, distance + 1
            for position, apart in index.candidates(fingerprint, distance):
                if apart < least:  # of equally near ones the first stays
                    nearest, least = index_ids[position], apart
            if least <= distance:
                dropped[id_] = ("duplicate", nearest, least, "near")
                continue
            index.add(fingerprint)
            index_ids.append(id_)
        kept.append(id_)
        kept_texts[text] = id_
    return kept, dropped


def plain_recipe(source_collection: Any, target_collection: Any, field: str) -> tuple[int, int]:
    """Run the plain job that dedup replaces; return how many documents it scanned and kept.

    For benchmarks: one document at a time, nothing checked, nothing resumed.
    """
    scanned = kept = 0
    index = NaiveIndex()
    for document in source_collection.find():
        scanned += 1
        content = document.get(field)
        if not isinstance(content, str):
            continue
        text = re.sub(r"<[^>]+>", "", content).strip()
        if text == "":
            continue
        fingerprint = naive_simhash(naive_keywords(text))
        if index.candidates(fingerprint):
            continue
        index.add(fingerprint)
        kept += 1
        signed = fingerprint - 2**BITS if fingerprint >= 2 ** (BITS - 1) else fingerprint
        target_collection.insert_one({"_id": document["_id"], field: text, "hash_value": signed})
    return scanned, kept
