"""Text -> weighted tokens."""

from __future__ import annotations

import logging
from typing import Protocol

from dedup_job.fingerprint.settings import FingerprintSettings


class KeywordExtractor(Protocol):
    """Finds the tokens that stand for a text."""

    def extract(self, text: str) -> list[tuple[str, float]]:
        """Return (token, weight), the heaviest first, ties in order of first appearance."""
        ...


class JiebaKeywords:
    """jieba's own TF-IDF keywords (`jieba.analyse.extract_tags`)."""

    def __init__(self, settings: FingerprintSettings) -> None:
        import jieba
        import jieba.analyse  # 0.4 s: loads the IDF file

        # jieba logs to stderr, even a traceback where it cannot write its cache
        jieba.setLogLevel(logging.CRITICAL)
        self._tfidf = jieba.analyse.TFIDF()
        self._tfidf.tokenizer = jieba.Tokenizer()
        self._tfidf.tokenizer.initialize()
        self._top_k = settings.top_k or None

    def extract(self, text: str) -> list[tuple[str, float]]:
        """Return (token, weight), the heaviest first, ties in order of first appearance."""
        tags: list[tuple[str, float]] = self._tfidf.extract_tags(
            text, topK=self._top_k, withWeight=True
        )
        return tags
