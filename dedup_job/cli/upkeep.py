"""What looks after a target: `dedup check`, `dedup status`, `dedup restore`, `dedup undo`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from dedup_job import commands
from dedup_job.cli.console import Overwrite, asking, console, save, working
from dedup_job.cli.usage import OF_A_TARGET, Given, Source, Target, Yes, check_range, with_options
from dedup_job.files import check_new, read_input
from dedup_job.messages import Message, StateMismatch, UsageError, counted, joined, localized
from dedup_job.printing import as_json, command_line
from dedup_job.report.output import Block, figures, new_table
from dedup_job.report.terminal import details
from dedup_job.runs.status import Checked, Finding

if TYPE_CHECKING:
    from dedup_job.commands.maintenance import Restored
    from dedup_job.mongo.rollback import Undone
    from dedup_job.mongo.state import Lease

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
        found = commands.maintenance.check_target(
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


@with_options("uri", "uri_file", "db", "config")
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
        agree = asking(_breaking, Message("the lease is as it was"), yes=yes)
        with working(Message("ended; the lease is as it was.")) as progress:
            lease = commands.maintenance.break_lease(settings, target, agree, progress)
        typer.echo(localized(_broken(lease)), err=True)
    if rebuild_index:
        with working(Message("ended; target and index are as they were.")) as progress:
            commands.maintenance.rebuild_snapshot(settings, target, progress)
    with working() as progress:
        found = commands.maintenance.target_status(settings, target, progress)
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


def _breaking(lease: Lease) -> Message:
    about = {"target": lease.target, "holder": str(lease.holder)}
    return Message("End the lease of {target}, held by {holder}?", **about)


_LARGEST = 64 << 20  # bytes of a file of ids


@with_options(*OF_A_TARGET)
def restore(
    target: Target,
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="The _id, as for dedup inspect. Put one that begins with - last, after --.",
            show_default=False,
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(
            "--ids",
            metavar="FILE",
            help="File with many _id, one per line, as dedup list --format ids writes them; - for "
            "standard input.",
        ),
    ] = None,
    requeue: Annotated[
        bool, typer.Option("--requeue", help="Only remove its row: the next run decides again.")
    ] = False,
    *,
    options: Given,
) -> None:
    """Put documents that were dropped wrongly into the target, for good.

    Each is read from the source; or from the ledger, if ledger.document had it stored there and the
    source no longer holds it or holds another text. It is kept whatever it resembles, and later
    runs compare with it. Its row leaves the ledger. With --requeue it only leaves the
    ledger, and the next run decides it anew: for one that was quarantined or skipped and is
    repaired now. Many ids are one entry in T.runs: `dedup undo` takes all of them back. The same
    command goes on where it was cut off.
    """
    settings = options.load()
    written = _ids(id_, ids)
    if_ended = Message("ended at once. The same command goes on where it ended.")
    with working(if_ended) as progress:
        found = commands.maintenance.restore(settings, target, written, progress, requeue=requeue)
    for line in _restored(found, requeue=requeue):
        typer.echo(localized(line))


def _ids(id_: str | None, file: Path | None) -> list[str]:
    if (id_ is None) == (file is None):
        raise UsageError("give an ID or --ids FILE: one of them.")
    if file is None:
        return [str(id_)]
    lines = read_input(str(file), _LARGEST).split("\n")  # ids may hold other ends
    if found := [line.strip() for line in lines if line.strip()]:
        return found
    raise UsageError("--ids {file} holds no _id.", file=file)


def _restored(found: Restored, *, requeue: bool) -> Iterator[Message]:
    target, each = found.target, list[Message]()
    for decision, number in found.decisions.items():
        each.append(Message("{number:,} {what}", number=number, what=decision))
    many = found.id if found.documents == 1 else counted(found.documents, "document")
    about = {"what": many, "each": joined(each, ", "), "target": target}
    if found.documents and requeue:
        yield Message("Requeued, to be decided by the next run: {what} ({each}).", **about)
    elif found.documents:
        yield Message("Now kept in {target}: {what} ({each}).", **about)
    if before := found.before:
        yield Message(
            "restored before, when the same command was cut off: {number:,}.", number=before
        )
    if found.changed:
        documents = counted(found.changed, "document")
        yield Message(
            "{documents} changed in the source since; restored as dropped.", documents=documents
        )
    undo = {"number": found.number, "undo": command_line("undo", found.number, "--target", target)}
    yield Message("Recorded as number {number}; `{undo}` takes all of it back.", **undo)


@with_options(*OF_A_TARGET)
def undo(
    run: Annotated[
        int, typer.Argument(metavar="RUN", help="The number of the run, its _id in T.runs.", min=1)
    ],
    target: Target,
    yes: Yes = False,
    *,
    options: Given,
) -> None:
    """Take the last run back: what it kept leaves the target, what it dropped the ledger.

    The next run decides these documents anew. A kept document that the source no longer holds
    stays, since it may be the only copy. Also takes back what `dedup restore` did last.
    """
    settings = options.load()
    agree = asking(_undoing, Message("nothing was written"), yes=yes)
    ended = Message("ended at once. The same command or the next run finishes what began.")
    with working(ended) as bar:
        found = commands.maintenance.undo_run(settings, target, run, agree, bar)
    for line in _undone(found):
        typer.echo(localized(line))


def _about(found: Undone) -> dict[str, object]:
    many = {"documents": counted(found.kept, "document"), "rows": counted(found.ledger, "row")}
    return {"run": found.run, "target": found.target, **many}


def _undone(found: Undone) -> Iterator[Message]:
    if found.by_hand:
        yield Message(
            "number {run} is undone: {documents} left {target}, {rows} came back to its ledger.",
            **_about(found),
        )
    else:
        yield Message(
            "run {run} is undone: {documents} left {target}, {rows} its ledger. The next run "
            "decides them again.",
            **_about(found),
        )
    if found.back:
        back = counted(found.back, "document")
        yield Message("{documents} of earlier runs came back, as before it.", documents=back)
    if found.left:
        yield Message(
            "Left in {target}, since the source no longer holds them and these may be the only "
            "copies, or since they are decided by such ones: {documents}.",
            target=found.target,
            documents=counted(found.left, "document"),
        )


def _undoing(planned: Undone) -> Message:
    about = _about(planned)
    if planned.by_hand:
        about |= {"documents": counted(planned.ledger, "document")}
        return Message(
            "Undo number {run} of {target}, {documents} {done} by hand?",
            **about,
            done=Message(planned.by_hand),
        )
    return Message(
        "Undo run {run} of {target}? {documents} leave the target, {rows} its ledger; {back:,} of "
        "earlier runs come back.",
        **about,
        back=planned.back,
    )
