"""Arrays that take long to build, kept in files of the user's cache folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from dedup_job.native.snapshot import NoSnapshotError, SnapshotError, read, write

T = TypeVar("T")
log = logging.getLogger("dedup")


def cache_file(name: str, digest: str) -> Path:
    """Return the place of arrays that are made from what was digested."""
    return user_cache_path("dedup") / f"{name}-{digest}.arrays"


def kept_arrays(
    file: Path,
    made_of: Callable[[list[NDArray[Any]]], T],
    build: Callable[[], Iterable[NDArray[Any]]],
) -> T:
    """Return what is made of the arrays in a file, which are built and kept where it has none.

    So they are where it is not as it was written: `made_of` raises ValueError or TypeError.
    """
    try:
        return made_of([*read(file).parts.values()])
    except NoSnapshotError:
        pass
    except (SnapshotError, ValueError, TypeError) as e:
        log.warning("%s will be built anew: %s", file, e)
    arrays = [*build()]
    try:
        write(file, ((f"{n}", np.ascontiguousarray(array)) for n, array in enumerate(arrays)))
    except OSError as e:
        log.warning(
            "the dictionary's tables cannot be kept in %s (%s): every start builds them anew",
            file.parent,
            e.strerror,
        )
    return made_of(arrays)
