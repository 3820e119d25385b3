"""Score a tool on the labelled pairs of this folder: how many same and different pairs it joins.

    python -m benchmarks.pairs.score --tool dedup
    python -m benchmarks.pairs.score --decisions FILE

FILE has a line for each pair, in the order of pairs.jsonl.gz, then articles.jsonl.gz: a number; a
pair is joined if it is at least --at, by default 1. --tool: this tool with default settings, by
similarity, by SimHash alone, or with the plain recipe of 30 keywords; or an installed package.
More settings, and tables by other files: scripts/bench/evaluate.py.
"""

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from dedup_job.cleaning import CleaningSettings
from dedup_job.runs.survey import Proportion
from dedup_job.settings import load_settings
from scripts.bench.engines import Engine, Keeps, installed_peers
from scripts.bench.evaluate import Labelled, joined

PARTS = {part: Path(__file__).with_name(f"{part}.jsonl.gz") for part in ("pairs", "articles")}
SETTINGS = {
    "dedup": {},
    "similarity": {"decision.judge": "similarity"},
    "simhash": {"decision.judge": "none", "index.candidate_generators": ["simhash"]},
    "recipe": {
        "fingerprint.top_k": 30,
        "fingerprint.ngram": 0,
        "decision.judge": "none",
        "index.candidate_generators": ["simhash"],
    },
}
PEERS = dict(installed_peers())
_WHOLE = {"pairs": "of banks", "articles": "of articles"}


def read_pairs() -> list[dict[str, str]]:
    """Return all pairs: part, bank, source, label (S, D, U), why, licence, a, b."""
    pairs = []
    for part, file in PARTS.items():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            pairs += [{"part": part} | json.loads(line) for line in lines]
    return pairs


def table(pairs: list[dict[str, str]], joined: Iterable[bool]) -> Iterator[str]:
    """Yield the lines of a table: the joined same and different pairs by bank.

    joined: of each pair, in their order.
    """
    counts: Counter[tuple[str, str, bool]] = Counter()
    for pair, is_joined in zip(pairs, joined, strict=True):
        written = pair["bank"].startswith("written")
        everything = "all written" if written else f"all {_WHOLE[pair['part']]}"
        for bank in (pair["bank"], everything):
            counts[bank, pair["label"], is_joined] += 1
    yield f"{'bank':<20} {'same: joined':>26} {'different: joined':>28}"
    for bank in sorted({bank for bank, _, _ in counts}, key=lambda b: (b.startswith("all"), b)):
        cells = []
        for label in "SD":
            some = counts[bank, label, True]
            share = Proportion(some, some + counts[bank, label, False])
            low, high = share.interval
            rate = f"{share.rate:6.1%}" if share.whole else "     -"
            cells.append(f"{some:5,} of {share.whole:5,} {rate} ({low:.0%}-{high:.0%})")
        yield f"{bank:<20} {cells[0]:>26}  {cells[1]:>27}"


def engine(tool: str) -> Keeps:
    """Return the engine of a tool; SystemExit if it is a package that is not installed."""
    if tool in SETTINGS:
        return Engine(load_settings(values=SETTINGS[tool])).keeps
    keeps = PEERS[tool]
    return keeps if keeps else sys.exit(f"{tool} is not installed: pip install {tool}")


def main() -> None:
    """Print the table of one tool, or of decisions in a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--tool", choices=[*SETTINGS, *PEERS])
    which.add_argument("--decisions", type=Path)
    parser.add_argument("--at", type=float, default=1.0, help="Joined from this value on.")
    options = parser.parse_args()
    pairs = read_pairs()
    if options.tool:
        texts = [Labelled(n, p["a"], p["b"], p["label"], p["bank"]) for n, p in enumerate(pairs)]
        found = joined(texts, CleaningSettings(), engine(options.tool))
    else:
        values = [float(line) for line in options.decisions.read_text("utf-8").split()]
        if len(values) != len(pairs):
            sys.exit(f"{options.decisions} has {len(values):,} lines for {len(pairs):,} pairs.")
        found = [value >= options.at for value in values]
    for line in table(pairs, found):
        print(line)


if __name__ == "__main__":
    main()
