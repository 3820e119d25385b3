"""Sketches of texts: MinHash bands and bits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Sketches
from dedup_job.documents import Channel
from dedup_job.fingerprint.characters import case_fold_table
from dedup_job.fingerprint.trie import PLANE
from dedup_job.native.code_points import TextColumn
from dedup_job.native.hashing import text_digests
from dedup_job.native.jit import inlined, native

GRAM, BINS, BANDS, ROWS, KEY_BITS = 3, 128, 20, 5, 30
SENTENCES, LEAST_SENTENCE = 3, 8

_POINT_BITS = np.uint64(21)
_NO_POINT = np.uint64((1 << 21) - 1)  # fills a text of one or two characters up; none is so large
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_EMPTY = np.uint64(2**64 - 1)
_BIN_MASK = np.uint64(BINS - 1)
_ROUND_SHIFT = np.uint64(56)  # 2 * BINS rounds
_VALUE_SHIFT = np.uint64(8)
_KEY_SHIFT = np.uint64(64 - KEY_BITS)
_MANY, _SLOTS = 1 << 10, 1 << 12
_LETTER, _WHITE, _END = 0, 1, 2
_LINE_ENDS = "\n\x0b\x0c\r\x85\u2028\u2029"


def sketch(texts: TextColumn) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return keys and bits of n texts, as a form has them.

    keys: uint32 (n, BANDS), below 2**KEY_BITS, a hash of ROWS bins each; two texts share a band
    with probability J**ROWS. bits: uint64 (n, BINS / 64), a bit of each bin (Li and König,
    "b-bit minwise hashing", WWW 2010), see `equal_bits`. The 3-grams count as a set; a text of one
    or two characters is a gram, and the empty text is one that no other has.
    """
    n = len(texts.offsets) - 1
    keys = np.empty((n, BANDS), dtype=np.uint32)
    bits = np.zeros((n, BINS // 64), dtype=np.uint64)
    _sketch_all(texts.points, texts.offsets, keys, bits)
    return keys, bits


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
    keys = np.empty(len(raw.offsets) - 1, dtype=np.uint32)
    _sentence_keys(raw.points, raw.offsets, *_characters(), keys)
    return keys


@functools.cache
def _characters() -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Return what each character of the basic plane becomes in a sentence, and its kind."""
    folded = case_fold_table()
    kinds = np.zeros(PLANE, dtype=np.uint8)
    for point in range(PLANE):
        if chr(point).isspace():
            kinds[point] = _WHITE
        if chr(point) in _LINE_ENDS or chr(folded[point]) in "。!?;":
            kinds[point] = _END
    return folded, kinds


@inlined
def _mixed(x: np.uint64) -> np.uint64:
    """Mix 64 bits: the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@native
def _sketch_all(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    keys: NDArray[np.uint32],
    bits: NDArray[np.uint64],
) -> None:
    bins = np.empty(BINS, dtype=np.uint64)
    longest = 1
    for i in range(keys.shape[0]):
        longest = max(longest, offsets[i + 1] - offsets[i])
    room = np.empty((2, longest), dtype=np.uint64)
    for i in range(keys.shape[0]):
        fill_bins(points, offsets[i], offsets[i + 1], room, bins)
        for word in range(BINS // 64):
            ones = np.uint64(0)
            for b in range(64):
                ones |= (bins[64 * word + b] & _ONE) << np.uint64(b)
            bits[i, word] = ones
        for band in range(BANDS):
            key = np.uint64(0)
            for b in range(band * ROWS, (band + 1) * ROWS):
                key = key * _GAMMA + bins[b]
            keys[i, band] = _mixed(key) >> _KEY_SHIFT


@native
def fill_bins(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    room: NDArray[np.uint64],
    bins: NDArray[np.uint64],
) -> None:
    """Fill the bins, uint64 (BINS,), for the text points[start:stop].

    A value is the round, 8 bits, before 56 of the hash, so the least is one of the first round.
    Round r hashes a gram to the r-th output of SplitMix64 with the gram as seed. From round BINS
    on everything falls into one bin, so all are filled in the end. room: uint64 (2, m), m as long
    as the text and one at least, overwritten.
    """
    grams, hashes = room[0], room[1]
    n: int = _make_grams(points, start, stop, grams)
    bins[:] = _EMPTY
    empty = np.int64(BINS)
    for r in range(2 * BINS):
        step, high = np.uint64(r + 1) * _GAMMA, np.uint64(r) << _ROUND_SHIFT
        mask = _BIN_MASK if r < BINS else np.uint64(0)
        only = np.uint64(0) if r < BINS else np.uint64(r - BINS)
        for i in range(n):  # apart from the bins, so that the processor hashes eight at a time
            hashes[i] = _mixed(grams[i] + step)
        for i in range(n):
            x = hashes[i]
            b = (x & mask) | only
            former = bins[b]
            empty -= former == _EMPTY
            bins[b] = min(former, high | (x >> _VALUE_SHIFT))
        if empty == 0:
            break
        if r == 0 and n > _MANY:  # few of them differ, or all bins were full
            n = move_distinct(grams, n)


@inlined
def _make_grams(
    points: NDArray[np.uint32], start: int, stop: int, grams: NDArray[np.uint64]
) -> int:
    """Write the grams of a text, 63 bits each; return how many."""
    n = stop - start - GRAM + 1
    if n < 1:
        gram = np.uint64(0)
        for i in range(start, start + GRAM):
            gram = (gram << _POINT_BITS) | (np.uint64(points[i]) if i < stop else _NO_POINT)
        grams[0] = gram
        return 1
    for i in range(n):
        gram = np.uint64(0)
        for k in range(GRAM):
            gram = (gram << _POINT_BITS) | np.uint64(points[start + i + k])
        grams[i] = gram
    return n


@native
def move_distinct(grams: NDArray[np.uint64], n: int) -> int:
    """Move the distinct ones of n grams to the front and return how many; n if they are many.

    Whenever this ends, the first n are still the same set.
    """
    table = np.zeros(_SLOTS, dtype=np.uint64)
    count = 0
    for i in range(n):
        gram = grams[i]
        place = _mixed(gram) % np.uint64(_SLOTS)
        while table[place] != 0 and table[place] != gram + _ONE:
            place = (place + _ONE) % np.uint64(_SLOTS)
        if table[place] == 0:
            if 2 * count >= _SLOTS:
                return n
            table[place] = gram + _ONE
            grams[count] = gram
            count += 1
    return count


@native
def _sentence_keys(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    folded: NDArray[np.uint16],
    kinds: NDArray[np.uint8],
    keys: NDArray[np.uint32],
) -> None:
    lengths = np.empty(SENTENCES, dtype=np.int64)
    hashes = np.empty(SENTENCES, dtype=np.uint64)
    for i in range(keys.shape[0]):
        lengths[:] = 0
        hashes[:] = 0
        length, sentence, whole = 0, np.uint64(0), np.uint64(0)
        for j in range(offsets[i], offsets[i + 1]):
            point = np.uint64(points[j])
            if point < PLANE:
                kind = kinds[point]
                if kind == _END:
                    _offer(length, sentence, lengths, hashes)
                    length, sentence = 0, np.uint64(0)
                if kind != _LETTER:
                    continue
                point = np.uint64(folded[point])
            length += 1
            sentence = (sentence + point + _ONE) * _GAMMA
            whole = (whole + point + _ONE) * _GAMMA
        _offer(length, sentence, lengths, hashes)
        key = whole
        if lengths[0] >= LEAST_SENTENCE:
            key = np.uint64(0)
            for place in range(SENTENCES):
                key += _mixed(hashes[place])
        keys[i] = _mixed(key) >> _KEY_SHIFT


@inlined
def _offer(
    length: int, sentence: np.uint64, lengths: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> None:
    """Put a sentence among the longest, in descending order, where it is one of them."""
    for place in range(SENTENCES):
        least, hash_ = lengths[place], hashes[place]
        if length > least or (length == least and sentence > hash_):
            lengths[place], hashes[place] = length, sentence
            length, sentence = least, hash_


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
    """Return a hash of each whole text, uint32 (n,), below 2**KEY_BITS."""
    return (text_digests(*texts) >> _KEY_SHIFT).astype(np.uint32)
