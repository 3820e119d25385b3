"""Documents of other collections count as kept already: `dedup run --against`."""

from functools import partial

import pytest

from dedup_job import index as kept
from dedup_job.commands import look, review
from dedup_job.commands.run import Request, RunCallbacks, SurveyCollector, run_job
from dedup_job.demo import make_corpus
from dedup_job.job import pipeline
from dedup_job.messages import UsageError
from dedup_job.mongo.source import Source
from dedup_job.runs.status import Check
from dedup_job.runs.survey import Label
from tests.deciding import PLAIN
from tests.mongo.test_follow import eventually, following
from tests.mongo.test_keep import KEEP, versions
from tests.mongo.test_refreshing import OTHER, REFRESH
from tests.proving import command, good, wrong
from tests.running import (
    assert_each_source_id_is_in_one_place,
    drop_target,
    interpose,
    outcome,
    run_here,
    settings_of,
)

LONG = (
    "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
    "叶绿体是进行光合作用的细胞器，它的类囊体膜上有叶绿素和其他色素。"
)
UNLIKE = [f"第{i}号文件只有这一句话，编号是{i * 7919}。" for i in range(40)]
NEARLY = LONG.replace("过程。", "过程！")


def run_against(database, *references, **flags):
    names = [f"{database.name}.{name}" for name in references or ("other",)]
    return run_here(database, source__against=names, **flags)


def insert(database, **texts):
    """Insert documents with these texts, numbered from 1, into collections by name."""
    for name, each in texts.items():
        database[name].insert_many([{"_id": i, "text": text} for i, text in enumerate(each, 1)])


def decided(database):
    """Return for each source document None if kept, else its original and the collection."""
    kept, ledger = outcome(database)
    rows = {row["_id"]: (row["of"], row.get("against", "").partition(".")[2]) for row in ledger}
    return rows | {row["_id"]: None for row in kept}


@pytest.mark.standalone
def test_decisions_are_those_of_one_run_over_the_other_collection_and_the_source(any_database):
    corpus = make_corpus(800, seed=5)
    half = len(corpus) // 2
    any_database.old.insert_many(corpus[:half])
    run_here(any_database, source="old", target="other")
    any_database.source.insert_many(corpus[half:])
    run = run_against(any_database, run__batch_documents=97)
    any_database.both.insert_many([*any_database.other.find(), *corpus[half:]])
    run_here(any_database, source="both", target="one")
    own = {row["_id"] for row in corpus[half:]}
    kept, ledger = outcome(any_database)
    of_one, dropped_in_one = outcome(any_database, "one")
    for row in (*kept, *of_one):
        row["dedup"].get("refused", {}).pop("against", None)
    assert kept == [row for row in of_one if row["_id"] in own]
    references = {row["_id"]: row.pop("against", None) for row in ledger}
    assert not any("group" in row for row in ledger if references[row["_id"]])
    for row in dropped_in_one:
        if references.get(row["_id"]):  # the other collection has its own groups
            row.pop("group")
    assert ledger == [row for row in dropped_in_one if row["_id"] in own]
    named = f"{any_database.name}.other"
    first = corpus[half]["_id"]
    expected = {row["_id"]: named if row["of"] and row["of"] < first else None for row in ledger}
    assert references == expected
    assert run.counts.against == {named: sum(map(bool, references.values()))}
    assert run.counts.against[named] > 20
    assert_each_source_id_is_in_one_place(any_database)


def test_the_same_id_elsewhere_decides_nothing_and_the_other_collection_is_only_read(database):
    insert(database, other=["甲文", LONG, "丙文"], source=["乙文", "甲文", "丙文", NEARLY])
    before = [*database.other.find()]
    run_against(database)
    assert decided(database) == {1: None, 2: (1, "other"), 3: (3, "other"), 4: (2, "other")}
    assert [*database.other.find()] == before
    names = {f"target{suffix}" for suffix in ("", ".ledger", ".runs", ".state")}
    assert set(database.list_collection_names()) == {"other", "source"} | names


def test_ids_of_all_types_come_back_from_the_ledger(database):
    ids = ["a", 2**40, 1.5, {"a": 1, "b": "x"}, b"\x01\x02"]
    texts = UNLIKE[: len(ids)]
    database.other.insert_many({"_id": i, "text": t} for i, t in zip(ids, texts, strict=True))
    insert(database, source=texts)
    run_against(database)
    assert [row["of"] for row in outcome(database)[1]] == ids


def test_documents_without_a_text_are_left_out_and_the_query_is_that_of_the_source(database):
    insert(database, other=[None, 5, " ", "甲文"])
    database.source.insert_many([{"_id": 7, "text": "甲文", "lang": "zh"}, {"_id": 8, "text": ""}])
    run_against(database, source__query='{"lang": "zh"}')
    assert decided(database) == {7: (4, "other")}


def test_of_several_collections_the_first_named_comes_first(database):
    insert(database, one=["甲文", "丙文"], two=["乙文", "甲文"], source=["甲文", "乙文", "丙文"])
    run = run_against(database, "two", "one", "two")
    assert decided(database) == {1: (2, "two"), 2: (1, "two"), 3: (2, "one")}
    assert run.counts.against == {f"{database.name}.two": 2, f"{database.name}.one": 1}


@pytest.mark.standalone
@pytest.mark.parametrize("least", [200_000, 1], ids=["one file", "files"])
def test_the_next_run_sees_new_changed_and_deleted_documents_there(
    any_database, tmp_path, monkeypatch, least
):
    monkeypatch.setattr(kept, "_LEAST", least)
    folder = {"index__folder": str(tmp_path)}
    insert(any_database, other=["甲文", "乙文", "丁文", "丁文", LONG, *UNLIKE], source=["子文"])
    run_against(any_database, **folder)
    other = any_database.other
    other.delete_one({"_id": 1})
    other.delete_one({"_id": 3})  # the fourth has the same text
    other.update_one({"_id": 2}, {"$set": {"text": "丑文"}})
    other.update_one({"_id": 5}, {"$set": {"note": "没有变"}})
    other.insert_one({"_id": "new", "text": "寅文"})
    texts = ["甲文", "乙文", "丑文", "寅文", "丁文", NEARLY]
    for i, text in enumerate(texts, 100):
        any_database.source.insert_one({"_id": i, "text": text})
    run_against(any_database, **folder)
    expected = {1: None, 100: None, 101: None}
    expected |= {102: (2, "other"), 103: ("new", "other"), 104: (4, "other"), 105: (5, "other")}
    assert decided(any_database) == expected
    other.update_one({"_id": 2}, {"$set": {"text": "卯文"}})  # once more
    any_database.source.insert_many([{"_id": 200, "text": "丑文二"}, {"_id": 201, "text": "卯文"}])
    run_against(any_database, **folder)
    expected |= {200: None, 201: (2, "other")}
    assert decided(any_database) == expected
    other.delete_one({"_id": "new"})
    for id_, text, of in ((300, "寅文", None), (301, "卯文", (2, "other"))):  # nothing in between
        any_database.source.insert_one({"_id": id_, "text": text})
        run_against(any_database, **folder)
        expected[id_] = of
        assert decided(any_database) == expected


@pytest.fixture
def read_whole(monkeypatch):
    names = []
    pages = Source.pages

    def counting(source, limit=None):
        names.append(source.name.partition(".")[2])
        return pages(source, limit)

    monkeypatch.setattr(Source, "pages", counting)
    return names


def test_on_a_replica_set_only_changed_documents_are_read_again(database, tmp_path, read_whole):
    insert(database, other=["甲文", "乙文"], source=["子文"])
    for _ in range(3):
        run_against(database, index__folder=str(tmp_path))
        database.other.insert_one({"text": f"寅文{len(read_whole)}"})
    assert read_whole.count("other") == 1


def cut_files(folder):
    for file in folder.glob("*.*.index"):
        file.write_bytes(file.read_bytes()[:-5000])


@pytest.mark.parametrize(
    ("change", "more", "of"),
    [
        (lambda d, _: (d.other.drop(), insert(d, other=["甲文", "丙文"])), {}, None),
        (lambda d, _: drop_target(d), PLAIN, (2, "other")),
        (lambda d, _: d.other.delete_many({"_id": 2}), {}, None),
        (lambda _, folder: cut_files(folder), {}, (2, "other")),
        (lambda *_: None, {"source__full_scan_every": 1}, (2, "other")),
    ],
    ids=["drop", "settings", "many", "file", "proof"],
)
def test_without_proof_of_its_index_the_collection_is_read_again(
    database, tmp_path, read_whole, change, more, of
):
    insert(database, other=["甲文", "乙文"], source=["子文"])
    run_against(database, index__folder=str(tmp_path))
    change(database, tmp_path)
    database.source.insert_many([{"_id": 9, "text": "甲文"}, {"_id": 10, "text": "乙文"}])
    run_against(database, index__folder=str(tmp_path), **more)
    assert read_whole.count("other") == 2
    assert decided(database) == {1: None, 9: (1, "other"), 10: of}


def test_an_original_without_its_text_is_named_as_missing(database, monkeypatch):
    insert(database, other=["甲文", LONG], source=["甲文", NEARLY])
    delete = partial(database.other.delete_many, {})
    interpose(monkeypatch, pipeline, "load_index", delete)
    run = run_against(database)
    kept, _ = outcome(database)
    assert [row["dedup"]["void"] for row in kept] == [[1], [2]]
    assert run.counts.missing_originals == 2


def test_names_may_change_between_runs_and_apply_to_new_documents(database, tmp_path):
    folder = {"index__folder": str(tmp_path)}
    insert(database, one=["甲文"], two=["乙文"], source=["甲文"])
    run_here(database, **folder)
    database.source.insert_many([{"_id": 2, "text": "乙文"}, {"_id": 3, "text": "丙文"}])
    run_against(database, "two", **folder)
    database.source.insert_many([{"_id": 4, "text": "乙文"}, {"_id": 5, "text": "丙文"}])
    run_against(database, "one", **folder)
    expected = {1: None, 2: (1, "two"), 3: None, 4: None, 5: (3, "")}
    assert decided(database) == expected


def test_a_dry_run_decides_the_same_and_its_page_names_the_collection(database):
    insert(database, other=["甲文", LONG], source=["甲文", NEARLY, "乙文"])
    collector = SurveyCollector()
    name = f"{database.name}.other"
    settings = settings_of(database, source__against=[name])
    names = f"{database.name}.source", f"{database.name}.target"
    run = run_job(settings, Request(*names, dry_run=True), RunCallbacks(collector=collector))
    assert (run.counts.kept, run.counts.against) == (1, {name: 2})
    assert collector.survey is not None
    near = collector.survey.near.pairs
    assert {(one.id, one.of, one.against, one.other) for one in near} == {("2", "2", name, LONG)}
    assert set(database.list_collection_names()) == {"other", "source"}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("{}.source", "is the source"),
        ("{}.target.ledger", "belongs to the target"),
        ("{}.nowhere", "does not exist. Nearest in"),
        ("{}.view", "is a view, which has no _id index"),
        ("a..b", "not a collection"),
        ("other", "names no database"),
    ],
)
def test_a_collection_that_cannot_count_is_refused(database, name, what):
    insert(database, source=["甲文"], other=["乙文"])
    database.create_collection("view", viewOn="other", pipeline=[])
    run_here(database)
    with pytest.raises(UsageError, match=what):
        run_here(database, source__against=name.format(database.name))


@pytest.fixture
def ran(database):
    """Return a database with a run against another collection: two duplicates, one kept apart."""
    texts = ["甲文", NEARLY, LONG.replace("绿色", "黄色"), "丁"]
    insert(database, other=["甲文", LONG], source=texts)
    output = command(database, "run", "--source", "source", "--yes", "--against", "other, other")
    assert f"Duplicates of others: {database.name}.other 2." in output
    return database


def test_lists_inspect_and_pages_show_the_collection_beside_the_original(ran):
    name = f"{ran.name}.other"
    assert ran["target.runs"].find_one()["counts"]["against"] == {name: 2}
    listed = command(ran, "list", "--what", "dropped", "--texts")
    assert listed.count(f"against  {name}") == 2
    lines = command(ran, "list", "--what", "near", "--format", "jsonl")
    assert f'"of": 2, "against": "{name}"' in lines
    assert f"against   {name}" in command(ran, "inspect", "2")
    found = look.inspect(settings_of(ran), ["2"], target=f"{ran.name}.target")
    assert found.original is not None
    assert found.original.text == LONG
    page = look.survey_target(settings_of(ran), f"{ran.name}.target")
    assert {(p.of, p.against, p.other) for p in page.near.pairs} == {("2", name, LONG)}
    assert {pair.against for pair in page.refused.pairs} == {name}


def test_a_group_of_the_target_has_no_duplicates_of_another_collection(database):
    insert(database, other=["甲文", "乙文"], source=["丁文", "甲文", "丁文"])
    run_against(database)
    assert command(database, "list", "--what", "groups").startswith("1 duplicate  1  ")
    seen = look.inspect(settings_of(database), ["1"], target=f"{database.name}.target")
    assert seen.dropped == 1


def test_labels_of_pairs_with_another_collection_come_back(ran):
    settings, target = settings_of(ran), f"{ran.name}.target"
    with review.open_review(settings, target, "me", (100, 0)) as opened:
        keys = [key for key in opened._pairs if opened.pair(key).document.against]
        for key in keys:
            opened.answer(key, Label.SAME)
        opened.refresh()
        assert [opened.pair(key).label for key in keys] == [Label.SAME, Label.SAME]
    lines = [*review.export_labels(settings, target)]
    ran["target.labels"].drop()
    assert review.import_labels(settings, target, lines) == 2
    with review.open_review(settings, target, "me", (100, 0)) as opened:
        assert [opened.pair(key).label for key in keys] == [Label.SAME, Label.SAME]


def test_check_notes_documents_gone_or_changed_elsewhere_without_an_error(ran, tmp_path):
    assert good(ran, tmp_path, "--all") == {}
    ran.other.delete_one({"_id": 1})
    ran.other.update_one({"_id": 2}, {"$set": {"text": "完全不同的一段文字，与原来的没有关系。"}})
    name = f"{ran.name}.other"
    assert good(ran, tmp_path, "--all") == {Check.ELSEWHERE: [f"1 of 1 of {name}", "2"]}


@pytest.mark.parametrize("value", [5, "no name", "a.b\0c", None])
def test_check_finds_a_name_that_is_no_collection(ran, tmp_path, value):
    ran["target.ledger"].update_one({"_id": 2}, {"$set": {"against": value}})
    assert wrong(ran, tmp_path, "--all")


def test_a_run_against_another_collection_can_be_undone_and_its_documents_restored(ran, tmp_path):
    command(ran, "restore", "1")
    assert 1 in [row["_id"] for row in outcome(ran)[0]]
    assert good(ran, tmp_path, "--all") == {}
    command(ran, "undo", "2", "--yes")
    command(ran, "undo", "1", "--yes")
    assert outcome(ran) == ([], [])
    assert ran.other.count_documents({}) == 2


@pytest.mark.standalone
@pytest.mark.parametrize("batch", [1, 5000])
def test_nothing_takes_the_place_of_a_document_of_another_collection(any_database, tmp_path, batch):
    any_database.other.insert_one({"_id": 1, "text": LONG, "updated": 1})
    own = "第二份文件也只有这一句话，说的是太阳系八大行星的名称、次序和大小，与第一份毫不相干。"
    nights = [[LONG, NEARLY, own, own], [LONG, own], [own, NEARLY]]
    rows = [(night, text) for night, texts in enumerate(nights) for text in texts]
    for night in range(3):
        any_database.source.insert_many(
            {"_id": i, "text": text, "updated": i}
            for i, (of, text) in enumerate(rows, 1)
            if of == night
        )
        run_against(any_database, run__batch_documents=batch, **KEEP)
        assert good(any_database, tmp_path, "--all") == {}
    elsewhere = dict.fromkeys((1, 2, 5, 8), (1, "other"))
    assert decided(any_database) == {**elsewhere, 3: (4, ""), 4: (6, ""), 6: (7, ""), 7: None}
    ledger = {row["_id"]: row for row in any_database["target.ledger"].find()}
    assert {ledger[id_].get("kept_by") for id_ in elsewhere} == {None}
    assert {ledger[id_]["kept_by"] for id_ in (3, 4, 6)} == {"newest:updated"}


@pytest.mark.standalone
def test_a_refresh_leaves_duplicates_of_another_collection_alone(any_database, tmp_path):
    texts = versions_of(6)
    source = [texts[0], texts[0], texts[5], texts[5], texts[1]]
    insert(any_database, other=[texts[5]], source=source)
    run_against(any_database)
    assert decided(any_database)[3] == (1, "other")  # the target's 1 is another document
    any_database.source.update_one({"_id": 1}, {"$set": {"text": OTHER}})
    any_database.source.update_one({"_id": 4}, {"$set": {"text": texts[2]}})
    report = run_against(any_database, **REFRESH)
    assert report.refreshed == {"changed": 2, "deleted": 0}
    assert decided(any_database) == {**dict.fromkeys((1, 2, 4, 5)), 3: (1, "other")}
    assert [row["run"] for row in any_database["target.ledger"].find()] == [1]
    any_database.source.delete_many({"_id": {"$in": [3, 5]}})
    run_against(any_database, **REFRESH)
    assert [*decided(any_database)] == [1, 2, 4]
    assert good(any_database, tmp_path, "--all") == {}


def versions_of(count):
    """Return texts that are not alike."""
    return [*dict.fromkeys(row["text"] for row in versions(40))][:count]


def test_a_run_that_follows_reads_the_other_collection_when_it_begins(database, tmp_path):
    insert(database, other=["甲文", LONG], source=["丁文"])
    with following(database, source__against=[database.other.full_name], **REFRESH) as run:
        eventually(lambda: len(decided(database)) == 1, run)
        database.other.insert_one({"_id": 3, "text": "丙文"})
        database.source.insert_many([{"_id": 2, "text": "甲文"}, {"_id": 3, "text": "丙文"}])
        eventually(lambda: len(decided(database)) == 3, run)
        database.source.update_one({"_id": 2}, {"$set": {"text": "戊文"}})
        database.source.insert_one({"_id": 4, "text": NEARLY})
        eventually(lambda: len(decided(database)) == 4, run)
        run.end()
    assert decided(database)[3] is None
    assert decided(database)[4] == (2, "other")
    run_against(database, **REFRESH)
    assert decided(database) == {**dict.fromkeys((1, 2, 3)), 4: (2, "other")}
    assert good(database, tmp_path, "--all") == {}


@pytest.mark.parametrize("text", ["cleaned", "original"])
def test_the_text_fields_apply_to_the_other_collection(database, tmp_path, text):
    first, second, third = versions_of(3)
    other = [{"_id": 1, "title": f"<p>{first}</p>", "options": [second, f"<b>{third}</b>"]}]
    other += [{"_id": 2, "title": third}, {"_id": 3, "options": [LONG]}]
    database.other.insert_many(other)
    database.source.insert_many(
        [
            {"_id": 1, "title": first, "options": [second, third]},
            {"_id": 2, "title": f"{first}\n{second}", "options": third},
            {"_id": 3, "title": first},
            {"_id": 4, "title": NEARLY, "options": []},
            {"_id": 5, "title": first, "options": [second, f"{third[:-1]}！"]},
        ]
    )
    run = run_against(database, source__field="title,options", output__text=text)
    elsewhere = {1: (1, "other"), 2: (1, "other"), 4: (3, "other"), 5: (1, "other")}
    assert decided(database) == {3: None, **elsewhere}
    assert (run.counts.exact, run.counts.near) == (2, 2)
    assert good(database, tmp_path, "--all") == {}
