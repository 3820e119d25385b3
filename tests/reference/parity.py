"""The fast path beside jieba and the naive version, text by text; for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jieba
from jieba import finalseg
from jieba.analyse.tfidf import TFIDF

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from tests.reference.recipe import PLAIN, Jieba, naive_fingerprint, naive_route

LISTS = ("user_dictionary", "idf", "stop_words")
USER_DICTIONARY = """\
云计算 5
李小福 2 nr
创新办
好用 300
凱特琳 nz
easy_install 3 eng
C++ 50
C++语言 10
AT&T 9 nt
2d-q 7
A+级 20 n
ab 3
a. 4
T恤衫
100% 6
数学物理 0
石墨烯 0
杭研 0
小明 0
学生 0 n
囧 100
鿕鿕 8
𠮷野家 5
α粒子 5
"""
IDF = """\
数学 3.5
物理 2.25
化学 2.25
C++ 1.5
The 2.0
the 0.5
easy_install 4
李小福 0.125
学生 7
光合作用 11.5
3.14% 1e-3
的 0.25
"""
STOP_WORDS = "物理\nThe\nwith\nc++\nC#\n云计算\nquick\nab\n的\n"
WOVEN = (*(line.split()[0] for line in USER_DICTIONARY.splitlines()), "数学", "物理", "C#")


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


def write_word_lists(folder: Path) -> dict[str, Path]:
    """Write the three lists above; return them by the name of their setting."""
    files = {name: folder / f"{name}.txt" for name in LISTS}
    for name, content in zip(LISTS, (USER_DICTIONARY, IDF, STOP_WORDS), strict=True):
        files[name].write_text(content, encoding="utf-8")
    return files


@contextmanager
def jieba_with(
    user_dictionary: Path | None = None, idf: Path | None = None, stop_words: Path | None = None
) -> Iterator[TFIDF]:
    """Yield jieba's own extractor set up with these lists; its global state is put back."""
    former = set(finalseg.Force_Split_Words)
    extractor = TFIDF(None if idf is None else str(idf))
    try:
        if user_dictionary is not None:
            extractor.tokenizer = jieba.Tokenizer()
            with user_dictionary.open("rb") as file:  # jieba would leave it open
                extractor.tokenizer.load_userdict(file)
        if stop_words is not None:
            extractor.stop_words.update(stop_words.read_text(encoding="utf-8").splitlines())
        yield extractor
    finally:
        finalseg.Force_Split_Words.clear()
        finalseg.Force_Split_Words.update(former)


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
    lists = {name: options.pop(name) for name in LISTS if name in options}
    fingerprinter = Fingerprinter(FingerprintSettings(**{**PLAIN, **lists, **options}))
    words_only = Fingerprinter(FingerprintSettings(**PLAIN, **lists, ngram=0))
    found = fingerprinter.fingerprint(texts)
    pairs = list(zip(found.values.tolist(), found.short.tolist(), strict=True))
    naive_options = {k: v for k, v in options.items() if k != "hash"}
    different = Differences(texts=len(texts))
    for text, fingerprint in zip(texts, pairs, strict=True):
        tokens = extractor.tokenizer.lcut(text)
        if fingerprinter.tokens(text) != tokens and not options.get("stem"):
            different.tokens.append(text)
        keywords = words_only.explain(text).features
        if keywords != tuple(extractor.extract_tags(text, topK=30, withWeight=True)):
            different.keywords.append(text)
        cut = extractor.tokenizer.lcut if options.get("stem") else lambda _, known=tokens: known
        setup = setup_of(extractor, cut)
        if with_features:
            explained = fingerprinter.explain(text)
            route, features = naive_route(text, **naive_options, setup=setup)
            arranged = (
                sorted if options.get("weighting") == "uniform" else list
            )  # order: no account
            same = not features or arranged(explained.features) == arranged(features)
            if explained.route != route or not same:
                different.features.append(text)
        if fingerprint != naive_fingerprint(text, **options, setup=setup):
            different.fingerprints.append(text)
    return different
