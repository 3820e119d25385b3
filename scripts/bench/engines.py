"""Engines that decide which texts are kept: ours with some settings, and known packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Batch, Documents
from dedup_job.decision import GreedyDeduplicator, by_key
from dedup_job.documents import Decision, Document, Kept
from dedup_job.index import KeptIndex
from dedup_job.settings import Settings

Keeps = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Decides n texts in their order, first wins, from nothing: bool (n,), True where kept."""

BATCH = 1000
THRESHOLD, PERMUTATIONS, BANDS = 0.8, 128, 16  # of the packages
_WARM = "先编译再计时：" * 9


class Engine:
    """Our engine without a database; the texts of kept documents are asked for by number."""

    def __init__(self, settings: Settings) -> None:
        """Load the lexicon and the native code."""
        self._settings = settings
        self._equipment = settings.models()
        self.decide([_WARM, _WARM + "。", "短"])

    def begin(self, text: Callable[[int], str]) -> None:
        """Forget all documents; text: returns that of a number, the same each time."""
        self._text = text
        self.index = KeptIndex(self._settings.index)
        self.decider = GreedyDeduplicator.fetching(
            self.index,
            self._settings.decision,
            by_key(lambda keys: {k: text(number_of(k)) for k in keys}),
            self._equipment.judge,
        )

    def decide_batch(self, numbers: range, texts: Sequence[str]) -> list[Decision]:
        """Decide the documents of these numbers; the key of each is `key(its number)`."""
        prints = self._equipment.fingerprinter.fingerprint(texts)
        rows = zip(numbers, texts, strict=True)
        documents = Documents.of(tuple(Document(i, key(i), b"", text) for i, text in rows))
        decisions = self.decider.decide(Batch(documents, prints))
        self.decider.arrived()
        return list(decisions)

    def decide(self, texts: Sequence[str]) -> list[Decision]:
        """Decide n texts in their order, from nothing."""
        self.begin(texts.__getitem__)
        decisions: list[Decision] = []
        for at in range(0, len(texts), BATCH):
            part = texts[at : at + BATCH]
            decisions += self.decide_batch(range(at, at + len(part)), part)
        return decisions

    def keeps(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Decide as `Keeps` says."""
        return np.array([isinstance(d, Kept) for d in self.decide(texts)], dtype=np.bool_)


def key(number: int) -> bytes:
    """Return the key of a text."""
    return b"%d" % number


def number_of(key: bytes) -> int:
    """Return the number of a text from its key."""
    return int(key)


def rensa(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the package `rensa`: R-MinHash of 3-grams, bands, estimated Jaccard."""
    from rensa import RMinHash, RMinHashDeduplicator

    seen = RMinHashDeduplicator(
        threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True, num_bands=BANDS, seed=42
    )
    kept = []
    for number, text in enumerate(texts):
        minhash = RMinHash(num_perm=PERMUTATIONS, seed=42)
        minhash.update([gram.decode() for gram in _grams(text)])
        kept.append(seen.add(str(number), minhash))
    return np.array(kept, dtype=np.bool_)


def datasketch(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the package `datasketch`: MinHash of 3-grams, whatever its LSH proposes."""
    from datasketch import MinHash, MinHashLSH

    seen = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    kept = []
    for number, text in enumerate(texts):
        minhash = MinHash(num_perm=PERMUTATIONS, seed=42)
        minhash.update_batch(list(_grams(text)))
        kept.append(not seen.query(minhash))
        if kept[-1]:
            seen.insert(number, minhash)
    return np.array(kept, dtype=np.bool_)


def installed_peers() -> Iterator[tuple[str, Keeps | None]]:
    """Yield the packages by name, None in place of those that are not installed."""
    for package in (rensa, datasketch):
        name = package.__name__
        yield name, package if find_spec(name) else None


def _grams(text: str) -> set[bytes]:
    """Return the 3-grams without white space in UTF-8; the packages take no lone surrogates."""
    packed = "".join(text.split())
    grams = {packed[i : i + 3] for i in range(max(len(packed) - 2, 1))}
    return {gram.encode("utf-8", "replace") for gram in grams}
