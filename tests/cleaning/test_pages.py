"""Random pages of all that the notation knows: the core and the oracle say the same.

The pages are those of tests/cleaning/pages.py. Of broken markup they hold elements that are left
open and closing tags of others, but no table within code, no blocks within media or readings, and
no style rules: there the oracle has no say of its own.
"""

import random

import pytest

from dedup_job.cleaning import Cleaner
from tests.cleaning.oracle import clean
from tests.cleaning.pages import page


@pytest.mark.parametrize("count", [3000, pytest.param(50_000, marks=pytest.mark.thorough)])
def test_random_pages_are_cleaned_as_by_the_oracle(count):
    rng, cleaner = random.Random(count), Cleaner()
    pages = [page(rng) for _ in range(count)]
    found = cleaner.clean_all(pages)
    unlike = [p for p, n in zip(pages, found, strict=True) if clean(p) != n]
    assert unlike == []
