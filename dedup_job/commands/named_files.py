"""The files and folders that settings name, looked at before a run needs them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from dedup_job.errors import ConfigurationError, UsageError
from dedup_job.judgment.model import load_model
from dedup_job.messages import Message
from dedup_job.settings import Settings


def check_files(settings: Settings) -> None:
    """Check that each file can be read and has its form; ConfigurationError lists the problems."""
    problems = [
        *_of_connection(settings),
        *_of_index(settings),
        *_of_judge(settings),
    ]
    if problems:
        raise ConfigurationError(problems)


def _of_connection(settings: Settings) -> Iterator[str]:
    try:
        settings.connection.connection_string()
    except UsageError as e:
        name = "uri_file" if settings.connection.uri_file else "uri"
        yield Message("{where}: {problem}", where=f"connection.{name}", problem=e.message)


def _of_index(settings: Settings) -> Iterator[str]:
    folder = settings.index.folder
    if folder is None:
        return
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not there.is_dir():
        yield Message(
            "index.folder: {folder} cannot be made: {there} is a file; name a folder",
            folder=folder,
            there=there,
        )
    elif not os.access(there, os.W_OK):
        yield Message(
            "index.folder: {folder} cannot be written to; name a folder of this user's own",
            folder=folder,
        )


def _of_judge(settings: Settings) -> Iterator[str]:
    try:
        load_model(settings.decision.model)
    except ConfigurationError as e:
        for problem in e.problems:
            yield Message("{where}: {problem}", where="decision.model", problem=problem)
