"""Arrays on disk, such as an index: one file, checked whole before use, then mapped into memory.

Layout: a page of magic, format and where the header is; the arrays; the header, JSON. Every part
begins at a page and is covered by a checksum up to the next, so a byte that changed anywhere is
found. An array is written piece by piece, so that none needs to be in memory as a whole. A file is
written aside, flushed and renamed: there is always a whole one, the former or the new.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job.files import make_private, open_regular, replacing
from dedup_job.messages import Message

T = TypeVar("T")
FORMAT = 6
_MAGIC = b"dedupidx"
_PREAMBLE = struct.Struct("<8sIQQ16s")  # magic, format; place, length, checksum of the header
_PAGE = max(mmap.ALLOCATIONGRANULARITY, 4096)
_PIECE = 1 << 26


class SnapshotError(Exception):
    """The file is damaged or of another format; the message says which."""


class NoSnapshotError(SnapshotError):
    """There is no file."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """An array to be written, in pieces along its first axis that are made in turn, once."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    pieces: Iterable[NDArray[Any]]

    @classmethod
    def of(cls, *arrays: NDArray[Any]) -> Pieces:
        """Return arrays, one at least, one after the other as one."""
        first = arrays[0]
        return cls(first.dtype, (sum(map(len, arrays)), *first.shape[1:]), arrays)


Dump = tuple[dict[str, Any], dict[str, Pieces]]
"""What a part of an index becomes in a file: facts and arrays by name."""
Arrays = Iterable[tuple[str, Pieces]]
"""Arrays by name, made in turn; facts are written behind them and may still be added meanwhile."""


class Snapshot(NamedTuple):
    """What a file holds: facts as they were given, and arrays by name.

    An array is a private map of the file: changes stay in memory.
    """

    facts: Mapping[str, Any]
    parts: Mapping[str, NDArray[Any]]


def write(file: Path, facts: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a snapshot; the former file stays until this one is whole. Raises OSError."""
    make_private(file.parent)
    with replacing(file) as stream:
        _write(stream, facts, arrays)
    _flush_folder(file.parent)


def mapped(folder: Path, facts: Mapping[str, Any], arrays: Arrays) -> Snapshot:
    """Put arrays into a file without a name and map it: it goes with the last map.

    Raises OSError.
    """
    make_private(folder)
    with tempfile.TemporaryFile(dir=folder) as stream:
        _write(stream, facts, arrays)
        stream.flush()
        stream.seek(0)
        return _read(stream)


def remove_partial(file: Path) -> None:
    """Remove what killed processes left half-written beside the file."""
    for partial in file.parent.glob(f".{file.name}.*"):
        with suppress(OSError):
            partial.unlink()


def read(file: Path) -> Snapshot:
    """Check a file from end to end and map it. Raises SnapshotError."""
    return _opened(file, _read)


def facts_of(file: Path) -> Mapping[str, Any]:
    """Return the facts in the header of a file; the rest is not read. Raises SnapshotError."""

    def facts(stream: IO[bytes]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = _header(stream)["facts"]
        return found

    return _opened(file, facts)


def _opened(file: Path, read: Callable[[IO[bytes]], T]) -> T:
    try:
        with open_regular(file) as stream:
            return read(stream)
    except FileNotFoundError:
        raise NoSnapshotError(Message("there is none")) from None
    except OSError as e:
        raise SnapshotError(Message("it cannot be read: {why}", why=e.strerror)) from e
    except (ValueError, KeyError, TypeError, struct.error) as e:
        raise SnapshotError(Message("it is damaged")) from e


def _write(stream: IO[bytes], facts: Mapping[str, Any], arrays: Arrays) -> None:
    stream.write(bytes(_PAGE))
    described = [
        {"name": name, "dtype": one.dtype.str, "shape": one.shape, **_written(stream, one)}
        for name, one in arrays
    ]
    header, place = json.dumps({"facts": facts, "arrays": described}).encode(), stream.tell()
    stream.write(_padded(header))
    digest = xxhash.xxh3_128_digest(header)
    stream.seek(0)
    stream.write(_padded(_PREAMBLE.pack(_MAGIC, FORMAT, place, len(header), digest)))


def _written(stream: IO[bytes], array: Pieces) -> dict[str, Any]:
    """Write an array and zeros up to the next page; return what is to be known about it.

    Zeros are written, too: a hole that is read through a map may need room on the disk.
    """
    digest, size = xxhash.xxh3_128(), 0
    for piece in array.pieces:
        data = _bytes(piece)
        size += len(data)
        for start in range(0, len(data), _PIECE):
            stream.write(data[start : start + _PIECE])
            digest.update(data[start : start + _PIECE])
        del piece, data  # before the next one is made
    expected = math.prod(array.shape) * array.dtype.itemsize
    if size != expected:
        raise ValueError(f"{size:,} bytes came of an array of {expected:,}")
    rest = bytes(_rounded(size) - size)
    stream.write(rest)
    digest.update(rest)
    return {"room": size + len(rest), "checksum": digest.hexdigest()}


def _header(stream: IO[bytes]) -> dict[str, Any]:
    preamble, size = stream.read(_PAGE), os.fstat(stream.fileno()).st_size
    magic, version, place, length, digest = _PREAMBLE.unpack_from(preamble)
    if magic != _MAGIC or any(preamble[_PREAMBLE.size :]):
        raise ValueError("no preamble")
    if version != FORMAT:
        raise SnapshotError(
            Message(
                "it has format {version}, this version reads {format}",
                version=version,
                format=FORMAT,
            )
        )
    if place + _rounded(length) != size:
        raise ValueError("of another length")
    stream.seek(place)
    padded = stream.read(_rounded(length))
    if xxhash.xxh3_128_digest(padded[:length]) != digest or any(padded[length:]):
        raise ValueError("wrong checksum")
    header: dict[str, Any] = json.loads(padded[:length])
    return header


def _read(stream: IO[bytes]) -> Snapshot:
    header, at, parts = _header(stream), _PAGE, dict[str, NDArray[Any]]()
    for about in header["arrays"]:
        room = about["room"]
        pages = mmap.mmap(stream.fileno(), room, access=mmap.ACCESS_COPY, offset=at)
        if _checksum(pages) != about["checksum"]:
            raise ValueError("wrong checksum")
        # where memory is short, a page that is missing is read alone, not with those around it
        pages.madvise(mmap.MADV_RANDOM)
        shape, dtype = tuple(about["shape"]), np.dtype(about["dtype"])
        count = math.prod(shape)
        parts[about["name"]] = np.frombuffer(pages, dtype=dtype, count=count).reshape(shape)
        at += room
    return Snapshot(header["facts"], parts)


def _checksum(pages: mmap.mmap) -> str:
    digest = xxhash.xxh3_128()
    with memoryview(pages) as data:
        for start in range(0, len(data), _PIECE):
            digest.update(data[start : start + _PIECE])
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
