"""What `T.state` and `T.runs` hold, checked whenever it is read: anybody may have changed it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from dedup_job.errors import StateMismatch
from dedup_job.report.counts import Counts
from dedup_job.report.run import Checkpoint, Status

FORMAT = 1
LEDGER_ROW = "ledger_row"  # of T.runs: the row that a person took out of the ledger
BY_HAND = (str(Status.RESTORED), str(Status.REOPENED))
_MOST = 2**53  # more than anything is counted to
_ID = re.compile(r"[0-9a-f]{32}")  # it names a file
_ABSENT = object()


def check_state(state: Mapping[str, Any], name: str) -> None:
    """Raise StateMismatch unless the state is of this format, with all that is needed of it.

    name: the collection that holds it.
    """
    if state.get("format") != FORMAT:
        raise StateMismatch(
            f"{name} is of format {state.get('format')!r}, this version of dedup knows {FORMAT}: "
            "another version wrote it, or someone changed it. Use the version that wrote it; "
            "nothing was written."
        )
    wrong = [key for key, fits in _FIELDS.items() if not fits(state.get(key, _ABSENT))]
    if wrong:
        raise StateMismatch(
            f"{name} is not as dedup writes it: {', '.join(wrong)}. Someone changed it. Put it "
            "back as it was, from a backup, or name another --target; nothing was written."
        )


def check_run(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a row of `T.runs`; StateMismatch unless it has all that is needed of it.

    name: the collection that holds it.
    """
    wrong = [key for key, fits in _RUN_FIELDS.items() if not fits(row.get(key, _ABSENT))]
    if row.get("status") in BY_HAND and not _is_ledger_row(row.get(LEDGER_ROW)):
        wrong.append(LEDGER_ROW)
    if wrong:
        raise StateMismatch(
            f"row {row.get('_id')!r} of {name} is not as dedup writes it: {', '.join(wrong)}. "
            "Someone changed it, or added it. Put it back as it was, from a backup, or remove it "
            "if no run wrote it; nothing was written."
        )
    return row


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _is_number(value: Any) -> bool:
    return _is_count(value) or (isinstance(value, float) and value >= 0)


def _is_absent(value: Any) -> bool:
    return value is None or value is _ABSENT


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime)


def _are_counts(value: Any) -> bool:
    try:
        Counts.from_dict(value)
    except (KeyError, TypeError, AttributeError, ValueError):
        return False
    return _are_numbers(value)


def _are_numbers(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_are_numbers, value.values()))
    return all(map(_is_number, value)) if isinstance(value, list) else _is_number(value)


def _is_query(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and "." in value


def _is_checkpoint(value: Any) -> bool:
    if not isinstance(value, Mapping) or not _are_counts(value.get("counts")):
        return False
    try:
        found = Checkpoint.from_dict(value)
    except (KeyError, TypeError, AttributeError, ValueError):
        return False
    limit, is_time = found.scope.limit, _is_time(value["started"])
    fits = _is_count(found.run) and _is_number(found.seconds) and isinstance(found.finished, bool)
    return fits and is_time and _is_query(found.scope.query) and (limit is None or _is_count(limit))


def _are_settings(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(value.get(name, {}), Mapping) for name in _SECTIONS
    )


def _is_ledger_row(value: Any) -> bool:
    return isinstance(value, Mapping) and "_id" in value and _is_count(value.get("run"))


def _is_lease(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        fits(value[name]) for name, fits in _LEASE_FIELDS.items() if name in value
    )


_SECTIONS = ("source", "cleaning", "fingerprint", "index", "decision", "output", "ledger")
_LEASE_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "pid": _is_count,
    "process_started": lambda value: isinstance(value, int | float),
    "since": _is_time,
    "expires": _is_time,
}
_RUN_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "_id": _is_count,
    "status": lambda value: value in [*map(str, Status)],
    "source": _is_name,
    "started": _is_time,
    "query": _is_query,
    "limit": lambda value: value is None or _is_count(value),
    "settings": _are_settings,
    "counts": _are_counts,
    "seconds": _is_number,
    "left": lambda value: value is _ABSENT or _is_count(value),
}
_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "id": _is_id,
    "generation": _is_count,
    "source": _is_name,
    "settings": _are_settings,
    "token": _is_count,
    "lease": lambda value: value is None or _is_lease(value),
    "checkpoint": lambda value: value is None or _is_checkpoint(value),
    "intent": lambda value: value is None or isinstance(value, list),
    "undo": lambda value: _is_absent(value) or _is_count(value),
    "last_run": lambda value: _is_absent(value) or _is_count(value),
}
