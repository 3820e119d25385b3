"""The report of a run, printed on the terminal."""

from collections.abc import Iterable, Iterator, Mapping

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from dedup_job.documents import NO_TEXT
from dedup_job.messages import Message, counted, joined, localized
from dedup_job.printing import command_line
from dedup_job.report.output import Output, new_table, number_columns, whole
from dedup_job.report.pairs import display_name
from dedup_job.runs.run_record import Run, Stage

_SHARE = 10  # columns of a share


def show(report: Run, console: Output, *, profile: bool = False, stays: bool = True) -> None:
    """Print the outcome of a run, at most 15 lines on a terminal of 80 columns.

    profile: print its details and the time of its stages, too; stays: the target will exist, so
    name the next commands.
    """
    about = report.about
    heading = Text(f"{about.source} -> {about.target}", style="bold")
    if about.dry_run:
        note = Message("(dry run, nothing written)")
    elif report.number:  # a file's has none
        status = display_name(str(report.status))
        note = Message("(run {run}, {status})", run=report.number, status=status)
    else:
        note = Message("({status})", status=display_name(str(report.status)))
    console.say(heading.append(f"  {localized(note)}", style="not bold"))
    if report.counts.scanned:
        for line in _figures(report):
            console.say(line)
    else:
        nothing = Message("Nothing to decide: no new document in the source.")
        if report.checkpoint.scope.query is not None:
            nothing = Message("Nothing to decide: no new document matches the query.")
        console.paragraph(nothing)
    if more := [*_more(report)]:
        console.paragraph(joined(more))
    for warning in [*_warnings(report)][:1]:
        console.paragraph(warning)
    if stays:
        console.rows((purpose, whole(line)) for purpose, line in _next_steps(report))
    if profile:
        console.say()
        console.blocks([[*details(report)], _stages(report)])


def _figures(report: Run) -> Iterator[Text | Message]:
    counts = report.counts
    named = {
        Message("scanned"): counts.scanned,
        Message("kept"): counts.kept,
        Message("duplicate, exact"): counts.exact,
        Message("duplicate, near"): counts.near,
        Message("skipped"): counts.skipped,
        Message("quarantined"): counts.quarantined,
    }
    rows = [(localized(name), f"{count:,}", count) for name, count in named.items()]
    names = max(cell_len(name) for name, _, _ in rows)
    numbers = max(len(number) for _, number, _ in rows)
    for name, number, count in rows:
        line = Text(name)
        line.pad_right(names - line.cell_len + 3)
        share = f"{count / counts.scanned:.2%}"
        yield line.append(f"{number:>{numbers}}{share:>{_SHARE}}")
    yield Message(
        "repeat rate {repeat:.2%}, valid rate {valid:.2%}; {seconds:,.1f} s, {speed:,.0f} docs/s",
        repeat=counts.repeat_rate,
        valid=counts.valid_rate,
        seconds=report.seconds,
        speed=report.docs_per_second,
    )


def _more(report: Run) -> Iterator[Message]:
    counts = report.counts
    if counts.against:
        yield Message("Duplicates of others: {listed}.", listed=_listed(counts.against))
    if counts.replaced:
        yield Message("Better copies kept: {number:,}.", number=counts.replaced)
    if any(report.refreshed.values()):
        yield Message(
            "As the source changed: {changed:,} decided anew, {deleted:,} removed.",
            **{name: report.refreshed.get(name, 0) for name in ("changed", "deleted")},
        )
    if report.known:
        yield Message("Decided before: {known:,}.", known=report.known)
    if counts.scanned and counts.scanned == report.checkpoint.scope.limit:
        yield Message("Stopped at --limit: the same command decides the next ones.")


def _warnings(report: Run) -> Iterator[Message]:
    counts = report.counts
    yield from report.warnings
    if counts.skipped > counts.scanned / 2:
        yield Message(
            "Skipped, as they have no text there: {share:.0%} of the documents. Is --field right?",
            share=counts.skipped / counts.scanned,
        )
    if counts.missing_originals:
        yield Message(
            "{number:,} candidates were gone: someone removes documents from the target. What "
            "duplicates them is kept.",
            number=counts.missing_originals,
        )
    if outdated := sum(report.changed.values()):
        yield Message(
            "Out of date: since they were decided, the source has changed or deleted {documents}; "
            "`--on-change refresh --on-delete remove` mends it.",
            documents=counted(outdated, "document"),
        )


def _next_steps(report: Run) -> Iterator[tuple[Message, str]]:
    about, counts = report.about, report.counts
    if not (report.number and counts.scanned) or about.dry_run:
        return
    to = ("--target", about.target)
    these = ("--run", report.number, *to)
    if counts.near:
        yield Message("most doubtful"), command_line("list", "--what", "near", *these)
    if counts.quarantined:
        yield Message("quarantined"), command_line("list", "--what", "quarantined", *these)
    else:
        yield Message("details"), command_line("status", *to)
    yield Message("undo"), command_line("undo", report.number, *to)


def details(report: Run) -> Iterator[tuple[Message, Message]]:
    """Yield names and texts that break down the figures of a run."""
    counts, about = report.counts, report.about
    named = [(Message("exact"), counts.exact), (Message("near"), counts.near)]
    yield Message("duplicates"), joined([_number(*one) for one in named], ", ")
    for name, reasons in NO_TEXT.items():
        found = {str(one): counts.reasons[one] for one in reasons if one in counts.reasons}
        if found:
            yield Message(name), _listed(found)
    if counts.similar:
        text = Message(
            "{number:,} with a similarity of {least:g} or more: {listed}",
            number=sum(counts.similar.values()),
            least=about.similar_from,
            listed=_listed(counts.similar),
        )
        yield Message("kept apart"), text
    if counts.richer and not about.settings.get("output", {}).get("keep"):
        text = Message(
            "dropped with more than the kept copy: {listed}; `--keep richest` keeps those with "
            "an image, a choice, an answer or an explanation",
            listed=_listed(counts.richer),
        )
        yield Message("richer"), text
    if counts.cut_documents:
        text = Message(
            "{characters} of {documents}, at the markers of cleaning.cut_at",
            characters=counted(counts.cut_characters, "character"),
            documents=counted(counts.cut_documents, "document"),
        )
        yield Message("cut off"), text
    if counts.cut:
        text = Message(
            "{cut:,} documents have very many (up to {most:,}): each was compared with the "
            "most similar of them",
            cut=counts.cut,
            most=counts.most_candidates,
        )
        yield Message("candidates"), text
    if report.unindexed:
        text = Message(
            "{number:,} entries were skipped: 128 documents already share the key, or 16 the "
            "fingerprint; a near duplicate that only such an entry would find is kept",
            number=report.unindexed,
        )
        yield Message("index"), text


def _listed(named: Mapping[str, int]) -> Message:
    ordered: Iterable[tuple[str, int]] = sorted(named.items(), key=lambda one: (-one[1], one[0]))
    return joined([_number(display_name(name), count) for name, count in ordered], ", ")


def _number(name: str, count: int) -> Message:
    return Message("{name} {count:,}", name=name, count=count)


def _stages(report: Run) -> Table:
    names = (Message("seconds"), Message("threads"), Message("busy"), "us/doc")
    table, profile = new_table(Message("stage"), *number_columns(*names)), report.profile
    for stage, seconds in profile.stages.items() if profile else ():
        row = [display_name(str(stage)), f"{seconds:,.2f}"]
        if profile and profile.documents and stage is not Stage.LOAD:
            each = f"{seconds / profile.documents * 1e6:,.1f}"
            row += [f"{profile.threads_of(stage)}", f"{profile.busy(stage):.0%}", each]
        table.add_row(*row)
    table.add_section()
    table.add_row(Message("whole run"), f"{report.seconds:,.2f}")
    return table
