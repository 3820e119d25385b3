"""Files and folders: regular ones, private ones, and files written whole or not at all."""

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

import xxhash

from dedup_job.messages import ConfigurationError, Message, UsageError

_STANDARD_INPUT = Message("standard input")
_OWN_FILE, _OWN_FOLDER = 0o600, 0o700
_HEAD = 4096  # bytes by which a report of ours is known
_REPORTS = re.compile(  # how they begin, without white space: of runs, of checks, pages
    r'\{"run":\d+,"dry_run":|\{"source":".*","generation":\d+,"checked":"|'
    r'<!doctypehtml>.*<metaname="generator"content="dedup">',
    re.IGNORECASE,
)


def open_regular(file: Path) -> BufferedReader:
    """Open a file for reading; OSError for a pipe, which may wait, or a device, without an end."""
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    raise OSError(errno.EINVAL, Message("it is not a regular file"), str(file))


@contextmanager
def replacing(file: Path, beside: str = "", mode: int = _OWN_FILE) -> Iterator[BinaryIO]:
    """Write a file of this user alone, whatever the umask, whole or not at all.

    It lies under another name until the block ends, and takes the place of the former then. The
    former file stays where the block raises. Raises OSError. beside: begins the other name; mode:
    rights, less those that the umask takes.
    """
    partial = file.with_name(f"{beside or f'.{file.name}'}.{os.getpid()}")
    try:
        partial.unlink(missing_ok=True)  # of a killed process with the same number
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as stream:
            if mode == _OWN_FILE:  # a umask may have taken the owner's own rights
                os.fchmod(stream.fileno(), mode)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # some disks say only now that they are full
        partial.replace(file)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def make_private(folder: Path) -> None:
    """Make a missing folder and those above it for this user alone. Raises OSError."""
    if folder.is_dir():
        return
    make_private(folder.parent)
    try:
        folder.mkdir(_OWN_FOLDER)
    except FileExistsError:
        if not folder.is_dir():  # else another process made it meanwhile
            raise
    else:
        folder.chmod(_OWN_FOLDER)


def read_input(name: str, most: int) -> str:
    """Return a UTF-8 text of so many bytes at most, from a file, a pipe, or - for standard input.

    It may begin with a byte order mark, as some editors write one. UsageError says why not.
    """
    return limited_text(Path(name), most) if name != "-" else _limited(sys.stdin.buffer, most)


def limited_text(file: Path, most: int) -> str:
    """Return a UTF-8 file as `read_input` does, also where its name is -."""
    try:
        with file.open("rb") as stream:
            return _limited(stream, most, f"{file}")
    except OSError as e:
        raise UsageError("{file} cannot be read: {why}", file=file, why=e.strerror) from e


def _limited(stream: BinaryIO, most: int, name: str = _STANDARD_INPUT) -> str:
    content = stream.read(most + 1)  # a device has no end
    if len(content) > most:
        raise UsageError("{file} holds more than {most:,} MiB", file=name, most=most >> 20)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise UsageError(
            "{file} is not UTF-8: {why} at byte {byte}", file=name, why=e.reason, byte=e.start
        ) from e


def digest_of(path: Path) -> str:
    """Return a digest of a file's content; ConfigurationError if it cannot be read."""
    try:
        with open_regular(path) as stream:  # a pipe would be empty when it is read again
            return xxhash.xxh3_128_hexdigest(stream.read())
    except OSError as e:
        wrong = Message(
            "{file} cannot be read: {why}; name a file that this user can read",
            file=path,
            why=e.strerror,
        )
        raise ConfigurationError([wrong]) from e


def check_writable(option: str, file: Path) -> None:
    """Refuse a file that could not be written, before the work rather than after it."""
    try:
        with suppress(FileNotFoundError):
            file.stat()
        folder = file.resolve().parent
    except OSError as e:  # also where the working folder is gone
        raise UsageError(
            "{option} {file} cannot be written: {why}. Name another file, by its whole path.",
            option=option,
            file=file,
            why=e.strerror,
        ) from e
    if file.is_dir():
        raise UsageError("{option} {file} is a folder; name a file.", option=option, file=file)
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(
            "{option} {file}: {folder} is not a folder that can be written to.",
            option=option,
            file=file,
            folder=folder,
        )


def check_new(option: str, file: Path, *, overwrite: bool, again: bool = False) -> None:
    """Refuse a file as `check_writable` does, and one that exists, if not to be overwritten.

    again: a report or a page that this program wrote is replaced all the same, as each night. An
    empty file holds nothing, and a pipe or a device is written to.
    """
    check_writable(option, file)
    if overwrite or not file.is_file() or not file.stat().st_size:
        return
    with suppress(OSError), open_regular(file) as stream:
        begin = "".join(stream.read(_HEAD).decode(errors="ignore").split())
        if again and _REPORTS.match(begin):
            return
    raise UsageError(
        "{option} {file} exists. Name another file, or replace it with --overwrite.",
        option=option,
        file=file,
    )


def write_whole(file: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all. Raises OSError."""
    file = file.resolve()  # a link stays a link
    if file.exists() and not file.is_file():  # a device or a pipe is written to, not replaced
        file.write_text(text, encoding="utf-8")
        return
    with writing_whole(file) as stream:
        stream.write(text.encode())


@contextmanager
def writing_whole(file: Path) -> Iterator[BinaryIO]:
    """Write a file, whole or not at all, as `replacing` does, with usual rights. Raises OSError."""
    file = file.resolve()
    own = xxhash.xxh32_hexdigest(os.fsencode(file.name))  # the name itself might be too long
    with replacing(file, f".dedup-{own}", 0o666) as stream:
        with suppress(FileNotFoundError):  # the rights of the former one
            os.fchmod(stream.fileno(), stat.S_IMODE(file.stat().st_mode))
        yield stream
