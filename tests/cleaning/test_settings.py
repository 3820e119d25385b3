"""What the settings of the cleaning stage refuse."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from dedup_job.cleaning import CleaningSettings


def test_the_defaults_clean_markup_and_style_rules_and_cut_nothing():
    """Defaults are part of what two runs must agree on."""
    assert CleaningSettings().model_dump() == {
        "html": "auto",
        "cut_at": (),
    }


def test_an_empty_marker_is_refused():
    """It occurs at the start of every text."""
    with pytest.raises(ValidationError, match="must not be empty"):
        CleaningSettings(cut_at=("收录：", ""))


def test_an_unknown_setting_is_refused():
    """A misspelt name must not be ignored."""
    with pytest.raises(ValidationError, match="hmtl"):
        CleaningSettings.model_validate({"hmtl": "never"})


def test_every_setting_says_what_it_does():
    """The descriptions become the documentation."""
    assert all(field.description for field in CleaningSettings.model_fields.values())
