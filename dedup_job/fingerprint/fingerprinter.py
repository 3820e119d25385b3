"""Fingerprints of texts, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from dedup_job.columns import Fingerprints
from dedup_job.documents import Channel
from dedup_job.fingerprint import kernel
from dedup_job.fingerprint.characters import stemmer
from dedup_job.fingerprint.features import Options
from dedup_job.fingerprint.kernel import LEVELS, TFIDF, UNIFORM, Explanation
from dedup_job.fingerprint.lexicon import Lexicon
from dedup_job.fingerprint.lexicon_cache import HASH_KINDS, is_compiled, load_lexicon, mark_compiled
from dedup_job.fingerprint.settings import FingerprintSettings, Weighting
from dedup_job.fingerprint.sketch import Form, Sketcher
from dedup_job.native.code_points import TextColumn, Texts, pack
from dedup_job.native.hashing import text_digests, text_hash

_WEIGHTINGS = {
    Weighting.TFIDF: TFIDF,
    Weighting.LEVELS: LEVELS,
    Weighting.UNIFORM: UNIFORM,
}


class Fingerprinter:
    """Fingerprints batches of texts; thread-safe, without state between batches."""

    def __init__(
        self,
        settings: FingerprintSettings,
        notify: Callable[[str], None] = lambda _: None,
        *,
        channels: Collection[Channel] = (),
        form: Form | None = None,
        lexicon: Lexicon | None = None,
    ) -> None:
        """Load the lexicon and the native code; `notify` takes a message before slow work.

        channels: of the index, for which more than the simhash is needed; form: see Sketcher;
        lexicon: the one of these settings, where it is loaded already.
        """
        self.lexicon = lexicon or load_lexicon(settings, notify)
        self._stem = stemmer() if settings.stem else None
        self._sketcher = Sketcher(channels, form)
        self.options = Options(
            top_k=settings.top_k,
            min_features=settings.min_features,
            weighting=_WEIGHTINGS[settings.weighting],
            hash_kind=HASH_KINDS[settings.hash],
            digits=settings.digits,
            ngram=settings.ngram,
        )
        if not is_compiled():
            notify("compiling native code, once (a minute or two)")
        self.fingerprint([""])
        mark_compiled()

    def fingerprint(self, texts: Texts) -> Fingerprints:
        """Return the fingerprints of n texts, each array (n,).

        A text with too few features is short: it has one feature, itself, so equal short texts
        have equal fingerprints and others are far apart.
        """
        raw = pack(texts)
        points, offsets = self.prepare(raw)
        values, routes = kernel.fingerprint_batch(self.lexicon, points, offsets, self.options)
        short = routes == kernel.WHOLE
        for i in np.flatnonzero(short).tolist():
            values[i] = text_hash(raw.text(i))
        return Fingerprints(values, text_digests(*raw), short, self._sketcher.sketch(raw))

    def explain(self, text: str) -> Explanation:
        """Return what the fingerprint of a text is made of."""
        points, _ = self.prepare([text])
        return kernel.explain(self.lexicon, points, self.options)

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text, as `jieba.lcut` gives them."""
        return list(self.explain(text).tokens)

    def prepare(self, texts: Texts) -> TextColumn:
        """Return n texts, stemmed where the settings ask for it."""
        packed = pack(texts)
        return packed if self._stem is None else pack([*map(self._stem, packed.texts())])
