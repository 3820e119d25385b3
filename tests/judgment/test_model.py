"""Files of models: evaluation, and checks before use."""

import copy
import json
import re
from importlib.resources import files

import numpy as np
import pytest

from dedup_job import _core
from dedup_job.decision import CONFIDENCE
from dedup_job.judgment.model import (
    FEATURE_NAMES,
    KINDS,
    MOST_BYTES,
    kind_json,
    load_model,
    model_json,
    model_of,
)
from dedup_job.messages import ConfigurationError, UsageError
from tests.judging import joined

NODES = {
    "feature": [0, -1, -1],
    "threshold": [0.5, 0.0, 0.0],
    "left": [1, 0, 0],
    "right": [2, 0, 0],
    "value": [0.0, 2.0, -2.0],
    "roots": [0],
    "scores": [-2.0, 2.0],
    "probabilities": [0.1, 0.9],
}


def document():
    left_out = {"different": [0.1, 0.2], "same": [0.5, 0.9]}
    return model_json({kind: kind_json({**copy.deepcopy(NODES), **left_out}) for kind in KINDS}, [])


def refusal(text):
    with pytest.raises(ConfigurationError) as raised:
        model_of(text if isinstance(text, str) else json.dumps(text), "given")
    (problem,) = raised.value.problems
    assert problem.startswith("the model given cannot be used: ")
    return problem


def test_trees_give_scores_probabilities_and_weights():
    model = model_of(json.dumps(changed(calibration__probabilities=[0.2, 0.8])), "given")
    rows = np.zeros((3, len(FEATURE_NAMES)))
    rows[1, 0] = 1
    scores, probabilities = model.evaluate(rows, np.array([0, 0, 2], np.uint8))
    assert scores.tolist() == [2, -2, 2]
    assert probabilities.tolist() == [0.8, 0.2, 0.9]
    assert _core.evaluate(model.kinds[0].trees, rows[1])[2][0] == -2


def test_the_confidence_decides_how_many_labelled_pairs_are_joined():
    for kind in model_of(json.dumps(document()), "given").kinds:
        assert joined(kind, 0.2) == ((1, 2), (2, 2))
        assert joined(kind, 0.95) == ((0, 2), (0, 2))


def test_the_shipped_model_is_small_and_joins_few_different_pairs():
    counts = [joined(kind, CONFIDENCE)[0] for kind in load_model(None).kinds]
    assert sum(joined for joined, _ in counts) <= 0.007 * sum(different for _, different in counts)
    assert files("dedup_job.judgment").joinpath("model.json").stat().st_size <= 300_000


def changed(**parts):
    """Return a model document with replaced values; `section__key`: of its first kind of text."""
    made = document()
    for name, value in parts.items():
        section, _, key = name.partition("__")
        part = made if section in made else made["kinds"][KINDS[0]]
        if key:
            part[section][key] = value
        else:
            part[section] = value
    return made


def chain(depth):
    """Return nodes that lead left to the next one and right to a leaf of their own."""
    zeros = [0.0] * (2 * depth + 1)
    return NODES | {
        "feature": [0] * depth + [-1] * (depth + 1),
        "threshold": zeros,
        "left": [*range(1, depth + 1), *[0] * (depth + 1)],
        "right": [*range(depth + 1, 2 * depth + 1), *[0] * (depth + 1)],
        "value": zeros,
    }


HOSTILE = {
    "deep trees": (changed(trees=chain(65)), "damaged"),
    "two parents": (changed(trees__right=[1, 0, 0]), "damaged"),  # else too many paths to walk
    "no JSON": ("{", "no JSON"),
    "deep": ("[" * 100_000, "no JSON"),
    "a list": ("[]", "no model"),
    "another format": (changed(format="x"), "no model"),
    "another version": (changed(version=1), "version 1"),
    "a kind gone": (changed(kinds={}), "damaged"),
    "a long version": (changed(version="9" * 99), "version 99999999999999999999,"),
    "other features": (changed(features=["a"]), "other features"),
    "a list gone": (changed(trees=[]), "damaged"),
    "a text": (changed(trees__value=[0.0, "1", 2.0]), "damaged"),
    "a truth": (changed(trees__left=[True, 0, 0]), "damaged"),
    "a fraction": (changed(trees__left=[1.5, 0, 0]), "damaged"),
    "too large": (changed(trees__left=[2**40, 0, 0]), "damaged"),
    "NaN": (json.dumps(changed(trees__value=[0.0, float("nan"), 0.0])), "no JSON"),
    "infinite": (changed(trees__threshold=[1e999, 0.0, 0.0]), "no JSON|damaged"),
    "a cycle": (changed(trees__left=[0, 0, 0]), "damaged"),
    "another length": (changed(trees__left=[1]), "damaged"),
    "no such feature": (changed(trees__feature=[999, -1, -1]), "damaged"),
    "no root": (changed(trees__roots=[3]), "damaged"),
    "a falling curve": (changed(calibration__probabilities=[0.9, 0.1]), "damaged"),
    "falling scores": (changed(calibration__scores=[2.0, -2.0]), "damaged"),
    "left out falls": (changed(left_out__same=[0.9, 0.1]), "damaged"),
    "left out beyond": (changed(left_out__different=[0.1, 1.2]), "damaged"),
    "no such guard": (changed(guards_off=["x"]), "damaged"),
}


@pytest.mark.parametrize(("text", "why"), HOSTILE.values(), ids=HOSTILE)
def test_a_damaged_or_hostile_model_is_refused_with_a_reason(text, why):
    assert re.search(why, refusal(text))


def test_a_tree_of_the_greatest_depth_is_accepted():
    assert model_of(json.dumps(changed(trees=chain(64))), "given")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(" " * (MOST_BYTES + 1))
    with pytest.raises(UsageError, match="more than 1 MiB"):
        load_model(file)
