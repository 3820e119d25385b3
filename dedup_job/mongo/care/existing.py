"""A target that a run wrote, found by its name alone."""

from __future__ import annotations

from typing import Any

from dedup_job.errors import UsageError
from dedup_job.mongo.care.rollback import finish_undo
from dedup_job.mongo.connection import Client, Namespace
from dedup_job.mongo.patience import NO_PATIENCE, Patience
from dedup_job.mongo.state.document import State
from dedup_job.mongo.target import Form, Target

_SUFFIX = ".state"


def open_target(
    client: Client,
    name: Namespace,
    form: Form,
    patience: Patience = NO_PATIENCE,
    *,
    as_made: bool = False,
) -> Target:
    """Return the target as its last run had it, with its own source; UsageError if there is none.

    Whether it was made with the settings of this stamp is not checked here: see Target.check.
    """
    _, state = state_of(client, name)
    source = Namespace.parse(state["source"], None, "source")
    return Target(client, name, form, source, finish_undo, patience, as_made=as_made)


def state_of(client: Client, name: Namespace) -> tuple[State, dict[str, Any]]:
    """Return a target's state, and what it says now; UsageError if no run ever wrote to it."""
    state = State(client[name.database][f"{name.collection}{_SUFFIX}"], {})
    found = state.read()
    if found is None:
        raise UsageError(_never_written(client, name))
    return state, found


def _never_written(client: Client, name: Namespace) -> str:
    found = client[name.database].list_collection_names(authorizedCollections=True)
    exists = "exists, but" if name.collection in found else "does not exist:"
    message = f"the target {name} {exists} no dedup run ever wrote to it."
    targets = sorted(c.removesuffix(_SUFFIX) for c in found if c.endswith(_SUFFIX))
    named = ", ".join(targets[:5]) or "none"
    return f"{message} Targets in {name.database}: {named}."
