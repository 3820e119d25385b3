"""Settings of the fingerprint stage."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator


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
    min_features: int = Field(
        default=10,
        ge=2,
        le=4096,
        description="a text with fewer keywords is fingerprinted by its n-grams; not above top_k",
    )
    ngram: int = Field(
        default=3,
        ge=0,
        le=8,
        description="characters in an n-gram, for texts with few words or in scripts that "
        "jieba does not segment; 0: off",
    )
    min_ngrams: int = Field(
        default=16,
        ge=2,
        le=4096,
        description="a text with fewer n-grams is short: it has no simhash, minhash finds it",
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
    single_characters: bool = Field(
        default=False, description="also use words of one letter or Han character"
    )
    digits: bool = Field(
        default=True, description="also use words of digits only, such as 2024 or 3.5%"
    )
    fold_case: bool = Field(default=False, description="treat A and a as equal")
    fold_width: bool = Field(default=False, description="treat full-width Ａ１ and A1 as equal")

    @model_validator(mode="after")
    def _some_text_has_enough(self) -> FingerprintSettings:
        if 0 < self.top_k < self.min_features:
            raise ValueError(
                f"top_k {self.top_k} is below min_features {self.min_features}, so no text would "
                "ever have enough keywords"
            )
        return self
