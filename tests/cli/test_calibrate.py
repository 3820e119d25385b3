"""`dedup calibrate` shows a collection's near pairs and proposes settings; nothing is written."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymongo.database import Database

from dedup_job.cli.proposal import proposal
from dedup_job.commands.labels import import_labels
from dedup_job.commands.sources import Compared, compare_source
from dedup_job.decision.near_pairs import Share
from dedup_job.demo import make_corpus
from dedup_job.errors import UsageError
from dedup_job.report.progress import QUIET
from dedup_job.settings import Settings, load
from tests.running import invoke, refusal, uri_of

Db = Database[dict[str, Any]]


@pytest.fixture
def filled(database: Db) -> Db:
    """Return a database with labelled documents."""
    database.source.insert_many(make_corpus(700, seed=3))
    return database


def calibrated(database: Db, *more: str, **environment: str) -> str:
    """Return what is printed."""
    command = ["calibrate", "--source", "source", "--db", database.name, *more]
    return invoke(*command, **{"DEDUP_URI": uri_of(database), **environment}).stdout


def refused(database: Db, *more: str) -> str:
    """Return why nothing is calibrated."""
    command = ["calibrate", "--source", "source", "--db", database.name, *more]
    error = refusal(*command, DEDUP_URI=uri_of(database))
    assert isinstance(error, UsageError)
    return str(error)


def rows(output: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose heading begins with a name."""
    lines = output.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{first}  ")) + 2
    table = lines[start : lines.index("", start)]
    return [re.split(r" {2,}", line.strip()) for line in table]


def proposed(output: str) -> dict[str, Any]:
    """Return the settings that are proposed, as they would be pasted."""
    return tomllib.loads(output[output.index("\n[index]") :])


def sampled(database: Db) -> tuple[Compared, Settings]:
    """Return the sample of a database and its settings."""
    settings = load({"connection.uri": uri_of(database)}).settings
    return compare_source(settings, f"{database.name}.source", 1000, QUIET), settings


def test_both_tables_count_the_same_pairs(filled: Db) -> None:
    output = calibrated(filled, "--examples", "0")
    by_distance, by_similarity = rows(output, "distance"), rows(output, "similarity")
    assert [row[0] for row in by_distance] == [*map(str, range(8)), "more, by minhash"]
    assert len(by_similarity) == 7
    pairs = sum(int(row[1]) for row in by_distance)
    assert pairs == sum(int(row[1]) for row in by_similarity) > 50
    assert f"{pairs:,} pairs are within 7 bits" in output


def test_what_is_proposed_can_be_pasted_into_a_configuration(filled: Db, tmp_path: Path) -> None:
    output = calibrated(filled)
    file = tmp_path / "pasted.toml"
    file.write_text(output[output.index("\n[index]") :])
    settings = load(file=file).settings
    assert settings.index.distance == proposed(output)["index"]["distance"]
    assert proposed(output)["decision"]["compare"] == "jaccard"
    assert proposed(output)["decision"]["similarity"] == settings.decision.similarity


def test_examples_show_ids_and_what_differs(database: Db) -> None:
    text = "某校共有学生{}人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"
    database.source.insert_many([{"_id": i, "text": text.format(100 + i)} for i in range(2)])
    output = calibrated(database)
    assert "_id 0 and 1" in output
    assert "共有学生[-100-]{+101+}人" in output
    assert "_id" not in calibrated(database, "--examples", "0")


def test_equal_texts_are_counted_apart(database: Db) -> None:
    database.source.insert_many([{"_id": i, "text": "同一段文字" * 9} for i in range(5)])
    output = calibrated(database)
    assert "4 texts are equal to an earlier one" in output
    assert "No two of them are near: there is nothing to calibrate" in output


def test_the_limit_and_the_query_choose_what_is_read(filled: Db) -> None:
    assert calibrated(filled, "--limit", "50").startswith("50 documents read")
    query = '{"_id": {"$lt": 11}}'
    assert calibrated(filled, "--query", query).startswith("10 documents read")


def test_without_a_comparison_the_distance_decides(filled: Db) -> None:
    output = calibrated(filled, DEDUP_DECISION__COMPARE="none")
    assert "so the distance alone decides" in output
    assert proposed(output)["decision"] == {"compare": "none"}


def test_without_minhash_it_is_proposed(filled: Db) -> None:
    output = calibrated(filled, DEDUP_INDEX__CHANNELS='["simhash"]')
    assert "but with minhash in index.channels" in output
    assert proposed(output)["index"]["channels"] == ["simhash", "minhash"]


def labelled(database: Db, answers: dict[float, str]) -> None:
    """Store the labels of a person on pairs of some similarities, as `dedup review` does."""
    lines = [
        json.dumps(
            {
                "label": label,
                "decision": "duplicate",
                "id_a": 1,
                "id_b": n,
                "similarity": s,
                "name": "li",
            }
        )
        for n, (s, label) in enumerate(answers.items(), 2)
    ]
    settings = load({"connection.uri": uri_of(database)}).settings
    import_labels(settings, f"{database.name}.target", lines, given=False)


def test_answers_of_a_review_are_counted_by_band(filled: Db) -> None:
    command = ["run", "--source", "source", "--target", "target", "--db", filled.name, "--yes"]
    invoke(*command, DEDUP_URI=uri_of(filled))
    assert "nobody has labelled pairs of target yet: `dedup review --target target`" in refused(
        filled, "--target", "target"
    )
    labelled(filled, {0.91: "S", 0.92: "D", 0.99: "U", 1.0: "S", 0.1: "D"})
    output = calibrated(filled, "--target", "target", "--examples", "0")
    answers = [row[:3] for row in rows(output, "similarity from")]
    assert answers == [["0", "1", "0"], ["0.9", "2", "1"], ["1", "1", "1"]]
    assert "The answers are too few" in " ".join(output.split())


def test_many_answers_decide_on_the_similarity(filled: Db) -> None:
    command = ["run", "--source", "source", "--target", "target", "--db", filled.name, "--yes"]
    invoke(*command, DEDUP_URI=uri_of(filled))
    same = {0.8 + n / 1000: "S" for n in range(1, 199)}
    labelled(filled, same | {0.7 + n / 1000: "D" for n in range(1, 50)})
    output = calibrated(filled, "--target", "target", "--examples", "0")
    assert proposed(output)["decision"]["similarity"] == 0.8
    assert "by the answers" in " ".join(output.split())


def test_answers_weigh_more_than_the_judge(filled: Db) -> None:
    found, settings = sampled(filled)
    ten = {0.7: Share(3, 10), 0.8: Share(6, 10), 0.9: Share(10, 10), 1.0: Share(10, 10)}
    text = proposal(found, settings, ten)
    assert proposed(f"\n{text}")["decision"]["similarity"] == 0.9
    assert "by the answers" in text
    assert "The answers are too few" in proposal(found, settings, {0.9: Share(1, 2)})


def test_an_empty_source_is_refused(database: Db) -> None:
    database.create_collection("source")
    assert "holds no documents" in refused(database)
    database.source.insert_one({"_id": 1, "text": "文"})
    query = ("--query", '{"_id": 2}')
    assert "holds no documents that match --query" in refused(database, *query)


def test_a_source_without_text_is_refused(database: Db) -> None:
    database.source.insert_many([{"_id": 1, "text": 5}, {"_id": 2, "text": "  "}])
    assert "none of the first 2 documents" in refused(database)
    assert "none of the first 2 documents has the field 'body'" in refused(
        database, "--field", "body"
    )


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--limit", "1", "--limit is 1, expected 2 to 100,000"),
        ("--limit", "100001", "--limit is 100,001, expected 2 to 100,000"),
        ("--examples", "-1", "--examples is -1, expected 0 to 50"),
    ],
)
def test_limits_out_of_range_are_refused_before_connecting(
    option: str, value: str, expected: str
) -> None:
    error = refusal("calibrate", "--source", "d.s", option, value)
    assert expected in str(error)


def test_the_same_sample_gives_the_same_answer_and_nothing_is_written(filled: Db) -> None:
    before = {name: list(filled[name].find()) for name in filled.list_collection_names()}
    first, second = sampled(filled)[0].pairs, sampled(filled)[0].pairs
    assert np.array_equal(first.rows, second.rows)
    assert np.array_equal(first.similarities, second.similarities)
    assert calibrated(filled) == calibrated(filled)
    assert {name: list(filled[name].find()) for name in filled.list_collection_names()} == before
