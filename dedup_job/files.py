"""Safe access to files: only regular ones are read; writes are atomic and, if asked, private."""

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
_HEAD = 4096  # bytes that tell a report of ours from another file
_REPORTS = re.compile(  # the start without white space: of a run's, of a check's, of a page
    r'\{"run":\d+,"dry_run":|\{"source":".*","generation":\d+,"checked":"|'
    r'<!doctypehtml>.*<metaname="generator"content="dedup">',
    re.IGNORECASE,
)


def open_regular(file: Path) -> BufferedReader:
    """Open a file for reading; OSError if it is a pipe, which may block, a device or a folder."""
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
    """Yield the stream of a temporary file, which replaces `file` at the end of the block.

    If the block raises, the former file stays. With the default mode only this user can read it,
    whatever the umask. Raises OSError. beside: prefix of the temporary name; mode: permissions,
    to which the umask applies.
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
    """Create a folder and its missing parents, accessible to this user only. Raises OSError."""
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
    """Return the text of a file or a pipe in UTF-8, or of standard input for "-".

    A byte order mark is dropped. Raises UsageError if it cannot be read, has more than `most`
    bytes or is not UTF-8.
    """
    return limited_text(Path(name), most) if name != "-" else _limited(sys.stdin.buffer, most)


def limited_text(file: Path, most: int) -> str:
    """Return the text of a file of at most `most` bytes; errors as of `read_input`."""
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
    """Return the hex digest (xxh3, 128 bits) of a file; ConfigurationError if it is unreadable."""
    try:
        with open_regular(path) as stream:  # a pipe could not be read a second time
            return xxhash.xxh3_128_hexdigest(stream.read())
    except OSError as e:
        wrong = Message(
            "{file} cannot be read: {why}; name a file that this user can read",
            file=path,
            why=e.strerror,
        )
        raise ConfigurationError([wrong]) from e


def check_writable(option: str, file: Path) -> None:
    """Raise UsageError if a file cannot be written; option: its name in the message."""
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
    """Raise UsageError as `check_writable`, and if the file has content that would be lost.

    overwrite: any content may be replaced; again: a report or a page of this program may be, too.
    A pipe or a device passes.
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
    """Write a text as UTF-8, atomically unless it is a pipe or a device. Raises OSError."""
    file = file.resolve()  # a link stays a link
    if file.exists() and not file.is_file():
        file.write_text(text, encoding="utf-8")
        return
    with writing_whole(file) as stream:
        stream.write(text.encode())


@contextmanager
def writing_whole(file: Path) -> Iterator[BinaryIO]:
    """Yield a stream as `replacing`; the file keeps its permissions, a new one has the usual."""
    file = file.resolve()
    own = xxhash.xxh32_hexdigest(os.fsencode(file.name))  # the name itself might be too long
    with replacing(file, f".dedup-{own}", 0o666) as stream:
        with suppress(FileNotFoundError):
            os.fchmod(stream.fileno(), stat.S_IMODE(file.stat().st_mode))
        yield stream
