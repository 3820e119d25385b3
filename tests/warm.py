"""Imported once by the process that the runs are forked from: loads and compiles what they need."""

from dedup_job.decision import GreedyDeduplicator
from dedup_job.settings import load
from tests import running

_settings = load({}).settings
GreedyDeduplicator.compile(_settings.index, _settings.decision, _settings.models())
__all__ = ["running"]
