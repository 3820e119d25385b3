"""Files that a user names: read whole, and refused in words where they cannot be."""

from __future__ import annotations

from pathlib import Path

import xxhash

from dedup_job.disk import open_regular
from dedup_job.errors import ConfigurationError


def read_text(path: Path) -> str:
    """Return a UTF-8 file, without a byte order mark; ConfigurationError says why not."""
    try:
        return _read(path).decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise ConfigurationError([f"{path} is not UTF-8: {e.reason} at byte {e.start}"]) from e


def digest_of(path: Path) -> str:
    """Return a digest of a file's content; ConfigurationError if it cannot be read."""
    return xxhash.xxh3_128_hexdigest(_read(path))


def _read(path: Path) -> bytes:
    try:
        with open_regular(path) as stream:  # a pipe would be empty when it is read again
            return stream.read()
    except OSError as e:
        raise ConfigurationError([f"{path} cannot be read: {e.strerror}"]) from e
