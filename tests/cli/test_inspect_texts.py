"""`dedup inspect` finds and decides texts as a run would; without a target it compares them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.judgment import DifferenceKind
from tests.deciding import PLAIN
from tests.proving import stored
from tests.running import invoke, refusal, run_here, uri_of

Db = Database[dict[str, Any]]
LONG = (
    "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
    "叶绿体是进行光合作用的细胞器。"
)
SHORT = "短文"
QUESTION = "某校共有学生120人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"
OTHER = QUESTION.replace("120", "360")


@pytest.fixture
def filled(database: Db, tmp_path: Path) -> Db:
    """Return a database with a target made from labelled documents, its snapshot in tmp_path."""
    database.source.insert_many(make_corpus(600, seed=3))
    database.source.insert_many([{"_id": "long", "text": LONG}, {"_id": "short", "text": SHORT}])
    run_here(database, index__folder=str(tmp_path))
    return database


def arguments(database: Db, text: str, *more: str, target: str = "target") -> list[str]:
    """Return the command line that asks for a text."""
    return ["inspect", "--text", text, "--db", database.name, "--target", target, *more]


def environment(database: Db, folder: Path, **more: str) -> dict[str, str]:
    """Return where the server and the snapshots are."""
    return {"DEDUP_URI": uri_of(database), "DEDUP_INDEX__FOLDER": str(folder), **more}


def found(command: list[str], where: dict[str, str]) -> dict[str, Any]:
    """Return the values of the command's JSON."""
    values: dict[str, Any] = json.loads(invoke(*command, "--json", **where).stdout)
    return values


def kinds(output: str) -> list[tuple[str, str]]:
    """Return the kinds in the table of differences, each with its place."""
    table = output[output.index("\ndifference ") : output.index("\ndistance ")]
    return re.findall(rf"^({'|'.join(DifferenceKind)}) +([a-z]+) ", table, re.M)


@pytest.mark.parametrize("flags", [{}, PLAIN])
def test_whatever_a_run_drops_is_found_with_the_settings_of_that_run(
    filled: Db, tmp_path: Path, flags: dict[str, Any]
) -> None:
    """Not those of the environment: the target's own, as its last run had them."""
    run_here(filled, target="own", index__folder=str(tmp_path), **flags)
    more = {
        "DEDUP_INDEX__CANDIDATE_GENERATORS": '["simhash"]',
        "DEDUP_DECISION__JUDGE": "similarity",
    }
    where = environment(filled, tmp_path, **more)
    for row in filled["own.ledger"].find({"decision": "duplicate"}).limit(9):
        text = filled.source.find_one({"_id": row["_id"]})["text"]  # type: ignore[index]
        told = found(arguments(filled, text, target="own"), where)
        (item,) = told["items"]
        for name in ("decision", "of", "reason", "distance", "similarity", "found_by"):
            assert item["decided"][name] == row[name]
        assert item["decided"]["probability"] == row.get("probability")
        assert item["decided"]["differences"] == row.get("differences", [])
        assert item["decided"]["richer"] == row.get("richer", [])
        assert told["near"][0]["id"] == row["of"]
        assert told["near"][0]["view"]["refused_by"] is None
        assert told["settings_of"] == 1


def test_what_a_run_would_decide_is_told_in_words(filled: Db, tmp_path: Path) -> None:
    where = environment(filled, tmp_path)
    text = LONG.replace("释放氧气", "释放氢气")
    output = invoke(*arguments(filled, text), **where).stdout
    assert re.search(r"^text, a run decides +kept$", output, re.M)
    assert "[-氧-]{+氢+}" in output
    output = invoke(*arguments(filled, f"<div> {LONG} </div>"), **where).stdout
    assert re.search(r"^text, a run decides +duplicate: exact$", output, re.M)
    assert re.search(r'^of +"long"$', output, re.M)


def test_a_short_text_is_found_by_its_exact_text_only(filled: Db, tmp_path: Path) -> None:
    where = environment(filled, tmp_path)
    there = found(arguments(filled, SHORT), where)
    assert [(one["id"], one["view"]["equal"]) for one in there["near"]] == [("short", True)]
    absent = found(arguments(filled, "短句"), where)
    assert (absent["near"], absent["items"][0]["decided"]["decision"]) == ([], "kept")


def test_a_limit_shows_the_nearest_and_says_how_many_there_are(filled: Db, tmp_path: Path) -> None:
    filled.source.insert_many(
        {"_id": f"variant {i}", "text": f"{LONG}其中第{i}条结论由{i * 7}位学者在论文里提出。"}
        for i in range(40)
    )
    run_here(filled, index__folder=str(tmp_path), target="more")
    command = arguments(filled, f"{LONG}其中第3条结论由21位学者在论文里提出。", target="more")
    where = environment(filled, tmp_path)
    every = found([*command, "--limit", "999"], where)["near"]
    assert len(every) > 2
    assert f"{len(every)} of " in (output := invoke(*command, "--limit", "2", **where).stdout)
    assert "kept documents, 2 shown." in output


def test_nothing_in_a_text_moves_the_cursor(database: Db, tmp_path: Path) -> None:
    text = f"第一行\n\n第二\x1b[31m行{LONG}"
    database.source.insert_one({"_id": 1, "text": text})
    run_here(database, index__folder=str(tmp_path))
    output = invoke(*arguments(database, text), **environment(database, tmp_path)).stdout
    assert "第二\\x1b[31m行" in output
    assert "\x1b" not in output


@pytest.mark.parametrize("form", ["whole", "text", "classic"])
def test_texts_are_shown_whatever_their_place(database: Db, tmp_path: Path, form: str) -> None:
    database.source.insert_one({"_id": 1, "a": {"b": LONG}})
    flags = {"source__field": "a.b", "output__document": form}
    run_here(database, index__folder=str(tmp_path), **flags)
    where = environment(database, tmp_path, DEDUP_OUTPUT__DOCUMENT=form)
    told = found(arguments(database, LONG, "--field", "a.b"), where)
    assert [(one["id"], one["text"]) for one in told["near"]] == [(1, LONG)]


def test_neither_collections_nor_snapshots_are_written(filled: Db, tmp_path: Path) -> None:
    before, files = stored(filled), {f: f.read_bytes() for f in tmp_path.iterdir()}
    assert len(files) == 1
    for folder in (tmp_path, tmp_path / "none"):
        for words in (arguments(filled, LONG), [*arguments(filled, LONG), "long"]):
            invoke(*words, **environment(filled, folder))
    assert stored(filled) == before
    assert {f: f.read_bytes() for f in tmp_path.iterdir()} == files


def test_a_text_may_come_from_a_file_or_standard_input(filled: Db, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(LONG, encoding="utf-8")
    target = ["inspect", "--db", filled.name, "--target", "target"]
    for more in (["-"], ["--text", "-"], ["--file", "-"], ["--file", str(file)]):
        output = invoke(*target, *more, stdin=LONG, **environment(filled, tmp_path)).stdout
        assert re.search(r'^of +"long"$', output, re.M), more
    output = invoke("inspect", "-", "--file", str(file), stdin=f"<p>{LONG}</p>").stdout
    assert "\nduplicates (exact)." in output


@pytest.mark.parametrize(
    ("text", "decision", "detail"),
    [
        ("<p> &nbsp; </p>", "skipped: empty", "text: nothing is left of it after cleaning"),
        ("字" * 1_000_001, "quarantined: too_large", "text of 1,000,001 characters, limit 1,000,0"),
    ],
)
def test_what_a_run_does_not_compare_is_decided_as_by_a_run(
    filled: Db, tmp_path: Path, text: str, decision: str, detail: str
) -> None:
    output = invoke(*arguments(filled, text), **environment(filled, tmp_path)).stdout
    assert re.search(rf"^text, a run decides +{decision}$", output, re.M)
    assert detail in output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--target", "d.t", "1", "--limit", "0"), "--limit is 0, expected 1 to 10,000"),
        (("--target", "d.t"), "0 documents and texts are given, expected one or two"),
        (("a", "b", "--text", "c"), "3 documents and texts are given"),
        (("-", "--file", "-"), "- is given twice"),
        (("--file", "nosuch.txt"), "nosuch.txt cannot be read"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_connecting(
    words: tuple[str, ...], expected: str
) -> None:
    error = refusal("inspect", *words, DEDUP_URI="mongodb://127.0.0.1:9")
    assert error.code == 2
    assert expected in str(error)


def test_standard_input_that_is_not_a_text_is_refused() -> None:
    error = refusal("inspect", "-", stdin="正文" * (3 << 20))
    assert error.code == 2
    assert "more than 16 MiB" in str(error)
    error = refusal("inspect", "-", stdin="正文".encode("gb18030"))
    assert error.code == 2
    assert "standard input is not UTF-8" in str(error)


def test_another_number_makes_another_question_and_the_guard_says_so() -> None:
    output = invoke("inspect", QUESTION, OTHER).stdout
    assert kinds(output) == [("replaced", "stem")]
    assert re.search(r"^guard number +Another number", output, re.M)
    assert re.search(r"^for +\w", output, re.M)
    assert re.search(r"^against +\w", output, re.M)
    assert "\nnot duplicates: number." in output


def test_where_similarity_decides_the_differences_are_named_all_the_same() -> None:
    texts = LONG + QUESTION, LONG + OTHER
    output = invoke("inspect", *texts, DEDUP_DECISION__JUDGE="similarity").stdout
    assert kinds(output) == [("replaced", "stem")]
    assert re.search(r"^guard number +Another number", output, re.M)
    assert "(the judge is off)" in output
    assert ", least 0.8" in output
    assert "\nduplicates (near)." in output
    assert "(the judge is off)" in invoke("inspect", *texts, "--config", "classic").stdout


@pytest.mark.parametrize(
    ("texts", "skipped"),
    [(("", "<p></p>"), ["text 1", "text 2"]), ((" ", "x"), ["text 1"]), (("正文", ""), ["text 2"])],
)
def test_what_a_run_skips_is_not_compared(texts: tuple[str, str], skipped: list[str]) -> None:
    output = invoke("inspect", *texts).stdout
    assert re.findall(r"^(.*): nothing is left of it after cleaning$", output, re.M) == skipped
    assert "duplicates" not in output


def test_a_long_text_is_cut_off_and_json_has_all_of_it_and_what_it_was_searched_by() -> None:
    text = f"<p>{QUESTION}</p>" + LONG * 12
    output = invoke("inspect", text).stdout
    assert "characters more" in output
    assert re.search(r"^keywords +.*光合作用", output, re.M)
    (item,) = found(["inspect", text], {})["items"]
    assert item["text"].replace("\n", "") == QUESTION + LONG * 12
    assert re.search(rf"^fingerprint +{item['fingerprint']}$", output, re.M)
    assert item["why"]["route"] == "words"
    assert item["why"]["tokens"][:3] == ["某校", "共有", "学生"]
    assert "光合作用" in dict(item["why"]["features"])
