"""Imported once by the process that the runs are forked from: loads and compiles what they need."""

from dedup_job.decision import FirstWins
from dedup_job.settings import load
from tests import running

_settings = load({}).settings
FirstWins.compile(_settings.index, _settings.decision, _settings.equipment())
__all__ = ["running"]
