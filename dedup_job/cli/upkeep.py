"""Maintenance of a target: `dedup check`, `dedup status`, `dedup restore`, `dedup undo`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Column, Table

from dedup_job import commands
from dedup_job.cli import options as opt
from dedup_job.cli.console import asking, console, save, working
from dedup_job.files import check_new, read_input
from dedup_job.messages import Message, StateMismatch, UsageError, counted, joined, localized
from dedup_job.printing import as_json, command_line
from dedup_job.report.output import Block, new_table, number_columns
from dedup_job.report.terminal import details
from dedup_job.runs.status import Checked, Finding

if TYPE_CHECKING:
    from dedup_job.commands.maintenance import Restored
    from dedup_job.mongo.state import Lease
    from dedup_job.mongo.undoing import Undone

_SAMPLE, _MAX_SAMPLE = 1000, 1_000_000


@opt.of_target
def check(
    source: str = opt.SOURCE,
    target: str = opt.TARGET,
    sample: int | None = opt.value(
        "Examine N documents and N rows at random [default: 1,000].", "N"
    ),
    all_: bool = opt.flag("Examine all documents and rows.", "--all"),
    report: Path | None = opt.value("Also write the findings as JSON.", "FILE.json"),
    overwrite: bool = opt.OVERWRITE,
    *,
    options: opt.SharedOptions,
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
    opt.check_range("--sample", size, 0, _MAX_SAMPLE)
    settings = options.load()
    if report is not None:
        check_new("--report", report, overwrite=overwrite, again=True)
    with working() as progress:
        checked = commands.maintenance.check_target(
            settings, source, target, None if all_ else size, progress
        )
    _show_findings(checked, report)


def _show_findings(checked: Checked, report: Path | None) -> None:
    output = console()
    blocks: list[Block] = [_table(checked.findings)]
    for one in checked.findings:
        if one.first:  # in lines of their own: they may be long
            first = joined([*one.first, *["…"] * (one.found > len(one.first))], ", ")
            blocks.append(Message("{check}: {first}", check=Message(str(one.check)), first=first))
    if notes := [one for one in checked.findings if one.found and not one.is_error]:
        blocks.append(_advice(checked, notes))
    output.blocks(blocks)
    if report is not None:  # last: writing may fail
        save(report, as_json(checked.as_json()), Message("the report"))
    if checked.errors:
        raise StateMismatch(
            "{target} is not what its runs wrote from {source}:\n{advice}",
            target=checked.target,
            source=checked.source,
            advice=_advice(checked, checked.errors),
        )
    output.say()
    about = {"target": checked.target, "seconds": checked.seconds}
    output.say(Message("{target} is good. ({seconds:,.1f} s)", **about))


def _table(findings: Sequence[Finding]) -> Table:
    counts = number_columns(Message("examined"), Message("found"))
    table = new_table(Column(Message("looked for"), no_wrap=True), *counts, "")
    good, note, wrong = Message("good"), Message("note"), Message("WRONG")
    for one in findings:
        verdict = wrong if one.is_error else note if one.found else good
        table.add_row(Message(str(one.check)), f"{one.examined:,}", f"{one.found:,}", verdict)
    return table


def _advice(checked: Checked, findings: Sequence[Finding]) -> Message:
    lines = list[Message]()
    for one in findings:
        about = {"check": Message(str(one.check)), "found": one.found}
        advice = one.advice(checked.target)
        lines.append(Message("  - {check}: {found:,}. {advice}", **about, advice=advice))
    return joined(lines, "\n")


@opt.with_options(*opt.CONNECTION, "config")
def status(
    target: str = opt.TARGET,
    break_lease: bool = opt.flag(
        "First end the lease: its holder writes nothing more. Asks.", "--break-lease"
    ),
    rebuild_index: bool = opt.flag(
        "First read the target and save its index again.", "--rebuild-index"
    ),
    json: bool = opt.flag("Print JSON.", "--json"),
    yes: bool = opt.YES,
    *,
    options: opt.SharedOptions,
) -> None:
    """Show how a target stands: run at work, last run, index.

    It says who holds the lease, which keeps two runs apart, and since when; how far the run is;
    what is new in the source; and whether the next run uses the index files of this machine. Exit
    code 0 in every state. To break a lease is seldom needed: that of a dead process ends by itself.
    To rebuild the index takes the lease, so no run can write meanwhile.
    """
    settings, use = options.load(), commands.maintenance
    if break_lease:
        agree = asking(_breaking, Message("the lease is as it was"), yes=yes)
        with working(Message("ended; the lease is as it was.")) as progress:
            lease = use.break_lease(settings, target, agree, progress)
        typer.echo(localized(_broken(lease)), err=True)
    if rebuild_index:
        with working(Message("ended; target and index are as they were.")) as progress:
            use.rebuild_snapshot(settings, target, progress)
    with working() as progress:
        found = use.target_status(settings, target, progress)
    if json:
        typer.echo(as_json(found.as_json()), nl=False)
    else:
        more = details(found.line) if found.line and found.line.counts.scanned else ()
        console().rows([*found.rows(), *more])


def _broken(lease: Lease) -> Message:
    if lease.holder is None:
        return Message("the lease of {target} was free", target=lease.target)
    about = {"target": lease.target, "holder": str(lease.holder)}
    return Message("the lease of {target} is free; {holder}, writes nothing more", **about)


def _breaking(lease: Lease) -> Message:
    about = {"target": lease.target, "holder": str(lease.holder)}
    return Message("End the lease of {target}, held by {holder}?", **about)


_LARGEST = 64 << 20  # bytes of a file of ids


@opt.of_target
def restore(
    target: str = opt.TARGET,
    id_: str | None = typer.Argument(
        None,
        metavar="[ID]",
        help="The _id, as for dedup inspect. Put one that begins with - last, after --.",
    ),
    ids: Path | None = opt.value(
        "File with many _id, one per line, as dedup list --format ids writes them; - for "
        "standard input.",
        "FILE",
    ),
    requeue: bool = opt.flag("Only remove its row: the next run decides again.", "--requeue"),
    *,
    options: opt.SharedOptions,
) -> None:
    """Put documents that were dropped wrongly into the target, for good.

    Each is read from the source; or from the ledger, if ledger.document had it stored there and the
    source no longer holds it or holds another text. It is kept whatever it resembles, and later
    runs compare with it. Its row leaves the ledger. With --requeue it only leaves the
    ledger, and the next run decides it again: for one that was quarantined or skipped and is
    repaired now. Many ids are one entry in T.runs: `dedup undo` takes all of them back. The same
    command goes on where it was cut off.
    """
    settings, written, use = options.load(), _ids(id_, ids), commands.maintenance
    with working(Message("ended at once. The same command goes on where it ended.")) as progress:
        restored = use.restore(settings, target, written, progress, requeue=requeue)
    for line in _restored(restored, requeue=requeue):
        typer.echo(localized(line))


def _ids(id_: str | None, file: Path | None) -> list[str]:
    if (id_ is None) == (file is None):
        raise UsageError("give an ID or --ids FILE: one of them.")
    if file is None:
        return [str(id_)]
    lines = read_input(str(file), _LARGEST).split("\n")  # ids may hold other ends of lines
    if written := [line.strip() for line in lines if line.strip()]:
        return written
    raise UsageError("--ids {file} holds no _id.", file=file)


def _restored(restored: Restored, *, requeue: bool) -> Iterator[Message]:
    decisions, target, one = restored.decisions, restored.target, restored.documents == 1
    each = (Message("{number:,} {what}", number=n, what=what) for what, n in decisions.items())
    what = restored.id if one else counted(restored.documents, "document")
    about = {"what": what, "each": joined(each, ", "), "target": target}
    if restored.documents and requeue:
        yield Message("Requeued, to be decided by the next run: {what} ({each}).", **about)
    elif restored.documents:
        yield Message("Now kept in {target}: {what} ({each}).", **about)
    if before := restored.before:
        yield Message(
            "restored before, when the same command was cut off: {number:,}.", number=before
        )
    if restored.changed:
        documents = counted(restored.changed, "document")
        yield Message(
            "{documents} changed in the source since; restored as dropped.", documents=documents
        )
    number = restored.number
    undo = {"number": number, "undo": command_line("undo", number, "--target", target)}
    yield Message("Recorded as number {number}; `{undo}` takes all of it back.", **undo)


@opt.of_target
def undo(
    run: int = typer.Argument(
        ..., metavar="RUN", help="The number of the run, its _id in T.runs.", min=1
    ),
    target: str = opt.TARGET,
    yes: bool = opt.YES,
    *,
    options: opt.SharedOptions,
) -> None:
    """Undo the last run.

    Its documents are removed from the target and its rows from the ledger; the next run decides
    them again. A kept document that the source no longer holds stays, since it may be the only
    copy. The last `dedup restore` is undone in the same way.
    """
    settings, use = options.load(), commands.maintenance
    agree = asking(_undoing, Message("nothing was written"), yes=yes)
    ended = Message("ended at once. The same command or the next run finishes what began.")
    with working(ended) as progress:
        undone = use.undo_run(settings, target, run, agree, progress)
    for line in _undone(undone):
        typer.echo(localized(line))


def _about(undone: Undone) -> dict[str, object]:
    counts = {"documents": counted(undone.kept, "document"), "rows": counted(undone.ledger, "row")}
    return {"run": undone.run, "target": undone.target, **counts}


def _undone(undone: Undone) -> Iterator[Message]:
    about = _about(undone)
    if undone.by_hand:
        yield Message(
            "number {run} is undone: {documents} removed from {target}, {rows} restored to its "
            "ledger.",
            **about,
        )
    else:
        yield Message(
            "run {run} is undone: {documents} removed from {target}, {rows} from its ledger. The "
            "next run decides them again.",
            **about,
        )
    if undone.back:
        back = counted(undone.back, "document")
        yield Message("{documents} of earlier runs restored, as before it.", documents=back)
    if undone.left:
        yield Message(
            "Left in {target}, since the source no longer holds them and these may be the only "
            "copies, or since they are decided by such ones: {documents}.",
            target=undone.target,
            documents=counted(undone.left, "document"),
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
        "Undo run {run} of {target}? This removes {documents} from the target and {rows} from its "
        "ledger, and restores {back:,} of earlier runs.",
        **about,
        back=planned.back,
    )
