"""Hostile collections: how slow the decision gets, and what it joins of questions that are alike.

    python -m scripts.bench.decisions [--worst] [--bank] [--file FILE.jsonl.gz] [--bank-size 1e5]

Both sections unless one is chosen. Ordinary documents are the exam questions of
synthetic_corpus.py; how candidates grow with a collection, scale.py tells.

worst    100,000 documents of one template, 10,000 equal ones, one of 10 MB, formulas only: the
         slowest batch of 100, microseconds a document (of the long one: a KB), beside the mean
bank     100,000 questions of eight templates that differ in one number or one word, with 1,000
         repetitions in another form and 1,000 with a typo as well: documents per second, memory
         before and after, and the share of the repetitions that is joined
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil

from dedup_job.documents import Decision, Duplicate
from dedup_job.settings import Settings
from scripts.bench.command import DATA, count, parser_of, run_sections
from scripts.bench.engines import Engine, number_of
from scripts.bench.synthetic_corpus import SyntheticCorpus
from scripts.bench.templates import template_bank

WORST_BATCH, JOB_BATCH = 100, 5000


def maker(arguments: argparse.Namespace) -> Callable[[int], str]:
    """Return what makes text i, the same whenever it is asked for."""
    corpus = SyntheticCorpus.of("exam", arguments.file)
    return lambda i: corpus.texts(i, 1)[0]


class Timed:
    """Decides texts that are made as they are needed."""

    def __init__(self, text: Callable[[int], str]) -> None:
        self._text = text
        self.engine = Engine(Settings())
        self.engine.begin(text)

    def decide(self, numbers: range) -> tuple[list[Decision], float]:
        """Decide a batch; return the decisions and the seconds without the making of texts."""
        texts = [self._text(i) for i in numbers]
        began = time.perf_counter()
        return self.engine.decide_batch(numbers, texts), time.perf_counter() - began


def worst(arguments: argparse.Namespace) -> None:
    """Print the slowest batch of each hostile collection, beside the mean of ordinary ones."""
    text = maker(arguments)
    base = np.mean(_batches(text, 20_000))
    print(f"ordinary: {base:.1f} us a document on average")
    for name, (make, n) in hostile(arguments).items():
        times = _batches(make, n)
        print(
            f"{name:24} {n:8,} documents: mean {np.mean(times):8.1f} us "
            f"({np.mean(times) / base:.1f} times), slowest batch {max(times):9.1f} us "
            f"({max(times) / base:.1f} times)",
            flush=True,
        )
    long = "".join(map(text, range(40_000)))[:3_500_000]
    engine = Timed(lambda i: long if i < 2 else text(i))
    engine.decide(range(2, 3))
    for what in ("first", "again"):
        taken = engine.decide(range(1) if what == "first" else range(1, 2))[1]
        size = len(long.encode())
        print(f"one of {size:,} bytes, {what}: {taken:.2f} s, {taken / size * 1e9:.1f} us a KB")


def hostile(arguments: argparse.Namespace) -> dict[str, tuple[Callable[[int], str], int]]:
    """Return makers of hostile texts, and how many of each to decide."""
    frame = next(text for text in map(maker(arguments), range(1, 999)) if 300 < len(text) < 400)

    def template(share: float) -> Callable[[int], str]:
        def make(i: int) -> str:
            rng = random.Random(i)
            other = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(len(frame)))
            cut = int(len(frame) * share)
            return frame[:cut] + other[cut:]

        return make

    def formula(i: int) -> str:
        rng = random.Random(i)
        parts = (rf"\frac{{{rng.randrange(99)}}}{{x^{rng.randrange(9)}}}" for _ in range(12))
        return "$" + "+".join(parts) + "$"

    return {
        "template, 0.65 alike": (template(0.79), 100_000),
        "template, 0.90 alike": (template(0.95), 100_000),
        "equal": (lambda _: frame, 10_000),
        "formulas only": (formula, 100_000),
    }


def bank(arguments: argparse.Namespace) -> None:
    """Decide a bank of templates, and count what of its repetitions is joined."""
    made = template_bank(arguments.bank_size, arguments.bank_size // 100)
    engine = Timed(made.texts.__getitem__)
    engine.decide(range(WORST_BATCH))  # compiled
    engine = Timed(made.texts.__getitem__)
    before, seconds = psutil.Process().memory_info().rss, 0.0
    decisions: list[Decision] = []
    for start in range(0, len(made.texts), JOB_BATCH):
        numbers = range(start, min(start + JOB_BATCH, len(made.texts)))
        found, taken = engine.decide(numbers)
        decisions += found
        seconds += taken
        print(f"{numbers.stop:9,} {len(numbers) / taken:9,.0f} docs/s", flush=True)
    after = psutil.Process().memory_info().rss
    print(
        f"{len(made.texts) / seconds:,.0f} docs/s, {before / 1e6:,.0f} MB before, "
        f"{after / 1e6:,.0f} MB after"
    )
    for typo, name in ((False, "reformatted"), (True, "reformatted and mistyped")):
        due = [i for i, of in enumerate(made.of) if of >= 0 and made.typo[i] == typo]
        right = sum(_joined_to(decisions[i], made.of[i]) for i in due)
        print(f"{name}: {right:,} of {len(due):,} joined ({right / max(len(due), 1):.1%})")
    wrong = sum(
        isinstance(d, Duplicate) for d, of in zip(decisions, made.of, strict=True) if of < 0
    )
    print(f"other questions joined: {wrong:,}")


def _joined_to(decision: Decision, number: int) -> bool:
    return isinstance(decision, Duplicate) and number_of(decision.pair.of) == number


def _batches(make: Callable[[int], str], n: int) -> list[float]:
    """Decide n texts from nothing; return microseconds a document of each batch."""
    engine = Timed(make)
    engine.decide(range(WORST_BATCH))
    return [
        engine.decide(range(start, start + WORST_BATCH))[1] * 1e6 / WORST_BATCH
        for start in range(WORST_BATCH, n, WORST_BATCH)
    ]


def main() -> int:
    """Run the sections chosen."""
    parser = parser_of(__doc__)
    parser.add_argument("--file", type=Path, default=DATA / "exam_dev.jsonl.gz")
    parser.add_argument("--bank-size", type=count, default=100_000)
    return run_sections(parser, worst, bank)


if __name__ == "__main__":
    sys.exit(main())
