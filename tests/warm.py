"""Imported once by the process that the runs are forked from: loads the modules that they need."""

from dedup_job.cli import decide as cli
from dedup_job.commands import run
from dedup_job.settings import load
from tests import running

_ = load({}).settings.models().judge
__all__ = ["cli", "run", "running"]
