"""Settings of the fingerprint stage."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

_ENOUGH, _ENOUGH_OF_HEAVIEST = 10, 5
"""Keywords that are enough: of all, and of the heaviest, as in the plain recipe."""


class Weighting(StrEnum):
    """What a chosen keyword counts."""

    TFIDF = "tfidf"
    LEVELS = "levels"
    UNIFORM = "uniform"


class TokenHash(StrEnum):
    """How a token becomes 64 bits."""

    XXH64 = "xxh64"
    POLYNOMIAL = "polynomial"


class FingerprintSettings(BaseModel):
    """How a text becomes a fingerprint.

    The defaults decided best on real questions and articles (scripts/bench/evaluate.py): with
    a few heavy keywords, formulas and phrases such as 下列说法正确的是 outweigh the rest of a text,
    and most of what is dropped is innocent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    weighting: Weighting = Field(
        default=Weighting.UNIFORM,
        description="uniform: 1 each; tfidf: the weights of jieba; levels: 1 to 5, by share "
        "of the largest weight",
    )
    hash: TokenHash = Field(
        default=TokenHash.XXH64,
        description="hash of a keyword: xxh64, or polynomial, the classic x*1000003 ^ c",
    )
    user_dictionary: Path | None = Field(
        default=None,
        description="file with more words in jieba's format: word [frequency] [tag], one per line",
    )
    stop_words: Path | None = Field(
        default=None, description="file with words to ignore besides jieba's own, one per line"
    )
    idf: Path | None = Field(
        default=None,
        description="file with word weights in place of jieba's: word weight, one per line",
    )
    stem: bool = Field(default=False, description="reduce English words to their stem (Snowball)")
    digits: bool = Field(
        default=True, description="also use words of digits only, such as 2024 or 3.5%"
    )

    @property
    def min_features(self) -> int:
        """How many keywords a text must have to be fingerprinted by them."""
        return min(self.top_k, _ENOUGH_OF_HEAVIEST) or _ENOUGH
