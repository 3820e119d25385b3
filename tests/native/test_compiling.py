"""Native code: what is linked into a function, and how it reads arrays."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inner, jit_no_refcount


@inner
def steps(values: NDArray[np.int64], n: int, not_used: NDArray[np.float64]) -> int:
    """Halve n until nothing is left; a recursion is not put into its caller."""
    if n == 0:
        return 0
    return steps(values, n // 2, not_used) + int(values[n % 2])


@jit_no_refcount
def count_steps(values: NDArray[np.int64], n: int, not_used: NDArray[np.float64]) -> int:
    """Call it as the package's functions do."""
    return steps(values, n, not_used)


@jit_no_refcount
def ends(values: NDArray[np.int64], square: NDArray[np.int64], n: int) -> tuple[int, int, int, int]:
    """Read and write by indexes from either end."""
    values[-1] += 1
    square[n, -1] = 7
    return values[n], values[-1], square[-1, n], square[n, -1]


def test_a_function_linked_into_two_others_keeps_its_arguments_in_each() -> None:
    """LLVM drops an argument of the first copy; the second must not call that one."""
    ours = "import numba, numpy as np, tests.native.test_compiling as t; "
    theirs = (
        "plain = numba.njit(_nrt=False)(lambda v, n, f: t.steps(v, n, f)); "
        "a = np.array([10, 1]), 9, np.zeros(3); print(t.count_steps(*a), plain(*a))"
    )
    run = subprocess.run(
        [sys.executable, "-c", ours + theirs], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (0, "22 22\n"), run.stderr


@jit_no_refcount
def item(values: NDArray[np.int64], at: int) -> int:
    """Read by an index that is known at run time."""
    return int(values[at])


def test_other_indexes_are_not_tested_for_those_below_0() -> None:
    """One below 0 is what lies before the array, here in the array that it is a part of."""
    assert item(np.arange(9)[4:], -1) == 3


def test_written_indexes_below_0_count_from_the_end() -> None:
    values, square = np.arange(3), np.arange(9).reshape(3, 3)
    assert ends(values, square, 1) == (1, 3, 7, 7)
