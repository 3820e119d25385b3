"""Changes of a target by hand and the findings of `dedup check`, a table row for each.

Other commands refuse such a target, and delete no document that a run may not delete.
"""

import pytest
from bson import Int64

from dedup_job.messages import StateMismatch
from dedup_job.runs.status import NOTES, Check
from tests.proving import fill, good, refused, run_again, stored, wrong
from tests.tampering import (
    LEDGER,
    RUNS,
    STATE,
    add,
    alone,
    change,
    decided_twice,
    one,
    original,
    remove,
    row,
    run_ahead,
    state,
    text,
)


def long_text(database):
    """Return a kept document whose fingerprint does not change with a space."""
    return one(database, text={"$regex": ".{100}"}, _id={"$nin": database[LEDGER].distinct("of")})


def repeated(database):
    """Return such a document that has exact duplicates."""
    named = database[LEDGER].distinct("of", {"reason": "exact"})
    return one(database, text={"$regex": ".{100}"}, _id={"$in": named})


def other_fingerprint(pick):
    """Return a function that changes one bit of a fingerprint."""

    def do(database):
        kept = pick(database)
        flipped = Int64(kept["dedup"]["fingerprint"] ^ 1)
        database.target.update_one({"_id": kept["_id"]}, {"$set": {"dedup.fingerprint": flipped}})
        return kept["_id"]

    return do


def decided_twice_and_gone(database):
    """Do so with one that leaves the source."""
    id_ = decided_twice(database)
    database.source.delete_one({"_id": id_})
    return id_


def another_original(reason):
    """Return a function that makes a row name an original that it does not resemble."""

    def do(database):
        found = one(database, LEDGER, reason=reason)
        other = one(database, _id={"$ne": found["of"]}, **{"dedup.run": 1})["_id"]
        database[LEDGER].update_one({"_id": found["_id"]}, {"$set": {"of": other}})
        return found["_id"]

    return do


def dropped_original(database):
    first, second = database[LEDGER].find({"reason": "exact"}).sort("_id", 1).limit(2)
    database[LEDGER].update_one({"_id": first["_id"]}, {"$set": {"of": second["_id"]}})
    return first["_id"]


def itself(database):
    """Make a row name its own document, stored in the target with another type of number."""
    found = one(database, LEDGER, reason="exact", _id={"$type": "int"})
    kept = one(database, _id=found["of"])
    database.target.insert_one({**kept, "_id": float(found["_id"])})
    database[LEDGER].update_one({"_id": found["_id"]}, {"$set": {"of": float(found["_id"])}})
    return found["_id"]


def exchanged_reasons(database):
    """Exchange the reasons of two rows, so that the counts agree."""
    near, exact = (one(database, LEDGER, reason=reason, run=1) for reason in ("near", "exact"))
    for found, reason in ((near, "exact"), (exact, "near")):
        database[LEDGER].update_one({"_id": found["_id"]}, {"$set": {"reason": reason}})
    return exact["_id"]


def exchanged_documents(database):
    """Keep a duplicate in place of a unique document, which goes to the ledger."""
    found, unique = one(database, LEDGER, reason="near", run=1), alone(database)
    kept, document = one(database, _id=found["of"]), one(database, "source", _id=found["_id"])
    database[LEDGER].delete_one({"_id": found["_id"]})
    database[LEDGER].insert_one({**found, "_id": unique["_id"]})
    database.target.delete_one({"_id": unique["_id"]})
    database.target.insert_one({**document, "dedup": kept["dedup"]})
    return unique["_id"]


def exchanged_original(database):
    """Keep the later one of two equal documents."""
    found = one(database, LEDGER, reason="exact", run=1, of={"$type": "int"})
    kept, document = one(database, _id=found["of"]), one(database, "source", _id=found["_id"])
    database.target.delete_one({"_id": kept["_id"]})
    database.target.insert_one({**document, "text": kept["text"], "dedup": kept["dedup"]})
    database[LEDGER].delete_one({"_id": found["_id"]})
    database[LEDGER].insert_one({**found, "_id": kept["_id"], "of": found["_id"]})
    database[LEDGER].update_many({"of": kept["_id"]}, {"$set": {"of": found["_id"]}})
    return kept["_id"]


def edited(do):
    """Return a function that first changes the source text of an exact duplicate."""

    def both(database):
        id_ = one(database, LEDGER, reason="exact")["_id"]
        database.source.update_one({"_id": id_}, {"$set": {"text": "别的文字，不再一样了。"}})
        return do(database)

    return both


def case(name, do, named="", **words):
    """Return a row of the table: all expected findings.

    named: findings that show the `_id` first; words: of others, a part of the first line.
    """
    found = {**dict.fromkeys(named.split(), "{id}"), **words}
    return pytest.param(do, {Check[check]: shown for check, shown in found.items()}, id=name)


SAME = {"reason": "exact"}
NEAR = {"reason": "near", "differences": {"$exists": True}}
NO_TEXT, NO_ANSWER = {"$set": {"text": 7}}, {"$unset": {"answer": ""}}
NO_STATUS = {"$unset": {"status": ""}}
KEPT, SKIPPED = {"$inc": {"counts.kept": 1}}, {"$inc": {"counts.skipped": 1}}
EXACT = {"$inc": {"checkpoint.counts.duplicate.exact": 1}}
COUNTS, PRINT, NOT_OURS = "by its counts", '{id}: stored {{"fingerprint":', "{id}: not written"
CASES = (
    case("original removed", remove("target", original), "UNDECIDED ORIGINAL", RECORDS=COUNTS),
    case("document added", add("target"), "GONE", RECORDS=COUNTS),
    case("foreign document", add("target", "dedup"), "GONE", DIFFERS=NOT_OURS, RECORDS=COUNTS),
    case("text altered", text(lambda _: "这段正文被人改过了。"), DIFFERS=PRINT),
    case("text altered a little", text(lambda t: f"{t} ", long_text), "CHANGED"),
    case("text of an original", text(lambda t: f"{t} ", repeated), "CHANGED"),
    case("text that is no text", change("target", NO_TEXT), DIFFERS=NOT_OURS),
    case("fingerprint altered", other_fingerprint(long_text), DIFFERS=PRINT),
    case("field of a document altered", change("target", NO_ANSWER, answer="A"), "CHANGED"),
    case("duplicate row removed", remove(LEDGER, reason="near"), "UNDECIDED", RECORDS=COUNTS),
    case("row added", add(LEDGER), "GONE", RECORDS=COUNTS),
    case("decided twice", decided_twice, "CHANGED TWICE", RECORDS=COUNTS),
    case("decided twice and gone", decided_twice_and_gone, "GONE TWICE", RECORDS=COUNTS),
    case("original is nowhere", row({"of": "x"}, reason="near"), ORIGINAL='{id} of "x"'),
    case("original was dropped", dropped_original, "ORIGINAL"),
    case("original is itself", itself, "CHANGED TWICE CONTRADICTS", RECORDS=COUNTS),
    case(
        "another original of a near one", another_original("near"), "CONTRADICTS", DIFFERS="group"
    ),
    case(
        "another original of an exact one",
        another_original("exact"),
        "CONTRADICTS",
        DIFFERS="group",
    ),
    case("original and duplicate exchanged", exchanged_original, DIFFERS="group"),
    case("unique one and duplicate exchanged", exchanged_documents, "CHANGED"),
    case("distance", row({"distance": 1}, **NEAR), DIFFERS='"distance":1'),
    case("reasons exchanged", exchanged_reasons, DIFFERS='"reason":"near"'),
    case("edited, distance", edited(row({"distance": 3}, **SAME)), "CHANGED", DIFFERS="distance"),
    case("edited, digest", edited(row({"digest": Int64(7)}, **SAME)), "CHANGED CONTRADICTS"),
    case("edited, original", edited(row({"of": -5}, **SAME)), "CHANGED ORIGINAL"),
    case("no decision", row({"decision": "x"}), "CHANGED", DIFFERS="decision", RECORDS=COUNTS),
    case("no reason", row({"reason": "x"}), DIFFERS=NOT_OURS),
    case("counts of a run", change(RUNS, KEPT, _id=1), RECORDS="kept by its counts"),
    case("counts of the last run", change(RUNS, SKIPPED, _id=2), RECORDS="count otherwise"),
    case("counts of the state", change(STATE, EXACT), RECORDS="exact by its counts"),
    case("run removed", remove(RUNS, _id=1), RECORDS="run 1: "),
    case("run added", run_ahead, RECORDS="run 1000: "),
    case("field of a run removed", change(RUNS, NO_STATUS, _id=2), RECORDS="lacks status"),
    case("older state", state(**{"checkpoint.run": 1}), RECORDS="put an older copy back"),
    case("source document removed", remove("source", alone), "GONE"),
    case("source emptied", lambda database: database.source.drop(), GONE=""),
)


@pytest.mark.parametrize(
    "more", [("--all",), pytest.param((), marks=pytest.mark.thorough)], ids=["all", "sample"]
)
@pytest.mark.parametrize(("do", "expected"), CASES)
def test_what_is_done_by_hand_is_found_and_nothing_else(made, tmp_path, do, expected, more):
    id_ = do(made)
    check = good if expected.keys() <= {*NOTES} else wrong
    found = check(made, tmp_path, *more)
    assert found.keys() == {*map(str, expected)}, found
    for finding, words in expected.items():
        assert words.format(id=shown(id_)) in ", ".join(found[str(finding)])


def shown(id_):
    return f'"{id_}"' if isinstance(id_, str) else repr(id_)


def test_a_document_in_the_ledger_tells_a_forged_row_from_an_edit(database, tmp_path):
    fill(database, ledger__document="whole")
    for reason in ("near", "empty"):
        id_ = one(database, LEDGER, reason=reason)["_id"]
        database.source.update_one({"_id": id_}, {"$set": {"text": "一篇新的短文。"}})
    assert good(database, tmp_path, "--all").keys() == {Check.CHANGED}
    near = one(database, LEDGER, reason="near")
    row({"digest": Int64(near["digest"] ^ 1)}, reason="near")(database)
    empty = row({"document.text": "有字"}, reason="empty")(database)
    found = wrong(database, tmp_path, "--all")
    assert found[Check.DIFFERS] == [f"{near['_id']!r}: its digest is of another text"]
    assert found[Check.CONTRADICTS] == [repr(empty)]
    row({"digest": near["digest"]}, reason="near")(database)
    row({"document.text": ""}, reason="empty")(database)
    database.source.delete_many({})
    another_original("near")(database)
    found = wrong(database, tmp_path, "--all")
    assert found.keys() == {Check.CONTRADICTS, Check.DIFFERS, Check.GONE}


def source_elsewhere(**more):
    """Return a function that makes the state name another collection with the same ids."""

    def do(database):
        ids = database.target.distinct("_id")
        database.other.insert_many([{"_id": id_, "text": "别的"} for id_ in ids])
        state(source=f"{database.name}.other", **more)(database)

    return do


UNDO, RESTORE = ("undo", "2", "--yes"), ("restore", "late 216")
RUN = ("run", "--source", "source")
BEHIND = "someone changed one of them, or put an older copy back"
# The change, the commands that refuse it, their message.
REFUSED = {
    "another source": (source_elsewhere(), (UNDO,), "{db}.source, and {db}.target.state names"),
    "another source, undo": (source_elsewhere(undo=2), (UNDO, RESTORE), ""),
    "another source, batch": (source_elsewhere(intent=[0, 1, 2]), (UNDO,), ""),
    "older state": (state(**{"checkpoint.run": 1}), (RUN,), BEHIND),
    "run added": (run_ahead, (RUN,), BEHIND),
    "no status": (change(RUNS, NO_STATUS, _id=2), (UNDO,), f"row 2 of {{db}}.{RUNS} lacks status"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_commands_refuse_it_and_take_nothing_back(made, name):
    do, commands, words = REFUSED[name]
    lost = [one(made, **{"dedup.run": number})["_id"] for number in (1, 2)]
    made.source.delete_many({"_id": {"$in": lost}})
    do(made)
    before = stored(made)["target"]
    for command_ in commands:
        error = refused(made, *command_, DEDUP_SOURCE__MAX_CHARS="1500")
        assert isinstance(error, StateMismatch)
        assert words.format(db=made.name) in str(error)
    assert stored(made)["target"] == before


def test_an_incomplete_batch_takes_nothing_of_earlier_runs_back(made):
    first, dropped = one(made, **{"dedup.run": 1}), one(made, LEDGER, run=1)
    state(intent=[first["_id"], dropped["_id"]])(made)
    run_again(made)
    assert one(made, _id=first["_id"]) == first
    assert one(made, LEDGER, _id=dropped["_id"]) == dropped
