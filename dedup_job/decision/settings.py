"""Settings of the decision stage."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dedup_job.decision.guards import Guard


class Comparing(StrEnum):
    """How the texts of a document and of a candidate are compared."""

    JACCARD = "jaccard"
    CONTAINMENT = "containment"
    EDIT = "edit"
    NONE = "none"


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
        description="least similarity at which a candidate is a duplicate; a little less for "
        "texts under 30 characters, in which one character weighs more",
    )
    guards: tuple[Guard, ...] = Field(
        default=(),
        description="differences that make two documents of similar texts: numbers, polarity, "
        "options",
    )
    polarity_words: Path | None = Field(
        default=None,
        description="more words for the guard polarity: a word and its opposite a line, or one "
        "negation",
    )
    most_candidates: int = Field(
        default=64,
        ge=1,
        le=10_000,
        description="so many candidates of a document are compared at most, the most similar "
        "sketches first; how many were left aside is reported",
    )

    @field_validator("guards")
    @classmethod
    def _each_once(cls, guards: tuple[Guard, ...]) -> tuple[Guard, ...]:
        return tuple(guard for guard in Guard if guard in guards)


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
    candidates: int = Field(
        default=1000,
        ge=0,
        description="most candidates of a document, mean of a window; 0 = no limit",
    )
