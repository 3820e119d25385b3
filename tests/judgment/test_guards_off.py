"""A model that switches a guard off: the judge leaves such pairs to the model."""

import json

import numpy as np

from dedup_job.fingerprint import load_lexicon
from dedup_job.judgment import APART, JOINED, UNLIKELY, Judge
from dedup_job.judgment.model import shipped_model
from scripts.make_docs import GUARD_EXAMPLES
from tests.judgment.forms import held_of, verdict

ROW = np.zeros(1, dtype=np.int64)
NAMES, NUMBERS = (GUARD_EXAMPLES[name]["zh"] for name in ("name", "number"))


def judge(folder, *off, confidence=0.95):
    file = folder / "model.json"
    file.write_text(json.dumps(json.loads(shipped_model()) | {"guards_off": off}), "utf-8")
    return Judge(load_lexicon(lambda _: None), confidence, file)


def apart(by, pair):
    said = verdict(*pair, by)
    return None if said["state"] == JOINED else APART[said["apart"]]


def test_only_the_guards_that_are_off_leave_it_to_the_model(tmp_path):
    usual, own = judge(tmp_path), judge(tmp_path, "name", confidence=1.0)
    assert (apart(usual, NAMES), apart(own, NAMES)) == ("name", UNLIKELY)
    assert apart(judge(tmp_path, "name", confidence=0.001), NAMES) is None
    assert apart(usual, NUMBERS) == apart(own, NUMBERS) == "number"


def test_what_is_told_of_a_pair_names_only_those_that_count(tmp_path):
    usual, own = judge(tmp_path), judge(tmp_path, "name")
    assert usual.weigh(*NAMES).guards == ("name",)
    assert own.weigh(*NAMES).guards == ()
    one, other = (by.explain(([NAMES[0]], ROW, [NAMES[1]], ROW))[0] for by in (usual, own))
    assert held_of(one["guards"][0]) == held_of(other["guards"][0]) == ["name"]
    assert one["features"].tolist() == other["features"].tolist()
