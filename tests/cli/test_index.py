"""`dedup index`: what is said of sizes and snapshots is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
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


def needs(*more: str, **environment: str) -> dict[str, str]:
    """Return what `dedup index --documents` prints, by name."""
    return rows_of(invoke("index", "--documents", *more, **environment).stdout)


def test_what_an_index_of_a_size_needs_is_told_by_its_parts() -> None:
    told = needs("50e6", DEDUP_INDEX__DISTANCE="2")
    for way in ("50000000", "50_000_000", "5e7"):
        assert needs(way, DEDUP_INDEX__DISTANCE="2") == told
    assert told["kept documents"] == "50,000,000"
    assert told["index layout"] == "distance 2: 2 blocks of 23 bits, radius 1, 0"
    assert told["ids"] == "13 bytes each"
    assert told["minhash"] == "130 bytes each"
    assert told["in memory"] == "9.93 GB, 199 bytes each"
    assert told["on disk"] == "8.88 GB, 178 bytes each"


def test_what_does_not_fit_is_told_as_a_run_tells_it(caplog: pytest.LogCaptureFixture) -> None:
    needs("50e6", "--max-memory", "4GB")
    assert "the index may need 10.4 GB for 50,000,000 documents" in caplog.text


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("many", "'many' is not a number of documents"),
        ("nan", "'nan' is not a number of documents"),
        ("inf", "'inf' is not a number of documents"),
        ("1.5", "'1.5' is not a number of documents"),
        ("0", "--documents is 0, expected 1 to 4,294,967,294."),
        ("5e9", "--documents is 5,000,000,000"),
    ],
)
def test_a_size_that_is_none_is_refused(size: str, expected: str) -> None:
    error = refusal("index", "--documents", size)
    assert isinstance(error, UsageError)
    assert expected in str(error)


@pytest.mark.parametrize("words", [[], ["--rebuild"], ["--rebuild", "--documents", "5"]])
def test_without_a_target_there_is_nothing_to_show_or_to_rebuild(words: list[str]) -> None:
    assert "no target is given: --target NS shows" in str(refusal("index", *words))


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


def test_a_target_and_a_size_are_told_in_one(kept: Kept) -> None:
    kept.run()
    told = kept.info("--documents", "1000000")
    assert (told["its documents"], told["kept documents"]) == ("30", "1,000,000")


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


def test_rebuild_saves_a_snapshot_whatever_its_size_that_the_next_run_uses(
    any_database: Db, tmp_path: Path
) -> None:
    kept = Kept(any_database, tmp_path / "snapshots")
    kept.run(keeping=False)
    before = one(kept.database, "target.state")
    said = kept.index("--rebuild")
    assert re.fullmatch(rf"30 documents in \d+\.\d s: {re.escape(str(kept.file))}\n", said)
    assert kept.info()["used by the next run"] == "yes"
    after = one(kept.database, "target.state")
    assert after.pop("token") == before.pop("token") + 1
    assert after == before  # the lease is given back, and nothing else changed


def test_rebuild_repairs_a_snapshot_that_is_damaged(kept: Kept) -> None:
    kept.run()
    kept.file.write_bytes(b"not a snapshot")
    kept.index("--rebuild")


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
