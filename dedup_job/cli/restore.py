"""`dedup restore`: a decision corrected by a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job.cli.options import Config, Database, Field, Target, Uri, UriFile, source_flags
from dedup_job.cli.signals import ending_at_once
from dedup_job.errors import UsageError

if TYPE_CHECKING:
    from dedup_job.cli.restoring import Restored


_LARGEST = 64 << 20  # bytes of a file of ids


def restore(
    target: Target,
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="The _id, as for dedup explain. Put one that begins with - last, after --.",
            show_default=False,
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option("--ids", metavar="FILE", help="File with many _id, one per line."),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Only remove its row: the next run decides again."),
    ] = False,
    uri: Uri = None,
    uri_file: UriFile = None,
    db: Database = None,
    field: Field = None,
    config: Config = None,
) -> None:
    """Put documents that were dropped wrongly into the target, for good.

    Each is read from the source; or from the ledger, if ledger.document had it stored there and the
    source no longer holds it or holds another text. It is cleaned and kept whatever it resembles,
    and later runs compare with it. Its row leaves the ledger. With --again it only leaves the
    ledger, and the next run decides it anew: for one that was quarantined or skipped and is
    repaired now. `dedup undo` takes it back.
    """
    from dedup_job.cli.restoring import restored
    from dedup_job.settings import load

    settings = load(source_flags(uri, uri_file, db, field), config).settings
    given = config is not None or field is not None
    written = _ids(id_, ids)
    with ending_at_once("ended at once. `dedup explain` shows whether it was restored."):
        for found in restored(settings, target, written, again=again, given=given):
            _tell(found, again=again)


def _ids(id_: str | None, file: Path | None) -> list[str]:
    if (id_ is None) == (file is None):
        raise UsageError("give an ID or --ids FILE: one of them.")
    if file is None:
        return [str(id_)]
    try:
        with file.open("rb") as stream:  # which may be a pipe, but a device has no end
            content = stream.read(_LARGEST + 1)
        lines = content.decode("utf-8-sig").split("\n")  # ids may hold other ends
    except OSError as e:
        raise UsageError(f"--ids {file} cannot be read: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise UsageError(f"--ids {file} is not UTF-8: {e.reason} at byte {e.start}") from e
    if len(content) > _LARGEST:
        raise UsageError(f"--ids {file} holds more than {_LARGEST >> 20} MiB. Give it in parts.")
    if found := [line.strip() for line in lines if line.strip()]:
        return found
    raise UsageError(f"--ids {file} holds no _id.")


def _tell(found: Restored, *, again: bool) -> None:
    done = "is open again: the next run decides it" if again else f"is kept now in {found.target}"
    remark = f" {found.remark}" if found.remark else ""
    typer.echo(
        f"{found.id} ({found.decision}: {found.reason} in run {found.run}) {done}.{remark} "
        f"Recorded as number {found.number}; `dedup undo {found.number} --target {found.target}` "
        "takes it back."
    )
