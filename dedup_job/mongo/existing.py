"""A target that a run wrote, found by its name alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bson

from dedup_job.errors import UsageError
from dedup_job.mongo import raw as bson_raw
from dedup_job.mongo.connection import Client, Namespace
from dedup_job.mongo.reading import majority
from dedup_job.mongo.rows import Form, KeptRows, OutputSettings
from dedup_job.mongo.state import State
from dedup_job.mongo.target import Target

_SUFFIX = ".state"


def open_target(
    client: Client, name: Namespace, output: OutputSettings, field: str, stamp: Mapping[str, Any]
) -> Target:
    """Return the target as its last run had it, with its own source; UsageError if there is none.

    Whether it was made with the settings of this stamp is not checked here: see Target.check.
    """
    state = State(client[name.database][f"{name.collection}{_SUFFIX}"], {}).read()
    if state is None:
        raise UsageError(_never_written(client, name))
    source = Namespace.parse(state["source"], None, "source")
    return Target(client, name, KeptRows(output.document, field), stamp, source)


def texts_of(
    target: Target, output: OutputSettings, field: str, keys: Sequence[bytes]
) -> dict[bytes, str]:
    """Return the stored texts of some documents by key; those that are gone are left out."""
    path = "ques" if output.document is Form.CLASSIC else field
    ids = [bson_raw.id_value(key) for key in keys]
    texts: dict[bytes, str] = {}
    for document in majority(target.documents).find({"_id": {"$in": ids}}, {path: 1}):
        raw = bytes(document.raw)
        value: Any = bson.decode(raw)
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, str):
            texts[bson_raw.id_element(raw)] = value
    return texts


def shown(key: bytes) -> str:
    """Return the `_id` that a key stands for as a person writes it."""
    return repr(bson_raw.id_value(key))


def _never_written(client: Client, name: Namespace) -> str:
    message = f"the target {name} does not exist: no dedup run ever wrote to it."
    found = client[name.database].list_collection_names(authorizedCollections=True)
    targets = sorted(c.removesuffix(_SUFFIX) for c in found if c.endswith(_SUFFIX))
    named = ", ".join(targets[:5]) or "none"
    return f"{message} Targets in {name.database}: {named}."
