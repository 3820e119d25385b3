"""What the settings of the cleaning stage refuse."""

import pytest
from pydantic import ValidationError

from dedup_job.cleaning import CleaningSettings


def test_an_empty_marker_is_refused():
    """It occurs at the start of every text."""
    with pytest.raises(ValidationError, match="must not be empty"):
        CleaningSettings(cut_at=("收录：", ""))
