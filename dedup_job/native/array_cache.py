"""Arrays that take long to build, kept in files of the user's cache folder.

A file is numpy's arrays one behind the other, each as in a file of its own, then a checksum. It is
mapped: a copy of it costs a short run more than all else that is done with it.
"""

from __future__ import annotations

import io
import logging
import math
import mmap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import xxhash
from numpy.lib.format import ARRAY_ALIGN, read_array_header_1_0, read_magic, write_array
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


def kept_arrays(
    file: Path,
    made_of: Callable[[list[NDArray[Any]]], T],
    build: Callable[[], Iterable[NDArray[Any]]],
) -> T:
    """Return what is made of the arrays in a file, which are built and kept where it has none.

    So they are where it is not as it was written: `made_of` raises ValueError or TypeError.
    """
    if (made := _read(file, made_of)) is not None:
        return made
    arrays = [*build()]
    _write(file, arrays)
    return made_of(arrays)


def _read(file: Path, made_of: Callable[[list[NDArray[Any]]], T]) -> T | None:
    try:
        with open_regular(file) as opened:  # it is only ever replaced, never written to
            mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        data = memoryview(mapped)
        if xxhash.xxh3_128_digest(data[:-_DIGEST_BYTES]) != data[-_DIGEST_BYTES:]:
            raise ValueError("its checksum is another")
        return made_of([*_views(mapped, len(data) - _DIGEST_BYTES)])
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as e:
        why = e.strerror or "it cannot be read"
    except _MALFORMED as e:
        why = str(e)
    log.warning("%s is damaged and will be built anew: %s", file, why)
    return None


def _views(mapped: mmap.mmap, end: int) -> Iterator[NDArray[Any]]:
    """Yield the arrays that lie in a file, without a copy."""
    while mapped.tell() < end:
        read_magic(mapped)
        shape, _, dtype = read_array_header_1_0(mapped)
        count, at = math.prod(shape), mapped.tell()
        yield np.frombuffer(mapped, dtype, count, at).reshape(shape)
        mapped.seek(_aligned(at + count * dtype.itemsize))


def _write(file: Path, arrays: Iterable[NDArray[Any]]) -> None:
    """Keep arrays; where they cannot be kept, a warning says so."""
    stream = io.BytesIO()
    for array in arrays:
        write_array(stream, array, allow_pickle=False)
        stream.write(bytes(_aligned(stream.tell()) - stream.tell()))
    data = stream.getvalue()
    try:
        make_private(file.parent)
        with replacing(file) as whole:
            whole.write(data + xxhash.xxh3_128_digest(data))
    except OSError as e:
        log.warning(
            "the dictionary's tables cannot be kept in %s (%s): every start builds them anew",
            file.parent,
            e.strerror,
        )


def _aligned(place: int) -> int:
    return -(-place // ARRAY_ALIGN) * ARRAY_ALIGN
