"""What `deduplicate` decided, as a notebook shows it: counts, rates, and pairs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dedup_job.commands.in_memory import COLUMNS, Outcome
from dedup_job.documents import Pair, Reason
from dedup_job.errors import UsageError
from dedup_job.messages import LANGUAGES, counted
from dedup_job.pages.cell import cell
from dedup_job.printing import on_one_line
from dedup_job.report.labels import measured
from dedup_job.runs.counts import Counts
from dedup_job.runs.decided import DUPLICATE, KEPT, DecidedDocument

_TABLES = {  # of each library, what names the columns, and what makes a list of one
    "pandas": ("columns", "tolist"),
    "polars": ("columns", "to_list"),
    "pyarrow": ("column_names", "to_pylist"),
}
_EXPECTED = "give the table or the outcomes that deduplicate returned"


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """The value of a notebook's cell: HTML there, a line of text elsewhere."""

    html: str
    line: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.line


def show(decided: Any, label: Any = None, *, first: int = 5, language: str = "en") -> Shown:
    """Show what `deduplicate` gave: counts, rates and the first duplicates beside the kept texts.

    Near duplicates come before exact ones. decided: the whole table, or the outcomes of an
    iterable. label: of one text, which is shown alone; of a table without an index it is the number
    of the row. language: `en` or `zh`. Raises UsageError for a label that no text has, or several.
    """
    if language not in LANGUAGES:
        raise UsageError(f"language is {language!r}; expected {' or '.join(LANGUAGES)}.")
    result = _Result(_columns(decided))
    if label is not None:
        one = result.document(result.row_of(label))
        return Shown(cell([one], None, language), _line_of(one))
    counts = result.counts()
    duplicates = [result.document(row) for row in result.duplicates()[:first]]
    return Shown(cell(duplicates, counts, language), _line_of_all(counts))


class _Result:
    """The columns of a result."""

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self._columns = columns

    def counts(self) -> Counts:
        """Count the decisions."""
        number = Counter(self._columns["decision"])
        exact = self._columns["reason"].count(Reason.EXACT)
        return Counts(
            kept=number[KEPT],
            exact=exact,
            near=number[DUPLICATE] - exact,
            skipped=number["skipped"],
            quarantined=number["quarantined"],
        )

    def duplicates(self) -> list[int]:
        """Return the rows of the duplicates, near ones first: equal texts tell less."""
        reasons = self._columns["reason"]
        rows = [row for row, name in enumerate(self._columns["decision"]) if name == DUPLICATE]
        return sorted(rows, key=lambda row: reasons[row] == Reason.EXACT)

    def row_of(self, label: Any) -> int:
        """Return the row with a label."""
        rows = [row for row, each in enumerate(self._columns["id"]) if each == label]
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise UsageError(f"{len(rows)} texts have the label {label!r}; give each its own.")
        raise UsageError(f"no text has the label {label!r}; give the whole of what was decided.")

    def document(self, row: int) -> DecidedDocument:
        """Return a text and, of a duplicate, the kept one."""
        one = {name: values[row] for name, values in self._columns.items()}
        pair = Pair(b"", 0, _number(one["similarity"]), (), probability=_number(one["probability"]))
        document = DecidedDocument(
            b"",
            decision=one["decision"],
            reason=_text(one["reason"]),
            pair=pair,
            id=str(one["id"]),
            text=_text(one["text"]),
        )
        if one["decision"] != DUPLICATE:
            return document
        other = self._columns["text"][self.row_of(one["of"])]
        return replace(document, of=str(one["of"]), other=_text(other))


def _columns(decided: Any) -> dict[str, list[Any]]:
    """Return a result as lists by the names of an outcome."""
    library = type(decided).__module__.partition(".")[0]
    if library not in _TABLES:
        return _columns_of_outcomes(decided)
    names, as_list = _TABLES[library]
    if absent := [name for name in COLUMNS if name not in getattr(decided, names, ())]:
        raise UsageError(f"there is no column {absent[0]!r}; {_EXPECTED}.")
    labels = decided.index.tolist() if library == "pandas" else [*range(len(decided))]
    return {"id": labels} | {name: getattr(decided[name], as_list)() for name in COLUMNS}


def _columns_of_outcomes(decided: Any) -> dict[str, list[Any]]:
    outcomes = [*decided] if isinstance(decided, Iterable) else [decided]
    if strange := [one for one in outcomes if not isinstance(one, Outcome)]:
        raise UsageError(f"there is a {type(strange[0]).__name__}; {_EXPECTED}.")
    return {name: [getattr(one, name) for one in outcomes] for name in ("id", *COLUMNS)}


def _text(value: Any) -> str:
    """Return a text; a table that was read from a file has NaN for an empty one."""
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    """Return a measure; pandas has NaN where there is none."""
    return None if value is None or value != value else float(value)


def _line_of(one: DecidedDocument) -> str:
    """Return what became of a text, on a line."""
    measures = {"similarity": one.pair.similarity, "probability": one.pair.probability}
    words = [one.reason, *(f"{k} {measured(v)}" for k, v in measures.items() if v is not None)]
    of = f" of {on_one_line(one.of)}" if one.of else ""
    return f"{on_one_line(one.id)}: {one.decision}{of}, {', '.join(words)}".rstrip(", ")


def _line_of_all(counts: Counts) -> str:
    """Return the counts on a line."""
    return (
        f"{counted(counts.scanned, 'text')}: {counts.kept:,} kept, "
        f"{counts.exact:,} exact and {counts.near:,} near duplicates ({counts.repeat_rate:.2%})"
    )
