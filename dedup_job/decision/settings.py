"""Settings of the decision stage."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dedup_job.judgment import HARMLESS, MOST_LEFT_OUT, DifferenceClass


class Comparing(StrEnum):
    """How the texts of a document and of a candidate are compared."""

    JACCARD = "jaccard"
    NONE = "none"


class Judging(StrEnum):
    """What decides whether a candidate is a duplicate."""

    DIFFERENCES = "differences"
    SIMILARITY = "similarity"


class Richer(StrEnum):
    """How a duplicate is treated that has content which the kept document lacks."""

    DROP = "drop"
    KEEP = "keep"


CUT_FROM = 100
"""Texts from which brakes.cut applies: of fewer, one or two short ones with a note say nothing."""


class DecisionSettings(BaseModel):
    """When a candidate is a duplicate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    compare: Comparing = Field(
        default=Comparing.JACCARD,
        description="similarity of two texts. jaccard: share of common character 3-grams; "
        "none: texts are not compared, every candidate is a duplicate",
    )
    similarity: float = Field(
        default=0.8,
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description="with decision.judge = similarity: least similarity of a duplicate, "
        "slightly lower for texts under 30 characters",
    )
    judge: Judging = Field(
        default=Judging.DIFFERENCES,
        description="differences: a candidate is a duplicate if every difference between the "
        "two texts is harmless; similarity: if the texts are as similar as "
        "decision.similarity requires. No effect if decision.compare is none",
    )
    harmless: tuple[DifferenceClass, ...] = Field(
        default=HARMLESS,
        description="classes of differences that may separate two texts that count as the "
        "same; no other class can be harmless",
    )
    richer: Richer = Field(
        default=Richer.DROP,
        description="a near duplicate with more content than the kept document (image, "
        "answer, explanation, choice, sentence, or the rest of a text cut off). "
        "drop: its ledger row says so; keep: both are kept. Only with "
        "decision.judge = differences",
    )
    words: Path | None = Field(
        default=None,
        description="file with additional words of your field for the judge, in UTF-8",
    )
    most_left_out: float = Field(
        default=MOST_LEFT_OUT,
        ge=0.0,
        le=0.5,
        allow_inf_nan=False,
        description="largest share of a text that is left out of a comparison as a note (source, "
        "explanation); a text with more is compared as it is. 0: nothing is left out",
    )
    most_candidates: int = Field(
        default=64,
        ge=1,
        le=10_000,
        description="most candidates compared per document, most similar sketches first; the "
        "report counts documents with more",
    )

    @property
    def judges(self) -> bool:
        """Tell whether differences decide."""
        return self.judge is Judging.DIFFERENCES and self.compare is not Comparing.NONE

    @field_validator("harmless")
    @classmethod
    def _each_once(cls, harmless: tuple[DifferenceClass, ...]) -> tuple[DifferenceClass, ...]:
        if never := [str(kind) for kind in harmless if kind not in HARMLESS]:
            raise ValueError(
                f"{never[0]} is never harmless, expected some of {', '.join(HARMLESS)}"
            )
        return tuple(kind for kind in HARMLESS if kind in harmless)


class BrakeSettings(BaseModel):
    """When a run stops before it writes, because its result looks like a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    window: int = Field(
        default=10_000,
        ge=100,
        description="number of documents over which near_rate and candidates are measured",
    )
    near_rate: float = Field(
        default=0.98,
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description="stop if a larger share of a window are near duplicates, not counting "
        "equal texts; 1: never",
    )
    cluster: int = Field(
        default=1_000_000,
        ge=0,
        description="stop if one document has more near duplicates than this; 0: never",
    )
    without_text: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description="stop if a larger share of the documents has no text (missing, not text "
        "or empty); only a warning if earlier runs had as many. 1 or --yes: never",
    )
    without_text_from: int = Field(
        default=1000, ge=1, description="number of documents from which without_text applies"
    )
    cut: float = Field(
        default=0.2,  # a note of 15 characters is a tenth of a question of 150
        ge=0.0,
        le=1.0,
        allow_inf_nan=False,
        description="stop if a larger share of the characters is cut off at the markers of "
        f"cleaning.cut_at, measured over {CUT_FROM} texts or more; 1: never",
    )
    candidates: int = Field(
        default=1000,
        ge=0,
        description="stop if documents have more candidates than this on average over a "
        "window; 0: never",
    )
