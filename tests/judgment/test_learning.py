"""Learning from labels: calibration, cross-validation, guards that are switched off."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from dedup_job import _core
from dedup_job.judgment import PAIR_FEATURES
from dedup_job.judgment import model as models
from dedup_job.judgment.features import GUARDS
from dedup_job.judgment.model import (
    FEATURE_NAMES,
    Labels,
    calibration,
    learn,
    logistic_fit,
    model_of,
    shipped_model,
    sigmoid,
)
from tests.judging import joined

NAME = 1 << [*GUARDS].index("name")
NUMBER = 1 << [*GUARDS].index("number")
NOW = 0.95


@dataclass(frozen=True)
class LabelCounts:
    """Numbers of labelled pairs to generate."""

    same: int
    different: int

    def labels(self, guards=None):
        """Return random labelled pairs; guards: of pairs labelled same, then of different ones."""
        chance = np.random.default_rng(1)
        n = self.same + self.different
        same = np.arange(n) < self.same
        found = np.zeros(n, dtype=PAIR_FEATURES)
        found["features"] = chance.random((n, len(FEATURE_NAMES)))
        found["guards"] = 0 if guards is None else guards
        return Labels(found, same, np.arange(n)).take(chance.permutation(n))


def model(learnt):
    """Return the model read from the document that was learnt."""
    return model_of(json.dumps(learnt.document), "learnt")


def probabilities(model, labels):
    return model.evaluate(labels.found["features"], labels.found["kind"])[1]


def test_few_labels_change_the_calibration_and_that_by_little():
    labels = LabelCounts(3, 3).labels()
    learnt = learn(labels, NOW, [])
    assert learnt.confidence == NOW
    before = probabilities(model_of(shipped_model(), "shipped"), labels)
    assert np.abs(probabilities(model(learnt), labels) - before).max() < 0.2


def test_labels_that_follow_the_scores_spread_the_probabilities():
    labels = LabelCounts(200, 200).labels()
    shipped = model_of(shipped_model(), "shipped")
    scores = shipped.evaluate(labels.found["features"], labels.found["kind"])[0]
    labels = labels._replace(same=scores > np.median(scores))
    learnt = learn(labels, NOW, [])
    before, after = (probabilities(of, labels) for of in (shipped, model(learnt)))
    gap = [scores[labels.same].mean() - scores[~labels.same].mean() for scores in (before, after)]
    assert gap[1] > gap[0] + 0.3
    assert learnt.own.different.joined <= 1
    assert learnt.own.same.joined >= 180


def test_the_same_labels_give_the_same_file_and_the_shipped_one_stays():
    before = shipped_model()
    one, other = (learn(LabelCounts(40, 40).labels(), NOW, []).document for _ in range(2))
    assert json.dumps(one) == json.dumps(other)
    assert shipped_model() == before


def test_the_file_names_its_labels_and_can_be_read_again():
    learnt = learn(LabelCounts(40, 30).labels(), NOW, [{"bank": "x", "label": "S", "pairs": 40}])
    shipped = json.loads(shipped_model())
    *former, own = learnt.document["sources"]
    assert former == shipped["sources"]
    assert own["labels"] == [{"bank": "x", "label": "S", "pairs": 40}]
    assert own["confidence"] == learnt.confidence
    different, same = joined(model(learnt).kinds[0], learnt.confidence)
    assert (different, same) == (learnt.own.different, learnt.own.same)
    assert (different.of, same.of) == (30, 40)


@pytest.mark.parametrize(("named", "off"), [(25, ["name"]), (19, [])])
def test_a_guard_that_enough_labels_contradict_is_switched_off(named, off):
    guards = np.zeros(120, dtype=np.uint32)
    guards[:named] = NAME
    guards[100:] = NUMBER  # of different pairs
    learnt = learn(LabelCounts(60, 60).labels(guards), NOW, [])
    assert (learnt.off, model(learnt).guards_off) == (off, tuple(off))
    assert learnt.refused == ({} if off else {"name": named})


def test_a_guard_of_different_pairs_stays():
    guards = np.zeros(120, dtype=np.uint32)
    guards[:10] = guards[60:90] = NAME
    learnt = learn(LabelCounts(60, 60).labels(guards), NOW, [])
    assert (learnt.off, learnt.refused) == ([], {"name": 10})
    assert learnt.own.same.joined <= 50


def test_labels_of_one_text_are_left_out_together():
    labels = LabelCounts(60, 60).labels()._replace(groups=np.zeros(120, dtype=np.int64))
    sides = (labels.same, ~labels.same)
    one, other = (model(learn(labels._replace(same=same), NOW, [])).kinds[0] for same in sides)
    assert one.same.tolist() == other.different.tolist()
    assert one.different.tolist() == other.same.tolist()


def test_a_file_of_many_labels_keeps_a_sample_of_them(monkeypatch):
    monkeypatch.setattr(models, "_LEFT_OUT", 20)
    learnt = learn(LabelCounts(60, 60).labels(), NOW, [])
    different, same = joined(model(learnt).kinds[0], 0.0)
    assert (different.of, same.of) == (20, 20)
    shares = [one.joined / one.of for one in joined(model(learnt).kinds[0], learnt.confidence)]
    own = (learnt.own.different, learnt.own.same)
    assert shares == pytest.approx([one.joined / one.of for one in own], abs=0.06)


def test_equal_pairs_are_joined_and_change_no_model():
    labels = LabelCounts(40, 40).labels()
    labels.found["equal"] = labels.same & (np.cumsum(labels.same) <= 30)
    learnt = learn(labels, NOW, [])
    assert learnt.own.same.joined >= 25


@pytest.mark.parametrize(
    ("different", "least"),
    [
        ([0.2, 0.3, 0.9], NOW),  # too few to lower it
        ([*[0.3] * 30, 0.6, 0.9], NOW),  # still too few
        ([*[0.3] * 200, 0.6, 0.9], 0.601),  # one of 202 may be joined
        ([*[0.0] * 400, *[0.3] * 30, 0.7, 0.8, 0.9], 0.701),  # two of 433
        ([*[0.3] * 30, 1.0, 1.0], 1.0),
        ([*[0.1] * 250], 0.5),
    ],
)
def test_the_confidence_found_joins_hardly_any_different_pair(different, least):
    scores = np.array([*different, 0.99])
    found = np.zeros(len(scores), dtype=PAIR_FEATURES)
    labels = Labels(found, np.arange(len(scores)) == len(different), scores)
    assert models._best_confidence(scores, labels, NOW) == least


def test_the_weights_of_features_add_up_to_the_score():
    labels = LabelCounts(60, 60).labels()
    found = json.loads(shipped_model())["kinds"]["question"]["trees"]
    trees = model_of(shipped_model(), "x").kinds[0].trees
    (score,), _, weights = _core.evaluate(trees, labels.found["features"][0])
    start = sum(found["value"][int(root)] for root in found["roots"])
    assert start + weights.sum() == pytest.approx(score)


def test_the_logistic_curve_finds_slope_and_shift_and_never_falls():
    chance = np.random.default_rng(1)
    scores = chance.normal(size=20_000) * 3
    same = chance.random(20_000) < sigmoid(1.5 * scores - 0.5)
    slope, shift = logistic_fit(scores, same)
    assert (slope, shift) == pytest.approx((1.5, -0.5), abs=0.1)
    assert logistic_fit(-scores, same)[0] == 0
    apart = np.array([-1.0, 1.0])
    assert np.isfinite(logistic_fit(apart * 1000, apart > 0)).all()
    curve = calibration(slope, shift, scores)
    assert curve["probabilities"] == sorted(curve["probabilities"])
