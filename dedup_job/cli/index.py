"""`dedup index plan|info|rebuild`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.options import OF_A_TARGET, Given, Target, check_range, group, with_options
from dedup_job.errors import UsageError
from dedup_job.report.output import figures, new_table, whole

if TYPE_CHECKING:
    from rich.table import Table

    from dedup_job.index import Plan

app = group("Plan the index of kept documents, inspect its snapshot on disk.")


@app.command()
def plan(
    size: Annotated[
        str, typer.Option(metavar="N", help="How many kept documents: 50000000 or 50e6.")
    ],
    k: Annotated[
        int, typer.Option("--k", metavar="K", help="Distance in bits, 0 to 7, as index.distance.")
    ] = 3,
    blocks: Annotated[
        int, typer.Option(metavar="N", help="Blocks, 1 to 8, as index.blocks; 0: the cheapest.")
    ] = 0,
    memory: Annotated[
        float,
        typer.Option(metavar="BYTES", help="Bytes per fingerprint at most."),
    ] = 32.0,
) -> None:
    """Show how an index of this size would be laid out, what else was considered, and why.

    Needs no database. The times are a model's, measured on one core; other machines differ.
    """
    documents = _documents(size)
    check_range("--size", documents, 1, commands.index.MOST)
    check_range("--k", k, 0, 7)
    check_range("--blocks", blocks, 0, 8)
    check_range("--memory", memory, 16, 1024)
    made = commands.index.plan(k, documents, blocks, memory)
    out = console()
    out.table(_plan_table(made))
    out.say(f"\n{_reason(made, documents, blocks)}")


@app.command()
@with_options(*OF_A_TARGET)
def info(target: Target, *, options: Given) -> None:
    """Show the snapshot of a target's index, and whether the next run would use it.

    The settings are those of the target's last run, unless --config or --field gives others.
    """
    with working() as progress:
        rows = commands.index.describe(options.load(), target, progress, given=options.given)
    console().rows((name, whole(value)) for name, value in rows)


@app.command()
@with_options(*OF_A_TARGET)
def rebuild(target: Target, *, options: Given) -> None:
    """Read the target and save a snapshot of its index, whatever its size, for the next run.

    Takes the target's lease; no run can write meanwhile. The settings are those of the target's
    last run, unless --config or --field gives others.
    """
    with working("ended; the target is as it was, and so is its former snapshot.") as progress:
        made = commands.index.rebuild(options.load(), target, progress, given=options.given)
    typer.echo(f"{made.documents:,} documents in {made.seconds:,.1f} s: {made.file}")


def _documents(size: str) -> int:
    try:
        value = float(size)
        if value == int(value):
            return int(size) if size.replace("_", "").isdecimal() else int(value)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"--size {size!r} is not a number of documents; expected 50000000 or 50e6.")


def _plan_table(made: Plan) -> Table:
    names = ("blocks", "bits", "radius", "buckets", "µs", "bytes", "GB")
    table = new_table("", *figures(*names))
    shown = dict.fromkeys([*made.considered, made.chosen])
    for layout in sorted(shown, key=lambda x: x.microseconds(made.size)):
        each = layout.bytes_per_fingerprint(made.size)
        table.add_row(
            "->" if layout == made.chosen else "",
            str(len(layout.blocks)),
            " ".join(dict.fromkeys(str(b.bits) for b in layout.blocks)),
            " ".join(str(b.radius) for b in layout.blocks),
            f"{layout.probes:,}",
            f"{layout.microseconds(made.size):,.2f}",
            f"{each:,.1f}",
            f"{each * made.size / 1e9:,.2f}",
        )
    return table


def _reason(made: Plan, documents: int, blocks: int) -> str:
    of = f" of {blocks} blocks" if blocks else ""
    if made.fits:
        why = f"the fastest{of} within {made.memory:g} bytes a fingerprint"
    else:
        why = f"none{of} fits into {made.memory:g} bytes a fingerprint, so the smallest"
    return (
        f"For {documents:,} documents and distance {made.chosen.distance}: {made.chosen}; {why}.\n"
        "buckets: those that a query looks into; µs: its time by the model; bytes: memory of a\n"
        "fingerprint; GB: of all. Ids and hashes of equal texts take 30 bytes more each, or so."
    )
