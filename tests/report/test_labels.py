"""How alike a pair is, in digits that tell it from a limit."""

import pytest

from dedup_job.report.pairs import measured


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (1.0, 0.94, "1.000"),
        (0.99996, 0.94, "0.999"),
        (0.93996, 0.94, "0.939"),
        (0.94, 0.94, "0.940"),
        (0.89999, 0.9, "0.899"),
        (0.94371, 0.9437, "0.9437"),
        (0.9436, 0.9437, "0.943"),
        (1e-9, 0.0, "0.000"),
    ],
)
def test_a_measure_stands_on_the_side_of_the_limit_where_it_is(value, limit, shown):
    assert measured(value, limit) == shown
