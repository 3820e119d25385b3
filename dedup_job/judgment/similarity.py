"""How alike two texts are, 0 to 1, without their white space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.native.code_points import TextColumn


def jaccard(
    left: TextColumn, left_rows: NDArray[np.int64], right: TextColumn, right_rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the Jaccard similarity of text left_rows[i] of left and right_rows[i] of right.

    left_rows, right_rows: int64 (c,); the result is float64 (c,): the distinct character 3-grams
    that both have, of those that either has. A text of one or two characters is its only gram;
    two texts without characters are alike by 1, one such and another by 0. White space is what
    str.isspace says it is. The value is the quotient of two whole numbers, rounded once.

    The grams of a left text are used for all pairs that follow with the same one.
    """
    return _core.jaccard(left.utf8(), left_rows, right.utf8(), right_rows)
