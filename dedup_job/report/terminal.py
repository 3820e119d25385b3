"""The report as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Column, Table
from rich.text import Text

from dedup_job.messages import Message, counted, joined, localized
from dedup_job.printing import command_line, on_one_line
from dedup_job.report.labels import label
from dedup_job.report.output import Output, figures, new_table
from dedup_job.runs.counts import Counts
from dedup_job.runs.dial import Dial
from dedup_job.runs.run import Run, Status
from dedup_job.runs.stages import Profile, Stage

_TELLING = 1.0  # seconds of a run from which its ceiling says something
_SAMPLE_WIDTH = 48  # columns of the terminal; a Chinese character takes two


def show(report: Run, console: Output, *, profile: bool = False, stays: bool = True) -> None:
    """Print what a run did, in sentences and tables; profile: where the time went, too.

    stays: the target is still there, for the commands that are named as next steps. The last line
    says it all, for a mail or a log.
    """
    console.say()
    console.say(_heading(report))
    console.table(_documents(report))
    console.say()
    dial = report.about.dial if report.counts.scanned else None
    for sentence in [*remarks(report), *_meaning(dial)]:
        console.paragraph(sentence)
        console.say()
    for title, table in _tables(report, profile=profile):
        console.say(title)
        console.table(table)
        console.say()
    if profile:
        for sentence in _work(report):
            console.say(sentence)
        console.say()
    if steps := [*next_steps(report)] if stays else []:
        for what, command in steps:
            console.say(what)
            console.say(f"  {command}")
        console.say()
    (console.paragraph if console.is_terminal else console.say)(in_a_line(report))


def in_a_line(report: Run) -> Message:
    """Return what a run did as one line."""
    counts = report.counts
    values = {
        "documents": counts.scanned,
        "kept": counts.kept,
        "duplicates": counts.duplicates,
        "rate": counts.repeat_rate,
        "skipped": counts.skipped,
        "quarantined": counts.quarantined,
        "seconds": report.seconds,
        "speed": report.docs_per_second,
    }
    if report.about.dry_run:
        what = Message("dry run")
    elif report.number:
        run = {"run": report.number, "status": label(str(report.status))}
        what = Message("{target}: run {run} {status}", target=report.about.target, **run)
    else:
        what = Message(
            "{target}: {status}", target=report.about.target, status=label(report.status)
        )
    return Message(
        "{what}: {documents:,} read, {kept:,} kept, {duplicates:,} dropped ({rate:.2%}), "
        "{skipped:,} skipped, {quarantined:,} quarantined; {seconds:,.1f} s, {speed:,.0f} docs/s",
        what=what,
        **values,
    )


def _heading(report: Run) -> Text:
    about = report.about
    names = Text(f"{about.source} -> {about.target}", style="bold")
    if about.dry_run:
        note = Message("(dry run, nothing written)")
    elif report.number:  # a file's has none
        status = label(str(report.status))
        note = Message("(run {run}, {status})", run=report.number, status=status)
    else:
        note = Message("({status})", status=label(str(report.status)))
    return names.append(f"  {localized(note)}", style="not bold")


def _documents(report: Run) -> Table:
    counts = report.counts
    names = Column(Message("documents"), overflow="fold")
    table = new_table(names, *figures(Message("count"), Message("share")))
    for name, count in _rows(counts, report.about.similar_from):
        share = f"{count / counts.scanned:.2%}" if counts.scanned else "-"
        table.add_row(name, f"{count:,}", share)
    table.add_section()
    table.add_row(Message("repeat rate"), "", f"{counts.repeat_rate:.2%}")
    table.add_row(Message("valid rate"), "", f"{counts.valid_rate:.2%}")
    if report.known:
        table.add_section()
        table.add_row(Message("decided by earlier runs"), f"{report.known:,}", "")
        for name, count in report.changed.items():
            table.add_row(_SINCE[name], f"{count:,}", "")
    for name, count in report.refreshed.items():
        table.add_row(_REFRESHED[name], f"{count:,}", "")
    return table


_SINCE = {
    "changed": Message("  changed in the source since"),
    "deleted": Message("  deleted in the source since"),
}
_REFRESHED = {
    "changed": Message("changed in the source, decided anew"),
    "deleted": Message("deleted in the source, removed"),
}


def _rows(counts: Counts, similar_from: float) -> Iterator[tuple[str, int]]:
    yield Message("scanned"), counts.scanned
    yield Message("kept"), counts.kept
    if counts.similar:
        of_kept = Message("  though similar, {least:g} or more", least=similar_from)
        yield of_kept, sum(counts.similar.values())
        yield from _each(Message("    {name}"), counts.similar)
    yield Message("duplicate, exact"), counts.exact
    yield Message("duplicate, near"), counts.near
    for name, count in sorted(counts.against.items()):
        yield Message("  of documents of {name}", name=name), count
    if counts.replaced:
        yield Message("  a better copy, which is kept now"), counts.replaced
    yield Message("skipped"), counts.skipped
    yield from _reasons(counts, ("empty", "missing", "not_text"))
    yield Message("quarantined"), counts.quarantined
    yield from _reasons(counts, ("too_large", "undecodable"))


def _each(form: Message, named: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for name, count in _most(named):
        yield Message(form.template, name=label(name)), count


def _reasons(counts: Counts, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    given = {name: counts.reasons[name] for name in names if name in counts.reasons}
    return _each(Message("  {name}"), given)


def remarks(report: Run) -> Iterator[Message]:
    """Yield what the table does not say: each sentence where there is a reason for it."""
    counts = report.counts
    yield from report.warnings
    if not counts.scanned:
        yield _NOTHING_NEW[report.checkpoint.scope.query is not None]
    if counts.skipped > counts.scanned / 2:
        yield Message(
            "Skipped, as they have no text there: {share:.0%} of the documents. Is --field right?",
            share=counts.skipped / counts.scanned,
        )
    if counts.scanned and counts.scanned == report.checkpoint.scope.limit:
        yield Message("Stopped at --limit: the same command decides the next ones.")
    if short := counts.short_kept + counts.short_duplicate:
        yield Message(
            "Texts of a few words, which have no fingerprint and are found by their characters "
            "alone: {short:,}, of these {dropped:,} dropped.",
            short=short,
            dropped=counts.short_duplicate,
        )
    if counts.richer and not report.about.keeps:
        more = [
            Message("{name} {count:,}", name=label(n), count=c) for n, c in _most(counts.richer)
        ]
        yield Message(
            "Dropped near duplicates with more than the kept copy, by what they have: {more}.",
            more=joined(more, ", "),
        )
        if {*counts.richer} & _RICHNESS:
            yield Message(
                "`--keep richest` keeps such a copy in the place of the other, in a new target."
            )
    if counts.cut_documents:
        yield Message(
            "Cut off at the markers of cleaning.cut_at: {characters} of {documents}.",
            characters=counted(counts.cut_characters, "character"),
            documents=counted(counts.cut_documents, "document"),
        )
    yield from _limits(report)
    if report.known and not (report.changed or report.refreshed):
        yield Message(
            "Not looked for: what the source changed or deleted after it was decided. A replica "
            "set tells, a standalone server does not."
        )
    if left := {name: count for name, count in report.changed.items() if count}:
        yield _out_of_date(left)
    if report.status is Status.STOPPED:
        yield Message("Stopped after a checkpoint: the same command goes on from there.")


_RICHNESS = {"image", "choice", "answer", "explanation"}  # what the rule `richest` weighs
_NOTHING_NEW = {
    False: Message("Nothing to decide: no new document in the source."),
    True: Message("Nothing to decide: no new document matches the query."),
}


def _limits(report: Run) -> Iterator[Message]:
    """Yield what was not compared, and what it means."""
    counts = report.counts
    if counts.cut:
        yield Message(
            "{cut:,} documents are similar to very many kept ones (up to {most:,}): each was "
            "compared with the most similar of them.",
            cut=counts.cut,
            most=counts.candidates.most,
        )
    if report.unindexed:
        yield Message(
            "Some texts are alike in very many documents: {number:,} index entries were skipped: "
            "128 documents already share the key, or 16 the fingerprint. A near duplicate that "
            "only such an entry would find is kept.",
            number=report.unindexed,
        )
    if counts.missing_originals:
        yield Message(
            "{number:,} candidates were gone: someone removes documents from the target. What "
            "duplicates them is kept.",
            number=counts.missing_originals,
        )


def _most(named: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return names with their counts, the greatest first."""
    return sorted(named.items(), key=lambda item: (-item[1], item[0]))


_OUT_OF_DATE = {
    ("changed",): Message(
        "Out of date: since they were decided, the source has changed {changed}; "
        "`--on-change refresh` decides them anew."
    ),
    ("deleted",): Message(
        "Out of date: since they were decided, the source has deleted {deleted}; "
        "`--on-delete remove` removes them."
    ),
    ("changed", "deleted"): Message(
        "Out of date: since they were decided, the source has changed {changed} and deleted "
        "{deleted}; `--on-change refresh --on-delete remove` mends it."
    ),
}


def _out_of_date(left: Mapping[str, int]) -> Message:
    """Say what the source changed and the target does not know, and what would mend it."""
    told = {name: counted(number, "document") for name, number in left.items()}
    return Message(_OUT_OF_DATE[tuple(sorted(left))].template, **told)


def _meaning(dial: Dial | None) -> Iterator[Message]:
    """Say what the confidence means, where a model decides."""
    if dial is not None:
        yield Message(
            "decision.confidence {confidence}: of 1,000 pairs labelled different that the model "
            "had not seen, {different} are joined (95 % interval {different_low}-"
            "{different_high}); of those labelled the same, {same} % are ({same_low}-{same_high} "
            "%). These pairs are hard ones; most of a collection is easier.",
            **dial.figures(),
        )


def _tables(report: Run, *, profile: bool) -> Iterator[tuple[Message, Table]]:
    if report.clusters:
        yield Message("Most duplicates:"), _clusters(report)
    if report.machines:
        yield Message("Machines:"), _machines(report)
    if profile:
        yield Message("Stages:"), _stages(report)
        if report.profile is not None:
            yield Message("How busy they were:"), _profile(report.profile)


def _clusters(report: Run) -> Table:
    begins = Column(Message("which begins"), no_wrap=True, overflow="crop")
    table = new_table(*figures(Message("duplicates")), Message("of _id"), begins)
    for cluster in report.clusters:
        named = f"{cluster.shown} of {cluster.against}" if cluster.against else cluster.shown
        sample = Text(on_one_line(cluster.sample))
        sample.truncate(_SAMPLE_WIDTH, overflow="ellipsis")
        table.add_row(f"{cluster.duplicates:,}", named, sample)
    return table


def next_steps(report: Run) -> Iterator[tuple[Message, str]]:
    """Yield what can be done next, and the command for it."""
    about, counts = report.about, report.counts
    if not report.number or about.dry_run:
        return
    to = ("--target", about.target)
    these = ("--run", report.number, *to)
    if counts.quarantined:
        yield (
            Message(
                "not processed: {documents}; see them with",
                documents=counted(counts.quarantined, "document"),
            ),
            command_line("list", "--what", "quarantined", *these),
        )
    if counts.near:
        yield (
            Message("what was dropped, the most doubtful first:"),
            command_line("list", "--what", "near", *these),
        )
    if counts.refused:
        yield (
            Message("what was nearly dropped:"),
            command_line("list", "--what", "refused", *these),
        )
    if counts.scanned:
        yield Message("to take this run back:"), command_line("undo", report.number, *to)


def _stages(report: Run) -> Table:
    table = new_table(Message("stage"), *figures(Message("seconds")))
    for name, seconds in report.stages.items():
        table.add_row(label(name), f"{seconds:,.2f}")
    table.add_section()
    table.add_row(Message("whole run"), f"{report.seconds:,.2f}")
    return table


def _machines(report: Run) -> Table:
    table = new_table(Message("machine"), *figures(Message("workers"), Message("prepared")))
    for name, machine in sorted(report.machines.items()):
        table.add_row(name, *(f"{figure:,}" for figure in machine))
    return table


def _profile(profile: Profile) -> Table:
    named = (Message("threads"), Message("busy"), Message("processor"), "us/doc")
    names = (*named, Message("locked"), "docs/s", "MB/s")
    table = new_table(Message("stage"), *figures(*names))
    for stage, work in profile.work.items():
        if stage is Stage.LOAD or not work.documents:
            continue
        busy, wall = profile.busy(stage), max(profile.seconds, 1e-9)
        table.add_row(
            label(str(stage)),
            str(profile.threads_of(stage)),
            f"{busy:.0%}",
            f"{work.processor / max(work.seconds, 1e-9):.0%}",
            f"{work.seconds / work.documents * 1e6:,.1f}",
            f"{work.locked / work.documents * 1e6:,.1f}",
            f"{work.documents / wall:,.0f}",
            f"{work.bytes / wall / 1e6:,.1f}" if work.bytes else "",
        )
    return table


def _work(report: Run) -> Iterator[Message]:
    """Yield what the tables of a profile do not say."""
    found, profile = report.counts.candidates, report.profile
    if found.total:
        yield Message(
            "candidates per document: mean {mean:,.2f}, p99 {p99:,}, max {most:,}",
            mean=found.mean,
            p99=found.percentile(99),
            most=found.most,
        )
    if profile is None:
        return
    stage, share = profile.bottleneck
    yield Message("bottleneck: {stage} ({share:.0%} busy)", stage=label(stage), share=share)
    if (ceiling := profile.ceiling) and profile.seconds >= _TELLING:
        yield Message("with more cores and threads at most {speed:,.0f} docs/s", speed=ceiling)
