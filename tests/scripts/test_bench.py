"""Each measuring script runs on its smallest case; training is reproducible."""

import gzip
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from dedup_job.judgment.model import load_model
from tests.judging import joined

METAL = "在标准状况下，将一定量的二氧化碳通入澄清石灰水，观察到溶液先变浑浊后变澄清，写出方程式。"
RIVER = "黄河中下游的气候特点是什么？请从气温、降水和季节变化三个方面加以说明，并分析其成因。"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    with gzip.open(folder / "texts.jsonl.gz", "wt", encoding="utf-8") as lines:
        for number in range(60):
            lines.write(json.dumps({"_id": number, "text": f"{RIVER}第{number}问，{METAL}"}) + "\n")
    pair = {"n": 0, "a": METAL, "b": f"3. {METAL}", "label": "S", "kind": "numbering"}
    (folder / "labelled.jsonl").write_text(json.dumps(pair) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("evaluate DATA/texts.jsonl.gz --judged --peers", "plain recipe"),
        ("evaluate --labelled DATA/labelled.jsonl", "numbering"),
        ("parts DATA/texts.jsonl.gz --fingerprints 2e3 --turns 1", "index, query"),
        (
            "ceiling --kind exam --file DATA/texts.jsonl.gz --documents 200 --cores 1 --turns 1",
            "docs/s, 1.00 of 1",
        ),
        pytest.param(
            "job --documents 300 --recipe-documents 50",
            "dedup / recipe",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "scale --documents 2000 --more 200",
            "--on-change refresh",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_script_prints_its_table(monkeypatch, capsys, data, line, text):
    name, *arguments = line.replace("DATA", str(data)).split()
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    assert not import_module(f"scripts.bench.{name}").main()
    assert text in capsys.readouterr().out


ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "benchmarks" / "pairs" / "pairs.jsonl.gz"


def test_the_same_labelled_pairs_give_the_same_model_byte_for_byte(tmp_path):
    lines = gzip.decompress(PAIRS.read_bytes()).splitlines(keepends=True)[::12]
    sample, scores = tmp_path / "pairs.jsonl", tmp_path / "scores.txt"
    sample.write_bytes(b"".join(lines))
    made = []
    for name in ("a.json", "b.json"):
        model = tmp_path / name
        options = ["--out", str(model), "--by-bank", str(scores), "--without", "written 2"]
        subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "train"), str(sample), *options], check=True
        )
        made.append(model.read_bytes())
    assert made[0] == made[1]
    assert joined(load_model(tmp_path / "a.json").kinds[0], 0.9)[1].of > 0
    assert len(scores.read_text(encoding="utf-8").split()) == len(lines)
