"""Whatever someone writes to a target's state and runs, no command deletes what no run may delete.

Nor does one end without saying what is wrong.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from bson import Int64

from dedup_job.errors import StateMismatch
from tests.proving import command, refused, stored
from tests.running import run_here
from tests.tampering import LEDGER, RUNS, Db, Do, change, one, row, run_ahead, state


def source_elsewhere(**more: Any) -> Do:
    """Return what lets the state name a collection with the same ids, of other documents."""

    def do(database: Db) -> None:
        ids = database.target.distinct("_id")
        database.other.insert_many([{"_id": id_, "text": "别的"} for id_ in ids])
        state(source=f"{database.name}.other", **more)(database)

    return do


def kept_as_restored(database: Db) -> None:
    """Let a run say that a person did it, and that it put back what another run kept."""
    kept = one(database, **{"dedup.run": 1})["_id"]
    former = {**one(database, LEDGER, reason="near"), "_id": kept}
    piece = {"_id": -2_000_000, "of": 2, "piece": 0, "documents": 1, "short": 0, "rows": [former]}
    database[RUNS].insert_one(piece)
    said = {"status": "restored", "pieces": 1, "documents": 1, "given": "0" * 32}
    database[RUNS].update_one({"_id": 2}, {"$set": said})


UNDO, RESTORE = ("undo", "2", "--yes"), ("restore", "late 216")
RUN, CHECK = ("run", "--source", "source"), ("check", "--source", "source")
BEHIND = "someone changed one of them, or put an older copy back"
ODD = " is not as dedup writes it: "
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = {"host": "h", "pid": 1, "machine": "m", "process_started": "x", "since": NOW}
# What is done, which commands refuse it, and what they say. All that a row or a state may hold:
# tests/mongo/state/test_fields.py.
REFUSED = (
    (source_elsewhere(), (UNDO,), "{db}.source, and {db}.target.state names"),
    (source_elsewhere(undo=2), (UNDO, RESTORE), ""),
    (source_elsewhere(intent=[0, 1, 2]), (UNDO,), ""),
    (state(undo=1), (RUN, RESTORE, CHECK), "run 1 is being undone, and run 2 came after it"),
    (state(undo=1), (("undo", "1", "--yes"),), "run 1 is being undone, and run 2 came after it"),
    (kept_as_restored, (UNDO,), "which another run kept than number 2"),
    (state(**{"checkpoint.run": 1}), (RUN,), BEHIND),
    (run_ahead, (RUN,), BEHIND),
    (
        change(RUNS, {"$unset": {"status": ""}}, _id=2),
        (UNDO,),
        f"row 2 of {{db}}.{RUNS}{ODD}status",
    ),
    (change(RUNS, {"$set": {"counts.kept": "x"}}, _id=1), (UNDO,), f"{ODD}counts"),
    (change(RUNS, {"$set": {"status": "restored"}}, _id=2), (UNDO,), f"{ODD}pieces, documents"),
    (state(undo="x"), (RUN, UNDO), f"{ODD}undo"),
    (state(**{"checkpoint.run": Int64(2**63 - 1)}), (RUN, UNDO), f"{ODD}checkpoint"),
    (state(lease={**LEASE, "expires": NOW}), (RUN, UNDO), f"{ODD}lease"),
)


@pytest.mark.parametrize(("do", "commands", "words"), REFUSED, ids=[*map(str, range(len(REFUSED)))])
def test_other_commands_refuse_it_and_take_nothing_back(
    made: Db, do: Do, commands: tuple[tuple[str, ...], ...], words: str
) -> None:
    lost = [one(made, **{"dedup.run": number})["_id"] for number in (1, 2)]
    made.source.delete_many({"_id": {"$in": lost}})
    do(made)
    before = stored(made)["target"]
    for command_ in commands:
        error = refused(made, *command_, DEDUP_SOURCE__MAX_CHARS="1500")
        assert isinstance(error, StateMismatch)
        assert words.format(db=made.name) in str(error)
    assert stored(made)["target"] == before


def test_an_incomplete_batch_takes_nothing_of_earlier_runs_back(made: Db) -> None:
    first, dropped = one(made, **{"dedup.run": 1}), one(made, LEDGER, run=1)
    state(intent=[first["_id"], dropped["_id"]])(made)
    run_here(made, source__max_chars=1500)
    assert one(made, _id=first["_id"]) == first
    assert one(made, LEDGER, _id=dropped["_id"]) == dropped


def test_values_of_other_types_are_shown_all_the_same(made: Db) -> None:
    forged = {"of": 0, "similarity": "x", "class": 7}
    change("target", {"$set": {"dedup.refused": forged}}, **{"dedup.run": 1})(made)
    assert "shown" in command(made, "list", "--what", "refused")
    other = {"similarity": "x", "distance": "y", "found_by": 3, "differences": 5, "richer": 7}
    id_ = row(other, reason="near")(made)
    assert "near" in command(made, "inspect", str(id_))
