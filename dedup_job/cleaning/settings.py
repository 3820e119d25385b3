"""The settings of the cleaning stage."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class CleaningSettings(BaseModel):
    """How the raw value of the text field becomes clean text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    html: Literal["auto", "never"] = Field(
        default="auto",
        description="auto: remove markup if a text holds some; never: take every text as plain",
    )
    notation: Literal["marked", "plain"] = Field(
        default="marked",
        description="marked: images, formulas, exponents, underlines, tables and code become "
        "text; plain: markup is only removed, as in targets of earlier versions",
    )
    css: bool = Field(
        default=True,
        description="remove style rules that a paste from Word left in the text",
    )
    cut_at: tuple[str, ...] = Field(
        default=(),
        description="cut the clean text off at the first of these markers; the marker goes, too",
    )

    @field_validator("cut_at")
    @classmethod
    def _refuse_empty_markers(cls, markers: tuple[str, ...]) -> tuple[str, ...]:
        # The empty string occurs at the start of every text: all would be lost.
        if "" in markers:
            raise ValueError("a marker must not be empty: it would cut every text to nothing")
        return markers
