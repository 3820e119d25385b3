"""An `_id` of several MB is quarantined; it stops neither a run nor what looks at the target."""

import pytest

from dedup_job.mongo.reading import in_commands
from tests.proving import command, good
from tests.running import assert_each_source_id_is_in_one_place, outcome, run_here

MB = 1 << 20
TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清。"


@pytest.fixture
def made(any_database):
    huge = [{"_id": letter * size, "text": TEXT} for letter, size in _HUGE]
    within = {"_id": {"n": 1, "rest": "x" * 5 * MB}, "text": TEXT}
    plain = [{"_id": id_, "text": f"{TEXT}{id_}"} for id_ in ("a", "c", "m", "zz", 7)]
    copies = [{"_id": id_, "text": f"{TEXT}a"} for id_ in ("bb", "zzz")]
    any_database.source.insert_many([*huge, within, *plain, *copies])
    run_here(any_database, run__batch_documents=4)
    return any_database


_HUGE = (("b", 3 * MB), ("d", 7 * MB), ("e", 7 * MB), ("y", 70_000))  # the oplog takes no more


def test_huge_ids_are_quarantined_with_their_size(made):
    assert_each_source_id_is_in_one_place(made)
    assert sorted(d["_id"] for d in made.target.find({"_id": {"$type": "string"}})) == [
        *("a", "c", "m", "zz")
    ]
    rows = list(made["target.ledger"].find({"decision": "quarantined"}))
    assert {row["reason"] for row in rows} == {"too_large"}
    assert "its _id takes 3,145," in min(rows, key=lambda row: row["detail"])["detail"]
    assert len(rows) == len(_HUGE) + 1
    last = (made["target.state"].find_one() or {})["checkpoint"]["last_id"]
    assert len(str(last)) < 100


def test_later_runs_and_the_commands_work_as_with_others(made, tmp_path):
    before = outcome(made)
    report = run_here(made)
    assert report.checkpoint.counts.scanned == 0
    assert outcome(made) == before
    assert good(made, tmp_path, "--all") == {}
    assert "duplicate" in command(made, "inspect", "bb")
    command(made, "undo", "2", "--yes")
    command(made, "undo", "1", "--yes")
    assert made["target.ledger"].count_documents({}) == 0
    report = run_here(made)
    assert report.checkpoint.counts.quarantined == len(_HUGE) + 1


def test_keys_are_divided_so_that_each_part_fits_into_a_command():
    keys = [b"x" * size for size in (1, 5 * MB, 5 * MB, 9 * MB, 1, 1)]
    parts = [[len(key) for key in part] for part in in_commands(keys)]
    assert parts == [[1, 5 * MB], [5 * MB], [9 * MB], [1, 1]]
    assert [*in_commands([])] == []
