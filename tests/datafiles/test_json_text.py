"""A line of JSON with another text is the same line otherwise, to the last character."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.datafiles.formats import with_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def replaced(value, path, text):
    """Return an object with another text at a path, by way of Python values."""
    if not path:
        return text
    return value | {path[0]: replaced(value[path[0]], path[1:], text)}


@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.lists(TEXTS, min_size=1, max_size=3), TEXTS,
       TEXTS, st.booleans(), st.sampled_from([None, 1]))  # fmt: skip
def test_the_value_is_what_python_would_make_of_it(rest, path, old, new, ascii_only, indent):
    inner = old
    for name in reversed(path):
        inner = {"before": 1.50, name: inner, **({} if name == "z" else {"z": [1e400, "}"]})}
    line = json.dumps(rest | inner, ensure_ascii=ascii_only, indent=indent)
    assert json.loads(with_text(line, path, new)) == replaced(json.loads(line), path, new)


def test_all_else_stays_as_it_is_written():
    line = '{"n": 1.50, "big": 12345678901234567890123, "x":"\\u4e2d" ,"text" :  "a" , "e":1E5}\r\n'
    assert with_text(line, ["text"], "中") == line.replace('"a"', '"中"')


def test_of_a_name_that_occurs_twice_the_last_one_counts():
    line = '{"text": "a", "text": "b"}'
    assert json.loads(with_text(line, ["text"], "c")) == {"text": "c"}
    assert '"a"' in with_text(line, ["text"], "c")


def test_a_path_that_is_not_there_is_refused():
    for line in ("{}", '{"a": 1}', "[1]"):
        with pytest.raises(ValueError, match="no "):
            with_text(line, ["text"], "c")
