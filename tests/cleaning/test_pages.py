"""Random pages of all that the notation knows: native code and oracle say the same.

The pages are those of tests/cleaning/pages.py. Of broken markup they hold elements that are left
open and closing tags of others, but no table within code, no blocks within media or readings, and
no style rules: there the oracle has no say of its own.
"""

from __future__ import annotations

import random

from dedup_job.cleaning import Cleaner
from tests.cleaning.oracle import clean
from tests.cleaning.pages import page

PAGES = 3000


def test_random_pages_are_cleaned_as_by_the_oracle():
    rng = random.Random(7)
    pages = [page(rng) for _ in range(PAGES)]
    native = Cleaner().clean_all(pages)
    unlike = [p for p, n in zip(pages, native, strict=True) if clean(p) != n]
    assert unlike == []


def test_random_pages_stay_as_they_are_when_cleaned_again():
    rng = random.Random(8)
    cleaner = Cleaner()
    once = cleaner.clean_all([page(rng) for _ in range(PAGES)])
    assert cleaner.clean_all(once) == once
