"""What `T.state` holds, checked whenever it is read: anybody may have changed it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from dedup_job.errors import StateMismatch
from dedup_job.report.run import Checkpoint

FORMAT = 1
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


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and "." in value


def _is_checkpoint(value: Any) -> bool:
    try:
        return _is_count(Checkpoint.from_dict(value).run)
    except (KeyError, TypeError, AttributeError, ValueError):
        return False


_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "id": _is_id,
    "generation": _is_count,
    "source": _is_name,
    "settings": lambda value: isinstance(value, Mapping),
    "token": _is_count,
    "lease": lambda value: value is None or isinstance(value, Mapping),
    "checkpoint": lambda value: value is None or _is_checkpoint(value),
    "intent": lambda value: value is None or isinstance(value, list),
}
