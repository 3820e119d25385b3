"""Rate and memory over time, in few points."""

from __future__ import annotations

import itertools

from dedup_job.runs.series import LIMIT, Series


def test_a_point_is_taken_each_second_and_at_the_end() -> None:
    series = Series()
    for tenth in range(25):
        series.add(tenth / 10, tenth)
    series.add(2.45, 25, last=True)
    assert [(s, n) for s, n, _ in series.points] == [(0, 0), (1, 10), (2, 20), (2.45, 25)]
    assert all(memory > 1_000_000 for _, _, memory in series.points)


def test_a_long_run_keeps_few_points_that_lie_evenly() -> None:
    series = Series()
    for second in range(50_000):
        series.add(float(second), second * 10)
        assert len(series.points) <= LIMIT
    seconds = [s for s, _, _ in series.points]
    steps = {b - a for a, b in itertools.pairwise(seconds)}
    assert len(steps) == 1
    assert len(seconds) > LIMIT / 2
    assert seconds[0] == 0
    assert seconds[-1] > 49_000


def test_a_resumed_run_goes_on_as_one_that_was_never_stopped() -> None:
    whole, first = Series(), Series()
    for second in range(600):
        whole.add(float(second), second)
        first.add(float(second), second)
    resumed = Series([list(point) for point in first.points])
    for second in range(600, 2000):
        whole.add(float(second), second)
        resumed.add(float(second), second)
    assert [p[:2] for p in resumed.points] == [p[:2] for p in whole.points]
