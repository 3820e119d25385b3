"""The labelled pairs and the script that scores a tool on them."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from benchmarks.pairs import score

ROOT = Path(__file__).parents[2]


def test_each_pair_has_a_label_and_a_licence_that_allows_its_use():
    pairs = score.read_pairs()
    assert Counter(pair["label"] for pair in pairs) == {"D": 2212, "S": 1742, "U": 311}
    licences = {pair["licence"] for pair in pairs}
    assert not [name for name in licences if "NC" in name or "none" in name or "GPL" in name]
    assert all(pair["a"] != pair["b"] for pair in pairs)


def test_a_table_counts_the_joined_pairs_by_bank():
    pairs = [{"part": "pairs", "bank": "one", "label": label} for label in "SSDDU"]
    lines = list(score.table(pairs, [True, False, False, True, True]))
    assert [line.split()[0] for line in lines] == ["bank", "one", "all"]
    assert lines[1].count("1 of     2  50.0%") == 2


def test_decisions_in_a_file_are_scored_and_another_number_of_them_is_refused(tmp_path):
    path = tmp_path / "decisions"
    for count, status in ((4265, 0), (3, 1)):
        path.write_text("1\n" * count)
        command = [sys.executable, "-m", score.__name__, "--decisions", path]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert ended.returncode == status
    assert "has 3 lines for 4,265 pairs" in ended.stderr
