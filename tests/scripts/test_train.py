"""`scripts/train` makes a model that can be used, the same one each time."""

import gzip
import subprocess
import sys
from pathlib import Path

from dedup_job.judgment.model import load_model

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "benchmarks" / "pairs" / "pairs.jsonl.gz"


def test_a_model_is_made_of_labelled_pairs_byte_for_byte(tmp_path):
    lines = gzip.decompress(PAIRS.read_bytes()).splitlines(keepends=True)[::8]
    given, scores = tmp_path / "pairs.jsonl", tmp_path / "scores.txt"
    given.write_bytes(b"".join(lines))
    made = []
    for name in ("a.json", "b.json"):
        model = tmp_path / name
        options = ["--out", str(model), "--by-bank", str(scores), "--without", "written 2"]
        subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "train"), str(given), *options], check=True
        )
        made.append(model.read_bytes())
    assert made[0] == made[1]
    assert load_model(tmp_path / "a.json").kinds[0].joined(0.9)[1].of > 0
    assert len(scores.read_text(encoding="utf-8").split()) == len(lines)
