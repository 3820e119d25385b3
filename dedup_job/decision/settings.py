"""Settings of the decision stage."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dedup_job.judgment import HARMLESS, Difference


class Comparing(StrEnum):
    """How the texts of a document and of a candidate are compared."""

    JACCARD = "jaccard"
    CONTAINMENT = "containment"
    EDIT = "edit"
    NONE = "none"


class Judging(StrEnum):
    """What decides whether a candidate is a duplicate."""

    DIFFERENCES = "differences"
    SIMILARITY = "similarity"


class Richer(StrEnum):
    """What becomes of a duplicate that has what the kept document lacks."""

    DROP = "drop"
    KEEP = "keep"


GONE = {
    "decision.guards": 'decision.guards is gone: decision.judge = "differences" keeps apart what '
    'the guards kept apart, and more; decision.judge = "similarity" with decision.compare decides '
    "as before, without guards",
    "decision.polarity_words": "decision.polarity_words is gone: put words of the trade into the "
    "file of decision.words",
}
"""Settings of former versions, and what replaces them."""


class DecisionSettings(BaseModel):
    """When a candidate is a duplicate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    compare: Comparing = Field(
        default=Comparing.JACCARD,
        description="similarity of two texts: jaccard = share of common character 3-grams; "
        "containment = of the shorter text's; edit = 1 - edit distance / length; none = every "
        "candidate is a duplicate, unseen",
    )
    similarity: float = Field(
        default=0.8,
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description="with judge = similarity: least similarity at which a candidate is a "
        "duplicate; a little less for texts under 30 characters, in which one character weighs "
        "more",
    )
    judge: Judging = Field(
        default=Judging.DIFFERENCES,
        description="differences = a candidate is a duplicate if each difference between the texts "
        "is harmless; similarity = if they are as alike as decision.similarity says, whatever "
        "the difference; compare = none takes either for off",
    )
    harmless: tuple[Difference, ...] = Field(
        default=HARMLESS,
        description="classes of differences that two texts may show and still be the same",
    )
    richer: Richer = Field(
        default=Richer.DROP,
        description="a near duplicate that has more than the kept document (an image, answer, "
        "explanation, choice, sentence, or the rest of a text cut off): drop = its ledger row "
        "says so; keep = both are kept; judge = differences only",
    )
    words: Path | None = Field(
        default=None,
        description="more words of the trade for the judge, a file in UTF-8",
    )
    most_candidates: int = Field(
        default=64,
        ge=1,
        le=10_000,
        description="so many candidates of a document are compared at most, the most similar "
        "sketches first; how many were left aside is reported",
    )

    @property
    def judges(self) -> bool:
        """Tell whether differences decide."""
        return self.judge is Judging.DIFFERENCES and self.compare is not Comparing.NONE

    @field_validator("harmless")
    @classmethod
    def _each_once(cls, harmless: tuple[Difference, ...]) -> tuple[Difference, ...]:
        if never := [str(kind) for kind in harmless if kind not in HARMLESS]:
            raise ValueError(
                f"{never[0]} is never harmless, expected some of {', '.join(HARMLESS)}"
            )
        return tuple(kind for kind in HARMLESS if kind in harmless)


class BrakeSettings(BaseModel):
    """When a run stops before it writes, because what it finds is hardly what was meant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    window: int = Field(
        default=10_000, ge=100, description="documents over which repeat rate and candidates count"
    )
    near_rate: float = Field(
        default=0.98,
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description="largest share of near duplicates in a window; equal texts do not count; "
        "1 = no limit",
    )
    cluster: int = Field(
        default=1_000_000, ge=0, description="most near duplicates of one document; 0 = no limit"
    )
    without_text: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description="largest share of documents whose text is missing, not text or empty; if "
        "earlier runs had as many, it is only a warning; --yes sets no limit; 1 = no limit",
    )
    without_text_from: int = Field(
        default=1000, ge=1, description="documents over which that share counts"
    )
    candidates: int = Field(
        default=1000,
        ge=0,
        description="most candidates of a document, mean of a window; 0 = no limit",
    )
