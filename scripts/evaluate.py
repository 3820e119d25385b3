"""How often the decisions are wrong, against an exact comparison of all pairs; no MongoDB.

    python scripts/evaluate.py FILE.jsonl.gz ... [--field text] [--config C.toml]
        [--set fingerprint.top_k=50 ...] [--compare "name: fingerprint.ngram=0 ..." ...]

One row for each file with the settings of --config and --set ("base"), and one for each
--compare, which changes them further. Documents are decided in the order of the file, those
without text are left out. Texts are as alike as their sets of character 3-grams, without white
space (Jaccard).

innocents: dropped, although no kept document is alike by 0.5.
due: dropped by an engine that knows all pairs and drops each document that an earlier kept
one is alike by 0.7, 0.8, 0.9.
left: kept, although an earlier kept document is alike by so much.
seconds: fingerprints and decisions, one thread.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent.parent))

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.compiled import native
from dedup_job.decision import FirstWins
from dedup_job.documents import Batch, Document, Kept
from dedup_job.errors import ConfigurationError
from dedup_job.fingerprint import Fingerprinter
from dedup_job.settings import Settings, load

THRESHOLDS = (0.7, 0.8, 0.9)
INNOCENT = 0.5
BATCH = 1000
_POINT_BITS = np.uint64(21)  # three code points make a 3-gram of 63 bits: no hash, no collision


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of n texts alike by INNOCENT or more: earlier[i] < later[i], later ascending."""

    n: int
    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    similarity: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one file with one setting; due and left by threshold."""

    documents: int
    kept: int
    innocents: int
    due: tuple[int, ...]
    left: tuple[int, ...]
    seconds: float


def ngrams(text: str) -> NDArray[np.uint64]:
    """Return the distinct 3-grams of a text without white space; a shorter text is its own."""
    packed = "".join(text.split()).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(packed, dtype=np.uint32).astype(np.uint64) + np.uint64(1)
    if len(points) < 3:
        points = np.concatenate([points, np.zeros(3 - len(points), dtype=np.uint64)])
    return np.unique(
        points[:-2] << (_POINT_BITS + _POINT_BITS) | points[1:-1] << _POINT_BITS | points[2:]
    )


def exhaustive_pairs(texts: Sequence[str]) -> Pairs:
    """Compare each text with all earlier ones that share a 3-gram."""
    sets = [ngrams(text) for text in texts]
    offsets = np.zeros(len(sets) + 1, dtype=np.int64)
    np.cumsum([len(s) for s in sets], out=offsets[1:])
    _, grams = np.unique(np.concatenate([*sets, np.empty(0, np.uint64)]), return_inverse=True)
    later, earlier, similarity = _join(grams.astype(np.int64), offsets, INNOCENT)
    return Pairs(len(sets), later, earlier, similarity)


@native
def _join(
    grams: NDArray[np.int64], offsets: NDArray[np.int64], least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Count common grams over an inverted index; set i is grams[offsets[i]:offsets[i + 1]]."""
    n, kinds = offsets.shape[0] - 1, np.int64(0)
    for gram in grams:
        kinds = max(kinds, gram + 1)
    start = np.zeros(kinds + 1, dtype=np.int64)  # of each gram's sets in `holders`
    for gram in grams:
        start[gram + 1] += 1
    for gram in range(kinds):
        start[gram + 1] += start[gram]
    end = start[:-1].copy()
    holders = np.empty(grams.shape[0], dtype=np.int64)
    common = np.zeros(n, dtype=np.int64)
    later, earlier, similarity = [], [], []
    for i in range(n):
        size = offsets[i + 1] - offsets[i]
        for gram in grams[offsets[i] : offsets[i + 1]]:
            for place in range(start[gram], end[gram]):
                common[holders[place]] += 1
            holders[end[gram]] = i
            end[gram] += 1
        for j in range(i):
            if common[j] > 0:
                alike = common[j] / (size + offsets[j + 1] - offsets[j] - common[j])
                if alike >= least:
                    later.append(i)
                    earlier.append(j)
                    similarity.append(alike)
                common[j] = 0
    return np.array(later, np.int64), np.array(earlier, np.int64), np.array(similarity, np.float64)


def perfect(pairs: Pairs, threshold: float) -> NDArray[np.bool_]:
    """Return which documents an exact first-wins keeps."""
    kept = np.ones(pairs.n, dtype=np.bool_)
    close = pairs.similarity >= threshold
    for later, earlier in zip(pairs.later[close], pairs.earlier[close], strict=True):
        if kept[earlier]:
            kept[later] = False
    return kept


def count_left(pairs: Pairs, kept: NDArray[np.bool_], threshold: float) -> int:
    """Count the kept documents that an earlier kept one is alike."""
    close = (pairs.similarity >= threshold) & kept[pairs.later] & kept[pairs.earlier]
    return len(np.unique(pairs.later[close]))


def count_innocents(pairs: Pairs, kept: NDArray[np.bool_]) -> int:
    """Count the dropped documents that no kept one, earlier or later, is alike."""
    alike = np.zeros(pairs.n, dtype=np.bool_)
    alike[pairs.later[kept[pairs.earlier]]] = True
    alike[pairs.earlier[kept[pairs.later]]] = True
    return int(np.count_nonzero(~kept & ~alike))


def decide(texts: Sequence[str], settings: Settings) -> tuple[NDArray[np.bool_], float]:
    """Return which texts the engine keeps, and the seconds it took."""
    fingerprinter = Fingerprinter(settings.fingerprint)
    fingerprinter.fingerprint([""])  # loads the native code
    begin = time.perf_counter()
    engine = FirstWins(settings.index)
    kept: list[bool] = []
    for at in range(0, len(texts), BATCH):
        part = texts[at : at + BATCH]
        documents = tuple(Document(at + i, b"", b"", text) for i, text in enumerate(part))
        decisions = engine.decide(Batch(documents, fingerprinter.fingerprint(part)))
        kept += [isinstance(decision, Kept) for decision in decisions]
    return np.array(kept, dtype=np.bool_), time.perf_counter() - begin


def evaluate(texts: Sequence[str], pairs: Pairs, settings: Settings) -> Row:
    """Decide clean texts and judge the decisions."""
    kept, seconds = decide(texts, settings)
    due = tuple(int(np.count_nonzero(~perfect(pairs, t))) for t in THRESHOLDS)
    left = tuple(count_left(pairs, kept, t) for t in THRESHOLDS)
    return Row(len(texts), int(kept.sum()), count_innocents(pairs, kept), due, left, seconds)


def read(file: Path, field: str, cleaning: CleaningSettings) -> list[str]:
    """Return the clean texts of a file, in its order, without the empty ones."""
    cleaner = Cleaner(cleaning)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        values = [json.loads(line).get(field) for line in lines]
    return [text for value in values if isinstance(value, str) and (text := cleaner.clean(value))]


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


def line(file: Path, name: str, width: int, row: Row) -> str:
    """Return an aligned line."""
    dues = "".join(f"{due:9,}{left:7,}" for due, left in zip(row.due, row.left, strict=True))
    return (
        f"{file.name.partition('.')[0]:18} {name:{width}} {row.documents:9,}{row.kept:8,}"
        f"{row.documents - row.kept:9,}{row.innocents:10,} {dues}{row.seconds:9.2f}"
    )


def main() -> int:
    """Print a row for each file and setting."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--field", default="text")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.NAME=VALUE")
    parser.add_argument("--compare", action="append", default=[], metavar="NAME: CHANGES")
    arguments = parser.parse_args()
    try:
        named = settings_of(arguments)
    except ConfigurationError as e:
        parser.error(str(e))
    width = max(map(len, named))
    dues = "".join(f"{f'due {t}':>9}{'left':>7}" for t in THRESHOLDS)
    print(f"{'file':18} {'':{width}} documents    kept  dropped innocents {dues}  seconds")
    for file in arguments.files:
        prepared = functools.cache(functools.partial(_prepare, file, arguments.field))
        for name, settings in named.items():
            texts, pairs = prepared(settings.cleaning)
            print(line(file, name, width, evaluate(texts, pairs, settings)), flush=True)
    return 0


def _prepare(file: Path, field: str, cleaning: CleaningSettings) -> tuple[list[str], Pairs]:
    texts = read(file, field, cleaning)
    return texts, exhaustive_pairs(texts)


if __name__ == "__main__":
    sys.exit(main())
