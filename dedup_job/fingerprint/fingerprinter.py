"""Fingerprints of texts, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from dedup_job import _core
from dedup_job.columns import Fingerprints
from dedup_job.documents import Channel
from dedup_job.fingerprint.lexicon import Lexicon
from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.fingerprint.settings import FingerprintSettings, Weighting
from dedup_job.fingerprint.sketch import Form, Sketcher
from dedup_job.native.code_points import Texts, pack, text_of
from dedup_job.native.hashing import text_digests, text_hash

_WEIGHTINGS = tuple(Weighting)


class Route(StrEnum):
    """What a fingerprint is made of, as compiled code numbers it."""

    WORDS = "words"
    NGRAMS = "n-grams"
    WHOLE = "whole text"


_ROUTES = tuple(Route)
_WHOLE = _ROUTES.index(Route.WHOLE)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text has its fingerprint: its tokens, the route, and the features with weights."""

    tokens: tuple[str, ...]
    route: Route
    features: tuple[tuple[str, float], ...]


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
        """Load the lexicon; `notify` takes a message before slow work.

        channels: of the index, for which more than the simhash is needed; form: see Sketcher;
        lexicon: the lexicon, if it is loaded already.
        """
        self.lexicon = lexicon or load_lexicon(notify)
        self._sketcher = Sketcher(channels, form)
        self._core = _core.Fingerprinter(
            self.lexicon.compiled(),
            top_k=settings.top_k,
            min_features=settings.min_features,
            weighting=_WEIGHTINGS.index(settings.weighting),
            ngram=settings.ngram,
        )

    def fingerprint(self, texts: Texts) -> Fingerprints:
        """Return the fingerprints of n texts, each array (n,).

        A text with too few features is short: it has one feature, itself, so equal short texts
        have equal fingerprints and others are far apart.
        """
        raw = pack(texts)
        values, routes = self._core.fingerprint(*raw)
        short = routes == _WHOLE
        for i in np.flatnonzero(short).tolist():
            values[i] = text_hash(raw.text(i))
        return Fingerprints(values, text_digests(*raw), short, self._sketcher.sketch(raw))

    def explain(self, text: str) -> Explanation:
        """Return what the fingerprint of a text is made of."""
        points, _ = pack([text])
        route, tokens, starts, ends, weights, source = self._core.explain(points)
        return Explanation(
            tuple(text_of(points[a:b]) for a, b in pairwise(tokens.tolist())),
            _ROUTES[route],
            tuple(
                (text_of(source[a:b]), weight)
                for a, b, weight in zip(
                    starts.tolist(), ends.tolist(), weights.tolist(), strict=True
                )
            ),
        )
