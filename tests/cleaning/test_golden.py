"""Recorded pages: each file of golden/ holds pages and their clean texts.

A page of a kind of site is `*.html`, and its clean text beside it. pages.txt holds made pages and
their clean texts in pairs of lines: short ones that together run each branch of the core that
random pages run, and some longer ones. elements.txt groups the elements by how they are cleaned:
those of a group give the same clean text in each way of writing them.

`WRITE_GOLDEN=1 pytest tests/cleaning/test_golden.py` writes the clean texts again; read the diff.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from dedup_job._core import ELEMENTS
from dedup_job.cleaning import Cleaner

FOLDER = Path(__file__).parent / "golden"
PAGES = [json.loads(line) for line in (FOLDER / "pages.txt").read_text("utf-8").splitlines()[::2]]
FORMS = "a<{0}>b</{0}>c", "a<{0}>b", "a<{0}/>b", "a<{0} x=y>b<{0} x=y>c", "a</{0}>b"


def check(name, found):
    """Assert that a golden file holds these contents, or write them to it."""
    file = FOLDER / name
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(found, "utf-8")
    assert found == file.read_text("utf-8")


def line_of(value):
    """Return a value as a line of JSON in which every character is visible."""
    line = json.dumps(value, ensure_ascii=False)
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line) + "\n"


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.html")), ids=lambda page: page.stem)
def test_pages_of_sites(page):
    check(f"{page.stem}.txt", Cleaner().clean(page.read_text("utf-8")) + "\n")


def test_made_pages():
    pairs = zip(PAGES, Cleaner().clean_all(PAGES), strict=True)
    check("pages.txt", "".join(line_of(raw) + line_of(clean) for raw, clean in pairs))


def test_each_element():
    alike = defaultdict(list)
    for name in ELEMENTS:
        texts = Cleaner().clean_all([form.format(name) for form in FORMS])
        alike[tuple(text.replace(f"<{name}>", "<...>") for text in texts)].append(name)
    groups = (f"{' '.join(names)}\n{line_of(texts)}" for texts, names in sorted(alike.items()))
    check("elements.txt", "".join(groups))
