"""Where a command prints: standard output and standard error, made safe once for all."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dedup_job.report.output import Output


def console() -> Output:
    """Return standard output."""
    from dedup_job.report.output import Output

    return Output(sys.stdout)


def errors() -> Output:
    """Return standard error."""
    from dedup_job.report.output import Output

    return Output(sys.stderr)
