"""What a person says of a pair of texts."""

from __future__ import annotations

from enum import StrEnum


class Opinion(StrEnum):
    """Whether a person would keep only one of two documents."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"
