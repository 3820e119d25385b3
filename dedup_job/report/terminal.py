"""The report as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Column, Table
from rich.text import Text

from dedup_job.printing import command_line, on_one_line
from dedup_job.report.output import Output, figures, new_table
from dedup_job.runs.counts import Counts
from dedup_job.runs.dial import Dial
from dedup_job.runs.run import Run, Status
from dedup_job.runs.stages import Profile, Stage

_TELLING = 1.0  # seconds of a run from which its ceiling says something
_SAMPLE_WIDTH = 48  # columns of the terminal, of which a Chinese character takes two


def show(report: Run, console: Output, *, profile: bool = False) -> None:
    """Print the counts, rates and times of a run; profile: where the time went, too."""
    about, checkpoint = report.about, report.checkpoint
    number = f"run {checkpoint.run}, " if checkpoint.run else ""  # a file's has none
    name = "dry run, nothing written" if about.dry_run else f"{number}{report.status}"
    names = Text(f"\n{about.source} -> {about.target}", style="bold")
    console.say(names.append(f"  ({name})", style="not bold"))
    console.table(_documents(report))
    console.say()
    if cut := checkpoint.counts.cut_documents:
        characters = f"{checkpoint.counts.cut_characters:,} characters of {cut:,} documents"
        console.say(f"cut off at the markers of cleaning.cut_at: {characters}\n")
    if checkpoint.counts.candidates.total:
        console.say(_candidates(checkpoint.counts))
        if report.unindexed:
            console.say(
                f"{report.unindexed:,} index entries were skipped: 128 documents already share the "
                "key, or 16 the fingerprint"
            )
        console.say()
    if any(report.changed.values()):
        console.say(_out_of_date(report))
        console.say()
    if about.dial is not None:
        console.say(_meaning(about.dial))
        console.say()
    if report.clusters:
        console.table(_clusters(report))
        console.say()
    console.table(_stages(report))
    if report.machines:
        console.say()
        console.table(_machines(report))
    if profile and report.profile is not None:
        console.say()
        console.table(_profile(report.profile))
        stage, share = report.profile.bottleneck
        console.say(f"bottleneck: {stage} ({share:.0%} busy)")
        if (ceiling := report.profile.ceiling) and report.profile.seconds >= _TELLING:
            console.say(f"with more cores and --threads at most {ceiling:,.0f} docs/s")
    if not checkpoint.counts.scanned:
        console.say(
            "\nNothing to decide: no new document"
            + (" matches the query." if checkpoint.scope.query else " in the source.")
        )
    if report.status is Status.STOPPED:
        console.say("Stopped after a checkpoint: the same command goes on from there.")
    if checkpoint.counts.quarantined and checkpoint.run and not about.dry_run:
        console.say(
            f"{checkpoint.counts.quarantined:,} documents could not be processed; see them with\n"
            f"  {command_line('list', '--what', 'quarantined', '--target', about.target)}"
        )


def _documents(report: Run) -> Table:
    counts = report.checkpoint.counts
    table = new_table("documents", *figures("count", "share"))
    for name, count in _rows(counts):
        share = f"{count / counts.scanned:.2%}" if counts.scanned else "-"
        table.add_row(name, f"{count:,}", share)
    table.add_section()
    table.add_row("repeat rate", "", f"{counts.repeat_rate:.2%}")
    table.add_row("valid rate", "", f"{counts.valid_rate:.2%}")
    if report.known:
        table.add_section()
        table.add_row("decided by earlier runs", f"{report.known:,}", "")
        for name, count in report.changed.items():
            table.add_row(f"  {name} since", f"{count:,}", "")
    for name, count in report.refreshed.items():
        table.add_row(f"{name} since, " + _BECAME[name], f"{count:,}", "")
    return table


_BECAME = {"changed": "decided anew", "deleted": "removed"}
_MENDED_BY = {"changed": "--on-change refresh", "deleted": "--on-delete remove"}


def _out_of_date(report: Run) -> str:
    """Say what the source changed and the target does not know, and what would mend it."""
    left = {name: count for name, count in report.changed.items() if count}
    told = " and ".join(f"{count:,} {name}" for name, count in left.items())
    how = " ".join(_MENDED_BY[name] for name in left)
    return (
        f"out of date: {told} in the source since they were decided; {how} mends it."
        if left
        else ""
    )


def _candidates(counts: Counts) -> str:
    found = counts.candidates
    line = (
        f"candidates per document: mean {found.mean:,.2f}, p99 {found.percentile(99):,}, "
        f"max {found.most:,}"
    )
    if counts.cut:
        line += f"; of {counts.cut:,} documents only the most similar ones were compared"
    if counts.missing_originals:
        gone = f"{counts.missing_originals:,} candidates were gone"
        line += f"\n{gone}: someone removes documents from the target"
    return line


def _meaning(dial: Dial) -> str:
    """Say what the confidence means."""
    return (
        "decision.confidence {confidence}: of 1,000 labelled pairs that the model had not seen\n"
        "and an editor would keep apart, {different} are joined (95 % interval "
        "{different_low}-{different_high}); of\nthose that he would join, {same} % are "
        "({same_low}-{same_high} %)."
    ).format(**dial.figures())


def _clusters(report: Run) -> Table:
    begins = Column("which begins", no_wrap=True, overflow="crop")
    table = new_table(*figures("duplicates"), "of _id", begins)
    for cluster in report.clusters:
        named = f"{cluster.shown} of {cluster.against}" if cluster.against else cluster.shown
        sample = Text(on_one_line(cluster.sample))
        sample.truncate(_SAMPLE_WIDTH, overflow="ellipsis")
        table.add_row(f"{cluster.duplicates:,}", named, sample)
    return table


def _rows(counts: Counts) -> Iterator[tuple[str, int]]:
    yield "scanned", counts.scanned
    yield "kept", counts.kept
    yield "  of these short", counts.short_kept
    yield from ((f"  refused by {name}", n) for name, n in sorted(counts.refused.items()))
    yield "duplicate, exact", counts.exact
    yield "  of these short", counts.short_duplicate
    yield "duplicate, near", counts.near
    yield from ((f"  richer by {name}", n) for name, n in sorted(counts.richer.items()))
    yield from ((f"duplicates of {name}", n) for name, n in sorted(counts.against.items()))
    if counts.replaced:
        yield "  better, now kept", counts.replaced
    yield "skipped", counts.skipped
    yield from _reasons(counts, ("empty", "missing", "not_text"))
    yield "quarantined", counts.quarantined
    yield from _reasons(counts, ("too_large", "undecodable"))


def _reasons(counts: Counts, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    return ((f"  {name}", counts.reasons[name]) for name in names if name in counts.reasons)


def _stages(report: Run) -> Table:
    table = new_table("stage", *figures("seconds"))
    for name, seconds in report.stages.items():
        table.add_row(name, f"{seconds:,.2f}")
    table.add_section()
    wall = f"{report.checkpoint.seconds:,.2f}"
    table.add_row(f"whole run, {report.docs_per_second:,.0f} docs/s", wall)
    return table


def _machines(report: Run) -> Table:
    table = new_table("machine", *figures("workers", "prepared"))
    for name, machine in sorted(report.machines.items()):
        table.add_row(name, *(f"{figure:,}" for figure in machine))
    return table


def _profile(profile: Profile) -> Table:
    names = ("threads", "busy", "processor", "us/doc", "locked", "docs/s", "MB/s")
    table = new_table("stage", *figures(*names))
    for stage, work in profile.work.items():
        if stage is Stage.LOAD or not work.documents:
            continue
        busy, wall = profile.busy(stage), max(profile.seconds, 1e-9)
        table.add_row(
            str(stage),
            str(profile.threads_of(stage)),
            f"{busy:.0%}",
            f"{work.processor / max(work.seconds, 1e-9):.0%}",
            f"{work.seconds / work.documents * 1e6:,.1f}",
            f"{work.locked / work.documents * 1e6:,.1f}",
            f"{work.documents / wall:,.0f}",
            f"{work.bytes / wall / 1e6:,.1f}" if work.bytes else "",
        )
    return table
