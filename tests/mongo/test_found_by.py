"""The channels of a pair are those of its two texts, however often a run was interrupted."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job.demo import make_corpus
from tests.deciding import BY_SIMILARITY
from tests.proving import good
from tests.running import run_here

Db = Database[dict[str, Any]]


def near_variants(count: int, seed: int) -> list[str]:
    """Return texts of the demo and near versions of them, in any order."""
    rng = random.Random(seed)
    made = [d["text"] for d in make_corpus(count, seed=seed) if d["kind"] == "original"]
    for text in rng.choices(made, k=2 * count):
        at = rng.randrange(len(text))
        made.append(text[:at] + rng.choice("的了在。") + text[at + rng.randint(0, 1) :])
    rng.shuffle(made)
    return made


def decided(database: Db) -> int:
    """Return how many documents are decided."""
    return sum(database[name].count_documents({}) for name in ("target", "target.ledger"))


def found_by(database: Db) -> dict[int, tuple[Any, ...]]:
    """Return what the ledger says of the pair of each duplicate."""
    rows = database["target.ledger"].find({"decision": "duplicate"})
    return {row["_id"]: (row["of"], row["found_by"]) for row in rows}


@pytest.mark.standalone
@pytest.mark.parametrize(
    "flags",
    [{"output__keep": ["longest"]}, {"output__keep": ["newest:_id"], **BY_SIMILARITY}],
    ids=["longest", "newest, by similarity"],
)
def test_interruptions_change_no_channel(any_database: Db, tmp_path: Path, flags: dict[str, Any]):
    rng, texts = random.Random(4), near_variants(200, seed=6)
    any_database.source.insert_many({"_id": n, "text": text} for n, text in enumerate(texts))
    run_here(any_database, **flags)
    whole = found_by(any_database)
    for name in ("target", "target.ledger", "target.runs", "target.state"):
        any_database.drop_collection(name)
    while decided(any_database) < len(texts):
        folder = tmp_path / rng.choice(["index", str(rng.random())])  # of a snapshot, or of none
        batch = rng.choice([7, 50, 1000])
        more = {"index__folder": folder, "run__batch_documents": batch}
        run_here(any_database, limit=rng.randint(40, 200), **flags, **more)
    assert {by for _, names in whole.values() for by in names} >= {"text", "simhash", "minhash"}
    assert found_by(any_database) == whole
    assert good(any_database, tmp_path, "--all") == {}
