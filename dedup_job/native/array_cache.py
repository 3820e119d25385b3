"""Arrays that take long to build, kept in files of the user's cache folder."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import xxhash
from numpy.lib.format import read_array, write_array
from numpy.typing import NDArray
from platformdirs import user_cache_path

from dedup_job.files import make_private, open_regular, replacing

T = TypeVar("T")
log = logging.getLogger("dedup")
_DIGEST_BYTES = 16
_MALFORMED = (ValueError, KeyError, TypeError, EOFError, MemoryError, RuntimeError)  # of numpy


def cache_file(name: str, digest: str) -> Path:
    """Return the place of arrays that are made from what was digested."""
    return user_cache_path("dedup") / f"{name}-{digest}.tables"


def read_arrays(file: Path, made_of: Callable[[list[NDArray[Any]]], T]) -> T | None:
    """Return what is made of the arrays in a file.

    None if it is not there or not as it was written: `made_of` raises ValueError or TypeError.
    """
    try:
        with open_regular(file) as opened:
            raw = opened.read()
        if xxhash.xxh3_128_digest(memoryview(raw)[_DIGEST_BYTES:]) != raw[:_DIGEST_BYTES]:
            raise ValueError("its checksum is another")
        stream = io.BytesIO(raw)  # one after the other: numpy's archive closes itself in a
        # finalizer, where the exception of a signal is lost but for a traceback on the screen
        arrays: list[NDArray[Any]] = []
        stream.seek(_DIGEST_BYTES)
        while stream.tell() < len(raw):
            arrays.append(np.asarray(read_array(stream, allow_pickle=False)))
        return made_of(arrays)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as e:
        why = e.strerror or "it cannot be read"
    except _MALFORMED as e:
        why = str(e)
    log.warning("%s is damaged and will be built anew: %s", file, why)
    return None


def write_arrays(file: Path, arrays: Iterable[NDArray[Any]]) -> None:
    """Keep arrays; where they cannot be kept, a warning says so."""
    stream = io.BytesIO()
    for array in arrays:
        write_array(stream, array, allow_pickle=False)
    data = stream.getvalue()
    try:
        make_private(file.parent)
        with replacing(file) as whole:
            whole.write(xxhash.xxh3_128_digest(data) + data)
    except OSError as e:
        log.warning(
            "the dictionary's tables cannot be kept in %s (%s): every start builds them anew",
            file.parent,
            e.strerror,
        )
