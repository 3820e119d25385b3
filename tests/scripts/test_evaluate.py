"""Engines are judged by the exhaustive pairs, and by pairs of versions."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from dedup_job.settings import load
from scripts.bench import evaluate as script
from scripts.bench import labelled
from scripts.bench.engines import Engine, datasketch, installed_peers, rensa
from scripts.bench.evaluate import (
    Version,
    admitted,
    evaluate,
    flags_of,
    join,
    lines_of_versions,
)
from scripts.bench.exhaustive import exhaustive_pairs

TEXT = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，请写出方程式。"
OTHER = "明清时期江南地区的纺织业有了新的发展，阅读材料并概括其表现，再说明对社会生活的影响。"
TEXTS = [TEXT, TEXT.replace("，", "， "), "全然不同的一句话", TEXT]


@pytest.fixture(scope="module")
def engine():
    return Engine(load().settings)


def write(file, records):
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)
    return str(file)


def test_the_engine_is_judged(engine):
    pairs = exhaustive_pairs(TEXTS)
    row = evaluate(TEXTS, pairs, pairs, engine.keeps)
    assert (row.documents, row.kept, row.innocents) == (4, 2, 0)
    assert row.due == (2, 2, 2)
    assert row.left == (0, 0, 0)


def test_an_engine_that_drops_everything_or_nothing_is_found_out():
    pairs = exhaustive_pairs(TEXTS)
    drops = evaluate(TEXTS, pairs, pairs, lambda texts: np.zeros(len(texts), dtype=np.bool_))
    keeps = evaluate(TEXTS, pairs, pairs, lambda texts: np.ones(len(texts), dtype=np.bool_))
    assert (drops.kept, drops.innocents, drops.left) == (0, 4, (0, 0, 0))
    assert (keeps.kept, keeps.innocents, keeps.left) == (4, 0, (2, 2, 2))


@pytest.mark.parametrize("peer", [rensa, datasketch])
def test_the_packages_are_judged_alike(peer):
    pytest.importorskip(peer.__name__)
    assert peer([*TEXTS, "\ud800", "", "甲"]).tolist()[:4] == [True, False, True, False]


def test_a_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("scripts.bench.engines.find_spec", lambda _: None)
    assert list(installed_peers()) == [("rensa", None), ("datasketch", None)]


def test_pairs_that_the_judge_keeps_apart_are_not_due():
    texts = [f"{TEXT}共有5个", f"{TEXT}共有8个", f"{TEXT}共有8个。"]
    pairs = exhaustive_pairs(texts)
    chosen = admitted(texts, pairs, load().settings)
    assert list(zip(chosen.later.tolist(), chosen.earlier.tolist(), strict=True)) == [(2, 1)]
    assert admitted(texts, pairs, load({"decision.judge": "similarity"}).settings) is pairs


def test_each_pair_of_versions_is_decided_by_itself(engine):
    texts = {"a": TEXT, "b": TEXT + "。", "c": OTHER}
    versions = [
        Version("a", "b", True, 0.97),
        Version("a", "c", False, 0.1),
        Version("c", "b", False, 0.1),
        Version("b", "a", True, 0.97),
    ]
    assert join(versions, texts, engine.keeps) == [True, False, False, True]


def test_versions_are_told_by_group_and_band():
    versions = [
        Version("a", "b", True, 1.0),
        Version("a", "b", True, 0.96),
        Version("a", "b", True, 0.5),
        Version("a", "b", False, 0.59),
        Version("a", "b", False, 0.6),
    ]
    rows = lines_of_versions("base", 4, versions, [True, False, True, True, False])
    assert [row.split()[1:] for row in rows] == [
        ["same", "group", "0.40-0.60", "1", "1", "1.0000"],
        ["same", "group", "0.95-0.98", "1", "0", "0.0000"],
        ["same", "group", "0.98-1.00", "1", "1", "1.0000"],
        ["other", "0.40-0.60", "1", "1", "1.0000"],
        ["other", "0.60-0.70", "1", "0", "0.0000"],
        ["positives", ">=", "0.95", "2", "1", "0.5000"],
        ["negatives", "<", "0.6", "1", "1", "1.0000"],
    ]


def test_a_setting_is_a_dotted_name_and_a_value():
    assert flags_of(["a.b=1", 'c.d=["x"]']) == {"a.b": "1", "c.d": ["x"]}
    with pytest.raises(Exception, match="expected section"):
        flags_of(["top_k"])


def test_the_script_prints_a_row_for_each_file_and_contender(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("scripts.bench.engines.find_spec", lambda _: None)
    named = {"a": TEXT, "b": TEXT + "。", "c": OTHER, "d": None}
    texts = write(tmp_path / "x.jsonl.gz", [{"_id": i, "text": t} for i, t in named.items()])
    ids = {"same_group": True, "sim": 0.99}
    pairs = write(
        tmp_path / "p.jsonl.gz", [{"a": "a", "b": "b", **ids}, {"a": "a", "b": "d", **ids}]
    )
    arguments = [texts, "--compare", "strict: decision.similarity=1", "--peers", "--judged"]
    monkeypatch.setattr(sys, "argv", ["evaluate.py", *arguments, "--pairs", pairs])
    assert script.main() == 0
    printed = capsys.readouterr().out
    for expected in (
        "rensa is not installed",
        "x                  base                 3       2        1",
        "x                  strict               3",
        "x                  plain recipe         3",
        "1 pairs have no text in the files",
    ):
        assert expected in printed


LABELLED = [
    {"n": 0, "a": TEXT, "b": f"3. {TEXT}", "label": "S", "kind": "numbering"},
    {"n": 1, "a": TEXT, "b": OTHER, "label": "D", "kind": "stem_word"},
    {"n": 2, "a": TEXT, "b": TEXT + "。", "label": "U", "kind": "stem_word"},
    {"n": 3, "a": "<b></b>", "b": TEXT, "label": "S", "source": "a bank"},
    {"n": 4, "a": TEXT, "b": TEXT + " ", "label": "D", "kind": "stem_word"},
]


def test_labelled_pairs_are_those_of_the_same_and_of_different_questions(tmp_path):
    file = Path(write(tmp_path / "x.jsonl.gz", LABELLED))
    assert [(pair.n, pair.of) for pair in labelled.read_labelled(file)] == [
        (0, "numbering"),
        (1, "stem_word"),
        (3, "a bank"),
        (4, "stem_word"),
    ]
    assert [pair.n for pair in labelled.read_labelled(file, 1)] == [1, 3]
    assert [pair.n for pair in labelled.read_labelled(file, 0)] == [0, 4]


def test_exported_labels_are_read_without_those_whose_text_is_gone(tmp_path):
    file = tmp_path / "labels.jsonl"
    gone = {**LABELLED[0], "n": 9, "b": None}
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in (*LABELLED, gone)]
    file.write_text("".join(lines), encoding="utf-8")
    assert [pair.n for pair in labelled.read_labelled(file)] == [0, 1, 3, 4]


def test_each_labelled_pair_is_decided_by_itself_and_scored_by_kind(engine, tmp_path):
    pairs = labelled.read_labelled(Path(write(tmp_path / "x.jsonl.gz", LABELLED)))
    found = labelled.joined(pairs, load().settings.cleaning, engine.keeps)
    assert found == [True, False, False, True]
    assert list(labelled.scores(pairs, found)) == [
        labelled.Score("all", (1, 2), (1, 2)),
        labelled.Score("a bank", (0, 0), (0, 1)),
        labelled.Score("numbering", (0, 0), (1, 1)),
        labelled.Score("stem_word", (1, 2), (0, 0)),
    ]
    assert [pair.n for pair in labelled.wrong(pairs, found)] == [3, 4]


def test_the_script_prints_a_column_for_the_settings_and_for_similarity(
    tmp_path, monkeypatch, capsys
):
    file = write(tmp_path / "mine.jsonl.gz", LABELLED)
    arguments = ["evaluate.py", "--labelled", file, "--half", "0", "--show", "5"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert script.main() == 0
    printed = capsys.readouterr().out
    head = next(line for line in printed.splitlines() if line.startswith("mine"))
    assert head.split() == ["mine", "base", "similarity"]
    every = next(line for line in printed.splitlines() if line.startswith("all"))
    assert every.split() == ["all", "1/1", "1/1", "1/1", "1/1"]
    assert "4 D stem_word" in printed
