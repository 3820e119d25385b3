"""`dedup idf`: weights of words, from the user's own collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dedup_job import commands
from dedup_job.cli.console import working
from dedup_job.cli.options import OF_A_SOURCE, Options, Source, with_options
from dedup_job.errors import UsageError
from dedup_job.files import check_writable, write_whole


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
    options: Options,
) -> None:
    """Write an IDF file: the weights of words in a collection; rare words weigh most.

    Use it with `idf = "FILE"` in the section [fingerprint] of the settings.
    """
    settings = options.load()
    check_writable("--output", output)
    with working() as progress:
        frequencies = commands.sources.count_words(settings, source, limit, progress)
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
