"""The pairs of a page: ten first, all others by stratum, each once; confidence intervals."""

import math
from collections import Counter

import pytest

from dedup_job.documents import Difference, Pair
from dedup_job.runs.decided import DUPLICATE, KEPT, Counts, DecidedDocument
from dedup_job.runs.run_record import About
from dedup_job.runs.survey import PairSample, Proportion, Stratum, Survey

ABOUT = About("a.c", "a.b", {}, {}, dry_run=False)
GUARDS = ("number", "negation", "unit", "image")


def near(number, *kinds, richer=""):
    differences = tuple(Difference(kind, "stem", "a", "b") for kind in kinds)
    more = (richer,) * bool(richer)
    pair = Pair(b"of%d" % number, 0, 0.9, (), differences=differences, richer=more)
    return document(number, DUPLICATE, "near", pair)


def apart(number, reason):
    return document(number, KEPT, reason, Pair(b"of%d" % number, 0, 0.8, (), reason))


def document(number, decision, reason, pair):
    texts = {"text": f"text {number}", "other": f"other {number}"}
    return DecidedDocument(
        b"%d" % number, decision, reason, pair, id=f"{number}", of=f"of{number}", **texts
    )


def many_pairs():
    """Return a survey of pairs of all kinds, some of them in several strata."""
    kinds = ("layout", "replaced", "inserted", "moved")
    random = [near(n, kinds[n % 4], richer="image" if n == 7 else "") for n in range(40)]
    extreme = [near(n, "replaced") for n in range(100, 112)]
    likely = [apart(n, "unlikely") for n in range(300, 312)]
    refused = [*likely[:3], *(apart(n, GUARDS[n % 4]) for n in range(400, 420))]
    joined = PairSample(extreme=extreme, random=random)
    return Survey(ABOUT, Counts(), near=joined, refused=PairSample(extreme=likely, random=refused))


def test_the_first_ten_pairs_are_nearest_to_the_threshold_or_one_of_each_kind():
    assert [(one.stratum, one.name, one.pairs[0].id) for one in many_pairs().first] == [
        (Stratum.LEAST_SIMILAR, "", "100"),
        (Stratum.MOST_SIMILAR, "", "300"),
        (Stratum.LEAST_SIMILAR, "", "101"),
        (Stratum.MOST_SIMILAR, "", "301"),
        (Stratum.CLASS, "layout", "0"),
        (Stratum.RICHER, "image", "7"),
        (Stratum.KEPT_APART, "number", "400"),
        (Stratum.CLASS, "inserted", "2"),
        (Stratum.KEPT_APART, "negation", "401"),
        (Stratum.KEPT_APART, "unit", "402"),
    ]


def test_each_pair_is_shown_once():
    survey = many_pairs()
    groups = [layer for _, layers in survey.others_by_stratum for layer in layers]
    shown = Counter(one.keys for layer in (*survey.first, *groups) for one in layer.pairs)
    assert {*shown.values()} == {1}
    assert {*shown} == {one.keys for layer in survey.layers for one in layer.pairs}
    strata = [stratum for stratum, _ in survey.others_by_stratum]
    assert len({*strata}) == len(strata)


def test_few_pairs_are_all_among_the_first():
    few = PairSample(extreme=[near(1, "layout"), near(2, "layout")])
    survey = Survey(ABOUT, Counts(), near=few)
    assert [one.pairs[0].id for one in survey.first] == ["1", "2"]
    assert survey.others_by_stratum == []


def test_pairs_that_are_missing_or_decided_otherwise_since_are_dropped():
    first, second, missing = (near(number) for number in (1, 2, 3))
    found = {first.key: apart(1, "number"), second.key: second}
    assert PairSample(extreme=[first, second, missing]).without_changed(found).extreme == [second]


@pytest.mark.parametrize(
    ("part", "whole", "interval"),
    [  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
        (0, 0, (0.0, 1.0)),
    ],
)
def test_the_confidence_interval_is_wilsons(part, whole, interval):
    assert Proportion(part, whole).interval == pytest.approx(interval, abs=5e-5)


def test_the_interval_stays_within_0_and_1_and_the_rate_of_nothing_is_nan():
    assert Proportion(5, 5).interval[1] == 1.0
    assert math.isnan(Proportion(0, 0).rate)
