"""Fixtures of the fingerprint stage."""

import logging

import jieba
import pytest

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, load_lexicon
from tests.reference.recipe import PLAIN

jieba.setLogLevel(logging.CRITICAL)


@pytest.fixture(scope="session")
def fingerprinter():
    """Return a fingerprinter with the settings of the naive version."""
    return Fingerprinter(FingerprintSettings(**PLAIN), load_lexicon(print))
