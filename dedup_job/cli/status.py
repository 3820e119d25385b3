"""`dedup status` and `dedup check`: how a target stands, and whether it is what it should be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from dedup_job import commands
from dedup_job.cli.console import Overwrite, asking, console, save, working
from dedup_job.cli.usage import (
    CONNECTION,
    OF_A_TARGET,
    Given,
    Source,
    Target,
    Yes,
    check_range,
    with_options,
)
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.files import check_new
from dedup_job.messages import Message, joined, localized
from dedup_job.printing import as_json
from dedup_job.report.output import Block, figures, new_table
from dedup_job.report.terminal import details
from dedup_job.runs.check import Checked, Finding

if TYPE_CHECKING:
    from dedup_job.mongo.maintenance.target_status import Lease

_SAMPLE, _MAX_SAMPLE = 1000, 1_000_000


@with_options(*OF_A_TARGET)
def check(
    source: Source,
    target: Target,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Examine N documents and N rows at random [default: 1,000]."
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Examine all documents and rows.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Also write the findings as JSON.")
    ] = None,
    overwrite: Overwrite = False,
    *,
    options: Given,
) -> None:
    """Verify that nothing is lost and nothing was changed by hand, from the data alone.

    Each source document is in exactly one of target and ledger, originals exist, rows say what the
    texts say, fingerprints are those of the texts, counts agree, runs and state are as written.
    Ends with exit code 6 where they do not. A source document that changed since is told, and is no
    error. Nothing is written.
    """
    if all_ and sample is not None:
        raise UsageError("--sample and --all exclude each other: how many texts are meant?")
    size = _SAMPLE if sample is None else sample
    check_range("--sample", size, 0, _MAX_SAMPLE)
    settings = options.load()
    if report is not None:
        check_new("--report", report, overwrite=overwrite, again=True)
    with working() as progress:
        found = commands.status.check_target(
            settings, source, target, None if all_ else size, progress
        )
    _tell(found, report)


def _tell(found: Checked, report: Path | None) -> None:
    output = console()
    blocks: list[Block] = [_table(found.findings)]
    for one in found.findings:
        if one.first:  # in lines of their own: they may be long
            first = joined([*one.first, *["…"] * (one.found > len(one.first))], ", ")
            blocks.append(Message("{check}: {first}", check=Message(str(one.check)), first=first))
    if notes := [one for one in found.findings if one.found and not one.is_error]:
        blocks.append(_advice(found, notes))
    output.blocks(blocks)
    if report is not None:  # last: the file may not be to be written
        save(report, as_json(found.as_json()), Message("the report"))
    if found.errors:
        raise StateMismatch(
            "{target} is not what its runs wrote from {source}:\n{advice}",
            target=found.target,
            source=found.source,
            advice=_advice(found, found.errors),
        )
    output.say()
    about = {"target": found.target, "seconds": found.seconds}
    output.say(Message("{target} is good. ({seconds:,.1f} s)", **about))


def _table(findings: Sequence[Finding]) -> Table:
    counts = figures(Message("examined"), Message("found"))
    table = new_table(Column(Message("looked for"), no_wrap=True), *counts, "")
    good, note, wrong = Message("good"), Message("note"), Message("WRONG")
    for one in findings:
        verdict = wrong if one.is_error else note if one.found else good
        table.add_row(Message(str(one.check)), f"{one.examined:,}", f"{one.found:,}", verdict)
    return table


def _advice(found: Checked, findings: Sequence[Finding]) -> Message:
    lines = list[Message]()
    for one in findings:
        about = {"check": Message(str(one.check)), "found": one.found}
        advice = one.advice(found.target)
        lines.append(Message("  - {check}: {found:,}. {advice}", **about, advice=advice))
    return joined(lines, "\n")


@with_options(*CONNECTION, "config")
def status(
    target: Target,
    break_lease: Annotated[
        bool,
        typer.Option(
            "--break-lease", help="First end the lease: its holder writes nothing more. Asks."
        ),
    ] = False,
    rebuild_index: Annotated[
        bool,
        typer.Option("--rebuild-index", help="First read the target and save its index again."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    yes: Yes = False,
    *,
    options: Given,
) -> None:
    """Show how a target stands: run at work, last run, index.

    It says who holds the lease, which keeps two runs apart, and since when; how far the run is;
    what is new in the source; and whether the next run uses the index files of this machine. Exit
    code 0 in every state. To break a lease is seldom needed: that of a dead process ends by itself.
    To rebuild the index takes the lease, so no run can write meanwhile.
    """
    settings = options.load()
    if break_lease:
        agree = asking(_question, Message("the lease is as it was"), yes=yes)
        with working(Message("ended; the lease is as it was.")) as progress:
            lease = commands.status.break_lease(settings, target, agree, progress)
        typer.echo(localized(_broken(lease)), err=True)
    if rebuild_index:
        with working(Message("ended; target and index are as they were.")) as progress:
            commands.status.rebuild_snapshot(settings, target, progress)
    with working() as progress:
        found = commands.status.target_status(settings, target, progress)
    if json:
        typer.echo(as_json(found.as_json()), nl=False)
    else:
        more = details(found.line) if found.line and found.line.counts.scanned else ()
        console().rows([*found.rows(), *more])


def _broken(lease: Lease) -> Message:
    about = {"target": lease.target, "holder": str(lease.holder)}
    if lease.holder is None:
        return Message("the lease of {target} was free", **about)
    return Message("the lease of {target} is free; {holder}, writes nothing more", **about)


def _question(lease: Lease) -> Message:
    about = {"target": lease.target, "holder": str(lease.holder)}
    return Message("End the lease of {target}, held by {holder}?", **about)
