"""How often the decisions are wrong, against an exact comparison of all pairs; no MongoDB.

    python -m scripts.bench.evaluate FILE.jsonl.gz ... [--field text] [--config C.toml]
        [--set fingerprint.top_k=50 ...] [--compare "name: fingerprint.ngram=0 ..." ...]
        [--peers] [--judged]
        [--labelled PAIRS.jsonl[.gz] ... [--half 0|1] [--show N]]

One row for each file with the settings of --config and --set ("base"), one for each --compare,
which changes them further, and with --peers one each for the plain recipe (configs/classic.toml)
and for packages (rensa, datasketch) on the same clean texts. Documents are decided in the order of
the file, those without text are left out. Texts are as alike as their sets of character 3-grams,
without white space (Jaccard).

innocents: dropped, although no kept document is alike by 0.5.
due: dropped by an engine that knows all pairs and drops each document that an earlier kept
one is alike by 0.7, 0.8, 0.9. With --judged, pairs that the judge of the settings keeps apart are
neither due nor left.
left: kept, although an earlier kept document is alike by so much.
seconds: fingerprints and decisions, one thread.

--labelled: pairs (a, b: texts; label: S the same, D different, others are left out; kind or source)
are cleaned and decided each by itself, through index, candidates and judge. A table says how many
are joined, for the settings, for judge = "similarity", and with --peers for the packages. --half
takes those whose n % 2 is that: rules are made with one half and checked with the other. --show
prints N pairs that the settings decide unlike the label. `dedup review --export` writes such
a file. Pairs of ids of documents in the files (a, b; same_group; sim: edit similarity) are of the
band of their similarity.
"""

from __future__ import annotations

import argparse
import bisect
import functools
import itertools
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.errors import ConfigurationError
from dedup_job.native.code_points import pack
from dedup_job.settings import Settings, load
from scripts.bench.command import ROOT, parser_of, records_of
from scripts.bench.engines import Engine
from scripts.bench.exhaustive import Pairs, count_innocents, count_left, exhaustive_pairs, perfect
from scripts.bench.packages import Keeps, installed_peers

THRESHOLDS = (0.7, 0.8, 0.9)
EDGES = (0.0, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)  # of the bands of edit similarity
SAME, DIFFERENT = "S", "D"


@dataclass(frozen=True, slots=True)
class Contender:
    """Who decides, and the settings that tell clean texts and what the judge keeps apart."""

    name: str
    keeps: Keeps
    settings: Settings


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one contender on one file; due and left by threshold."""

    documents: int
    kept: int
    innocents: int
    due: tuple[int, ...]
    left: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair: its number, both texts as they are, the label, and what it is of (kind or source)."""

    n: int
    a: str
    b: str
    label: str
    of: str


@dataclass(frozen=True, slots=True)
class Score:
    """How many pairs of one kind are joined: of different ones and of the same."""

    of: str
    different: tuple[int, int]
    same: tuple[int, int]


def evaluate(texts: Sequence[str], pairs: Pairs, admitted: Pairs, keeps: Keeps) -> Row:
    """Decide clean texts and score the decisions; `admitted`: pairs that no judge keeps apart."""
    begin = time.perf_counter()
    kept = keeps(texts)
    seconds = time.perf_counter() - begin
    due = tuple(int(np.count_nonzero(~perfect(admitted, t))) for t in THRESHOLDS)
    left = tuple(count_left(admitted, kept, t) for t in THRESHOLDS)
    return Row(len(texts), int(kept.sum()), count_innocents(pairs, kept), due, left, seconds)


def admitted(texts: Sequence[str], pairs: Pairs, settings: Settings) -> Pairs:
    """Return the pairs that the judge of the settings does not keep apart, if there is one."""
    if not settings.decision.judges:
        return pairs
    judge = settings.models().any_judge
    asked = np.flatnonzero(pairs.similarity >= THRESHOLDS[0])
    packed = pack(texts)
    said = judge.judge(packed, pairs.later[asked], packed, pairs.earlier[asked])
    return pairs.without(asked[~said.joined])


def read(file: Path, field: str, cleaning: CleaningSettings) -> list[tuple[Any, str]]:
    """Return ids and clean texts of a file, in its order, without the empty ones."""
    cleaner = Cleaner(cleaning)
    values = [(record.get("_id"), record.get(field)) for record in records_of(file)]
    return [(id_, text) for id_, v in values if isinstance(v, str) and (text := cleaner.clean(v))]


def read_labelled(
    file: Path, half: int | None = None, files: Iterable[Path] = (), field: str = "text"
) -> list[Labelled]:
    """Return the pairs labelled S or D; of the half whose n % 2 is that, if one is asked for."""
    return [
        Labelled(r["n"], r["a"], r["b"], r["label"], r.get("kind") or r.get("source") or "-")
        for r in with_texts(file, files, field)
        if r["label"] in (SAME, DIFFERENT) and (half is None or r["n"] % 2 == half)
        if r["a"] is not None and r["b"] is not None  # a text may be gone
    ]


def with_texts(file: Path, files: Iterable[Path], field: str) -> Iterator[dict[str, Any]]:
    """Yield the pairs of a file; in the place of ids stand texts of the files, None if unknown."""
    texts: dict[Any, str] | None = None
    for n, pair in enumerate(records_of(file)):
        if "same_group" not in pair:
            yield pair
            continue
        if texts is None:
            texts = {r["_id"]: r.get(field) for one in files for r in records_of(one)}
        edge = bisect.bisect(EDGES, pair["sim"]) - 1
        yield {
            "n": n,
            "a": texts.get(pair["a"]),
            "b": texts.get(pair["b"]),
            "label": SAME if pair["same_group"] else DIFFERENT,
            "kind": f"{EDGES[edge]:.2f}-{(*EDGES, 1.0)[edge + 1]:.2f}",
        }


def flags_of(assignments: Sequence[str]) -> dict[str, Any]:
    """Read `section.name=value`; a value may be JSON, as for a list."""
    flags: dict[str, Any] = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not sign or "." not in name:
            raise ConfigurationError([f"{assignment!r}, expected section.name=value"])
        flags[name] = json.loads(value) if value[:1] == "[" else value
    return flags


def settings_of(arguments: argparse.Namespace) -> dict[str, Settings]:
    """Return the settings to evaluate, by name."""
    base = flags_of(arguments.set)
    named = {"base": load(base, arguments.config).settings}
    for comparison in arguments.compare:
        name, _, changes = comparison.partition(":")
        named[name.strip()] = load({**base, **flags_of(changes.split())}, arguments.config).settings
    return named


def contenders(arguments: argparse.Namespace) -> Iterator[Contender]:
    """Yield all that are to be evaluated; peers get the texts of the base."""
    named = settings_of(arguments)
    if arguments.labelled:
        flags = {**flags_of(arguments.set), "decision.judge": "similarity"}
        named.setdefault("similarity", load(flags, arguments.config).settings)
    for name, settings in named.items():
        yield Contender(name, Engine(settings).keeps, settings)
    if arguments.peers:
        recipe = load(file=ROOT / "configs" / "classic.toml").settings
        yield Contender("plain recipe", Engine(recipe).keeps, named["base"])
        for name, keeps in installed_peers():
            if keeps is None:
                print(f"{name} is not installed (pip install {name}), so it has no row")
            else:
                yield Contender(name, keeps, named["base"])


def line(file: Path, name: str, width: int, row: Row) -> str:
    """Return an aligned line."""
    dues = "".join(f"{due:9,}{left:7,}" for due, left in zip(row.due, row.left, strict=True))
    return (
        f"{file.name.partition('.')[0]:18} {name:{width}} {row.documents:9,}{row.kept:8,}"
        f"{row.documents - row.kept:9,}{row.innocents:10,} {dues}{row.seconds:9.2f}"
    )


def joined(pairs: Sequence[Labelled], cleaning: CleaningSettings, keeps: Keeps) -> list[bool]:
    """Tell of each pair, cleaned, whether its second text is dropped as the first one's duplicate.

    A text of which cleaning leaves nothing is the duplicate of none.
    """
    cleaner = Cleaner(cleaning)
    cleaned = [(cleaner.clean(pair.a), cleaner.clean(pair.b)) for pair in pairs]
    return [bool(a and b) and not keeps([a, b])[1] for a, b in cleaned]


def scores(pairs: Sequence[Labelled], found: Sequence[bool]) -> Iterator[Score]:
    """Yield the score of all pairs, then of each kind by name."""
    both = list(zip(pairs, found, strict=True))
    for of in ("all", *sorted({pair.of for pair in pairs})):
        some = [(pair.label, hit) for pair, hit in both if of in ("all", pair.of)]
        different, same = (
            [hit for own, hit in some if own == label] for label in (DIFFERENT, SAME)
        )
        yield Score(of, (sum(different), len(different)), (sum(same), len(same)))


def table(file: Path, columns: dict[str, list[Score]]) -> Iterator[str]:
    """Yield aligned lines: a row for each kind, for each contender D and S joined."""

    def told(counts: tuple[int, int]) -> str:
        return "/".join(map(str, counts)) if counts[1] else "-"

    rows = list(zip(*columns.values(), strict=True))
    width = max(24, *(len(row[0].of) for row in rows))
    widths = [max(15, len(name)) for name in columns]
    head = "".join(f"  {name:>{w}}" for name, w in zip(columns, widths, strict=True))
    yield f"\n{file.name.partition('.')[0]:{width}}{head}"
    yield f"{'joined of':{width}}" + "".join(f"  {'D        S':>{w}}" for w in widths)
    for row in rows:
        cells = [f"{told(score.different)}  {told(score.same)}" for score in row]
        yield f"{row[0].of:{width}}" + "".join(
            f"  {cell:>{w}}" for cell, w in zip(cells, widths, strict=True)
        )


def main() -> int:
    """Print a row for each file and contender, then the pairs."""
    parser = parser_of(__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--field", default="text")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.NAME=VALUE")
    parser.add_argument("--compare", action="append", default=[], metavar="NAME: CHANGES")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--judged", action="store_true")
    parser.add_argument("--labelled", "--pairs", type=Path, nargs="+", default=[], metavar="PAIRS")
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--show", type=int, default=0, metavar="N")
    arguments = parser.parse_args()
    try:
        everyone = list(contenders(arguments))
    except ConfigurationError as e:
        parser.error(str(e))
    width = max(len(contender.name) for contender in everyone)
    if not arguments.files and not arguments.labelled:
        parser.error("name a FILE, or pairs with --labelled")
    if arguments.files:
        print_rows(everyone, width, arguments)
    for file in arguments.labelled:
        print_labelled(file, everyone, arguments)
    return 0


def print_rows(everyone: Sequence[Contender], width: int, arguments: argparse.Namespace) -> None:
    """Print the table of files and contenders."""
    dues = "".join(f"{f'due {t}':>9}{'left':>7}" for t in THRESHOLDS)
    print(f"{'file':18} {'':{width}} documents    kept  dropped innocents {dues}  seconds")
    for file in arguments.files:

        @functools.cache
        def prepared(cleaning: CleaningSettings, file: Path = file) -> tuple[list[str], Pairs]:
            texts = [text for _, text in read(file, arguments.field, cleaning)]
            return texts, exhaustive_pairs(texts)

        for contender in everyone:
            texts, pairs = prepared(contender.settings.cleaning)
            chosen = admitted(texts, pairs, contender.settings) if arguments.judged else pairs
            row = evaluate(texts, pairs, chosen, contender.keeps)
            print(line(file, contender.name, width, row), flush=True)


def print_labelled(
    file: Path, everyone: Sequence[Contender], arguments: argparse.Namespace
) -> None:
    """Print the table of labelled pairs, and those that the base decides unlike the label."""
    pairs = read_labelled(file, arguments.half, arguments.files, arguments.field)
    found = {c.name: joined(pairs, c.settings.cleaning, c.keeps) for c in everyone}
    columns = {name: list(scores(pairs, hits)) for name, hits in found.items()}
    print(*table(file, columns), sep="\n", flush=True)
    both = zip(pairs, found[everyone[0].name], strict=True)
    wrong = (pair for pair, hit in both if hit != (pair.label == SAME))
    for pair in itertools.islice(wrong, arguments.show):
        print(f"\n{pair.n} {pair.label} {pair.of}\n  a: {pair.a!r}\n  b: {pair.b!r}")


if __name__ == "__main__":
    sys.exit(main())
