"""At any moment each decided document is in the target or the ledger, whatever a run changes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from pymongo.database import Database

from tests.cut_off import Cut, cut_off
from tests.mongo.test_keep import versions
from tests.running import run_here, run_watched
from tests.watching import never_lost

Db = Database[dict[str, Any]]
OTHER = "与别的题都不相干的一道新题：请写出太阳系八大行星中离太阳最近的一颗，并说明理由。"
CHANGES = {
    "refresh": {"source__on_change": "refresh"},
    "update": {"source__on_change": "update"},
    "promote": {"source__on_delete": "promote"},
    "remove": {"source__on_delete": "remove"},
}


def disturbed_runs(database: Db, monkeypatch: pytest.MonkeyPatch, **flags: Any) -> None:
    """Run with a limit, with a stop, with kills, and at last to the end."""
    run_here(database, limit=5, **flags)
    asked = [3]

    def over() -> bool:
        asked[0] -= 1
        return asked[0] < 0

    run_watched(database, over, **flags)
    for write in range(5):
        cut_off(monkeypatch, write, commits=write % 2)
        with suppress(Cut):
            run_here(database, **flags)
        monkeypatch.undo()
    run_here(database, **flags)


@pytest.mark.standalone
@pytest.mark.parametrize("change", CHANGES)
def test_a_decided_document_is_never_in_neither(
    any_database: Db,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
    change: str,
) -> None:
    count = 3000 if pytestconfig.getoption("--thorough") else 150
    documents = versions(count // 2)[:count]
    any_database.source.insert_many(documents)
    run_here(any_database)
    some = [d["_id"] for d in any_database.target.find().sort("_id", 1)][::6]
    gone = {*some} if "source__on_delete" in CHANGES[change] else set()
    any_database.source.delete_many({"_id": {"$in": [*gone]}})
    for id_ in some:
        text = (
            f"{documents[id_]['text']} 。" if change == "update" else f"{OTHER}{id_} 不 {id_ % 7}"
        )
        any_database.source.update_one({"_id": id_}, {"$set": {"text": text}})
    with never_lost(any_database, {d["_id"] for d in documents} - gone):
        disturbed_runs(
            any_database, monkeypatch, run__batch_documents=count // 30, **CHANGES[change]
        )
