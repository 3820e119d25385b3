"""What the tests of the fingerprint stage share."""

from __future__ import annotations

import logging

import jieba
import pytest

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings

jieba.setLogLevel(logging.CRITICAL)


@pytest.fixture(scope="session")
def fingerprinter():
    """Return the stage with default settings."""
    return Fingerprinter(FingerprintSettings())
