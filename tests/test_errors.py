"""An error stays what it is on its way to another process."""

import pickle
import signal

import pytest

from dedup_job.errors import (
    ConfigurationError,
    DedupError,
    Interrupted,
    LeaseHeld,
    RunAborted,
    UsageError,
)
from dedup_job.messages import Message


@pytest.mark.parametrize(
    "error",
    [
        DedupError("unexpected"),
        UsageError("--source is missing"),
        ConfigurationError(["one", "two"]),
        RunAborted("found", "limit", "abort_if.without_text", "example"),
        LeaseHeld("held"),
        Interrupted("stopped", signal.SIGTERM),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_another_process_has_its_type_its_words_and_its_code(error):
    there = pickle.loads(pickle.dumps(error))
    assert (type(there), str(there), there.code) == (type(error), str(error), error.code)
    assert vars(there) == vars(error)


def test_an_error_of_another_process_knows_what_its_words_were_made_from():
    found = Message("{number:,} documents have no text", number=5000)
    error = RunAborted(found, "1,000", "abort_if.without_text", "_id 5")
    there = pickle.loads(pickle.dumps(error)).message
    assert there == error.message
    assert there.template == error.message.template
    assert there.values["found"].values == {"number": 5000}
