"""`dedup compare` decides as a run, and names the differences with their classes."""

from __future__ import annotations

import re

import pytest

from dedup_job.judgment import HARMLESS
from tests.running import invoke, refusal

TEXT = "某校共有学生120人，其中女生占一半，求男生的人数是多少？请写出解答过程并说明理由。"


def compared(a: str, b: str, **environment: str) -> str:
    """Return what is printed of two texts."""
    return invoke("compare", a, b, **environment).stdout


def classes(output: str) -> dict[str, str]:
    """Return the classes in the table of differences, each with whether it is harmless."""
    table = output[output.index("harmless") :]
    return dict(re.findall(r"^([a-z_]+) +(yes|no) ", table, re.M))


def test_the_same_question_with_a_number_before_it_is_a_duplicate() -> None:
    output = compared(TEXT, f"5．{TEXT}")
    found = classes(output)
    assert found
    assert set(found) <= set(HARMLESS)
    assert set(found.values()) == {"yes"}
    assert "differences: all harmless" in output
    assert output.rstrip().endswith("duplicates (near)")


def test_another_number_makes_another_question_of_that_class() -> None:
    output = compared(TEXT, TEXT.replace("120", "360"))
    (kind,) = [kind for kind, harmless in classes(output).items() if harmless == "no"]
    assert f"differences: not harmless: {kind}" in output
    assert output.rstrip().endswith(f"not duplicates: {kind}")


def test_where_similarity_decides_the_differences_are_named_all_the_same() -> None:
    output = compared(TEXT, TEXT.replace("120", "360"), DEDUP_DECISION__JUDGE="similarity")
    assert "no" in classes(output).values()
    assert "(the judge is off)" in output
    assert ", least 0.8" in output
    assert output.rstrip().endswith("duplicates (near)")


def test_equal_texts_have_no_differences() -> None:
    output = compared(TEXT, f"<p>{TEXT}</p>")
    assert "equal texts: duplicates (exact)" in output
    assert "harmless" not in output


def test_a_preset_may_be_named() -> None:
    output = invoke("compare", TEXT, TEXT.replace("120", "360"), "--config", "classic").stdout
    assert "(the judge is off)" in output


@pytest.mark.parametrize(
    ("texts", "skipped"), [(("", "<p></p>"), "A and B"), ((" ", "x"), "A"), (("正文", ""), "B")]
)
def test_what_a_run_skips_is_not_compared(texts: tuple[str, str], skipped: str) -> None:
    output = invoke("compare", *texts).stdout
    assert f"not compared: a run skips {skipped}, nothing is left after cleaning" in output
    assert "duplicates" not in output


def test_the_fingerprint_of_an_empty_text_is_said_to_be_of_no_use() -> None:
    assert "a run skips it: nothing is left" in invoke("fingerprint", "").stdout


def test_a_standard_input_without_end_is_refused() -> None:
    error = refusal("fingerprint", "-", stdin="正文" * (3 << 20))
    assert error.code == 2
    assert "more than 16 MiB" in str(error)
