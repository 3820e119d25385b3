"""The short form of the late inserts: none is missed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.faults import late
from tests.faults.subject import Subject


def test_no_late_document_is_missed(replica_set: str) -> None:
    """Whether the control bites depends on the moment, so only the long form asks for it."""
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(replica_set, Path(folder), documents=50, name="late_short")
        found, _ = late._late(subject, replica_set, 100)
        subject.database.client.close()
    assert found.good == found.times > 0, found
