"""Text -> 64-bit simhash, uint64 (n,), and sketches: MinHash bands and bits, keys of sentences."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from dedup_job import _core
from dedup_job._core import BANDS, BINS
from dedup_job.columns import FINGERPRINT, Fingerprints, Sketches
from dedup_job.documents import Channel
from dedup_job.fingerprint.lexicon import load_lexicon
from dedup_job.native.texts import TextColumn, Texts, pack

_ENOUGH, _ENOUGH_OF_HEAVIEST = 10, 5
"""Keywords that are enough: of all, and of the heaviest, as in the plain recipe."""


class FingerprintSettings(BaseModel, frozen=True, extra="forbid"):
    """How a text becomes a fingerprint.

    The defaults decided best on real questions and articles (scripts/bench/evaluate.py): with
    a few heavy keywords, formulas and phrases such as 下列说法正确的是 outweigh the rest of a text,
    and most of what is dropped is innocent.
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

    @property
    def min_features(self) -> int:
        """How many keywords a text must have to be fingerprinted by them."""
        return min(self.top_k, _ENOUGH_OF_HEAVIEST) or _ENOUGH


class Sketcher:
    """Sketches batches of texts for the channels chosen; thread-safe, without state."""

    def __init__(
        self, channels: Collection[Channel], judge: Callable[[], _core.Judge] | None = None
    ) -> None:
        """Take the channels, and what returns the judge whose forms find candidates.

        Without one a text is its own form. With Channel.FORM texts of the same form share a key of
        their own, however many share the others.
        """
        self._judge = judge
        self._minhash = Channel.MINHASH in channels
        self._sentences = Channel.SENTENCES in channels
        self._whole = Channel.FORM in channels
        self.channels = (
            *(Channel.MINHASH,) * (BANDS * self._minhash),
            *(Channel.SENTENCES,) * self._sentences,
            *(Channel.FORM,) * self._whole,
        )

    def sketch(self, texts: TextColumn) -> Sketches | None:
        """Return the sketches of n texts as they are after cleaning; None where none is needed.

        MinHash of the 3-grams of the form, BANDS keys below 2**KEY_BITS that two texts share with
        probability J**5 each, and bits (Li and König, "b-bit minwise hashing", WWW 2010), see
        `equal_bits`. A key of the longest sentences of the text, and one of the whole form.
        """
        if not self.channels:
            return None
        keys, bits, read = _core.sketch(
            texts.utf8(),
            self._judge and self._judge(),
            minhash=self._minhash,
            sentences=self._sentences,
            whole=self._whole,
        )
        keys = keys.reshape(len(texts), len(self.channels))
        bits = bits.reshape(len(texts), BINS // 64 * self._minhash)
        return Sketches(keys, bits, self.channels, read)


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
        sketcher: Sketcher | None = None,
        lexicon: _core.Lexicon | None = None,
    ) -> None:
        """Load the lexicon; `notify` takes a message before slow work.

        sketcher: None where the simhash is enough; lexicon: the lexicon, if it is loaded already.
        """
        self._sketcher = sketcher
        self._lexicon = lexicon or load_lexicon(notify)
        self._options = (  # as in src/fingerprint/fingerprint.cpp
            settings.top_k,
            settings.min_features,
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
