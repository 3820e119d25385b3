"""Run the command as a user does, in a process of its own, or in this one where that is enough."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from pymongo.database import Database
from typer.testing import CliRunner, Result

from dedup_job.cli import app
from dedup_job.commands.run import Request, Watch, run_job
from dedup_job.errors import DedupError
from dedup_job.report.progress import Log
from dedup_job.report.run import Report
from dedup_job.settings import load
from tests import forked

Documents = list[dict[str, Any]]


def uri_of(database: Database[dict[str, Any]]) -> str:
    """Return a URI for the server that a database lies on."""
    host, port = database.client.address  # type: ignore[misc]
    return f"mongodb://{host}:{port}/?directConnection=true"


def run_here(
    database: Database[dict[str, Any]],
    *,
    source: str = "source",
    target: str = "target",
    limit: int | None = None,
    dry_run: bool = False,
    yes: bool = True,
    **flags: Any,
) -> Report:
    """Run the job in this process; flags are settings by dotted name, `__` for the dot."""
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    settings = load({"connection.uri": uri_of(database), **dotted}).settings
    names = (f"{database.name}.{source}", f"{database.name}.{target}")
    return run_job(settings, Request(*names, limit=limit, dry_run=dry_run, yes=yes), Watch(Log()))


def dedup(
    *arguments: str, uri: str | None = None, timeout: float = 180, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `dedup` with arguments in a process of its own."""
    return forked.run(arguments, environment_for(uri, **environment), timeout)


def environment_for(uri: str | None, **more: str) -> dict[str, str]:
    """Return the environment of a child process."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("DEDUP_")}
    return {**own, **({"DEDUP_URI": uri} if uri else {}), **more}


def invoke(*arguments: str, stdin: str | None = None, **environment: str) -> Result:
    """Run a command that ends well in this process."""
    result = _invoke(arguments, stdin, environment)
    if result.exception is not None:
        raise result.exception
    return result


def refusal(*arguments: str, stdin: str | None = None, **environment: str) -> DedupError:
    """Run a command that is refused in this process; return the error."""
    result = _invoke(arguments, stdin, environment)
    assert isinstance(result.exception, DedupError), result.output
    return result.exception


def _invoke(arguments: tuple[str, ...], stdin: str | None, environment: dict[str, str]) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env={"COLUMNS": "200", **environment})


def outcome(
    database: Database[dict[str, Any]], target: str = "target"
) -> tuple[Documents, Documents]:
    """Return target and ledger, each in `_id` order."""
    return (
        list(database[target].find().sort("_id", 1)),
        list(database[f"{target}.ledger"].find().sort("_id", 1)),
    )


def assert_each_source_id_is_in_one_place(
    database: Database[dict[str, Any]], source: str = "source", target: str = "target"
) -> None:
    """Source ids = target ids + ledger ids, with no overlap."""
    from bson import encode

    def ids(name: str) -> list[bytes]:
        return [encode(row) for row in database[name].find({}, {"_id": 1})]

    kept, ledger = set(ids(target)), set(ids(f"{target}.ledger"))
    assert kept | ledger == set(ids(source))
    assert not kept & ledger
