"""Fingerprints of texts: 64-bit simhashes, and sketches: MinHash bands and bits, keys of sentences.

The dictionary, and the model for unknown words, are built from jieba's and kept in a file.
"""

import functools
import importlib.util
import logging
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import xxhash
from pydantic import BaseModel, Field

from dedup_job import _core
from dedup_job.columns import FINGERPRINT, Fingerprints, Sketches
from dedup_job.documents import Channel
from dedup_job.files import digest_of
from dedup_job.messages import Message
from dedup_job.native.bytes_column import TextColumn, Texts, pack, strings_of
from dedup_job.native.snapshot import Tables, cache_file, load_or_build

_LEAST, _LEAST_OF_HEAVIEST = 10, 5
"""Keywords below which a text is short: of all, and of the heaviest, as in the plain recipe."""


class FingerprintSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the fingerprint of a text.

    The defaults decided best on real questions and articles (scripts/bench/evaluate.py): with
    a few heavy keywords, formulas and phrases such as 下列说法正确的是 outweigh the rest of a text,
    and most documents dropped are no duplicates.
    """

    top_k: int = Field(
        default=0,
        ge=0,
        le=4096,
        description="number of keywords used, those with the largest weight; 0: all",
    )
    ngram: int = Field(
        default=3,
        ge=0,
        le=8,
        description="characters in an n-gram, for texts with few words or in scripts that "
        "jieba does not segment; 0: off",
    )
    weighting: Literal["tfidf", "uniform"] = Field(
        default="uniform",
        description="uniform: 1 each; tfidf: the weights of jieba",
    )


class Sketcher:
    """Sketches batches of texts for some channels; thread-safe, without state.

    judge: returns the judge whose forms are sketched; without one a text is its own form.
    """

    def __init__(
        self, channels: Collection[Channel], judge: Callable[[], _core.Judge] | None = None
    ) -> None:
        self._judge = judge
        columns = (*(Channel.MINHASH,) * _core.BANDS, Channel.SENTENCES, Channel.FORM)
        self.channels = tuple(channel for channel in columns if channel in channels)

    def sketch(self, texts: TextColumn) -> Sketches | None:
        """Return the sketches of n clean texts; None without channels.

        MinHash of the 3-grams of the form, BANDS keys below 2**KEY_BITS that two texts share with
        probability J**5 each, and bits (Li and König, "b-bit minwise hashing", WWW 2010), see
        `equal_bits`. One key of the longest sentences of the text, and one of the whole form.
        """
        if not self.channels:
            return None
        keys, bits, read = _core.sketch(
            texts.utf8(),
            self._judge and self._judge(),
            minhash=(minhash := Channel.MINHASH in self.channels),
            sentences=Channel.SENTENCES in self.channels,
            whole=Channel.FORM in self.channels,
        )
        keys = keys.reshape(len(texts), len(self.channels))
        bits = bits.reshape(len(texts), _core.BINS // 64 * minhash)
        return Sketches(keys, bits, self.channels, read)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The origin of a fingerprint: tokens, route (of `ROUTES`), and features with weights."""

    tokens: tuple[str, ...]
    route: str
    features: tuple[tuple[str, float], ...]


class Fingerprinter:
    """Fingerprints batches of texts, sketched if there is a sketcher; thread-safe, stateless."""

    def __init__(
        self,
        settings: FingerprintSettings,
        lexicon: _core.Lexicon,
        sketcher: Sketcher | None = None,
    ) -> None:
        self._lexicon, self._sketcher = lexicon, sketcher
        self._options = (  # as in src/fingerprint/fingerprint.cpp
            settings.top_k,
            min(settings.top_k, _LEAST_OF_HEAVIEST) or _LEAST,
            settings.weighting == "uniform",
            settings.ngram,
        )

    def fingerprint(self, texts: Texts) -> Fingerprints:
        """Return the fingerprints of n texts.

        A text with too few features is short: it has one feature, itself, so equal short texts
        have equal fingerprints and others are far apart.
        """
        packed = pack(texts)
        made = self._lexicon.fingerprint(packed.utf8(), self._options).view(FINGERPRINT)
        return Fingerprints(made, self._sketcher.sketch(packed) if self._sketcher else None)

    def explain(self, text: str) -> Explanation:
        """Return the route, tokens and features of a text's fingerprint."""
        route, tokens, features = self._lexicon.explain(text, self._options)
        return Explanation(tuple(tokens), route, tuple(features))


PLANE = 0x10000
LAST = "\ufffe"
"""The last character that words may have: jieba segments none beyond the basic plane."""
NO_WORD = -math.inf  # in place of a log probability: never the best


def build_lexicon(
    frequencies: Mapping[str, int],
    total: int,
    hmm: Any,
    idf: Mapping[str, float],
    stop_words: Collection[str],
) -> Tables:
    """Return the tables of `_core.Lexicon`.

    frequencies, total: of jieba's dictionary, with prefixes of words; hmm: `jieba.finalseg` or its
    like, with log probabilities.
    """
    # stop words and frequent words first, so that they share pages of memory
    frequent = sorted(frequencies, key=lambda word: -frequencies[word])
    words = [*dict.fromkeys([*sorted(stop_words), *frequent, *idf])]
    words = [word for word in words if word and max(word) <= LAST]
    log_total = math.log(total)
    probabilities = [
        math.log(frequency) - log_total if (frequency := frequencies.get(word)) else NO_WORD
        for word in words
    ]
    median = sorted(idf.values())[len(idf) // 2]
    weights = {**idf, **dict.fromkeys(stop_words, _core.STOP_WORD)}
    tables = _core.build_lexicon(
        strings_of([word.encode() for word in words]),
        np.array(probabilities),
        np.array([weights.get(word, median) for word in words]),
        median,
    )
    states, han = _core.HMM_STATES, [*map(chr, range(_core.HAN[0], _core.HAN[1] + 1))]
    emission = [[hmm.emit_P[state].get(one, hmm.MIN_FLOAT) for state in states] for one in han]
    transition = [[hmm.trans_P[a].get(b, hmm.MIN_FLOAT) for b in states] for a in states]
    return {
        **tables,
        "emission": np.array(emission).reshape(-1),
        "start": np.array([hmm.start_P[state] for state in states]),
        "transition": np.array(transition).reshape(-1),
        "constants": np.array([math.log(1) - log_total, median]),
    }


_STOP_WORDS = """
    all an and are as at be by can for from has have if in is it not of on one or that the then this
    to we which with you
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words of jieba.analyse, whose import takes a second for two more models and the weights."""
FORMAT = 8


def load_lexicon(notify: Callable[[str], None]) -> _core.Lexicon:
    """Return the lexicon, cached or built (some seconds); notify: takes a message before that."""

    def build() -> Tables:
        notify(Message("building the dictionary's tables, once (under a minute)"))
        return _build()

    return load_or_build(cache_file("lexicon", digest_of_lexicon()), _core.Lexicon, build)


@functools.cache
def digest_of_lexicon() -> str:
    """Return a digest of jieba's files and of this module."""
    made_of = map(digest_of, [*jieba_files(), Path(__file__)])  # in case FORMAT is not raised
    return xxhash.xxh3_128_hexdigest(f"format {FORMAT} {' '.join(made_of)}".encode())


def jieba_files() -> list[Path]:
    """Return dict.txt, idf.txt and the three files of the model, found without an import."""
    spec = importlib.util.find_spec("jieba")
    folder = Path((spec and spec.origin) or "").parent
    model = [folder / "finalseg" / f"prob_{name}.py" for name in ("start", "trans", "emit")]
    return [folder / "dict.txt", folder / "analyse" / "idf.txt", *model]


def _build() -> Tables:
    import jieba
    from jieba import finalseg

    jieba.setLogLevel(logging.CRITICAL)
    # not initialize(): its cache is a file that anyone may write, in the temporary folder
    frequencies, total = jieba.Tokenizer().gen_pfdict(jieba_files()[0].open("rb"))
    return build_lexicon(frequencies, total, finalseg, idf(), STOP_WORDS)


@functools.cache
def idf() -> dict[str, float]:
    """Return jieba's inverse document frequencies by word (cached)."""
    lines = jieba_files()[1].read_text("utf-8").splitlines()
    return {word: float(figure) for word, figure in map(str.split, lines)}
