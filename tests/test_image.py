"""The image: tables are made and used with the same variables."""

import re
from pathlib import Path

DOCKERFILE = (Path(__file__).parent.parent / "Dockerfile").read_text(encoding="utf-8")


def test_tables_are_made_and_used_with_the_same_variables():
    first, second = re.findall(r"^ENV (.*?[^\\])$", DOCKERFILE, re.M | re.S)
    made = set(first.replace("\\\n", " ").split())
    assert made <= {*second.replace("\\\n", " ").split()}
    assert any(value.startswith("XDG_CACHE_HOME=") for value in made)
