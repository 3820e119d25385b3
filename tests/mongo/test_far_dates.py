"""A date that Python has no value for is a field like any other: nothing is lost for it."""

import pytest
from bson import DatetimeMS

from dedup_job.mongo.bson.edit import RAW
from tests.mongo.test_run import questions
from tests.proving import command, good
from tests.running import run_here

LATE, EARLY = DatetimeMS(8_640_000_000_000_000), DatetimeMS(-100_000_000_000_000)  # 275760, -1199
VARIANTS = {
    "year 275760": {"created": LATE},
    "year -1199": {"created": EARLY},
    "the largest": {"created": DatetimeMS(2**63 - 1)},
    "the smallest": {"created": DatetimeMS(-(2**63))},
    "in an object": {"meta": {"when": LATE, "by": "x"}},
    "in a list": {"times": [DatetimeMS(0), EARLY, {"at": LATE}]},
    "beside texts": {"body": "题目之外的正文", "created": LATE},
}


def plant(database, more, **first):
    texts = [document["text"] for document in questions(20)]
    database.source.insert_many(
        {"_id": i, "text": text, **first, **more} for i, text in enumerate([*texts, *texts[:10]])
    )


def as_in_source(database, name="target"):
    """Tell whether all documents of a target are the source's, byte for byte but for `dedup`."""
    source = {d["_id"]: bytes(d.raw) for d in database.source.with_options(RAW).find()}
    found = [*database[name].with_options(RAW).find()]
    return bool(found) and all(
        bytes(document.raw)[4:].startswith(source[document["_id"]][4:-1]) for document in found
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_far_date_is_kept_byte_for_byte(any_database, variant, tmp_path):
    plant(any_database, VARIANTS[variant])
    fields = "text,body" if "body" in VARIANTS[variant] else "text"
    report = run_here(any_database, source__field=fields, ledger__document="whole")
    assert (report.counts.kept, report.counts.exact) == (20, 10)
    assert as_in_source(any_database)
    assert good(any_database, tmp_path, "--all") == {}


@pytest.mark.standalone
def test_every_command_lives_with_it(any_database, tmp_path):
    plant(any_database, {"created": LATE})
    whole = {"ledger__document": "whole"}
    run_here(any_database, **whole)
    assert "equal text  20" in command(any_database, "list", "--what", "dropped")
    assert "exact" in command(any_database, "inspect", "20")
    before = outcome_of(any_database)
    command(any_database, "restore", "20")
    assert as_in_source(any_database)
    command(any_database, "undo", "2", "--yes")
    assert outcome_of(any_database) == before
    any_database.source.delete_one({"_id": 21})
    command(any_database, "restore", "21")  # from the ledger's copy
    assert good(any_database, tmp_path, "--all").keys() == {"no longer in the source"}
    command(any_database, "status", "--rebuild-index")


def outcome_of(database):
    names = ("target", "target.ledger")
    return [bytes(d.raw) for n in names for d in database[n].with_options(RAW).find().sort("_id")]


@pytest.mark.parametrize(("rule", "kept"), [("newest:at", "late"), ("oldest:at", "early")])
def test_a_far_date_is_later_or_earlier_than_any_other(any_database, rule, kept):
    text = questions(1)[0]["text"]
    dates = {"now": DatetimeMS(1_700_000_000_000), "late": LATE, "early": EARLY}
    any_database.source.insert_many({"_id": n, "text": text, "at": d} for n, d in dates.items())
    run_here(any_database, output__keep=[rule])
    assert any_database.target.distinct("_id") == [kept]
