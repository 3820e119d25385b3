"""Remove duplicate and near-duplicate documents from MongoDB collections.

The names below are the public API: the functions that the command line calls. Each is imported on
its first use:

>>> import dedup_job
>>> [o.decision for o in dedup_job.deduplicate(["水是生命之源。", "<p>水是生命之源。</p>"])]
['kept', 'duplicate']
"""

import importlib
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
    from dedup_job.commands.run import Request, RunCallbacks, run_job
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
    from dedup_job.mongo.undoing import Undone
    from dedup_job.runs.decided import DecidedDocument, ListFilter
    from dedup_job.runs.run_record import Callback, Progress, Run, Status
    from dedup_job.runs.status import Checked, TargetStatus
    from dedup_job.settings import Settings, load_settings

__version__ = "0.1.0"
_HOMES = {  # the public names of each module
    "commands.in_memory": "Files Outcome deduplicate deduplicate_file",
    "commands.look": "Inspected inspect list_documents list_ids sample_pairs",
    "commands.maintenance": "Restored check_target restore target_status undo_run",
    "commands.run": "Request RunCallbacks run_job",
    "documents": "Difference Pair",
    "messages": "ConfigurationError DatabaseUnreachable DedupError Interrupted LeaseHeld LeaseLost "
    "RunAborted StateMismatch UsageError",
    "mongo.undoing": "Undone",
    "runs.decided": "DecidedDocument ListFilter",
    "runs.run_record": "Callback Progress Run Status",
    "runs.status": "Checked TargetStatus",
    "settings": "Settings load_settings",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [*sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
