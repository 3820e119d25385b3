"""Bad documents in the short form: every kind once or more, among few others."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.faults import bad_documents, generated
from tests.faults.bad_document_kinds import KINDS, UNDECODABLE, decodes, planted
from tests.faults.subject import Subject
from tests.faults.texts import GIANTS, bulk


def test_bad_documents_are_recorded_and_nothing_else_suffers(any_server: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(any_server, Path(folder), documents=50, name="bad_short")
        rows = list(bad_documents._among_others(subject, 300, 200))
        subject.database.client.close()
    assert all(row.good == row.times > 0 for row in rows), rows


def test_what_counts_as_undecodable_is_what_the_driver_does_not_decode() -> None:
    for raw, kind, _ in planted(len(KINDS) + 10):
        if kind.name != "text twice":
            assert decodes(raw) is (kind.becomes != UNDECODABLE), kind.name


def test_generated_texts_go_through(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = generated.share(1, 2000, ["一份普通的文件", "<p>另一份</p>"])
    assert cost.texts == 2000
    monkeypatch.setattr(generated, "_PROCESSES", 1)
    (row,) = generated._giants(("100,000 nested <div>",))
    assert row.good == row.times == 1, row


def test_the_bulk_is_the_same_for_the_same_seed() -> None:
    some = ["a", "题"]
    assert list(bulk(3, 100, some)) == list(bulk(3, 100, some)) != list(bulk(4, 100, some))
    assert len(GIANTS) > 20
