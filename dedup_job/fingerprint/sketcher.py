"""What the channels besides simhash need to know of texts."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Channel, Sketches
from dedup_job.fingerprint.folding import fold_texts
from dedup_job.fingerprint.sketch import BANDS, KEY_BITS, sentence_keys, sketch
from dedup_job.native.code_points import Packed
from dedup_job.native.hashing import text_digests

Form = Callable[[Packed], Packed]
"""Returns the form of each of n texts by which they are compared."""

_KEY_SHIFT = np.uint64(64 - KEY_BITS)


class Sketcher:
    """Sketches batches of texts for the channels chosen; thread-safe, without state."""

    def __init__(self, channels: Collection[Channel], form: Form | None = None) -> None:
        """Take the channels, and the form by which candidates are found.

        With a form, texts of the same form share a key of their own, however many share the
        others; without one, the folded form is sketched.
        """
        self._form = form
        self._minhash = Channel.MINHASH in channels
        self._sentences = Channel.SENTENCES in channels
        self.channels = (
            *(Channel.MINHASH,) * (BANDS * self._minhash),
            *(Channel.SENTENCES,) * self._sentences,
            *(Channel.FORM,) * (form is not None),
        )

    def sketch(self, texts: Packed) -> Sketches | None:
        """Return the sketches of n texts as they are after cleaning; None where none is needed."""
        if not self.channels:
            return None
        columns: list[NDArray[np.uint32]] = []
        bits: NDArray[np.uint64] = np.empty((len(texts.offsets) - 1, 0), dtype=np.uint64)
        form = (self._form or fold_texts)(texts) if self._minhash or self._form else texts
        if self._minhash:
            keys, bits = sketch(form)
            columns.append(keys)
        if self._sentences:
            columns.append(sentence_keys(texts)[:, np.newaxis])
        if self._form:
            columns.append(_form_keys(form)[:, np.newaxis])
        return Sketches(np.hstack(columns), bits, self.channels)


def _form_keys(texts: Packed) -> NDArray[np.uint32]:
    """Return a hash of each whole text, uint32 (n,), below 2**KEY_BITS."""
    return (text_digests(*texts) >> _KEY_SHIFT).astype(np.uint32)
