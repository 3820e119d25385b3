"""A sample of pairs: half at the boundary, the same ones for the same seed."""

import random
from types import SimpleNamespace

import pytest
from bson import Int64

from dedup_job.mongo import id_keys
from dedup_job.mongo.reading import Reader
from dedup_job.mongo.sampling import Sampler
from dedup_job.runs.decided import ListFilter
from dedup_job.runs.survey import review_sample


@pytest.fixture
def filled(database):
    """Return a target of 100 documents that were kept apart, with 200 near duplicates."""
    chance = random.Random(4)

    def bits():
        return Int64(chance.getrandbits(64) - (1 << 63))

    def near(i):
        row = {"_id": i, "decision": "duplicate", "reason": "near", "of": -i - 1, "digest": bits()}
        differences = [{"class": ("moved", "replaced")[i % 2]}]
        return {**row, "similarity": 0.5, "probability": i / 200, "differences": differences}

    def kept(i):  # a guard counts for none
        refused = {"of": i, "class": ("unlikely", "number")[i % 2], "probability": i / 100}
        dedup = {"refused": {"similarity": 0.5, **refused}, "fingerprint": bits()}
        return {"_id": f"k{i}", "dedup": dedup}

    exact = {"reason": "exact", "of": 1, "similarity": 0.0}
    database["target.ledger"].insert_many([*map(near, range(200)), *({**exact} for _ in range(9))])
    database.target.insert_many([*map(kept, range(100)), *({"dedup": {}} for _ in range(9))])
    return database


def sample_of(database, number, seed=0, *, has_runs=True):
    rows = SimpleNamespace(has_runs=has_runs, marks_only={"_id": 1, "dedup": 1})
    target = SimpleNamespace(reader=Reader, rows=rows)
    target.documents, target.ledger = database.target, database["target.ledger"]
    near, refused = (
        Sampler(target, ListFilter(what)).draw(seed, number, number) for what in ("near", "refused")
    )
    return review_sample(near, refused, number)


def ids(pairs):
    return [id_keys.id_value(pair.key) for pair in pairs]


def test_half_of_each_kind_lies_at_the_boundary_nearest_first(filled):
    pairs = sample_of(filled, 40)
    assert len(pairs) == len({pair.keys for pair in pairs}) == 40
    assert [pair.decision for pair in pairs] == ["duplicate", "kept"] * 20
    assert ids(pairs[:20:2]) == [*range(10)]
    assert ids(pairs[1:20:2]) == [f"k{i}" for i in range(98, 78, -2)]
    assert {pair.reason for pair in pairs[21:25:2]} == {"unlikely", "number"}
    assert [id_keys.id_value(one.pair.of) for one in pairs[:4:2]] == [-1, -2]
    assert pairs[1].pair.probability == 0.98


def test_the_same_seed_draws_the_same_pairs_and_another_one_others(filled):
    assert sample_of(filled, 40, 7) == sample_of(filled, 40, 7)
    assert {*ids(sample_of(filled, 40, 7))} != {*ids(sample_of(filled, 40, 8))}


def test_pairs_missing_of_one_kind_are_drawn_of_the_other(filled):
    filled.target.delete_many({"_id": {"$nin": ["k1", "k2"]}})
    found = [pair.decision for pair in sample_of(filled, 40)]
    assert (found.count("duplicate"), found.count("kept")) == (38, 2)
    filled["target.ledger"].delete_many({"_id": {"$gt": 2}})
    found = [pair.decision for pair in sample_of(filled, 40)]
    assert (found.count("duplicate"), found.count("kept")) == (3, 2)


def test_the_random_half_is_spread_over_all(filled):
    chosen = [i for i in ids(sample_of(filled, 60, 3)[30:]) if isinstance(i, int)]
    assert max(chosen) > 150
    assert min(chosen) < 60


def test_a_form_that_has_no_place_for_refusals_gives_near_duplicates_only(filled):
    assert {pair.decision for pair in sample_of(filled, 40, has_runs=False)} == {"duplicate"}


@pytest.mark.parametrize("seed", [0, 5 * 1_073_741_814, 2**63 - 1])
def test_any_seed_draws_and_a_digest_of_another_type_does_no_harm(filled, seed):
    filled["target.ledger"].update_one({"_id": 7}, {"$set": {"digest": "x"}})
    assert len(sample_of(filled, 40, seed)) == 40
