"""Preloaded by the fork server of `tests.running.Forked`: the modules that a run needs."""

from dedup_job.cli import decide as cli
from dedup_job.commands import run
from dedup_job.settings import load
from tests import running

_ = load({}).settings.models().judge
__all__ = ["cli", "run", "running"]
