"""`dedup query` finds what a run would find, and nothing is written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database
from rich.cells import cell_len

from dedup_job.demo import make_corpus
from dedup_job.errors import StateMismatch, UsageError
from tests.deciding import PLAIN
from tests.running import dedup, environment_for, invoke, refusal, run_here, uri_of

Db = Database[dict[str, Any]]
LONG = (
    "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
    "叶绿体是进行光合作用的细胞器。"
)
SHORT = "短文"
PLAIN_ENVIRONMENT = {"DEDUP_INDEX__CHANNELS": '["simhash"]', "DEDUP_DECISION__COMPARE": "none"}


@pytest.fixture
def filled(database: Db, tmp_path: Path) -> Db:
    """Return a database with a target made from labelled documents, its snapshot in tmp_path."""
    database.source.insert_many(make_corpus(600, seed=3))
    database.source.insert_many([{"_id": "long", "text": LONG}, {"_id": "short", "text": SHORT}])
    run_here(database, index__folder=str(tmp_path), index__snapshot_from=0)
    return database


def arguments(database: Db, text: str, *more: str) -> list[str]:
    """Return the command line of a query."""
    return ["query", text, "--db", database.name, "--target", "target", *more]


def environment(database: Db, folder: Path, **more: str) -> dict[str, str]:
    """Return where the server and the snapshots are."""
    return {"DEDUP_URI": uri_of(database), "DEDUP_INDEX__FOLDER": str(folder), **more}


def rows(output: str) -> list[tuple[int, bool, str]]:
    """Return distance (-1 for none), whether the text is equal, and `_id` of each row printed."""
    found = re.findall(r"^(\d+|-)(, equal text)? +(\S.*?)  ", output, re.M)
    return [
        (-1 if distance == "-" else int(distance), bool(equal), id_)
        for distance, equal, id_ in found
    ]


def stored(database: Db) -> dict[str, list[dict[str, Any]]]:
    """Return all that the database holds."""
    names = sorted(database.list_collection_names())
    return {name: list(database[name].find().sort("_id", 1)) for name in names}


@pytest.mark.parametrize(
    ("k", "with_snapshot"),
    [
        *[(0, False), (3, True), (7, False)],
        *(
            pytest.param(*one, marks=pytest.mark.thorough)
            for one in [(0, True), (3, False), (7, True)]
        ),
    ],
)
def test_all_kept_documents_within_the_distance_are_found_nearest_first(
    filled: Db, tmp_path: Path, k: int, with_snapshot: bool
) -> None:
    held = list(filled.target.find())
    values = {repr(d["_id"]): d["dedup"]["fingerprint"] & (2**64 - 1) for d in held}
    folder = tmp_path if with_snapshot else tmp_path / "none"
    near = list(filled["target.ledger"].find({"reason": "near"}).limit(4))
    asked = [*held[:2], *(filled.source.find_one({"_id": row["_id"]}) for row in near)]
    for document in asked:
        command = arguments(filled, document["text"], "--k", str(k), "--limit", "1000")
        found = rows(invoke(*command, **environment(filled, folder)).stdout)
        if document in held:
            assert found[0] == (0, True, repr(document["_id"]))
        value = values.get(repr(document["_id"])) or fingerprint_of(document["text"])
        bits = {id_: (value ^ other).bit_count() for id_, other in values.items()}
        assert {(d, id_) for d, _, id_ in found} == {(b, i) for i, b in bits.items() if b <= k}
        assert [d for d, *_ in found] == sorted(d for d, *_ in found)


def fingerprint_of(text: str) -> int:
    """Return the fingerprint that a run gives a text."""
    from dedup_job.cleaning import Cleaner
    from dedup_job.fingerprint import Fingerprinter, FingerprintSettings

    found = Fingerprinter(FingerprintSettings()).fingerprint([Cleaner().clean(text)])
    return int(found.values[0])


def test_a_near_duplicate_found_by_simhash_finds_the_document_that_the_ledger_names(
    filled: Db, tmp_path: Path
) -> None:
    found = list(filled["target.ledger"].find({"reason": "near", "found_by": "simhash"}).limit(5))
    assert len(found) == 5
    for row in found:
        text = filled.source.find_one({"_id": row["_id"]})["text"]  # type: ignore[index]
        output = invoke(*arguments(filled, text), **environment(filled, tmp_path)).stdout
        assert (row["distance"], False, repr(row["of"])) in rows(output)
        assert f"a run drops it: near duplicate of _id {row['of']!r}" in output


def test_whatever_a_run_drops_is_found_with_the_settings_of_that_run(
    filled: Db, tmp_path: Path
) -> None:
    """Not those of the environment: the target's own, as its last run had them."""
    more = {"DEDUP_INDEX__CHANNELS": '["simhash"]', "DEDUP_DECISION__JUDGE": "similarity"}
    for row in filled["target.ledger"].find({"decision": "duplicate"}).limit(12):
        text = filled.source.find_one({"_id": row["_id"]})["text"]  # type: ignore[index]
        output = invoke(*arguments(filled, text), **environment(filled, tmp_path, **more)).stdout
        assert rows(output)[0][2] == repr(row["of"])
        assert f"a run drops it: {row['reason']} duplicate of _id {row['of']!r}" in output
        assert "settings: those of run 1" in output


def test_what_a_run_keeps_is_told_with_what_keeps_it_apart(filled: Db, tmp_path: Path) -> None:
    text = LONG.replace("释放氧气", "释放氢气")
    output = invoke(*arguments(filled, text), **environment(filled, tmp_path)).stdout
    assert 'a run keeps it; the nearest, _id "long", differs: content' in output


def test_where_the_fingerprint_alone_decides_that_document_is_the_nearest(
    filled: Db, tmp_path: Path
) -> None:
    run_here(filled, target="plain", index__folder=str(tmp_path), **PLAIN)
    for row in filled["plain.ledger"].find({"reason": "near"}).limit(5):
        text = filled.source.find_one({"_id": row["_id"]})["text"]  # type: ignore[index]
        command = ["query", text, "--db", filled.name, "--target", "plain"]
        output = invoke(*command, **environment(filled, tmp_path, **PLAIN_ENVIRONMENT)).stdout
        assert rows(output)[0] == (row["distance"], False, repr(row["of"]))


def test_the_text_is_cleaned_as_by_a_run(filled: Db, tmp_path: Path) -> None:
    text = f"<p>{LONG[:20]}</p>\n<p>{LONG[20:]}</p>"
    found = invoke(*arguments(filled, f"<div> {LONG} </div>"), **environment(filled, tmp_path))
    assert rows(found.stdout)[0] == (0, True, '"long"')
    apart = invoke(*arguments(filled, text), **environment(filled, tmp_path)).stdout
    assert not rows(apart) or not rows(apart)[0][1]


def test_a_short_text_is_found_by_its_exact_text_only(filled: Db, tmp_path: Path) -> None:
    there = invoke(*arguments(filled, SHORT, "--k", "7"), **environment(filled, tmp_path)).stdout
    assert rows(there) == [(0, True, '"short"')]
    absent = invoke(*arguments(filled, "短句"), **environment(filled, tmp_path)).stdout
    assert rows(absent) == []
    assert "a run keeps it" in absent


def test_it_says_when_nothing_is_near(filled: Db, tmp_path: Path) -> None:
    text = "The quick brown fox jumps over the lazy dog while seven wizards brew potions at dawn."
    output = invoke(*arguments(filled, text), **environment(filled, tmp_path)).stdout
    kept = filled.target.count_documents({})
    assert output == f"none of {kept:,} kept documents is a candidate\na run keeps it\n"
    output = invoke(*arguments(filled, text, "--k", "3"), **environment(filled, tmp_path)).stdout
    assert output.startswith(f"none of {kept:,} kept documents is within distance 3\n")


def test_a_limit_shows_the_nearest_and_says_how_many_there_are(filled: Db, tmp_path: Path) -> None:
    filled.source.insert_many(
        {"_id": f"variant {i}", "text": f"{LONG}其中第{i}条结论由{i * 7}位学者在论文里提出。"}
        for i in range(40)
    )
    run_here(
        filled,
        index__folder=str(tmp_path),
        index__distance=0,
        target="exact",
        **PLAIN,
    )
    command = ["query", f"{LONG}其中第3条结论由21位学者在论文里提出。", "--db", filled.name]
    more = environment(filled, tmp_path, DEDUP_INDEX__DISTANCE="0", **PLAIN_ENVIRONMENT)
    output = invoke(*command, "--target", "exact", "--k", "7", "--limit", "2", **more).stdout
    everything = invoke(*command, "--target", "exact", "--k", "7", "--limit", "999", **more).stdout
    found = re.findall(r"^(\d)(?:, equal text)?  +\"", everything, re.M)
    assert len(found) > 2
    assert f"{len(found)} of " in output
    assert "within distance 7; the nearest 2\n" in output


def test_the_text_is_cut_by_its_width_on_the_screen_and_kept_on_one_line(
    database: Db, tmp_path: Path
) -> None:
    text = f"第一行\n\n第二\x1b[31m行{LONG}"
    database.source.insert_one({"_id": 1, "text": text})
    run_here(database, index__folder=str(tmp_path))
    output = invoke(*arguments(database, text), **environment(database, tmp_path)).stdout
    (line,) = [line for line in output.splitlines() if "第一行 第二" in line]
    shown = line[line.index("第一行") :].rstrip()
    assert "\x1b" not in output
    assert shown.endswith("…")
    assert 55 <= cell_len(shown) <= 60


@pytest.mark.parametrize(("field", "form"), [("a.b", "whole"), ("a.b", "text"), ("a.b", "classic")])
def test_texts_are_shown_whatever_their_place(
    database: Db, tmp_path: Path, field: str, form: str
) -> None:
    database.source.insert_one({"_id": 1, "a": {"b": LONG}})
    flags = {"source__field": field, "output__document": form}
    run_here(database, index__folder=str(tmp_path), **flags)
    more = environment(database, tmp_path, DEDUP_OUTPUT__DOCUMENT=form)
    output = invoke(*arguments(database, LONG, "--field", field), **more).stdout
    assert rows(output) == [(0, True, "1")]
    assert LONG[:20] in output


def test_nothing_is_written(filled: Db, tmp_path: Path) -> None:
    before, files = stored(filled), {f: f.read_bytes() for f in tmp_path.iterdir()}
    assert len(files) == 1
    for k in ("3", "7"):
        invoke(*arguments(filled, LONG, "--k", k), **environment(filled, tmp_path))
    invoke(*arguments(filled, LONG), **environment(filled, tmp_path / "none"))
    assert stored(filled) == before
    assert {f: f.read_bytes() for f in tmp_path.iterdir()} == files


def test_a_snapshot_that_does_not_match_is_not_used(filled: Db, tmp_path: Path) -> None:
    filled.target.delete_one({"_id": "long"})
    result = dedup(*arguments(filled, LONG), **environment(filled, tmp_path))
    assert result.returncode == 0, result.stderr
    assert "'long'" not in result.stdout
    assert re.search(r"reading the index from the target; its snapshot: it holds", result.stderr)


def test_standard_input_is_read_as_the_text(filled: Db, tmp_path: Path) -> None:
    output = invoke(*arguments(filled, "-"), stdin=LONG, **environment(filled, tmp_path)).stdout
    assert rows(output)[0] == (0, True, '"long"')


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        (LONG, ("--k", "8"), "--k is 8, expected 0 to 7"),
        (LONG, ("--k", "-1"), "--k is -1, expected 0 to 7"),
        (LONG, ("--limit", "0"), "--limit is 0, expected 1 to"),
        ("", (), "nothing is left of the text after cleaning"),
        ("<p> &nbsp; </p>", (), "nothing is left of the text after cleaning"),
        ("字" * 1_000_001, (), "1,000,001 characters, limit 1,000,000"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_connecting(
    text: str, more: tuple[str, ...], expected: str
) -> None:
    command = ["query", text, "--target", "d.t", *more]
    error = refusal(*command, DEDUP_URI="mongodb://127.0.0.1:9", DEDUP_CONNECTION__TIMEOUT="1")
    assert isinstance(error, UsageError)
    assert expected in str(error)


def test_a_target_that_was_never_written_is_refused(filled: Db, tmp_path: Path) -> None:
    command = ["query", LONG, "--target", f"{filled.name}.other"]
    error = refusal(*command, **environment(filled, tmp_path))
    assert isinstance(error, UsageError)
    assert f"Targets in {filled.name}: target." in str(error)
    assert sorted(stored(filled)) == sorted(
        ["source", "target", "target.ledger", "target.runs", "target.state"]
    )


def test_other_settings_than_those_of_the_target_are_refused(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text("[fingerprint]\nngram = 4\n", encoding="utf-8")
    error = refusal(
        *arguments(filled, LONG, "--config", str(file)), **environment(filled, tmp_path)
    )
    assert isinstance(error, StateMismatch)
    assert "fingerprint.ngram = 3 then, 4 now" in str(error)


def test_standard_input_that_is_not_utf_8_ends_with_2() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "dedup_job", "query", "-", "--target", "d.t"],
        input="正文".encode("gb18030"),
        env=environment_for("mongodb://127.0.0.1:9"),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    assert b"standard input is not UTF-8" in result.stderr
    assert b"Traceback" not in result.stderr
