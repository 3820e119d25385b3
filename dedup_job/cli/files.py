"""Files that a command writes for its user: checked before the work, whole or not at all after."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from dedup_job.disk import replacing
from dedup_job.errors import UsageError


def check_writable(option: str, file: Path) -> None:
    """Refuse a file that could not be written, before the work rather than after it."""
    try:
        with suppress(FileNotFoundError):
            file.stat()
        folder = file.resolve().parent
    except FileNotFoundError as e:  # the working folder is gone
        raise UsageError(
            f"{option} {file}: there is no folder that this could lie in ({e.strerror}). Change to "
            "one that exists, or give the whole path."
        ) from e
    except OSError as e:
        raise UsageError(
            f"{option} {file} cannot be written: {e.strerror}. Name another file."
        ) from e
    if file.is_dir():
        raise UsageError(f"{option} {file} is a folder; name a file.")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(f"{option} {file}: {folder} is not a folder that can be written to.")


def write_whole(file: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all. Raises OSError."""
    file = file.resolve()  # a link stays a link
    if file.exists() and not file.is_file():  # a device or a pipe is written to, not replaced
        file.write_text(text, encoding="utf-8")
        return
    with replacing(file, beside=".dedup") as stream:  # a longer name might be too long
        stream.write(text.encode())
