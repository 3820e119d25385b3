"""The use cases: functions over settings that return values. They know no terminal.

A module is loaded when it is first used, since most need numpy and pymongo.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dedup_job.commands import in_memory, learn, look, maintenance, review, run

__all__ = ["in_memory", "learn", "look", "maintenance", "review", "run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
