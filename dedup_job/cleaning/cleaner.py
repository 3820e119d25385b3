"""The cleaner: markup, style remnants, white space, cut - in this order; and its settings."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from html.entities import html5
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator

from dedup_job import _core
from dedup_job.cleaning.style_rules import without_rules
from dedup_job.messages import Message
from dedup_job.native.code_points import TextColumn, pack
from dedup_job.native.parts import BREAK, as_lines, parted, sums, with_breaks


class CleaningSettings(BaseModel):
    """How the raw value of the text field becomes clean text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    html: Literal["auto", "never"] = Field(
        default="auto",
        description="auto: remove markup if a text holds some; never: take every text as plain",
    )
    cut_at: tuple[str, ...] = Field(
        default=(),
        description="cut off the last lines of the clean text that begin with one of these "
        f"markers, up to {_core.LONGEST_NOTE} characters each; the first line stays",
    )

    @field_validator("cut_at")
    @classmethod
    def _refuse_empty_markers(cls, markers: tuple[str, ...]) -> tuple[str, ...]:
        # The empty string occurs at the start of every text: all would be lost.
        if "" in markers:
            raise ValueError(
                Message("a marker must not be empty: it would cut every text to nothing")
            )
        return markers


class Cleaned(NamedTuple):
    """n clean texts; cut: int64 (n,), characters that were cut off each at markers.

    marked: the same texts with breaks between their parts, where these were cleaned; same: bool
    (n,), whether each was clean before.
    """

    texts: TextColumn
    cut: NDArray[np.int64]
    same: NDArray[np.bool_]
    marked: TextColumn | None = None


class Cleaner:
    """Turns HTML, plain text or raw mathematics into clean text.

    Pure and deterministic, safe to share between threads; takes any str, in linear time. Clean text
    is not to be cleaned again: it may show markup, `&lt;b&gt;` as `<b>`.
    """

    def __init__(self, settings: CleaningSettings | None = None) -> None:
        self.settings = settings if settings is not None else CleaningSettings()
        self._core = _compiled(self.settings.html == "auto", self.settings.cut_at)

    def clean(self, text: str) -> str:
        """Return the text without markup, style rules and superfluous white space."""
        return self.clean_all([text])[0]

    def clean_all(self, texts: Sequence[str]) -> list[str]:
        """Return what `clean` makes of each text; each part of one with breaks by itself."""
        several = any(BREAK in text for text in texts)
        return (self.parts_cleaned if several else self.cleaned)(pack(texts)).texts.texts()

    def parts_cleaned(self, texts: TextColumn) -> Cleaned:
        """Return n texts with breaks, each part cleaned by itself, and those left on own lines."""
        parts, counts = parted(texts)
        clean, cut, same, _ = self.cleaned(parts)
        marked = with_breaks(clean, counts)
        all_same = sums(same.astype(np.int64), counts) == counts
        return Cleaned(as_lines(clean, counts), sums(cut, counts), all_same, marked)

    def cleaned(self, texts: TextColumn) -> Cleaned:
        """Return what `clean` makes of n texts; the very same where nothing changes."""
        changed, cut, made = self._core.clean(texts.utf8(), without_rules)
        rows = np.flatnonzero(changed)
        return Cleaned(texts.replaced(rows, TextColumn.of(made)), cut, ~changed)


@functools.cache
def _compiled(html: bool, cut_at: Sequence[str]) -> _core.Cleaner:  # cached by it
    references = {name[:-1]: text for name, text in html5.items() if name.endswith(";")}
    return _core.Cleaner(references=references, html=html, cut_at=cut_at)
