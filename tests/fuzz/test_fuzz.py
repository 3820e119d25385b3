"""No content of a database or a file ends the process or gets a wrong answer.

Inputs are made out of seeds by the target's name, a number and the turn alone. A batch is in a file
of `.pytest_cache/d/fuzz` while it runs, so it is there when a sanitizer ends the process; one that
fails stays, and `--fuzz-again FILE` tries it once more.
"""

import ast
import itertools
import random
import time
from pathlib import Path

import pytest

from tests.fuzz.targets import LONGEST, TARGETS

BATCH = 24
RANGES = ((0, 0x80), (0, 0x3100), (0x4E00, 0xA000), (0xD7F0, 0xE010), (0, 0x110000))


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_does_harm(name, pytestconfig):
    seconds, number, file = map(pytestconfig.getoption, ("--fuzz", "--fuzz-number", "--fuzz-again"))
    check, seeds_of, words = TARGETS[name]
    if file is not None:
        if Path(file).name.startswith(name):
            check(ast.literal_eval(Path(file).read_text()))
        return
    if seconds is None:
        seconds = 60 if pytestconfig.getoption("--thorough") else 0.5
    seeds, folder, began = seeds_of(), pytestconfig.cache.mkdir("fuzz"), time.monotonic()
    for turn in itertools.count(1):
        rng, file = random.Random(f"{name} {number} {turn}"), folder / f"{name}-{number}-{turn}.txt"
        try_all(check, [changed(rng, seeds, words) for _ in range(BATCH)], file)
        file.unlink()
        if time.monotonic() - began >= seconds:
            print(f"{turn * BATCH:,} inputs")  # noqa: T201  # for -rP
            return


def try_all(check, batch, file):
    """Check a batch; if it fails, write its smallest failing part to a file: AssertionError."""
    file.write_text(ascii(batch))
    try:
        check(batch)
    except Exception as e:
        for one in batch if len(batch) > 1 else ():
            try_all(check, [one], file)
        file.write_text(ascii(batch))
        raise AssertionError(f"what is in {file} fails: {e!r}") from e


def changed(rng, seeds, words):
    """Return one of the seed inputs with random changes, mostly few; words: to insert."""
    one = rng.choice(seeds)
    for _ in range(rng.randrange(1 + rng.choice((1, 3, 6)))):
        start, stop = sorted(rng.choices(range(len(one) + 1), k=2))
        stop = min(stop, start + rng.choice((4, LONGEST)))
        donor, at = rng.choice(seeds), rng.randrange(LONGEST)
        is_text = isinstance(one, str)
        letter = chr(rng.randrange(*rng.choice(RANGES))) if is_text else rng.randbytes(1)
        pieces = letter, rng.choice(words), one[start:stop] * rng.choice((0, 2, 30))
        piece = rng.choice((*pieces, donor[at % (len(donor) + 1) :][:40]))
        rest = rng.choice((one[start + len(piece) :], one[start:], one[stop:], one[stop:], one[:0]))
        one = (one[:start] + piece + rest)[:LONGEST]
    return one
