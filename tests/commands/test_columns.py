"""`deduplicate` of a column gives a table of the same library."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dedup_job

TEXTS = [
    "<p>水是生命之源，地球上的生命离不开水。</p>",
    None,
    "水是生命之源，地球上的生命离不开水。",
    "",
]
CLEANED = [TEXTS[2], "", TEXTS[2], ""]
COLUMNS = {
    "pandas": pd.Series(TEXTS),
    "pandas of objects": pd.Series(TEXTS, dtype=object),
    "pandas of arrow": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "polars": pl.Series(TEXTS),
    "arrow": pa.array(TEXTS),
    "arrow in chunks": pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
}


def rows(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    if isinstance(table, pd.DataFrame):
        return [
            {name: None if pd.isna(value) else value for name, value in row.items()}
            for row in table.to_dict("records")
        ]
    return table.to_dicts() if isinstance(table, pl.DataFrame) else table.to_pylist()


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_the_table_says_what_the_outcomes_say(column: Any):
    table = dedup_job.deduplicate(column)
    assert type(table).__module__.partition(".")[0] == type(column).__module__.partition(".")[0]
    names = ("decision", "of", "reason", "similarity", "probability", "text")
    outcomes = dedup_job.deduplicate(TEXTS)
    assert rows(table) == [{name: getattr(one, name) for name in names} for one in outcomes]
    assert [row["text"] for row in rows(table)] == CLEANED


def test_a_kept_text_is_named_by_the_label_of_its_row():
    column = pd.Series(TEXTS, index=["a", "b", "c", "d"])
    table = dedup_job.deduplicate(column)
    assert table.index.equals(column.index)
    assert table.loc["c", "of"] == "a"


@pytest.mark.parametrize(
    "column", [pd.Series([1, 2]), pl.Series([1, 2]), pa.array(["a"]).cast("binary")]
)
def test_a_column_of_something_else_is_refused(column: Any):
    with pytest.raises(dedup_job.UsageError, match="text 0 is"):
        [*dedup_job.deduplicate(column)]


def test_labels_that_are_numbers_stay_numbers():
    large = 2**60 + 1
    table = dedup_job.deduplicate(pd.Series(["水是生命之源", "水是生命之源"], index=[large, 5]))
    assert table.loc[5, "of"] == large
    assert isinstance(table.loc[5, "of"], int)


def test_a_table_has_the_same_types_without_rows():
    for empty, one in [
        (pl.Series([], dtype=pl.String), pl.Series(["水"])),
        (pa.array([], pa.string()), pa.array(["水"])),
    ]:
        assert dedup_job.deduplicate(empty).schema == dedup_job.deduplicate(one).schema


@pytest.mark.parametrize("table", [pd.DataFrame({"a": TEXTS}), pl.DataFrame({"a": TEXTS}),
                                   pa.table({"a": TEXTS})])  # fmt: skip
def test_a_whole_table_is_refused(table: Any):
    with pytest.raises(dedup_job.UsageError, match="give the column"):
        dedup_job.deduplicate(table)
