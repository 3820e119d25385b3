"""A better copy supersedes the kept one, as in the naive version, for any division into batches."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job.decision import greedy
from dedup_job.runs.decided import Counts
from tests.decision import test_agreement as agreement
from tests.decision.test_agreement import (
    OPTIONS,
    as_naive,
    channels_of,
    decider_of,
    key_of,
    number_of,
)
from tests.judging import verdict
from tests.reference.decision import NaiveFirstWins

small_pool = agreement.small_pool


@pytest.fixture(scope="module")
def drifting_pool():
    """Versions of a text that differ a little, each from the one before it."""
    text, other = ("".join(map(chr, range(start, start + 60))) for start in (0x4E00, 0x6E00))
    made = [other[: 2 * step] + text[2 * step :] for step in range(8)]
    made += [text + "".join(map(chr, range(0x5E00, 0x5E00 + 4 * step))) for step in range(1, 5)]
    return agreement.Pool(made * (agreement.TEXTS // len(made)))


def superseded(decisions):
    """Yield the row of the better copy, key, group and decision of each superseded document."""
    if decisions.superseded is not None:
        rows, keys, dropped = decisions.superseded
        yield from zip(rows.tolist(), keys.list(), dropped["group"], as_naive(dropped), strict=True)


def as_final(decision):
    """Return a decision without its candidates: they may have been superseded since."""
    return replace(decision, candidates=0, cut=0, void=frozenset())


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(agreement.runs(), OPTIONS, st.sampled_from([1, 2, 7, 1024]), st.integers(0, 5), st.randoms())
def test_the_kept_copies_are_those_of_the_naive_version(
    small_pool, drifting_pool, run, options, at_once, most, rng
):
    pool = rng.choice([small_pool, drifting_pool])
    rows, cuts, _ = run
    rising = rng.choice([0, 1])
    ranks = {n: rising * n + rng.randint(0, most) for n in range(len(rows))}
    naive = NaiveFirstWins(**options, verdict=verdict, ranks=ranks)
    decider = decider_of(options)
    decider.ranks = {key_of(n): bytes([rank]) for n, rank in ranks.items()}
    found, expected, groups, counts = {}, {}, {}, Counts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy, "PART", at_once)
        patch.setattr(greedy, "MEMORY", 0)
        patch.setattr(greedy, "MOST_CANDIDATES", options["most_candidates"])
        for start, stop in pairwise([0, *cuts, len(rows)]):
            batch = pool.batch(rows[start:stop], start, channels_of(options))
            own = [decider.ranks[key_of(n)] for n in range(start, stop)]
            decisions = decider.decide(replace(batch, ranks=own))
            found |= {n: as_final(one) for n, one in enumerate(as_naive(decisions), start)}
            for row, key, group, decision in superseded(decisions):
                assert decisions.kept[row]  # a copy that was superseded in turn is a duplicate
                by = decision.of - start
                assert by == row or decisions["superseded"][by]
                assert decisions["group"][row] == group == groups[key]
                number = number_of(key)
                assert found[number].of is None
                found[number] = as_final(decision)
            for n in range(start, stop):
                groups[key_of(n)] = int(decisions["group"][n - start])
                expected[n] = as_final(naive.decide(n, pool.naive[rows[n]]))
            expected |= naive.replaced
            assert found == expected
            counts += Counts.of(decisions)
            left = sum(one.of is None for one in expected.values())
            assert (counts.kept, counts.scanned) == (left, stop)
            assert counts.replaced == len(naive.replaced)
    for n, one in expected.items():  # all members of a group have its number
        assert one.of is None or groups[key_of(n)] == groups[key_of(one.of)]
    kept = {groups[key_of(n)]: n for n, one in expected.items() if one.of is None}
    assert {*decider.texts} == {*map(key_of, kept.values())}
    for n, row in enumerate(rows):  # no text is dropped in a group whose kept one it is unlike
        head, text = pool.naive[rows[kept[groups[key_of(n)]]]], pool.naive[row]
        assert text.text == head.text or naive.joins(head, text)
