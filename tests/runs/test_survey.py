"""The pairs that a page shows: ten first, all others in groups, each once."""

from collections import Counter

from dedup_job.documents import Difference, Pair
from dedup_job.runs.decided import DUPLICATE, KEPT, Counts, DecidedDocument
from dedup_job.runs.run_record import About
from dedup_job.runs.survey import PairSample, Stratum, Survey

ABOUT = About("a.c", "a.b", {}, {}, dry_run=False)
GUARDS = ("number", "negation", "unit", "image")


def near(number, *kinds, richer=""):
    """Return a near duplicate."""
    differences = tuple(Difference(kind, "stem", "a", "b") for kind in kinds)
    more = (richer,) * bool(richer)
    pair = Pair(b"of%d" % number, 0, 0.9, (), differences=differences, richer=more)
    return of(number, DUPLICATE, "near", pair)


def apart(number, reason):
    """Return a kept document with the one that it was nearly joined with."""
    return of(number, KEPT, reason, Pair(b"of%d" % number, 0, 0.8, (), reason))


def of(number, decision, reason, pair):
    texts = {"text": f"text {number}", "other": f"other {number}"}
    return DecidedDocument(
        b"%d" % number, decision, reason, pair, id=f"{number}", of=f"of{number}", **texts
    )


def many_pairs():
    """Return a survey of pairs of all kinds, some of them drawn several times."""
    kinds = ("layout", "replaced", "inserted", "moved")
    random = [near(n, kinds[n % 4], richer="image" if n == 7 else "") for n in range(40)]
    extreme = [near(n, "replaced") for n in range(100, 112)]
    likely = [apart(n, "unlikely") for n in range(300, 312)]
    refused = [*likely[:3], *(apart(n, GUARDS[n % 4]) for n in range(400, 420))]
    both = (
        PairSample(extreme=extreme, random=random),
        PairSample(extreme=likely, random=refused),
    )
    return Survey(ABOUT, Counts(), near=both[0], refused=both[1])


def test_the_first_ten_are_the_narrowest_on_both_sides_and_one_of_each_kind():
    told = [(one.stratum, one.name, one.pairs[0].id) for one in many_pairs().first]
    assert told == [
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


def test_where_there_are_few_pairs_all_are_among_the_first():
    few = PairSample(extreme=[near(1, "layout"), near(2, "layout")])
    survey = Survey(ABOUT, Counts(), near=few)
    assert [one.pairs[0].id for one in survey.first] == ["1", "2"]
    assert survey.others_by_stratum == []


def test_of_what_was_decided_otherwise_since_nothing_is_shown():
    one, other = near(1), near(2)
    found = {one.key: apart(1, "number"), other.key: other}
    assert PairSample(extreme=[one, other, near(3)]).changed(found).extreme == [other]
