"""Inverse document frequencies of the user's own texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.features import Options, count_words, make_features
from dedup_job.fingerprint.fingerprinter import Fingerprinter
from dedup_job.fingerprint.lexicon import STOP_WORD, Lexicon
from dedup_job.fingerprint.segmentation import make_scratch, segment
from dedup_job.native.jit import native


class DocumentFrequencies:
    """Counts in how many texts each word stands, batch by batch."""

    def __init__(self, fingerprinter: Fingerprinter) -> None:
        self._fingerprinter = fingerprinter
        self._words: Counter[str] = Counter()
        self.texts = 0

    def add(self, texts: Sequence[str]) -> None:
        """Count the distinct words of each text."""
        points, offsets = self._fingerprinter.prepare(texts)
        starts, stops, keys = _distinct(
            self._fingerprinter.lexicon, points, offsets, self._fingerprinter.options
        )
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        for i, count in zip(first.tolist(), counts.tolist(), strict=True):
            word = points[starts[i] : stops[i]].tobytes().decode("utf-32-le", "surrogatepass")
            self._words[word] += count
        self.texts += len(texts)

    def weights(self, least: int) -> Iterator[tuple[str, float]]:
        """Yield (word, log(1 + texts / texts with the word)), rare words first, then by word.

        Words of fewer than `least` texts are left out: they get the median, as unknown ones do.
        """
        for word, count in sorted(self._words.items(), key=lambda item: (item[1], item[0])):
            if count >= least:
                yield word, math.log(1 + self.texts / count)


@native
def _distinct(
    lexicon: Lexicon, points: NDArray[np.uint32], offsets: NDArray[np.int64], options: Options
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Return places and keys of the distinct words of each text, one text after the other."""
    n = offsets.shape[0] - 1
    longest = 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    scratch, room = make_scratch(longest), make_features(longest)
    starts = np.empty(points.shape[0], dtype=np.int64)
    stops = np.empty(points.shape[0], dtype=np.int64)
    keys = np.empty(points.shape[0], dtype=np.uint64)
    count = 0
    for i in range(n):
        tokens = segment(lexicon, points, offsets[i], offsets[i + 1], scratch)
        found = count_words(lexicon, points, tokens, scratch, options, room)
        for f in range(found):
            if room.idf[f] != STOP_WORD:
                starts[count], stops[count] = room.start[f], room.stop[f]
                keys[count] = room.token[f]
                count += 1
    return starts[:count], stops[:count], keys[:count]
