"""What the channels besides simhash need to know of texts."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Channel, Sketches
from dedup_job.fingerprint.folding import fold_texts
from dedup_job.fingerprint.sketch import BANDS, sentence_keys, sketch
from dedup_job.packed import Packed


class Sketcher:
    """Sketches batches of texts for the channels chosen; thread-safe, without state."""

    def __init__(self, channels: Collection[Channel]) -> None:
        self._minhash = Channel.MINHASH in channels
        self._sentences = Channel.SENTENCES in channels
        self.channels = (Channel.MINHASH,) * (BANDS * self._minhash) + (Channel.SENTENCES,) * (
            self._sentences
        )

    def sketch(self, texts: Packed) -> Sketches | None:
        """Return the sketches of n texts as they are after cleaning; None where none is needed."""
        if not self.channels:
            return None
        columns: list[NDArray[np.uint32]] = []
        bits: NDArray[np.uint64] = np.empty((len(texts.offsets) - 1, 0), dtype=np.uint64)
        if self._minhash:
            keys, bits = sketch(fold_texts(texts))
            columns.append(keys)
        if self._sentences:
            columns.append(sentence_keys(texts)[:, np.newaxis])
        return Sketches(np.hstack(columns), bits, self.channels)
