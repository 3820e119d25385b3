"""An index on disk: one file, checked whole before use, then mapped into memory.

Layout: a page of magic, format and header length; the header, JSON; then the arrays. Every part
begins at a page and is covered by a checksum up to the next, so a byte that changed anywhere is
found. A file is written aside, flushed and renamed: there is always a whole one, the former or the
new.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job.files import open_regular, replacing

FORMAT = 1
_MAGIC = b"dedupidx"
_PREAMBLE = struct.Struct("<8sIQ16s")  # magic, format, length and checksum of the header
_PAGE = max(mmap.ALLOCATIONGRANULARITY, 4096)
_PIECE = 1 << 26


class SnapshotError(Exception):
    """The file is damaged or of another format; the message says which."""


class NoSnapshotError(SnapshotError):
    """There is no file."""


@dataclass(frozen=True, slots=True)
class Part:
    """An array as a private map of the file: changes stay in memory."""

    pages: mmap.mmap
    rows: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a file holds: facts as they were given, and the arrays by name."""

    facts: Mapping[str, Any]
    parts: Mapping[str, Part]


def write(file: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a snapshot; the former file stays until this one is whole. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as stream:
        _write(stream, facts, arrays)
    _flush_folder(file.parent)


def remove_partial(file: Path) -> None:
    """Remove what killed processes left half-written beside the file."""
    for partial in file.parent.glob(f".{file.name}.*"):
        with suppress(OSError):
            partial.unlink()


def read(file: Path) -> Snapshot:
    """Check a file from end to end and map it. Raises SnapshotError."""
    with _opened(file) as stream:
        return _read(stream)


def facts_of(file: Path) -> Mapping[str, Any]:
    """Return a file's facts without checking its arrays. Raises SnapshotError."""
    with _opened(file) as stream:
        facts: Mapping[str, Any] = _header(stream)["facts"]
        return facts


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """Open a file; what goes wrong with it is a SnapshotError."""
    try:
        with open_regular(file) as stream:
            yield stream
    except FileNotFoundError:
        raise NoSnapshotError("there is none") from None
    except OSError as e:
        raise SnapshotError(f"it cannot be read: {e.strerror}") from e
    except (ValueError, KeyError, TypeError, struct.error) as e:
        raise SnapshotError("it is damaged") from e


def _write(stream: BinaryIO, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    described: list[dict[str, Any]] = [
        {"name": name, "dtype": a.dtype.str, "shape": a.shape, "room": _rounded(a.nbytes)}
        for name, a in arrays.items()
    ]
    for array, about in zip(arrays.values(), described, strict=True):
        about["checksum"] = _checksum(array, about["room"])
    header = json.dumps({"facts": facts, "arrays": described}).encode()
    digest = xxhash.xxh3_128_digest(header)
    stream.write(_padded(_PREAMBLE.pack(_MAGIC, FORMAT, len(header), digest)))
    stream.write(_padded(header))
    for array, about in zip(arrays.values(), described, strict=True):
        stream.write(_bytes(array))
        left = about["room"] - array.nbytes  # a hole read through a map may need room on the disk
        for start in range(0, left, _PIECE):
            stream.write(bytes(min(left - start, _PIECE)))


def _header(stream: BinaryIO) -> dict[str, Any]:
    preamble = stream.read(_PAGE)
    magic, version, length, digest = _PREAMBLE.unpack_from(preamble)
    if magic != _MAGIC or any(preamble[_PREAMBLE.size :]):
        raise ValueError("no preamble")
    if version != FORMAT:
        raise SnapshotError(f"it has format {version}, this version reads {FORMAT}")
    if length > os.fstat(stream.fileno()).st_size:
        raise ValueError("too short")
    padded = stream.read(_rounded(length))
    if xxhash.xxh3_128_digest(padded[:length]) != digest or any(padded[length:]):
        raise ValueError("wrong checksum")
    header: dict[str, Any] = json.loads(padded[:length])
    return header


def _read(stream: BinaryIO) -> Snapshot:
    header = _header(stream)
    at = stream.tell()
    parts: dict[str, Part] = {}
    for about in header["arrays"]:
        room = about["room"]
        if os.fstat(stream.fileno()).st_size < at + room:
            raise ValueError("too short")
        pages = mmap.mmap(stream.fileno(), room, access=mmap.ACCESS_COPY, offset=at)
        if _checksum(np.frombuffer(pages, dtype=np.uint8), room) != about["checksum"]:
            raise ValueError("wrong checksum")
        shape, dtype = tuple(about["shape"]), np.dtype(about["dtype"])
        if min(shape) < 0 or math.prod(shape) * dtype.itemsize > room:
            raise ValueError("an array larger than its room")
        parts[about["name"]] = Part(pages, shape[0], shape, dtype)
        at += room
    if os.fstat(stream.fileno()).st_size != at:
        raise ValueError("too long")
    return Snapshot(header["facts"], parts)


def _checksum(array: NDArray[Any], room: int) -> str:
    """Digest the array's bytes and the zeros behind them up to `room`."""
    digest = xxhash.xxh3_128()
    data = _bytes(array)
    for start in range(0, len(data), _PIECE):
        digest.update(data[start : start + _PIECE])
    left = room - len(data)
    zeros = bytes(min(left, _PIECE))
    while left > 0:
        digest.update(zeros[:left])
        left -= len(zeros)
    return digest.hexdigest()


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _rounded(size: int) -> int:
    return max(-(-size // _PAGE), 1) * _PAGE


def _padded(data: bytes) -> bytes:
    return data.ljust(_rounded(len(data)), b"\0")


def _flush_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system can open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
