"""`dedup index`: what is said of sizes and snapshots is true."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from bson import Int64
from pymongo.database import Database

from dedup_job.errors import LeaseHeld, StateMismatch, UsageError
from tests.running import invoke, refusal, run_here, uri_of
from tests.tampering import hold_lease, one

Db = Database[dict[str, Any]]


def texts(n: int, first: int = 0) -> list[dict[str, Any]]:
    """Return n documents with short texts of their own."""
    return [
        {"_id": i, "text": f"第{i}号文件只有这一句话，编号是{i * 7919}。"}
        for i in range(first, first + n)
    ]


class Kept:
    """A target with 30 documents, and where its snapshots are kept."""

    def __init__(self, database: Db, folder: Path) -> None:
        self.database, self.folder = database, folder
        self.arguments = ("--db", database.name, "--target", "target")
        database.source.insert_many(texts(30))

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings of the commands."""
        return {
            "DEDUP_URI": uri_of(self.database),
            "DEDUP_INDEX__FOLDER": str(self.folder),
        }

    @property
    def file(self) -> Path:
        """Return the one snapshot."""
        (file,) = self.folder.iterdir()
        return file

    def run(self, keeping: bool = True) -> None:
        """Decide what is new; keeping: with an index that is kept."""
        run_here(self.database, **({"index__folder": str(self.folder)} if keeping else {}))

    def info(self, *more: str, **environment: str) -> dict[str, str]:
        """Return what `dedup index` prints, by name."""
        return rows_of(self.index(*more, **environment))

    def compared(self) -> tuple[int, list[str]]:
        """Return how many documents `dedup check --all` compared, and in what they differ."""
        report = self.folder.with_name("check.json")
        words = ["check", *self.arguments, "--source", "source", "--all", "--report", str(report)]
        with suppress(StateMismatch):
            invoke(*words, **self.environment)
        checks = json.loads(report.read_text(encoding="utf-8"))["checks"]
        (row,) = [row for row in checks if row["check"] == "snapshot not of the target"]
        return row["examined"], row["first"]

    def index(self, *more: str, **environment: str) -> str:
        """Run the command, which ends well; return what it prints."""
        words = ("index", *self.arguments, *more)
        return invoke(*words, **{**self.environment, **environment}).stdout

    def refused(self, *more: str) -> Any:
        """Run the command, which is refused, to rebuild; return the error."""
        return refusal("index", "--rebuild", *self.arguments, *more, **self.environment)


def rows_of(printed: str) -> dict[str, str]:
    """Return names and values that are printed side by side."""
    rows = [re.split(r"  +", line.rstrip(), maxsplit=1) for line in printed.splitlines()]
    return {name: value for name, value in rows if name}


@pytest.fixture
def kept(database: Db, tmp_path: Path) -> Kept:
    """Return a source of 30 documents that no run has read yet."""
    return Kept(database, tmp_path / "snapshots")


def test_info_says_that_there_is_no_snapshot_and_where_it_would_be(kept: Kept) -> None:
    kept.run(keeping=False)
    told = kept.info()
    assert told["its documents"] == "30"
    assert told["snapshot"].startswith(f"none; it would be {kept.folder}")
    assert told["used by the next run"] == "no: there is none"
    assert not kept.folder.exists()


def test_info_describes_a_snapshot_that_would_be_used(kept: Kept) -> None:
    kept.run()
    told = kept.info()
    assert told["snapshot"] == str(kept.file)
    assert told["documents"] == told["its documents"] == "30"
    assert told["index layout"] == "distance 3: 2 blocks of 12 bits, radius 1, 1"
    assert re.fullmatch(r"\d+\.\d MB", told["size on disk"])
    assert told["used by the next run"] == "yes"


def test_info_tells_of_a_snapshot_to_which_the_next_run_adds_what_came_since(kept: Kept) -> None:
    kept.run()
    kept.database.source.insert_many(texts(5, 30))
    kept.run(keeping=False)
    told = kept.info()
    assert (told["documents"], told["its documents"]) == ("30", "35")
    assert told["used by the next run"] == "yes"


def test_info_says_why_a_snapshot_would_not_be_used(kept: Kept) -> None:
    kept.run()
    content = kept.file.read_bytes()
    kept.file.write_bytes(content[:-1])
    assert kept.info()["used by the next run"] == "no: it is damaged"
    kept.file.write_bytes(content)
    kept.database.target.delete_one({})
    assert kept.info()["used by the next run"].startswith("no: it holds ")


def test_info_says_that_other_settings_are_refused(kept: Kept) -> None:
    kept.run()
    said = kept.info("--config", other_settings(kept))
    assert said["used by the next run"].startswith(
        "no: a run with these settings is refused: the target"
    )
    assert "settings" not in said


def test_without_settings_of_its_own_a_command_takes_those_of_the_last_run(kept: Kept) -> None:
    kept.run()
    said = kept.info(DEDUP_INDEX__DISTANCE="2")
    assert (said["used by the next run"], said["settings"]) == ("yes", "those of run 1")
    kept.file.unlink()
    assert "30 documents" in kept.index("--rebuild", DEDUP_INDEX__DISTANCE="2")
    assert kept.info()["used by the next run"] == "yes"
    assert "settings" not in kept.info()


def test_other_settings_are_refused_with_the_difference(kept: Kept) -> None:
    kept.run()
    error = kept.refused("--config", other_settings(kept))
    assert isinstance(error, StateMismatch)
    assert "index.distance = 3 then, 2 now" in str(error)


def test_a_check_names_in_what_the_snapshot_differs(kept: Kept) -> None:
    kept.run()
    target = kept.database.target
    held = target.find_one({"_id": 1})
    assert held is not None
    target.delete_one({"_id": 4})
    target.update_one({"_id": 7}, {"$set": {"dedup.fingerprint": Int64(1)}})
    target.update_many({"_id": {"$gt": 10, "$lt": 18}}, {"$set": {"text": "另一段正文"}})
    target.insert_one({**held, "_id": "an id of another type"})
    assert kept.compared() == (
        30,
        [
            '1 documents in the target, not in the snapshot: _id "an id of another type"',
            "1 documents in the snapshot, not in the target: _id 4",
            "8 documents with another fingerprint or text: _id 7, 11, 12, 13, 14, ...",
        ],
    )


@pytest.mark.parametrize("keeping", [True, False])
def test_a_snapshot_that_no_run_uses_is_not_compared(kept: Kept, keeping: bool) -> None:
    kept.run(keeping)
    kept.database.source.insert_many(texts(5, 30))
    kept.run(keeping=False)
    assert kept.compared() == (0, [])


def test_a_check_says_that_the_snapshot_is_damaged(kept: Kept) -> None:
    kept.run()
    kept.file.write_bytes(kept.file.read_bytes()[:-1])
    ((line,),) = kept.compared()[1:]
    assert "it is damaged" in line


def test_rebuild_saves_a_snapshot_whatever_its_size_that_the_next_run_uses(
    any_database: Db, tmp_path: Path
) -> None:
    kept = Kept(any_database, tmp_path / "snapshots")
    kept.run(keeping=False)
    before = one(kept.database, "target.state")
    said = kept.index("--rebuild")
    assert re.fullmatch(rf"30 documents in \d+\.\d s: {re.escape(str(kept.file))}\n", said)
    assert kept.info()["used by the next run"] == "yes"
    assert kept.compared() == (30, [])
    after = one(kept.database, "target.state")
    assert after.pop("token") == before.pop("token") + 1
    assert after == before  # the lease is given back, and nothing else changed


def test_rebuild_repairs_a_snapshot_that_is_damaged(kept: Kept) -> None:
    kept.run()
    kept.file.write_bytes(b"not a snapshot")
    kept.index("--rebuild")
    assert kept.compared() == (30, [])


def test_rebuild_waits_for_no_run_that_holds_the_lease(kept: Kept) -> None:
    kept.run(keeping=False)
    hold_lease(kept.database)
    error = kept.refused()
    assert isinstance(error, LeaseHeld)
    assert "process 1 on elsewhere" in str(error)
    assert not list(kept.folder.iterdir())


def test_rebuild_into_a_folder_that_cannot_be_is_refused_before_the_lease(kept: Kept) -> None:
    kept.run(keeping=False)
    before = one(kept.database, "target.state")
    kept.folder.write_text("a file")
    error = kept.refused()
    assert isinstance(error, UsageError)
    assert str(kept.folder) in str(error)
    assert "cannot be written" in str(error)
    assert one(kept.database, "target.state") == before


def test_rebuild_without_room_leaves_the_former_snapshot_and_no_lease(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.run()
    before = kept.file.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dedup_job.index.snapshot.os.fsync", full)
    error = kept.refused()
    assert isinstance(error, UsageError)
    assert "No space left on device" in str(error)
    assert kept.file.read_bytes() == before
    assert one(kept.database, "target.state")["lease"] is None


def test_rebuild_saves_nothing_if_another_run_wrote_meanwhile(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dedup_job.commands import index as snapshots

    kept.run(keeping=False)
    read = snapshots.read_index

    def slow(*arguments: Any) -> None:
        read(*arguments)
        kept.database["target.state"].update_one({}, {"$inc": {"generation": 1}})

    monkeypatch.setattr(snapshots, "read_index", slow)
    error = kept.refused()
    assert isinstance(error, StateMismatch)
    assert "another run wrote" in str(error)
    assert not list(kept.folder.iterdir())


def other_settings(kept: Kept) -> str:
    """Return the name of a file of settings that are not those of the target."""
    file = kept.folder.with_name("other.toml")
    file.write_text("index.distance = 2\n", encoding="utf-8")
    return str(file)
