"""Sketches of texts: MinHash bands and bits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.columns import Sketches
from dedup_job.documents import Channel
from dedup_job.fingerprint.characters import case_fold_table
from dedup_job.fingerprint.trie import PLANE
from dedup_job.native.code_points import TextColumn
from dedup_job.native.hashing import text_digests

GRAM, BINS, BANDS, ROWS, KEY_BITS = 3, 128, 20, 5, 30
SENTENCES, LEAST_SENTENCE = 3, 8

_LETTER, _WHITE, _END = 0, 1, 2
_LINE_ENDS = "\n\x0b\x0c\r\x85\u2028\u2029"


def sketch(texts: TextColumn) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return keys and bits of n texts, as a form has them.

    keys: uint32 (n, BANDS), below 2**KEY_BITS, a hash of ROWS bins each; two texts share a band
    with probability J**ROWS. bits: uint64 (n, BINS / 64), a bit of each bin (Li and König,
    "b-bit minwise hashing", WWW 2010), see `equal_bits`. The 3-grams count as a set; a text of one
    or two characters is a gram, and the empty text is one that no other has.
    """
    keys, bits = _core.sketch(*texts)
    return keys.reshape(-1, BANDS), bits.reshape(-1, BINS // 64)


def equal_bits(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Count the bits in which m pairs of texts agree, int64 (m,): BINS * (1 + J) / 2 on average.

    a, b: uint64 (m, BINS / 64).
    """
    counts: NDArray[np.int64] = np.bitwise_count(~(a ^ b)).sum(axis=1, dtype=np.int64)
    return counts


def sentence_keys(raw: TextColumn) -> NDArray[np.uint32]:
    """Return a hash of the longest SENTENCES sentences of n texts, uint32 (n,), below 2**KEY_BITS.

    A sentence ends at 。！？； or their ASCII forms, or with the line. White space, width and case
    do not count, nor does the order of the sentences: blocks of a page come in any. For the same
    reason the greater hash, not the earlier sentence, goes first among equally long ones. Where
    none has LEAST_SENTENCE characters, the key is made of the whole text without sentence ends.
    """
    return _core.sentence_keys(raw.points, raw.offsets, *_characters())


@functools.cache
def _characters() -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    folded = case_fold_table()
    kinds = np.zeros(PLANE, dtype=np.uint8)
    for point in range(PLANE):
        if chr(point).isspace():
            kinds[point] = _WHITE
        if chr(point) in _LINE_ENDS or chr(folded[point]) in "。!?;":
            kinds[point] = _END
    return folded, kinds


Form = Callable[[TextColumn], tuple[TextColumn, Any]]
"""Returns the form of each of n texts by which candidates are found, and all that was read."""


class Sketcher:
    """Sketches batches of texts for the channels chosen; thread-safe, without state."""

    def __init__(self, channels: Collection[Channel], form: Form | None = None) -> None:
        """Take the channels, and the form by which candidates are found; None: the text itself.

        With Channel.FORM texts of the same form share a key of their own, however many share the
        others.
        """
        self._form = form
        self._minhash = Channel.MINHASH in channels
        self._sentences = Channel.SENTENCES in channels
        self._whole = Channel.FORM in channels
        self.channels = (
            *(Channel.MINHASH,) * (BANDS * self._minhash),
            *(Channel.SENTENCES,) * self._sentences,
            *(Channel.FORM,) * self._whole,
        )

    def sketch(self, texts: TextColumn) -> Sketches | None:
        """Return the sketches of n texts as they are after cleaning; None where none is needed."""
        if not self.channels:
            return None
        columns: list[NDArray[np.uint32]] = []
        bits: NDArray[np.uint64] = np.empty((len(texts.offsets) - 1, 0), dtype=np.uint64)
        form, read = self._form(texts) if self._form else (texts, None)
        if self._minhash:
            keys, bits = sketch(form)
            columns.append(keys)
        if self._sentences:
            columns.append(sentence_keys(texts)[:, np.newaxis])
        if self._whole:
            columns.append(_form_keys(form)[:, np.newaxis])
        return Sketches(np.hstack(columns), bits, self.channels, read)


def _form_keys(texts: TextColumn) -> NDArray[np.uint32]:
    return (text_digests(*texts) >> np.uint64(64 - KEY_BITS)).astype(np.uint32)
