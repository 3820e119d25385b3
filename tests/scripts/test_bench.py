"""Each measuring script runs on its smallest case and says what it found."""

from __future__ import annotations

import gzip
import json
import sys
from importlib import import_module

import numpy as np
import pytest

from scripts.bench.evaluate import evaluate
from scripts.bench.exhaustive import exhaustive_pairs
from scripts.bench.synthetic_corpus import Stock, SyntheticCorpus, markup_and_clauses
from scripts.bench.templates import template_bank
from tests.reference.form import form_of

RIVER = "黄河中下游的气候特点是什么？请从气温、降水和季节变化三个方面加以说明，并分析其成因。"
METAL = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，写出方程式。"
CHOICES = (
    "3. 下列说法正确的是（　　）\n"
    "A．甲烷易溶于水  B．乙烯是平面分子\nC．苯能使溴水褪色  D．乙醇没有还原性"
)
LONG = "".join(f"第{i}条规定，凡是第{i * 7}号的材料都要在{i * 3}天内送到。" for i in range(40))
TEXTS = [
    RIVER,
    METAL,
    CHOICES,
    LONG,
    RIVER + "。",
    *(f"{RIVER}第{i}问，{METAL}" for i in range(60)),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a folder of files as the scripts read them."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("exam_dev", "articles_dev"):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            for number, text in enumerate(TEXTS):
                lines.write(json.dumps({"_id": number, "text": text}) + "\n")
    labelled = [
        {"n": 0, "a": METAL, "b": f"3. {METAL}", "label": "S", "kind": "numbering"},
        {"n": 1, "a": METAL, "b": RIVER, "label": "D", "kind": "word"},
        {"n": 2, "a": METAL, "b": None, "label": "S", "kind": "gone"},
        {"a": 0, "b": 4, "same_group": True, "sim": 0.99},
    ]
    file = folder / "labelled.jsonl"
    file.write_text("".join(json.dumps(pair) + "\n" for pair in labelled), encoding="utf-8")
    return folder


def ran(monkeypatch, capsys, data, line):
    """Run a script in this process; return what it printed."""
    name, *arguments = line.replace("DATA", str(data)).split()
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    script = import_module(f"scripts.bench.{name}")
    assert not script.main()
    return capsys.readouterr().out


LINES = [
    ("evaluate DATA/exam_dev.jsonl.gz --judged --peers", "plain recipe"),
    ("decisions --bank --bank-size 200", "other questions joined: 0"),
    ("fingerprint --sizes --data DATA", "greatest / least"),
    ("cleaning DATA/exam_dev.jsonl.gz --field text --rounds 1", "M characters/s"),
    ("ceiling --documents 200 --cores 1 --turns 1", "docs/s, 1.00 of 1"),
    ("segments --size 3e3 --segments 2", "candidates, same"),
    ("index --peers --peers-size 2e3", "pairs found by 300 queries"),
]
LONG = [  # these start a server, or run for a minute
    ("job --documents 300 --recipe-documents 50", "dedup / recipe"),
    ("scale --documents 2000 --more 100", "following changes: seconds for 100"),
    ("check_equal --documents 100 --kind mixed --naive", "equal"),
    ("fingerprint --parts --start --data DATA", "warm, median of 5"),
]


@pytest.mark.parametrize(
    ("line", "said"),
    [*LINES, *(pytest.param(*one, marks=pytest.mark.thorough) for one in LONG)],
)
def test_a_script_prints_its_table(monkeypatch, capsys, data, line, said):
    assert said in ran(monkeypatch, capsys, data, line)


def test_labelled_pairs_are_counted_by_kind_and_pairs_of_ids_by_band(monkeypatch, capsys, data):
    line = "evaluate DATA/exam_dev.jsonl.gz --labelled DATA/labelled.jsonl"
    printed = ran(monkeypatch, capsys, data, line)
    rows = [line.split() for line in printed.splitlines()]
    assert ["all", "0/1", "2/2", "0/1", "2/2"] in rows
    assert ["0.98-1.00", "-", "1/1", "-", "1/1"] in rows


def test_an_engine_that_drops_everything_or_nothing_is_found_out():
    texts = [METAL, METAL.replace("，", "， "), "全然不同的一句话", METAL]
    pairs = exhaustive_pairs(texts)
    drops = evaluate(texts, pairs, pairs, lambda texts: np.zeros(len(texts), dtype=np.bool_))
    keeps = evaluate(texts, pairs, pairs, lambda texts: np.ones(len(texts), dtype=np.bool_))
    assert (drops.kept, drops.innocents, drops.left) == (0, 4, (0, 0, 0))
    assert (keeps.kept, keeps.innocents, keeps.left) == (4, 0, (2, 2, 2))


def test_a_made_document_is_the_same_in_every_chunk_and_a_fifth_are_duplicates():
    corpus = SyntheticCorpus(Stock.of([markup_and_clauses(f"<p>{LONG}</p>")] * 3))
    texts = corpus.texts(0, 500)
    assert corpus.texts(0, 70) + corpus.texts(70, 430) == texts
    origins = corpus.origins(np.arange(500, dtype=np.uint64)).tolist()
    copies = [(texts[i], texts[of]) for i, of in enumerate(origins) if i != of]
    assert len(copies) == 99
    assert {sum(map(str.__ne__, *copy)) for copy in copies} == {0, 1}
    assert all(text.startswith("<p>") and text.endswith("</p>") for text in texts)


def stem_of(text):
    return "".join(token.text for token in form_of(text).stem)


def test_a_repetition_in_a_bank_comes_after_its_question_and_is_equal_but_for_its_form():
    made = template_bank(400, 20)
    for number, (text, of, typo) in enumerate(zip(made.texts, made.of, made.typo, strict=True)):
        if of >= 0:
            assert of < number
            assert (stem_of(text) == stem_of(made.texts[of])) != typo
    assert sum(of >= 0 for of in made.of) == 40
