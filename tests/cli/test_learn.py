"""`dedup learn`: the files that it writes; see transcripts/labels.txt for what it prints."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from dedup_job.judgment.model import load_model, shipped_model
from dedup_job.settings import load
from tests.judging import joined
from tests.proving import command
from tests.running import invoke, run_here, uri_of

STEM = "{}去商店买了{}支{}和{}本练习本，{}支{}比{}本练习本贵{}元，问每本练习本多少元？"
THINGS = ("铅笔", "钢笔", "毛笔", "圆珠笔", "蜡笔")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def decided(database):
    texts = ["光合作用释放氧气，发生在叶绿体中。", "光合作用会释放氧气，发生在叶绿体中。"]
    database.source.insert_many({"_id": i, "text": text} for i, text in enumerate(texts))
    run_here(database)
    return database


def problems(number, seed=1):
    """Yield labelled pairs: the same if a word is added, different if about another thing."""
    chance = random.Random(seed)
    for i in range(number):
        a, b, c, d = (chance.randint(2, 90) for _ in range(4))
        first, second = chance.sample(THINGS, 2)
        text = STEM.format("小明", a, first, b, a, first, b, c + d)
        if i % 2:
            yield {"a": text, "b": f"一天，{text}", "label": "S", "bank": "shop"}
        else:
            other = text.replace(first, second)
            yield {"a": text, "b": other, "label": "different"}


def file_of(rows, name="pairs.jsonl"):
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return name


def test_it_learns_from_a_file_and_writes_a_model_and_settings(decided):
    shipped = shipped_model()
    output = command(decided, "learn", "--pairs", file_of([*problems(120)]))
    assert f"120 labelled pairs of {decided.name}.target: 60 same, 60 different" in output
    for name in ("the model that ships, now", "the same, by these labels", "the new model"):
        assert name in output
    model, settings = load_model(Path("target.model.json")), load(file=Path("target.model.toml"))
    decision = settings.settings.decision
    assert decision.model == Path("target.model.json").absolute()
    counts = np.sum([joined(kind, decision.confidence) for kind in model.kinds], axis=0).tolist()
    (different, all_different), (same, all_same) = counts
    assert (all_different, all_same) == (60, 60)
    assert f"{same} of 60" in output
    assert different <= 1
    own = json.loads(Path("target.model.json").read_text("utf-8"))["sources"][-1]
    assert own["labels"] == [
        {"bank": "pairs.jsonl", "label": "D", "pairs": 60},
        {"bank": "shop", "label": "S", "pairs": 60},
    ]
    assert shipped_model() == shipped


def test_the_command_that_it_prints_runs_with_the_new_model(decided):
    output = command(decided, "learn", "--pairs", file_of([*problems(60)]))
    (line,) = (line.strip() for line in output.splitlines() if line.startswith("  dedup run"))
    names = ["--source", f"{decided.name}.source", "--target", f"{decided.name}.target_learnt"]
    assert line.split()[2:6] == names
    printed = invoke("run", *line.split()[2:], "--uri", uri_of(decided)).stdout
    assert "(dry run, nothing written)" in printed


def test_settings_of_the_target_are_in_the_file_and_no_connection(database):
    database.source.insert_many({"_id": i, "body": f"text {i} 光合作用"} for i in range(3))
    run_here(database, source__field="body", cleaning__cut_at=['来源"：'], run__threads=1)
    command(database, "learn", "--pairs", file_of([*problems(20)]), "--out", "my.json")
    text = Path("my.toml").read_text("utf-8")
    settings = load(file=Path("my.toml")).settings
    assert settings.source.field == "body"
    assert settings.cleaning.cut_at == ('来源"：',)
    assert settings.run.threads is None
    assert "mongodb" not in text
    assert not Path("target.model.json").exists()
