"""How often the decisions are wrong, against an exact comparison of all pairs; no MongoDB.

    python -m scripts.bench.evaluate FILE.jsonl.gz ... [--field text] [--config C.toml]
        [--set fingerprint.top_k=50 ...] [--compare "name: fingerprint.ngram=0 ..." ...]
        [--peers] [--judged] [--pairs PAIRS.jsonl.gz]
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

--pairs: pairs (a, b: ids of documents in the files; same_group; sim: edit similarity) are decided
each by itself: is the second joined to the first?

--labelled: pairs (a, b: texts; label: S the same, D different, others are left out; kind or source)
are cleaned and decided each by itself, through index, candidates and judge. A table says how many
are joined, for the settings, for judge = "similarity", and with --peers for the packages. --half
takes those whose n % 2 is that: rules are made with one half and checked with the other. --show
prints N pairs that the settings decide unlike the label. What `dedup labels export` writes is such
a file.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import itertools
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.errors import ConfigurationError
from dedup_job.native.code_points import pack
from dedup_job.settings import Settings, load
from scripts.bench import labelled
from scripts.bench.engines import Engine, Keeps, installed_peers
from scripts.bench.exhaustive import Pairs, count_innocents, count_left, exhaustive_pairs, perfect

ROOT = Path(__file__).parents[2]
THRESHOLDS = (0.7, 0.8, 0.9)
EDGES = (0.0, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)  # of the bands of edit similarity
POSITIVE, NEGATIVE = 0.95, 0.6


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
class Version:
    """A pair of documents: their ids, whether they are versions of one, their edit similarity."""

    a: str
    b: str
    same_group: bool
    sim: float


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
    judge = settings.equipment().any_judge
    asked = np.flatnonzero(pairs.similarity >= THRESHOLDS[0])
    packed = pack(texts)
    said = judge.judge(packed, pairs.later[asked], packed, pairs.earlier[asked])
    return pairs.without(asked[~said.joined])


def join(versions: Iterable[Version], texts: Mapping[str, str], keeps: Keeps) -> list[bool]:
    """Tell of each pair, decided by itself, whether its second text is dropped."""
    return [not keeps([texts[version.a], texts[version.b]])[1] for version in versions]


def read(file: Path, field: str, cleaning: CleaningSettings) -> list[tuple[Any, str]]:
    """Return ids and clean texts of a file, in its order, without the empty ones."""
    cleaner = Cleaner(cleaning)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = list(map(json.loads, lines))
    values = [(record.get("_id"), record.get(field)) for record in records]
    return [(id_, text) for id_, v in values if isinstance(v, str) and (text := cleaner.clean(v))]


def read_versions(file: Path) -> list[Version]:
    """Return the pairs of a file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = list(map(json.loads, lines))
    return [Version(r["a"], r["b"], r["same_group"], r["sim"]) for r in records]


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


def lines_of_versions(
    name: str, width: int, versions: Sequence[Version], joined: Sequence[bool]
) -> Iterator[str]:
    """Yield an aligned line for each group and band, then the two that matter."""

    def told(label: str, band: str, chosen: Sequence[bool]) -> str:
        share = f"{sum(chosen) / len(chosen):7.4f}" if chosen else f"{'-':>7}"
        return f"{name:{width}} {label:10} {band:10} {len(chosen):6,}{sum(chosen):8,} {share}"

    both = list(zip(versions, joined, strict=True))
    for same, label in ((True, "same group"), (False, "other")):
        for low, high in zip(EDGES, (*EDGES[1:], 1.01), strict=True):
            chosen = [j for v, j in both if v.same_group == same and low <= v.sim < high]
            if chosen:
                yield told(label, f"{low:.2f}-{min(high, 1.0):.2f}", chosen)
    positives = [j for v, j in both if v.same_group and v.sim >= POSITIVE]
    yield told("positives", f">= {POSITIVE}", positives)
    negatives = [j for v, j in both if not v.same_group and v.sim < NEGATIVE]
    yield told("negatives", f"< {NEGATIVE}", negatives)


def main() -> int:
    """Print a row for each file and contender, then the pairs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--field", default="text")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.NAME=VALUE")
    parser.add_argument("--compare", action="append", default=[], metavar="NAME: CHANGES")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--judged", action="store_true")
    parser.add_argument("--pairs", type=Path, metavar="PAIRS")
    parser.add_argument("--labelled", type=Path, nargs="+", default=[], metavar="PAIRS")
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
    if arguments.pairs:
        print_versions(everyone, width, arguments)
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
    pairs = labelled.read_labelled(file, arguments.half)
    found = {c.name: labelled.joined(pairs, c.settings.cleaning, c.keeps) for c in everyone}
    columns = {name: list(labelled.scores(pairs, hits)) for name, hits in found.items()}
    print(*labelled.table(file, columns), sep="\n", flush=True)
    misjudged = labelled.wrong(pairs, found[everyone[0].name])
    for pair in itertools.islice(misjudged, arguments.show):
        print(f"\n{pair.n} {pair.label} {pair.of}\n  a: {pair.a!r}\n  b: {pair.b!r}")


def print_versions(
    everyone: Sequence[Contender], width: int, arguments: argparse.Namespace
) -> None:
    """Print the table of pairs."""
    versions = read_versions(arguments.pairs)
    print(f"\n{'':{width}} {'pairs':10} {'sim':10} {'pairs':>6}{'joined':>8} {'share':>7}")
    for contender in everyone:
        cleaning = contender.settings.cleaning
        texts = dict(
            pair for file in arguments.files for pair in read(file, arguments.field, cleaning)
        )
        known = [v for v in versions if v.a in texts and v.b in texts]
        if len(known) < len(versions):
            print(f"{len(versions) - len(known):,} pairs have no text in the files")
        joined = join(known, texts, contender.keeps)
        print(*lines_of_versions(contender.name, width, known, joined), sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
