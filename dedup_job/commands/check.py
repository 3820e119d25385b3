"""Wire the parts of a check together."""

from __future__ import annotations

import time

from dedup_job.commands.opened import opened
from dedup_job.decision import PairRecheck
from dedup_job.messages import Message
from dedup_job.mongo import checks
from dedup_job.mongo.audit import Checker
from dedup_job.mongo.audit_rows import Audited
from dedup_job.mongo.connection import Namespace
from dedup_job.mongo.id_keys import shown
from dedup_job.runs.check import Checked, Tally
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.settings import Settings


def check_target(
    settings: Settings,
    source: str,
    target: str,
    sample: int | None,
    progress: Progress = QUIET,
) -> Checked:
    """Verify a target; `sample` of its texts, None for all of them."""
    with opened(settings, target, progress) as on:
        made_from = on.target.source.full_name
        given_name = Namespace.parse(source, on.database, "--source")
        checks.check_same_source(made_from, str(given_name), on.target.name)
        on.progress.stage(Message("loading the dictionary"))
        began, tally = time.perf_counter(), Tally(shown)
        audited = Audited(
            on.target,
            on.models.fingerprinter.fingerprint,
            PairRecheck(on.settings.decision, on.settings.index, on.models),
            tally,
        )
        generation = Checker(audited, on.target, on.progress).check(sample)
        seconds = time.perf_counter() - began
        return Checked(made_from, on.target.name, generation, tally.findings(), seconds)
