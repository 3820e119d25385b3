"""The use cases: functions over settings that return values. They know no terminal.

A module is loaded when it is first used, since most need numpy and pymongo.
"""

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dedup_job.commands import in_memory as in_memory
    from dedup_job.commands import learn as learn
    from dedup_job.commands import look as look
    from dedup_job.commands import maintenance as maintenance
    from dedup_job.commands import review as review
    from dedup_job.commands import run as run


def __getattr__(name: str) -> Any:
    module = f"{__name__}.{name}"
    if find_spec(module) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(module)
