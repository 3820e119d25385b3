"""`dedup inspect` finds and decides texts as a run would; without a target it compares them."""

import json
import re

import pytest

from dedup_job.demo import make_corpus
from tests.deciding import PLAIN
from tests.proving import command, stored
from tests.running import invoke, refusal, run_here

LONG = (
    "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
    "叶绿体是进行光合作用的细胞器。"
)
SHORT = "短文"
QUESTION = "某校共有学生120人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"


@pytest.fixture
def filled(database, tmp_path):
    """Return a database with a target made from labelled documents, its snapshot in tmp_path."""
    database.source.insert_many(make_corpus(600, seed=3))
    database.source.insert_many([{"_id": "long", "text": LONG}, {"_id": "short", "text": SHORT}])
    run_here(database, index__folder=str(tmp_path))
    return database


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DEDUP_INDEX__FOLDER", str(tmp_path))


def found(database, *words, **where):
    return json.loads(command(database, "inspect", *words, "--json", **where))


@pytest.mark.parametrize("flags", [{}, PLAIN])
def test_whatever_a_run_drops_is_found_with_the_settings_of_that_run(filled, tmp_path, flags):
    """Not those of the environment: the target's own, as its last run had them."""
    run_here(filled, target="own", index__folder=str(tmp_path), **flags)
    where = {
        "DEDUP_INDEX__CANDIDATE_GENERATORS": '["simhash"]',
        "DEDUP_DECISION__JUDGE": "similarity",
    }
    for row in filled["own.ledger"].find({"decision": "duplicate"}).limit(9):
        text = filled.source.find_one({"_id": row["_id"]})["text"]
        values = found(filled, "--text", text, "--target", "own", **where)
        (item,) = values["items"]
        rare = {"probability": None, "differences": [], "richer": []}
        for name in ("decision", "of", "reason", "distance", "similarity", "found_by", *rare):
            assert item["decided"][name] == row.get(name, rare.get(name))
        assert values["near"][0]["id"] == row["of"]
        assert values["near"][0]["view"]["refused_by"] is None
        assert values["settings_of"] == 1


def test_a_limit_shows_the_nearest_and_says_how_many_there_are(filled, tmp_path):
    filled.source.insert_many(
        {"_id": f"variant {i}", "text": f"{LONG}其中第{i}条结论由{i * 7}位学者在论文里提出。"}
        for i in range(40)
    )
    run_here(filled, index__folder=str(tmp_path), target="more")
    words = ("--text", f"{LONG}其中第3条结论由21位学者在论文里提出。", "--target", "more")
    every = found(filled, *words, "--limit", "999")["near"]
    assert len(every) > 2
    output = command(filled, "inspect", *words, "--limit", "2")
    assert f"{len(every)} of " in output
    assert "kept documents, 2 shown." in output


@pytest.mark.parametrize("form", ["whole", "text", "classic"])
def test_texts_are_shown_whatever_their_place(database, tmp_path, form):
    database.source.insert_one({"_id": 1, "a": {"b": LONG}})
    flags = {"source__field": "a.b", "output__document": form}
    run_here(database, index__folder=str(tmp_path), **flags)
    where = {"DEDUP_OUTPUT__DOCUMENT": form}
    values = found(database, "--text", LONG, "--field", "a.b", **where)
    assert [(one["id"], one["text"]) for one in values["near"]] == [(1, LONG)]


def test_neither_collections_nor_snapshots_are_written(filled, tmp_path):
    before, files = stored(filled), {f: f.read_bytes() for f in tmp_path.iterdir()}
    assert len(files) == 1
    for folder in (tmp_path, tmp_path / "none"):
        for more in ((), ("long",)):
            command(filled, "inspect", "--text", LONG, *more, DEDUP_INDEX__FOLDER=str(folder))
    assert stored(filled) == before
    assert {f: f.read_bytes() for f in tmp_path.iterdir()} == files


def test_a_text_may_come_from_a_file_or_standard_input(filled, tmp_path):
    file = tmp_path / "text.txt"
    file.write_text(LONG, encoding="utf-8")
    for more in (["-"], ["--text", "-"], ["--file", "-"], ["--file", str(file)]):
        output = command(filled, "inspect", *more, stdin=LONG)
        assert re.search(r'^of +"long"$', output, re.M), more
    output = invoke("inspect", "-", "--file", str(file), stdin=f"<p>{LONG}</p>").stdout
    assert "\nduplicates (exact)." in output


@pytest.mark.parametrize(
    ("stdin", "why"),
    [
        ("正文" * (3 << 20), "more than 16 MiB"),
        ("正文".encode("gb18030"), "standard input is not UTF-8"),
    ],
)
def test_standard_input_that_is_not_a_text_is_refused(stdin, why):
    assert why in str(refusal("inspect", "-", stdin=stdin))


def test_a_long_text_is_cut_off_and_json_has_all_of_it_and_what_it_was_searched_by():
    text = f"<p>{QUESTION}</p>" + LONG * 12
    output = invoke("inspect", text).stdout
    assert "characters more" in output
    assert re.search(r"^keywords +.*光合作用", output, re.M)
    (item,) = json.loads(invoke("inspect", text, "--json").stdout)["items"]
    assert item["text"].replace("\n", "") == QUESTION + LONG * 12
    assert re.search(rf"^fingerprint +{item['fingerprint']}$", output, re.M)
    assert item["why"]["route"] == "words"
    assert item["why"]["tokens"][:3] == ["某校", "共有", "学生"]
    assert "光合作用" in dict(item["why"]["features"])
