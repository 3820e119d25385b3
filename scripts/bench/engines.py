"""Engines that decide which of n texts are kept: ours, and known packages.

The packages use MinHash with 128 permutations of character 3-grams, at 0.8.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Batch, Documents
from dedup_job.decision.decider import Decider, by_key
from dedup_job.documents import Decision, Document, Kept
from dedup_job.index import KeptIndex
from dedup_job.settings import Settings

BATCH = 1000
Keeps = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Decides n texts in their order, without a state: bool (n,), True if kept."""
THRESHOLD, PERMUTATIONS, BANDS = 0.8, 128, 16
_WARM = "先编译再计时：" * 9


class Engine:
    """The engine of dedup without a database; texts have numbers as keys."""

    def __init__(self, settings: Settings) -> None:
        """Load the lexicon, and decide some texts so that later ones are timed without start-up."""
        self._settings = settings
        self._equipment = settings.models()
        self.decide([_WARM, _WARM + "。", "短"])

    def begin(self, text: Callable[[int], str]) -> None:
        """Start without documents; text: returns the text of a number."""
        self._text = text
        self.index = KeptIndex(self._settings.index)
        self.decider = Decider(
            self.index,
            self._settings.decision,
            by_key(lambda keys: {k: text(number_of(k)) for k in keys}),
            self._equipment.judge,
        )

    def decide_batch(self, numbers: range, texts: Sequence[str]) -> list[Decision]:
        """Return the decisions on texts with consecutive numbers."""
        prints = self._equipment.fingerprinter.fingerprint(texts)
        rows = zip(numbers, texts, strict=True)
        documents = Documents.of(tuple(Document(i, key(i), b"", text) for i, text in rows))
        decisions = self.decider.decide(Batch(documents, prints))
        self.decider.on_settled()
        return list(decisions)

    def decide(self, texts: Sequence[str]) -> list[Decision]:
        """Return the decisions on n texts in their order, from an empty index on."""
        self.begin(texts.__getitem__)
        decisions: list[Decision] = []
        for at in range(0, len(texts), BATCH):
            part = texts[at : at + BATCH]
            decisions += self.decide_batch(range(at, at + len(part)), part)
        return decisions

    def keeps(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each text is kept, as `Keeps`."""
        return np.array([isinstance(d, Kept) for d in self.decide(texts)], dtype=np.bool_)


def key(number: int) -> bytes:
    """Return the key of a number."""
    return b"%d" % number


def number_of(key: bytes) -> int:
    """Return the number of a key."""
    return int(key)


def rensa(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether the package `rensa` keeps each text: R-MinHash, bands, estimated Jaccard."""
    from rensa import RMinHash, RMinHashDeduplicator

    index = RMinHashDeduplicator(
        threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True, num_bands=BANDS, seed=42
    )
    kept = []
    for number, text in enumerate(texts):
        minhash = RMinHash(num_perm=PERMUTATIONS, seed=42)
        minhash.update([gram.decode() for gram in _grams(text)])
        kept.append(index.add(str(number), minhash))
    return np.array(kept, dtype=np.bool_)


def datasketch(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether `datasketch` keeps each text: without a candidate in its MinHash LSH."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    kept = []
    for number, text in enumerate(texts):
        minhash = MinHash(num_perm=PERMUTATIONS, seed=42)
        minhash.update_batch(list(_grams(text)))
        kept.append(not index.query(minhash))
        if kept[-1]:
            index.insert(number, minhash)
    return np.array(kept, dtype=np.bool_)


def installed_peers() -> Iterator[tuple[str, Keeps | None]]:
    """Yield the name and the function of each package, None if it is not installed."""
    for package in (rensa, datasketch):
        name = package.__name__
        yield name, package if find_spec(name) else None


def _grams(text: str) -> set[bytes]:
    # the packages take no lone surrogates
    packed = "".join(text.split())
    grams = {packed[i : i + 3] for i in range(max(len(packed) - 2, 1))}
    return {gram.encode("utf-8", "replace") for gram in grams}
