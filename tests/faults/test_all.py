"""Every fault, part by part: the long form, about 20 minutes, for `pytest -m faults` alone.

`python -m tests.faults` does the same and prints a table.
"""

from __future__ import annotations

import pytest

from tests.faults.__main__ import PARTS, rows


@pytest.mark.faults
@pytest.mark.parametrize("part", PARTS)
def test_every_fault_ends_as_it_should(part: str, pytestconfig: pytest.Config) -> None:
    for row in rows([part], pytestconfig.getoption("--scale")):
        assert row.good == row.times, row
