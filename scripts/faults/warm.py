"""Imported once by the process that the runs are forked from: loads and compiles what they need."""

from dedup_job.cli import execute
from dedup_job.decision import FirstWins
from dedup_job.fingerprint import Fingerprinter
from dedup_job.settings import load

_settings = load({}).settings
_fingerprinter = Fingerprinter(
    _settings.fingerprint, lambda _: None, channels=_settings.index.channels
)
FirstWins.compile(_settings.index, _fingerprinter.fingerprint)
__all__ = ["execute"]
