"""Planted cases: the same question in another form is caught, another one is let through.

    python -m scripts.bench.planted FILE.jsonl.gz [--field text] [--config C.toml ...]
        [--cases 2000] [--seed 1] [--kind NAME ...] [--show 0]

One table for each settings file: by default the defaults, configs/questions.toml and
configs/articles.toml. Cases are planted in the questions of 20 to 400 characters that the engine
keeps. As few real questions are short, those with choices give a second one: the stem alone,
without its number, where it has 20 to 60 characters; stems are a collection of their own. All kept
questions are in the index; each case is then decided as if it were the only one to come after them.

caught: of the cases of the same question, those dropped as duplicates of that question, or of a
kept one that is like it (Jaccard of character 3-grams 0.5). Of the others it is said what kept the
nearest candidate apart, the class of a difference or similarity, or that none was found.
dropped: of the cases that are another question, those dropped as duplicates of one that differs in
what was changed.
elsewhere: dropped for another question: one that is not alike, or one that says what the case says.
The share follows for each band of lengths, in characters of the question.
"""

from __future__ import annotations

import argparse
import bisect
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

from dedup_job.documents import Decision, Duplicate, Kept
from dedup_job.errors import ConfigurationError
from dedup_job.settings import Settings, load
from scripts.bench.command import ROOT, parser_of
from scripts.bench.engines import Engine, number_of
from scripts.bench.evaluate import read
from scripts.bench.exhaustive import INNOCENT, alike
from scripts.bench.planted_changes import KINDS, Choices, Kind, choices_of, head_of

BANDS = (20, 31, 61, 121, 401)  # a band ends before the next one's first length
_PASSES = 8  # over all questions, where one case of each is not enough


@dataclass(frozen=True, slots=True)
class Case:
    """A planted text, and the number of the question it is made of."""

    base: int
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case: the question it was joined to, or None and what refused it."""

    question: str
    planted: str
    joined: str | None
    refused_by: str | None = None


def stems_of(texts: Sequence[str]) -> list[str]:
    """Return the short stems of the questions that have choices, without their numbers."""
    whole = (choices.stem for text in texts if (choices := choices_of(text)) is not None)
    stems = (stem[head_of(stem) :].strip() for stem in whole)
    return [stem for stem in stems if BANDS[0] <= len(stem) < BANDS[2]]


def plant(kind: Kind, bases: Sequence[str], least: int, seed: int) -> list[Case]:
    """Plant a case in each question in which there is one, several if these are fewer than least.

    No case equals a question or another case, white space aside.
    """
    rng = Random(f"{seed} {kind.name}")
    numbers = [i for i, text in enumerate(bases) if BANDS[0] <= len(text) < BANDS[-1]]
    pool: list[Choices] = [c for i in numbers if (c := choices_of(bases[i])) is not None]
    seen = {_squeezed(text) for text in bases}
    cases: list[Case] = []
    for _ in range(_PASSES):
        for number in numbers:
            text = kind.plant(bases[number], rng, pool)
            if text is not None and _squeezed(text) not in seen:
                seen.add(_squeezed(text))
                cases.append(Case(number, text))
        if len(cases) >= least:
            break
    return cases


def decide_each(engine: Engine, bases: Sequence[str], texts: Sequence[str]) -> list[Decision]:
    """Decide each text as if it were the only one after the bases.

    All are decided in one go. Those that are found to be duplicates of each other are decided
    again, without the rest; the first of them meets bases only, so this comes to an end. Any other
    decision is what it would be alone: the first wins, and what comes later is only added.
    """
    decisions: dict[int, Decision] = {}
    waiting = list(range(len(texts)))
    while waiting:
        found = engine.decide([*bases, *(texts[i] for i in waiting)])[len(bases) :]
        decisions |= {
            i: decision
            for i, decision in zip(waiting, found, strict=True)
            if isinstance(decision, Kept) or _of(decision) < len(bases)
        }
        waiting = [i for i in waiting if i not in decisions]
    return [decisions[i] for i in range(len(texts))]


def outcomes_of(
    kind: Kind, engine: Engine, bases: Sequence[str], least: int, seed: int
) -> list[Outcome]:
    """Plant cases of a kind, decide them, and say what became of each."""
    cases = plant(kind, bases, least, seed)
    decisions = decide_each(engine, bases, [case.text for case in cases])
    return [outcome(bases, case, decision) for case, decision in zip(cases, decisions, strict=True)]


def outcome(bases: Sequence[str], case: Case, decision: Decision) -> Outcome:
    """Say what became of a case."""
    if isinstance(decision, Kept):
        refused_by = decision.nearest.kind if decision.nearest else "not found"
        return Outcome(bases[case.base], case.text, None, refused_by)
    return Outcome(bases[case.base], case.text, bases[_of(decision)])


def _of(decision: Decision) -> int:
    if not isinstance(decision, Duplicate):
        raise TypeError(f"a clean text was decided as {decision}")
    return number_of(decision.pair.of)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def counts(kind: Kind, outcome: Outcome) -> bool:
    """Tell whether a case is caught or, if it is another question, wrongly dropped."""
    if outcome.joined is None:
        return False
    if kind.told_by is not None:
        return kind.told_by(outcome.joined) != kind.told_by(outcome.planted)
    return outcome.joined == outcome.question or alike(outcome.joined, outcome.question) >= INNOCENT


def line(kind: Kind, outcomes: Sequence[Outcome]) -> str:
    """Return an aligned line: the share that counts, in all and by length, and what was missed."""
    bands: list[list[bool]] = [[] for _ in BANDS[1:]]
    for outcome in outcomes:
        bands[bisect.bisect(BANDS, len(outcome.question)) - 1].append(counts(kind, outcome))
    counted = [sum(map(sum, bands)), *map(sum, bands)]
    sizes = [sum(map(len, bands)), *map(len, bands)]
    shares = "".join(
        f"{count / size:9.4f}" if size else f"{'-':>9}"
        for count, size in zip(counted, sizes, strict=True)
    )
    joined = sum(outcome.joined is not None for outcome in outcomes)
    missed = Counter(o.refused_by for o in outcomes if o.joined is None and kind.told_by is None)
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in missed.most_common())
    word = "caught" if kind.told_by is None else "dropped"
    return (
        f"{kind.name:30} {sizes[0]:6,}  {word:8}{counted[0]:6,}{shares}"
        f"{joined - counted[0]:10,}  {reasons}"
    ).rstrip()


def print_table(
    name: str, settings: Settings, kinds: Sequence[Kind], arguments: argparse.Namespace
) -> None:
    """Print a line for each kind."""
    engine = Engine(settings)
    whole = [text for _, text in read(arguments.file, arguments.field, settings.cleaning)]
    questions, stems = (
        [text for text, keep in zip(texts, engine.keeps(texts), strict=True) if keep]
        for texts in (whole, stems_of(whole))
    )
    print(f"\n## {name}: {len(questions):,} questions and {len(stems):,} stems kept")
    heads = ("all", *(f"{low}-{high - 1}" for low, high in pairwise(BANDS)))
    columns = "".join(f"{head:>9}" for head in heads)
    print(f"{'':30} {'cases':>6}  {'':14}{columns} elsewhere  missed")
    for kind in kinds:
        outcomes = outcomes_of(kind, engine, questions, arguments.cases, arguments.seed)
        outcomes += outcomes_of(kind, engine, stems, 0, arguments.seed)
        print(line(kind, outcomes), flush=True)
        wrong = [o for o in outcomes if counts(kind, o) == (kind.told_by is not None)]
        for outcome in wrong[: arguments.show]:
            print(f"    question {_shown(outcome.question)}")
            print(f"    planted  {_shown(outcome.planted)}")
            print(f"    {outcome.refused_by or 'joined to'} {_shown(outcome.joined or '')}")


def _shown(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def settings_of(files: Sequence[Path]) -> dict[str, Settings]:
    """Return the settings by name; by default those that the project comes with."""
    if files:
        return {file.stem: load(file=file).settings for file in files}
    presets = {name: ROOT / "configs" / f"{name}.toml" for name in ("questions", "articles")}
    return {
        "defaults": load().settings,
        **{name: load(file=file).settings for name, file in presets.items()},
    }


def main() -> int:
    """Print a table for each settings file."""
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--field", default="text")
    parser.add_argument("--config", type=Path, action="append", default=[], metavar="C.toml")
    parser.add_argument("--cases", type=int, default=2000, help="of each kind, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", default=[], metavar="NAME")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="N wrong ones of each kind"
    )
    arguments = parser.parse_args()
    kinds = [kind for kind in KINDS if not arguments.kind or kind.name in arguments.kind]
    if not kinds:
        parser.error(f"no such kind, expected some of: {', '.join(kind.name for kind in KINDS)}")
    try:
        named = settings_of(arguments.config)
    except ConfigurationError as e:
        parser.error(str(e))
    for name, settings in named.items():
        print_table(name, settings, kinds, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
