"""The use cases: functions over settings that return values. They know no terminal.

A module is loaded when it is first used, since most need numpy and pymongo.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dedup_job.commands import (
        check,
        demo,
        dry_survey,
        file,
        guide,
        inspect,
        learn,
        listing,
        restore,
        review,
        run,
        snapshots,
        status,
        survey,
    )

__all__ = [
    "check",
    "demo",
    "dry_survey",
    "file",
    "guide",
    "inspect",
    "learn",
    "listing",
    "restore",
    "review",
    "run",
    "snapshots",
    "status",
    "survey",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
