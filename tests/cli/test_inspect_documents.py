"""`dedup inspect ID` shows why a document was kept or dropped; nothing is written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from bson import ObjectId
from pymongo.database import Database

from dedup_job.decision import DecisionSettings
from dedup_job.errors import UsageError
from dedup_job.report.labels import measured
from tests.proving import command, refused
from tests.running import run_here

Db = Database[dict[str, Any]]
TEXT = (
    "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
    "叶绿体是进行光合作用的细胞器。"
)
OID = ObjectId("65a0a0a0a0a0a0a0a0a0a0a0")
CONFIDENCE = 0.9
SETTINGS = {"DEDUP_DECISION__CONFIDENCE": str(CONFIDENCE)}
DEFAULT = str(DecisionSettings().confidence)
DOCUMENTS: list[dict[str, Any]] = [
    {"_id": 1, "text": f"1998年的考题：{TEXT}"},
    {"_id": 2, "text": f"1998年的考题：{TEXT}"},
    {"_id": 3, "text": f"（3分）1998年的考题：{TEXT[:-1]}"},
    {"_id": 4, "text": f"2007年的考题：{TEXT}"},
    {"_id": 5, "text": "   "},
    {"_id": 6, "text": 17},
    {"_id": 7, "text": "字" * 1_000_001},
    {"_id": 8, "text": "The quick brown fox jumps over the lazy dog while seven wizards brew tea."},
    {"_id": OID, "text": f"<p>1998年的考题：</p>{TEXT}"},
    {"_id": "17", "text": "短文"},
    {"_id": 17, "text": "短句"},
    {"_id": {"year": 2020, "no": 3}, "text": "短文"},
]


@pytest.fixture
def decided(database: Db, tmp_path: Path) -> Db:
    """Return a database with a target made by the judge."""
    database.source.insert_many(DOCUMENTS)
    run_here(database, index__folder=str(tmp_path), decision__confidence=CONFIDENCE)
    return database


def inspected(database: Db, *words: str, **environment: str) -> str:
    """Return what is printed about ids."""
    return command(database, "inspect", *words, **{**SETTINGS, **environment})


def value(output: str, name: str) -> str:
    """Return what stands beside a name."""
    found = re.search(rf"^ *{re.escape(name)}  +(.*?) *$", output, re.M)
    assert found, output
    return found[1]


def test_a_near_duplicate_is_shown_beside_the_kept_text_with_all_that_was_measured(
    decided: Db,
) -> None:
    output = inspected(decided, "3")
    row = decided["target.ledger"].find_one({"_id": 3}) or {}
    assert value(output, "decision") == "duplicate: near"
    assert value(output, "of") == "1"
    assert value(output, "run") == "1"
    assert re.search(r"^kept +the source's text, cleaned *$", output, re.M)
    assert "{+（3分）+}" in output
    assert "[-。-]" in output
    assert value(output, "distance").startswith(f"{row['distance']} of 64 bits")
    assert value(output, "similarity") == measured(row["similarity"])
    assert value(output, "found by") == ", ".join(row["found_by"])
    assert value(output, "probability") == f"{measured(row['probability'])}, least {CONFIDENCE}"
    assert row["differences"]
    for one in row["differences"]:
        assert re.search(rf"^{one['class']} +{one['in']} ", output, re.M)
    assert "With today's texts: still duplicates (near)." in output


def test_the_source_is_cleaned_as_by_a_run_and_an_equal_text_shown_once(decided: Db) -> None:
    assert "<p>" not in (output := inspected(decided, str(OID)))
    assert value(output, "decision") == "duplicate: near"
    output = inspected(decided, "2")
    assert value(output, "decision") == "duplicate: exact"
    assert value(output, "found by") == "text"
    assert "both texts, cleaned: 1998" in output
    assert output.count(TEXT) == 1


def test_a_kept_document_is_shown_with_what_keeps_its_neighbours_apart(decided: Db) -> None:
    output = inspected(decided, "4")
    assert value(output, "decision") == "kept"
    kind = decided.target.find_one({"_id": 4})["dedup"]["refused"]["class"]
    (line,) = [line for line in output.splitlines() if re.search(rf" {kind} +1 ", line)]
    assert re.search(rf"0\.\d{{3}} +\S+ +before .*minhash.* {kind} +1 ", line)
    assert "[-1998-]{+2007+}" in output  # 1 was kept before 4, seen from either
    assert "[-1998-]{+2007+}" in (seen := inspected(decided, "1"))
    assert "later" in seen


def test_a_kept_document_without_neighbours_says_so(decided: Db) -> None:
    others = decided.target.count_documents({}) - 1
    assert f"0 of {others:,} other kept documents, 0 shown." in inspected(decided, "8")


@pytest.mark.parametrize(
    ("id_", "decision", "detail"),
    [
        ("5", "skipped: empty", "nothing is left of it after cleaning"),
        ("6", "skipped: not_text", "field `text` is not text now"),
        ("7", "quarantined: too_large", "text of 1,000,001 characters, limit 1,000,000"),
    ],
)
def test_of_what_was_skipped_or_quarantined_the_reason_is_told(
    decided: Db, id_: str, decision: str, detail: str
) -> None:
    output = inspected(decided, id_)
    assert value(output, "decision") == decision
    assert detail in output


def test_two_documents_are_compared_whatever_was_decided_about_them(decided: Db) -> None:
    output = inspected(decided, "3", "4")
    assert re.findall(r"^decision +(.*?) *$", output, re.M) == ["duplicate: near", "kept"]
    assert re.search(r"^replaced +stem +1998 +2007", output, re.M)
    assert "\nnot duplicates: number." in output
    assert "\nduplicates (exact)." in inspected(decided, "1", "2")
    assert "5: nothing is left of it after cleaning" in inspected(decided, "4", "5")


def test_a_document_and_a_text_are_compared(decided: Db) -> None:
    output = inspected(decided, "4", "--text", DOCUMENTS[3]["text"])
    assert value(output, "_id") == "4"
    assert "\nduplicates (exact)." in output


def test_extended_json_names_any_id_and_tells_a_number_from_digits(decided: Db) -> None:
    output = inspected(decided, '{"year": 2020, "no": 3}')
    assert (value(output, "decision"), value(output, "of")) == ("duplicate: exact", '"17"')
    number = inspected(decided, "17")
    assert value(number, "_id") == "17"
    assert value(number, "also decided").startswith("""'"17"', quoted for a shell""")
    string = inspected(decided, '"17"')
    assert value(string, "_id") == '"17"'
    assert "also decided" not in string


def test_an_unknown_id_says_what_to_check(decided: Db) -> None:
    assert "no run of the target" in str(refused(decided, "inspect", '{"$gt": 1}', **SETTINGS))
    error = refused(decided, "inspect", "99", **SETTINGS)
    assert isinstance(error, UsageError)
    assert '(read as 99, "99")' in str(error)
    assert "Nor does the source" in str(error)


def test_a_document_that_came_after_the_last_run_is_told_from_an_unknown_one(decided: Db) -> None:
    decided.source.insert_one({"_id": "new", "text": TEXT})
    assert f'The source {decided.name}.source holds "new"' in str(
        refused(decided, "inspect", "new", **SETTINGS)
    )


def test_where_one_of_the_two_is_gone_the_other_is_shown(decided: Db) -> None:
    decided.source.delete_one({"_id": 3})
    output = inspected(decided, "3")
    assert "3: the source no longer holds it" in output
    assert f"text of 1: {DOCUMENTS[0]['text']}" in output
    decided.target.delete_one({"_id": 1})
    output = inspected(decided, "2")
    assert "1: the target no longer holds it" in output
    assert f"text of 2: {DOCUMENTS[1]['text']}" in output


def test_a_text_that_changed_since_is_no_duplicate_now(decided: Db) -> None:
    decided.source.update_one({"_id": 3}, {"$set": {"text": DOCUMENTS[7]["text"]}})
    decided.source.update_one({"_id": 2}, {"$set": {"text": DOCUMENTS[3]["text"]}})
    assert "not duplicates: no candidate generator finds the pair. The source" in inspected(
        decided, "3"
    )
    assert re.search(r"not duplicates: \w+\. The source document, the", inspected(decided, "2"))


def test_without_settings_those_of_the_last_run_are_used(decided: Db) -> None:
    output = inspected(decided, "4", DEDUP_DECISION__CONFIDENCE="0.5")
    assert value(output, "settings") == "those of run 1"
    found = json.loads(inspected(decided, "4", "--json", DEDUP_DECISION__CONFIDENCE="0.5"))
    assert found["settings"]["decision"]["confidence"] == CONFIDENCE


@pytest.mark.parametrize("form", ["text", "classic"])
def test_other_forms_of_the_target_are_read(database: Db, tmp_path: Path, form: str) -> None:
    database.source.insert_many([DOCUMENTS[0], DOCUMENTS[2], DOCUMENTS[7]])
    run_here(database, index__folder=str(tmp_path), output__document=form)
    environment = {"DEDUP_OUTPUT__DOCUMENT": form, "DEDUP_DECISION__CONFIDENCE": DEFAULT}
    assert "{+（3分）+}" in inspected(database, "3", **environment)
    assert value(inspected(database, "8", **environment), "decision") == "kept"


def test_without_a_comparison_the_distance_alone_is_told(database: Db, tmp_path: Path) -> None:
    database.source.insert_many([DOCUMENTS[0], DOCUMENTS[2]])
    run_here(database, index__folder=str(tmp_path), decision__judge="none", index__distance=7)
    output = inspected(database, "3", DEDUP_DECISION__CONFIDENCE=DEFAULT)
    assert "not compared (decision.judge = none)" in value(output, "similarity")


def test_a_kept_document_says_how_many_duplicates_it_has_and_how_to_list_them(decided: Db) -> None:
    count = decided["target.ledger"].count_documents({"of": 1})
    output = inspected(decided, "1")
    assert f"Dropped for it: {count} documents; `dedup list --what dropped --of" in output
    assert "No document was dropped for it." in inspected(decided, "8")


def test_json_holds_row_and_texts_of_a_duplicate_and_its_original(decided: Db) -> None:
    found = json.loads(inspected(decided, "3", "--json"))
    (item,), original = found["items"], found["original"]
    own = item["decided"]
    assert (own["id"], own["decision"], own["of"]) == (3, "duplicate", 1)
    assert (original["name"], original["text"]) == (1, DOCUMENTS[0]["text"])
    assert found["pair"]["refused_by"] is None
    weighed = found["pair"]["weighed"]
    assert (weighed["probability"], weighed["guards"]) == (0.999, [])
    kept = json.loads(inspected(decided, "4", "--json"))
    own = kept["items"][0]["decided"]
    assert (own["decision"], own["of"]) == ("kept", 1)
    assert [near["id"] for near in kept["near"]] == [1]
    assert "uri" not in json.dumps(found["settings"])
