"""The fast path beside jieba and the naive version, text by text; for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jieba.analyse.tfidf import TFIDF

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from tests.reference.recipe import PLAIN, Jieba, naive_fingerprint, naive_route


@dataclass
class Differences:
    """How many texts were compared, and those that differ."""

    texts: int = 0
    tokens: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    fingerprints: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.tokens or self.keywords or self.features or self.fingerprints)


def setup_of(extractor: TFIDF, cut: Callable[[str], list[str]] | None = None) -> Jieba:
    """Return what the naive version needs to know of an extractor."""
    return Jieba(
        cut or extractor.tokenizer.lcut,
        extractor.idf_freq,
        extractor.median_idf,
        extractor.stop_words,
    )


def compare(
    texts: Sequence[str], extractor: TFIDF, with_features: bool = True, **options: Any
) -> Differences:
    """Compare tokens, keywords with weights and fingerprints; options are settings."""
    fingerprinter = Fingerprinter(FingerprintSettings(**{**PLAIN, **options}))
    words_only = Fingerprinter(FingerprintSettings(**PLAIN, ngram=0))
    found = fingerprinter.fingerprint(texts)
    pairs = list(zip(found.values.tolist(), found.short.tolist(), strict=True))
    different = Differences(texts=len(texts))
    for text, fingerprint in zip(texts, pairs, strict=True):
        tokens = extractor.tokenizer.lcut(text)
        if fingerprinter.tokens(text) != tokens:
            different.tokens.append(text)
        keywords = words_only.explain(text).features
        if keywords != tuple(extractor.extract_tags(text, topK=30, withWeight=True)):
            different.keywords.append(text)
        setup = setup_of(extractor, lambda _, known=tokens: known)
        if with_features:
            explained = fingerprinter.explain(text)
            route, features = naive_route(text, **options, setup=setup)
            arranged = (
                sorted if options.get("weighting") == "uniform" else list
            )  # order: no account
            same = not features or arranged(explained.features) == arranged(features)
            if explained.route != route or not same:
                different.features.append(text)
        if fingerprint != naive_fingerprint(text, **options, setup=setup):
            different.fingerprints.append(text)
    return different
