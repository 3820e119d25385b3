"""The stage itself: a batch of texts -> Fingerprints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedup_job.documents import Fingerprints
from dedup_job.fingerprint.hashing import text_digest, text_hash
from dedup_job.fingerprint.keywords import JiebaKeywords, KeywordExtractor
from dedup_job.fingerprint.settings import FingerprintSettings
from dedup_job.fingerprint.simhash import simhash


class Fingerprinter:
    """Fingerprints batches of texts; thread-safe, without state between batches."""

    def __init__(
        self, settings: FingerprintSettings, keywords: KeywordExtractor | None = None
    ) -> None:
        self._settings = settings
        self.keywords = keywords or JiebaKeywords(settings)

    def fingerprint(self, texts: Sequence[str]) -> Fingerprints:
        """Return the fingerprints of n texts, each array (n,).

        A text with fewer than `min_features` keywords is short: it gets one feature, itself, so
        equal short texts have equal fingerprints and others are far apart.
        """
        hashes: list[int] = []
        weights: list[float] = []
        offsets = [0]
        short = np.zeros(len(texts), dtype=np.bool_)
        for i, text in enumerate(texts):
            keywords = self.keywords.extract(text)
            if len(keywords) < self._settings.min_features:
                short[i] = True
                keywords = [(text, 1.0)]
            for token, weight in keywords:
                hashes.append(text_hash(token))
                weights.append(weight)
            offsets.append(len(hashes))
        values = simhash(
            np.array(hashes, dtype=np.uint64),
            np.array(weights, dtype=np.float64),
            np.array(offsets, dtype=np.int64),
        )
        digests = np.array([text_digest(text) for text in texts], dtype=np.uint64)
        return Fingerprints(values=values, digests=digests, short=short)
