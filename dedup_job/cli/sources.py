"""`dedup calibrate` and `dedup idf`: settings that suit a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import console, working
from dedup_job.cli.options import OF_A_SOURCE, Given, Source, check_range, with_options
from dedup_job.cli.signals import ending_at_once
from dedup_job.errors import UsageError
from dedup_job.files import check_writable, write_whole

_MAX_READ, _MAX_EXAMPLES = 100_000, 50


@with_options(*OF_A_SOURCE)
def calibrate(
    source: Source,
    limit: Annotated[
        int, typer.Option(metavar="N", help="Read the first N documents, 2 to 100,000.")
    ] = 20_000,
    examples: Annotated[int, typer.Option(metavar="N", help="Show N pairs per band, 0 to 50.")] = 2,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="NS",
            help="Base the proposal on the answers given in dedup review of this target.",
        ),
    ] = None,
    *,
    options: Given,
) -> None:
    """Propose distance and similarity for a collection, and show its near pairs.

    Two tables: how many pairs at each distance are similar (the precision of the fingerprint, with
    its 95 % interval), and how many pairs there are of each similarity, each with the share that
    the judge joins, the classes of differences that keep the others apart, and examples. The first
    documents in _id order are read, since a random sample of a large collection holds few
    pairs; --query chooses another part. With --target, the answers that people gave in dedup review
    decide on the similarity. Nothing is written.
    """
    settings = options.load()
    check_range("--limit", limit, 2, _MAX_READ)
    check_range("--examples", examples, 0, _MAX_EXAMPLES)
    ended = "ended; nothing was written."
    from dedup_job.cli import proposal  # here: --help should not wait for numba

    with working(ended) as progress:
        answers = {}
        if target is not None:
            answers = commands.labels.answers_by_similarity(settings, target, progress)
        found = commands.sources.compare_source(settings, source, limit, progress)
    with ending_at_once(ended):
        proposal.show_calibration(found, settings, console(), examples, answers)


@with_options(*OF_A_SOURCE)
def idf(
    source: Source,
    output: Annotated[Path, typer.Option(metavar="FILE", help="The IDF file to write.")],
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=10**15, help="Read at most N documents.")
    ] = None,
    least: Annotated[
        int, typer.Option("--min-documents", metavar="N", min=1, help="Leave rarer words out.")
    ] = 2,
    *,
    options: Given,
) -> None:
    """Write an IDF file: the weights of words in a collection; rare words weigh most.

    Use it with `idf = "FILE"` in the section [fingerprint] of the settings.
    """
    settings = options.load()
    check_writable("--output", output)
    with working() as progress:
        frequencies = commands.sources.word_frequencies(settings, source, limit, progress)
    words = list(frequencies.weights(least))
    if not words:
        raise UsageError(
            f"no word stands in {least:,} or more of {frequencies.texts:,} texts; nothing was "
            "written. Look at --field, or lower --min-documents."
        )
    try:
        write_whole(output, "".join(f"{word} {weight:.9f}\n" for word, weight in words))
    except OSError as e:
        raise UsageError(f"--output {output} cannot be written: {e.strerror}") from e
    typer.echo(f"{len(words):,} words of {frequencies.texts:,} texts: {output}")
