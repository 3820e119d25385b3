"""Arrays on disk, such as an index: one file, checked whole before use, then mapped into memory.

Layout: a page of magic, format and the header's position; the arrays; the header, JSON. Each array
begins at a page and has a checksum up to the next array, so any changed byte is detected. A file is
written aside, flushed and renamed: there is always a whole one, the former or the new.
"""

import json
import logging
import math
import mmap
import os
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray
from platformdirs import user_cache_path

from dedup_job.files import make_private, open_regular, replacing
from dedup_job.messages import DedupError, Message

log = logging.getLogger("dedup")

T = TypeVar("T")
FORMAT = 8
_MAGIC = b"dedupidx"
_PREAMBLE = struct.Struct("<8sIQQ16s")  # magic, format; offset, length, checksum of the header
_PAGE = max(mmap.ALLOCATIONGRANULARITY, 4096)


class SnapshotError(DedupError):
    """The file is damaged or of another format; the message says which."""


class NoSnapshotError(SnapshotError):
    """The file does not exist."""


class Snapshot(NamedTuple):
    """The contents of a file: facts, and arrays by name. A change of an array stays in memory."""

    facts: Mapping[str, Any]
    parts: Mapping[str, NDArray[Any]]


class Writer:
    """Writes arrays to a file one by one; metadata may be added until the end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.facts: dict[str, Any] = {}
        self._stream = stream
        self._arrays = list[dict[str, Any]]()
        stream.write(bytes(_PAGE))

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write an array, and zeros up to the next page."""
        # on a full disk, reading a hole through a map would end the process
        data, digest = array.reshape(-1).view(np.uint8).data, xxhash.xxh3_128()
        zeros = bytes(_rounded(len(data)) - len(data))
        for chunk in (data, zeros):
            self._stream.write(chunk)
            digest.update(chunk)
        about = {"name": name, "dtype": array.dtype.str, "shape": array.shape}
        size = len(data) + len(zeros)
        self._arrays.append({**about, "room": size, "checksum": digest.hexdigest()})

    def end(self) -> None:
        """Write the header, and its offset into the first page."""
        header = json.dumps({"facts": self.facts, "arrays": self._arrays}).encode()
        offset, digest = self._stream.tell(), xxhash.xxh3_128_digest(header)
        self._stream.write(_padded(header))
        self._stream.seek(0)
        self._stream.write(_padded(_PREAMBLE.pack(_MAGIC, FORMAT, offset, len(header), digest)))


@contextmanager
def writing(file: Path) -> Iterator[Writer]:
    """Write a snapshot; the former file stays until this one is whole. Raises OSError."""
    make_private(file.parent)
    with replacing(file) as stream:
        yield (writer := Writer(stream))
        writer.end()


def mapped(folder: Path, dump: Callable[[Writer], None]) -> Snapshot:
    """Map a temporary file that `dump` writes, freed with the last array. Raises OSError."""
    make_private(folder)
    with tempfile.TemporaryFile(dir=folder) as stream:
        writer = Writer(stream)
        dump(writer)
        writer.end()
        stream.flush()
        stream.seek(0)
        return _read(stream)


def remove_partial(file: Path) -> None:
    """Remove the partial files of killed processes beside a file."""
    for partial in file.parent.glob(f".{file.name}.*"):
        with suppress(OSError):
            partial.unlink()


def read(file: Path, *, facts_only: bool = False) -> Snapshot:
    """Check a file from end to end and map it, or read its header alone. Raises SnapshotError."""
    try:
        with open_regular(file) as stream:
            return Snapshot(_header(stream)["facts"], {}) if facts_only else _read(stream)
    except FileNotFoundError:
        raise NoSnapshotError(Message("there is none")) from None
    except OSError as e:
        raise SnapshotError("it cannot be read: {why}", why=e.strerror) from e
    except (ValueError, KeyError, TypeError, struct.error) as e:
        raise SnapshotError("it is damaged") from e


def _header(stream: IO[bytes]) -> dict[str, Any]:
    preamble, size = stream.read(_PAGE), os.fstat(stream.fileno()).st_size
    magic, version, offset, length, digest = _PREAMBLE.unpack_from(preamble)
    if magic != _MAGIC or any(preamble[_PREAMBLE.size :]):
        raise ValueError("no preamble")
    if version != FORMAT:
        raise SnapshotError(
            "it has format {version}, this version reads {format}", version=version, format=FORMAT
        )
    if offset + _rounded(length) != size:
        raise ValueError("of another length")
    stream.seek(offset)
    padded = stream.read(_rounded(length))
    if xxhash.xxh3_128_digest(padded[:length]) != digest or any(padded[length:]):
        raise ValueError("wrong checksum")
    header: dict[str, Any] = json.loads(padded[:length])
    return header


def _read(stream: IO[bytes]) -> Snapshot:
    header, at, parts = _header(stream), _PAGE, dict[str, NDArray[Any]]()
    for about in header["arrays"]:
        size = about["room"]
        pages = mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_COPY, offset=at)
        if xxhash.xxh3_128_hexdigest(pages) != about["checksum"]:
            raise ValueError("wrong checksum")
        # if memory is short, a missing page is read alone, not with its neighbours
        pages.madvise(mmap.MADV_RANDOM)
        shape, dtype = tuple(about["shape"]), np.dtype(about["dtype"])
        count = math.prod(shape)
        parts[about["name"]] = np.frombuffer(pages, dtype=dtype, count=count).reshape(shape)
        at += size
    return Snapshot(header["facts"], parts)


def _rounded(size: int) -> int:
    return max(-(-size // _PAGE), 1) * _PAGE


def _padded(data: bytes) -> bytes:
    return data.ljust(_rounded(len(data)), b"\0")


Tables: TypeAlias = Mapping[str, NDArray[Any]]
"""Arrays by name."""


def cache_file(name: str, digest: str) -> Path:
    """Return the path of a table file in the user's cache; digest: of the sources of the tables."""
    return user_cache_path("dedup") / f"{name}-{digest}.arrays"


def load_or_build(file: Path, made_of: Callable[[Tables], T], build: Callable[[], Tables]) -> T:
    """Return the object made of the tables in a file; build and write them if it has none.

    They are built again if the file is damaged or `made_of` raises ValueError or TypeError.
    """
    try:
        return made_of(dict(read(file).parts))
    except NoSnapshotError:
        pass
    except (SnapshotError, ValueError, TypeError) as e:
        log.warning("%s will be built anew: %s", file, e)
    tables = dict(build())
    try:
        with writing(file) as writer:
            for name, table in tables.items():
                writer.add(name, np.ascontiguousarray(table))
    except OSError as e:
        log.warning(
            "the dictionary's tables cannot be kept in %s (%s): every start builds them anew",
            file.parent,
            e.strerror,
        )
    return made_of(tables)
