"""Errors of the decisions, measured by an exact comparison of all pairs; without MongoDB.

    python -m scripts.bench.evaluate FILE.jsonl.gz ... [--field text] [--config C.toml]
        [--set fingerprint.top_k=50 ...] [--compare "name: fingerprint.ngram=0 ..." ...]
        [--peers] [--judged] [--labelled PAIRS.jsonl[.gz] ...]

One row for each file with the settings of --config and --set ("base"), one for each --compare,
which changes them further, and with --peers one each for the plain recipe (configs/classic.toml)
and for packages (rensa, datasketch) on the same clean texts. Documents are decided in the order of
the file, those without text are left out. Texts are as alike as their sets of character 3-grams,
without white space (Jaccard).

innocents: dropped, although no kept document is alike by 0.5.
expected: dropped by an engine that knows all pairs and drops each document that an earlier kept
one is alike by 0.7, 0.8, 0.9. With --judged, pairs that the judge of the settings keeps apart are
neither expected nor left.
left: kept, although an earlier kept document is similar by that threshold.
docs/s: fingerprints and decisions, one thread.

--labelled: pairs (a, b: texts; label: S the same, D different, others are left out; kind or source)
are cleaned and decided each by itself, through index, candidates and judge. A table says how many
are joined, for the settings, for judge = "similarity", and with --peers for the packages.
"""

import argparse
import functools
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.judgment import JOINED
from dedup_job.messages import ConfigurationError
from dedup_job.native.bytes_column import pack
from dedup_job.settings import Settings, load
from scripts.bench.command import ROOT, parser_of, records_of, texts_of
from scripts.bench.engines import Engine, Keeps, installed_peers
from scripts.bench.exhaustive import Pairs, count_innocents, count_left, exhaustive_pairs, perfect

THRESHOLDS = (0.7, 0.8, 0.9)
SAME, DIFFERENT = "S", "D"


class Contender(NamedTuple):
    """An engine, with the settings that clean its texts and that define the judge."""

    name: str
    keeps: Keeps
    settings: Settings


class Row(NamedTuple):
    """The result of one contender on one file; `expected` and `left` by threshold, as printed."""

    documents: int
    kept: int
    innocents: int
    expected: tuple[int, ...]
    left: tuple[int, ...]
    seconds: float


class Labelled(NamedTuple):
    """A pair: its number, both texts, the label, and its kind or source."""

    n: int
    a: str
    b: str
    label: str
    group: str


def evaluate(texts: Sequence[str], pairs: Pairs, admitted: Pairs, keeps: Keeps) -> Row:
    """Return the measures of an engine on clean texts; admitted: pairs that no judge separates."""
    begin = time.perf_counter()
    kept = keeps(texts)
    seconds = time.perf_counter() - begin
    expected = tuple(int(np.count_nonzero(~perfect(admitted, t))) for t in THRESHOLDS)
    left = tuple(count_left(admitted, kept, t) for t in THRESHOLDS)
    return Row(len(texts), int(kept.sum()), count_innocents(pairs, kept), expected, left, seconds)


def admitted(texts: Sequence[str], pairs: Pairs, settings: Settings) -> Pairs:
    """Return the pairs without those that the judge of the settings keeps apart."""
    if not settings.decision.judges:
        return pairs
    rows, packed = np.flatnonzero(pairs.similarity >= THRESHOLDS[0]), pack(texts)
    verdicts = settings.models().any_judge.judge(
        (packed, pairs.later[rows], packed, pairs.earlier[rows])
    )
    return pairs.without(rows[verdicts["state"] != JOINED])


def flags_of(assignments: Sequence[str]) -> dict[str, Any]:
    """Return `section.name=value` assignments as flags; a value that begins with [ is JSON."""
    flags: dict[str, Any] = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not sign or "." not in name:
            raise ConfigurationError([f"{assignment!r}, expected section.name=value"])
        flags[name] = json.loads(value) if value[:1] == "[" else value
    return flags


def contenders(options: argparse.Namespace) -> Iterator[Contender]:
    """Yield the contenders; peers get the cleaned texts of the base settings."""
    base = flags_of(options.set)
    named = {"base": base}
    for comparison in options.compare:
        name, _, changes = comparison.partition(":")
        named[name.strip()] = {**base, **flags_of(changes.split())}
    if options.labelled:
        named.setdefault("similarity", {**base, "decision.judge": "similarity"})
    for name, flags in named.items():
        settings = load(flags, options.config).settings
        yield Contender(name, Engine(settings).keeps, settings)
    if options.peers:
        texts_of_base = load(base, options.config).settings
        recipe = load(file=ROOT / "configs" / "classic.toml").settings
        yield Contender("plain recipe", Engine(recipe).keeps, texts_of_base)
        for name, keeps in installed_peers():
            if keeps is None:
                print(f"{name} is not installed (pip install {name}), so it has no row")
            else:
                yield Contender(name, keeps, texts_of_base)


def joined(pairs: Sequence[Labelled], cleaning: CleaningSettings, keeps: Keeps) -> list[bool]:
    """Return for each pair whether its second text, cleaned, is dropped as a duplicate.

    A text that is empty after cleaning is no duplicate.
    """
    cleaner = Cleaner(cleaning)
    cleaned = [(cleaner.clean(pair.a), cleaner.clean(pair.b)) for pair in pairs]
    return [bool(a and b) and not keeps([a, b])[1] for a, b in cleaned]


def print_rows(everyone: Sequence[Contender], options: argparse.Namespace) -> None:
    """Print the table of files and contenders."""
    width = max(len(contender.name) for contender in everyone)
    dues = "".join(f"{f'expected {t}':>9}{'left':>7}" for t in THRESHOLDS)
    print(f"{'file':18} {'':{width}} documents    kept  dropped innocents {dues}   docs/s")
    for file in options.files:

        @functools.cache
        def prepared(cleaning: CleaningSettings, file: Path = file) -> tuple[list[str], Pairs]:
            cleaned = Cleaner(cleaning).clean_all(texts_of(file, options.field))
            texts = [text for text in cleaned if text]
            return texts, exhaustive_pairs(texts)

        for contender in everyone:
            texts, pairs = prepared(contender.settings.cleaning)
            some = admitted(texts, pairs, contender.settings) if options.judged else pairs
            row = evaluate(texts, pairs, some, contender.keeps)
            dues = "".join(
                f"{d:9,}{left:7,}" for d, left in zip(row.expected, row.left, strict=True)
            )
            print(
                f"{file.name.partition('.')[0]:18} {contender.name:{width}} {row.documents:9,}"
                f"{row.kept:8,}{row.documents - row.kept:9,}{row.innocents:10,} {dues}"
                f"{row.documents / row.seconds:9,.0f}",
                flush=True,
            )


def print_labelled(file: Path, everyone: Sequence[Contender]) -> None:
    """Print the shares of different and of same pairs that each contender joins, by kind."""
    pairs = [
        Labelled(r["n"], r["a"], r["b"], r["label"], r.get("kind") or r.get("source") or "-")
        for r in records_of(file)
        if r["label"] in (SAME, DIFFERENT) and r["a"] is not None and r["b"] is not None
    ]
    found = [joined(pairs, c.settings.cleaning, c.keeps) for c in everyone]
    print(f"\n{file.name.partition('.')[0]:24}", *(f"{c.name:>17}" for c in everyone))
    print(f"{'joined of':24}", *(f"{'D        S':>17}" for _ in everyone))
    for group in ("all", *sorted({pair.group for pair in pairs})):
        cells = []
        for hits in found:
            some = [
                (p.label, hit)
                for p, hit in zip(pairs, hits, strict=True)
                if group in ("all", p.group)
            ]
            counts = [[hit for own, hit in some if own == label] for label in (DIFFERENT, SAME)]
            shares = "  ".join(f"{sum(c)}/{len(c)}" if c else "-" for c in counts)
            cells.append(f"{shares:>17}")
        print(f"{group:24}", *cells, flush=True)


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
    parser.add_argument("--labelled", type=Path, nargs="+", default=[], metavar="PAIRS")
    options = parser.parse_args()
    if not options.files and not options.labelled:
        parser.error("name a FILE, or pairs with --labelled")
    try:
        everyone = list(contenders(options))
    except ConfigurationError as e:
        parser.error(str(e))
    if options.files:
        print_rows(everyone, options)
    for file in options.labelled:
        print_labelled(file, everyone)
    return 0


if __name__ == "__main__":
    sys.exit(main())
