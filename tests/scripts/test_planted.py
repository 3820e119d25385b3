"""Planted cases are decided one by one against the questions, and judged."""

from __future__ import annotations

import gzip
import json
import sys

import pytest

from dedup_job.documents import Candidates, Duplicate, Kept, Pair, Reason
from dedup_job.settings import load
from scripts.bench import planted
from scripts.bench.engines import Engine, key
from scripts.bench.planted import Case, Outcome, counts, decide_each, line, outcome, plant, stems_of
from scripts.bench.planted_changes import KINDS, Kind

RIVER = "黄河中下游的气候特点是什么？请从气温、降水和季节变化三个方面加以说明，并分析其成因。"
METAL = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，写出方程式。"
LOOM = "明清时期江南地区的纺织业有了新的发展，阅读材料并概括其表现，再说明对社会生活的影响。"
KIND = {kind.name: kind for kind in KINDS}


@pytest.fixture(scope="module")
def engine():
    return Engine(load().settings)


def duplicate_of(number):
    return Duplicate(Reason.NEAR, False, Pair(key(number), 0, 1.0, ("text",)))


def test_short_stems_are_questions_of_their_own():
    choices = "\nA. 甲 B. 乙 C. 丙"
    stem = "美国某快递公司最大的空运枢纽设在路易斯维尔，主要是为了（　）"
    texts = [f"3.（4分）{stem}{choices}", RIVER, f"太短（　）{choices}", "长" * 61 + choices]
    assert stems_of(texts) == [stem]


def test_cases_differ_from_the_questions_and_from_each_other():
    bases = [RIVER, METAL, RIVER.replace("，", ""), "短"]
    kind = Kind("commas dropped", lambda text, _rng, _pool: text.replace("，", ""))
    assert plant(kind, bases, 100, seed=1) == [Case(1, METAL.replace("，", ""))]


def test_several_cases_are_planted_in_a_question_if_there_are_few():
    cases = plant(KIND["mark added"], [RIVER, METAL], 10, seed=1)
    assert {case.base for case in cases} == {0, 1}
    assert 10 <= len(cases) < 16
    assert len(plant(KIND["mark added"], [RIVER, METAL], 2, seed=1)) == 2


def test_the_same_seed_plants_the_same_cases():
    first, again, other = (plant(KIND["mark added"], [RIVER, METAL], 10, seed=s) for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_texts_are_decided_as_if_each_came_alone(engine):
    decisions = decide_each(engine, [RIVER, METAL], [LOOM, LOOM + "。", LOOM, METAL + "。", RIVER])
    assert [type(decision) for decision in decisions] == [Kept, Kept, Kept, Duplicate, Duplicate]
    assert [decision.pair.of for decision in decisions[3:]] == [key(1), key(0)]


def test_what_became_of_a_case_is_told_in_full():
    bases, case = [RIVER, METAL], Case(1, "planted")
    assert outcome(bases, case, duplicate_of(0)) == Outcome(METAL, "planted", RIVER)
    assert outcome(bases, case, Kept(1, short=False)).refused_by == "not found"
    refused = Kept(1, False, Pair(b"0", 0, 0.9, ("form",), "number"), Candidates(1))
    assert outcome(bases, case, refused) == Outcome(METAL, "planted", None, "number")


def test_a_case_is_caught_by_its_question_or_by_one_like_it():
    kind = Kind("x", str)
    assert counts(kind, Outcome(RIVER, "a", RIVER))
    assert counts(kind, Outcome(RIVER, "a", RIVER + "（共八分）"))
    assert not counts(kind, Outcome(RIVER, "a", METAL))
    assert not counts(kind, Outcome(RIVER, "a", None, "numbers"))


def test_another_question_is_wrongly_dropped_for_one_that_differs_in_what_was_changed():
    kind = Kind("x", str, told_by=len)
    assert counts(kind, Outcome("甲", "乙乙", "甲"))
    assert not counts(kind, Outcome("甲", "乙乙", "丙丙"))
    assert not counts(kind, Outcome("甲", "乙乙", None, "numbers"))


def test_shares_are_told_in_all_and_by_length():
    a, b, c, d = "甲" * 20, "乙" * 30, "丙" * 31, "丁" * 400
    outcomes = [
        Outcome(a, a, a),
        Outcome(b, b, None, "numbers"),
        Outcome(c, c + "丙", b),
        Outcome(d, d, d),
    ]
    assert line(Kind("x", str), outcomes).split() == [
        *["x", "4", "caught", "2", "0.5000", "0.5000", "0.0000", "-", "1.0000", "1"],
        *["numbers", "1"],
    ]
    assert line(Kind("y", str, len), outcomes).split() == [
        *["y", "4", "dropped", "1", "0.2500", "0.0000", "1.0000", "-", "0.0000", "2"]
    ]


def test_the_script_prints_a_table_for_each_settings_file(tmp_path, monkeypatch, capsys):
    file, config = tmp_path / "some.jsonl.gz", tmp_path / "mine.toml"
    config.write_text("[decision]\nsimilarity = 0.9\n", encoding="utf-8")
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        for text in (RIVER, METAL, LOOM, RIVER, None):
            lines.write(json.dumps({"_id": 1, "text": text}) + "\n")
    monkeypatch.setattr(
        *(sys, "argv", ["planted.py", str(file), "--config", str(config), "--cases", "3"])
    )
    assert planted.main() == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == "## mine: 3 questions and 0 stems kept"
    added = next(row for row in printed if row.startswith("mark added"))
    assert added.split()[2:4] == ["3", "caught"]
    assert len(printed) == 3 + len(KINDS)
