"""Settings of the fingerprint stage."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

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
