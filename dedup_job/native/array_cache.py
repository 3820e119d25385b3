"""Tables that take long to build, kept in files of the user's cache folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from numpy.typing import NDArray
from platformdirs import user_cache_path

from dedup_job.native.snapshot import NoSnapshotError, Pieces, SnapshotError, read, write

T = TypeVar("T")
Tables: TypeAlias = Mapping[str, NDArray[Any]]
"""Arrays by name."""
log = logging.getLogger("dedup")


def cache_file(name: str, digest: str) -> Path:
    """Return the file of tables that are made from the data digested."""
    return user_cache_path("dedup") / f"{name}-{digest}.arrays"


def kept_arrays(file: Path, made_of: Callable[[Tables], T], build: Callable[[], Tables]) -> T:
    """Return the object made of the tables in a file, which are built and kept if it has none.

    So they are where it is not as it was written: `made_of` raises ValueError or TypeError.
    """
    try:
        return made_of(dict(read(file).parts))
    except NoSnapshotError:
        pass
    except (SnapshotError, ValueError, TypeError) as e:
        log.warning("%s will be built anew: %s", file, e)
    tables = dict(build())
    try:
        write(file, {}, ((name, Pieces.of(table)) for name, table in tables.items()))
    except OSError as e:
        log.warning(
            "the dictionary's tables cannot be kept in %s (%s): every start builds them anew",
            file.parent,
            e.strerror,
        )
    return made_of(tables)
