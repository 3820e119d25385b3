"""Remove duplicate and near-duplicate documents from MongoDB collections.

The names below are the public API: the functions that the command line calls. Each is imported on
its first use:

>>> import dedup_job
>>> [o.decision for o in dedup_job.deduplicate(["水是生命之源。", "<p>水是生命之源。</p>"])]
['kept', 'duplicate']
"""

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dedup_job.commands.in_memory import Files, Outcome, deduplicate, deduplicate_file
    from dedup_job.commands.look import Inspected, inspect, list_documents, list_ids, sample_pairs
    from dedup_job.commands.maintenance import (
        Restored,
        check_target,
        restore,
        target_status,
        undo_run,
    )
    from dedup_job.commands.run import Request, Watch, run_job
    from dedup_job.documents import Difference, Pair
    from dedup_job.messages import (
        ConfigurationError,
        DatabaseUnreachable,
        DedupError,
        Interrupted,
        LeaseHeld,
        LeaseLost,
        RunAborted,
        StateMismatch,
        UsageError,
    )
    from dedup_job.mongo.rollback import Undone
    from dedup_job.runs.decided import DecidedDocument, ListFilter
    from dedup_job.runs.run_record import Callback, Progress, Run, Status
    from dedup_job.runs.status import Checked, TargetStatus
    from dedup_job.settings import Settings, load_settings

__version__ = "0.1.0"
_MODULES = {  # of each public name, read from the imports above, as lazy_loader reads a stub
    name.name: str(node.module)
    for node in ast.walk(ast.parse(Path(__file__).read_bytes()))
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{__name__}.")
    for name in node.names
}
__all__ = [*sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
