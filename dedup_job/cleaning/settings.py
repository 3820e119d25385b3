"""The settings of the cleaning stage."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class CleaningSettings(BaseModel):
    """How the raw value of the text field becomes clean text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    html: Literal["auto", "never"] = Field(
        default="auto",
        description="auto: remove markup where a text holds some; never: take every text as plain",
    )
    notation: Literal["marked", "plain"] = Field(
        default="marked",
        description="marked: images, formulas, exponents, underlines, tables and code become text;"
        " plain: markup only goes, as in targets made before there was a notation",
    )
    css: bool = Field(
        default=True,
        description="remove style rules that a paste from Word or a naive strip left in the text",
    )
    cut_at: tuple[str, ...] = Field(
        default=(),
        description="drop a clean text from the first of these markers on, the marker included",
    )

    @field_validator("cut_at")
    @classmethod
    def _refuse_empty_markers(cls, markers: tuple[str, ...]) -> tuple[str, ...]:
        # The empty string occurs at the start of every text: all would be lost.
        if "" in markers:
            raise ValueError("a marker must not be empty: it would cut every text to nothing")
        return markers
