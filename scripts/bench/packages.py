"""Known packages that decide which of n texts are kept, each from nothing.

MinHash takes 128 permutations of the 3-grams of characters, at 0.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

Keeps = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Decides n texts in their order, from nothing: bool (n,), True where kept."""

THRESHOLD, PERMUTATIONS, BANDS = 0.8, 128, 16


def rensa(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the package `rensa`: R-MinHash, bands, estimated Jaccard."""
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
    """Decide with the package `datasketch`: MinHash, whatever its LSH proposes."""
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
    """Yield the packages by name, None in place of those not installed."""
    for package in (rensa, datasketch):
        name = package.__name__
        yield name, package if find_spec(name) else None


def _grams(text: str) -> set[bytes]:
    """Return the 3-grams without white space in UTF-8; the packages take no lone surrogates."""
    packed = "".join(text.split())
    grams = {packed[i : i + 3] for i in range(max(len(packed) - 2, 1))}
    return {gram.encode("utf-8", "replace") for gram in grams}
