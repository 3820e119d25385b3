"""Fingerprints of texts, and what each is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from dedup_job import _core
from dedup_job.columns import FINGERPRINT, Fingerprints
from dedup_job.documents import Channel
from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.fingerprint.settings import FingerprintSettings
from dedup_job.fingerprint.sketch import Form, Sketcher
from dedup_job.native.code_points import Texts, pack


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text has its fingerprint: its tokens, the route, and the features with weights."""

    tokens: tuple[str, ...]
    route: str
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
        lexicon: _core.Lexicon | None = None,
    ) -> None:
        """Load the lexicon; `notify` takes a message before slow work.

        channels: of the index, for which more than the simhash is needed; form: see Sketcher;
        lexicon: the lexicon, if it is loaded already.
        """
        self._sketcher = Sketcher(channels, form)
        self._core = _core.Fingerprinter(
            lexicon or load_lexicon(notify),
            top_k=settings.top_k,
            min_features=settings.min_features,
            is_uniform=settings.weighting == "uniform",
            ngram=settings.ngram,
        )

    def fingerprint(self, texts: Texts) -> Fingerprints:
        """Return the fingerprints of n texts.

        A text with too few features is short: it has one feature, itself, so equal short texts
        have equal fingerprints and others are far apart.
        """
        packed = pack(texts)
        made = self._core.fingerprint(packed.utf8()).view(FINGERPRINT)
        return Fingerprints(made, self._sketcher.sketch(packed))

    def explain(self, text: str) -> Explanation:
        """Return the route, tokens and features of a text's fingerprint."""
        route, tokens, features = self._core.explain(text)
        return Explanation(tuple(tokens), route, tuple(features))
