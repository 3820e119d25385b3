"""The judge finds in real pairs what golden files record: parts, differences, features, guards.

`WRITE_GOLDEN=1 pytest tests/judgment/test_golden.py` writes the files again; read their changes.
"""

import os
import re
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import opencc
import pytest

from benchmarks.pairs.score import read_pairs
from dedup_job.cleaning import Cleaner
from dedup_job.judgment import PARTS
from dedup_job.judgment.model import FEATURE_NAMES, KINDS
from tests.judgment.forms import check_pairs, held_of, judge, sketched
from tests.judgment.test_pairs import pairs as altered_pairs
from tests.reference.form import fold

FOLDER = Path(__file__).parent / "golden"
EVERY = 60  # of the pairs that are recorded in full


@cache
def labelled():
    """Return the labelled pairs, cleaned: number and label, text, other text."""
    rows = read_pairs()
    texts = Cleaner().clean_all([row[side] for row in rows for side in "ab"])
    names = [f"{k} {row['label']}" for k, row in enumerate(rows)]
    return list(zip(names, texts[::2], texts[1::2], strict=True))


def explained(pairs):
    one, other = (judge().parsed([*side]) for side in zip(*pairs, strict=True))
    rows = np.arange(len(pairs))
    return judge().explain((one, rows, other, rows))


def nonzero(found):
    named = zip(FEATURE_NAMES, found["features"].tolist(), strict=True)
    return " ".join(f"{name}={value:.6g}" for name, value in named if value)


def line_of(name, found, differences):
    """Return the verdict of a pair in one line, with a checksum of features and differences."""
    guards = ",".join(held_of(found["guards"])) or "-"
    rest = zlib.crc32(f"{nonzero(found)} {differences}".encode("utf-8", "surrogatepass"))
    return f"{name} {KINDS[found['kind']]} {found['probability']:.3f} {guards} {rest:08x}"


def block_of(name, text, other, found, differences):
    """Return a pair in full: the parts of either text, differences, features."""
    yield line_of(name, found, differences)
    yield f"  features {nonzero(found)}"
    for side in (text, other):
        (parts,) = judge().parsed([side]).parts()
        for part, value in zip((*PARTS, "images", "han"), parts, strict=True):
            if value not in ("", [], True, False):
                yield f"  {part} {value!r}"
    for one in differences:
        yield f"  {one.kind} {one.place} {one.of!r} -> {one.text!r}"


def check_golden(name, lines):
    file, found = FOLDER / name, "\n".join(lines) + "\n"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(found, "utf-8")
    assert found == file.read_text("utf-8")


def test_verdicts_on_labelled_pairs_are_as_recorded():
    found, differences = explained([pair for _, *pair in labelled()])
    names = [name for name, *_ in labelled()]
    check_golden("verdicts.txt", map(line_of, names, found, differences))


def test_verdicts_on_altered_questions_are_as_recorded():
    pairs = [*altered_pairs()]
    names = [f"altered {k}" for k in range(len(pairs))]
    check_golden("altered.txt", map(line_of, names, *explained(pairs)))


def test_parts_differences_and_features_of_real_pairs_are_as_recorded():
    some = [pair for pair in labelled() if max(map(len, pair)) < 500][::EVERY]
    found, differences = explained([pair for _, *pair in some])
    blocks = map(block_of, *zip(*some, strict=True), found, differences)
    check_golden("pairs.txt", [line for block in blocks for line in block])


def test_real_pairs_have_the_features_of_the_reference_in_both_orders():
    check_pairs([(text[:1500], other[:1500]) for _, text, other in labelled()[:: EVERY // 2]])


HAN = [chr(c) for c in range(0x4E00, 0xA000)]
HONG_KONG = dict(zip(HAN, opencc.OpenCC("s2hk").convert("\n".join(HAN)).split("\n"), strict=True))
TRADITIONAL = str.maketrans({c: t for c, t in HONG_KONG.items() if fold(t) == c})
WIDE = str.maketrans({chr(c): chr(c + 0xFEE0) for c in map(ord, "0123456789,.;:?!()")})
NOTATIONS = {
    "full width": lambda text: text.translate(WIDE),
    "traditional characters": lambda text: text.translate(TRADITIONAL),
    "a number before it": lambda text: f"12. {text}",
    "white space before it": lambda text: f"\n {text}",
    "wide spaces": lambda text: text.replace(" ", "\u3000"),
    "points": lambda text: f"（5分）{text}",
}


@pytest.mark.parametrize("written", NOTATIONS.values(), ids=NOTATIONS)
def test_notation_changes_no_canonical_text_of_real_questions(written):
    texts = [text for _, text, _ in labelled() if re.match(r"[\u4e00-\u9fff][^a-zA-Z]*\Z", text)]
    assert len(texts) > 500
    assert sketched([*map(written, texts)], judge().core) == sketched(texts, judge().core)
