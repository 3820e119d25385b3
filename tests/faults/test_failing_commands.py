"""Commands that fail on the server, or take effect and are not answered, cost a run only time.

Errors and connections that close, command by command and on a standalone server as well:
tests/mongo/test_retry.py.
"""

import time

import pytest

from tests.faults.proxy import proxy
from tests.faults.subject import Subject

pytestmark = pytest.mark.faults
_TIMES = 3  # each fault is met
_AT_START = ("listCollections", "create", "findAndModify")
_FIRE_SECONDS, _LOOK_SECONDS = 20.0, 0.5
_LOSE_SECONDS = 5.0
_SMALL = {"gap": 60, "per_run": _TIMES, "left": 0, "batch": 5}
_COMMIT = "onPrimaryTransactionalWrite"  # the server's own point within a commit


@pytest.fixture(scope="module")
def subject(settled, tmp_path_factory):
    subject = Subject(settled.uri, tmp_path_factory.mktemp("subject"), documents=300)
    yield subject
    subject.end_all()


class FailPoint:
    """Lets a primary's commits fail so many times in a row, now; counts how often they did."""

    def __init__(self, servers, in_a_row, **how):
        self._servers, self._in_a_row, self._data, self.fired = servers, in_a_row, how, 0

    def __call__(self, process):
        """Set it, wait until it fired for the last time, and lift it."""
        node = self._servers.primary
        before = node.fail(_COMMIT, {"times": self._in_a_row}, **self._data)
        done, deadline = False, time.monotonic() + _FIRE_SECONDS
        while not done and process.is_alive() and time.monotonic() < deadline:
            done = node.entered(_COMMIT, before + self._in_a_row, _LOOK_SECONDS)
        self.fired += node.fail(_COMMIT, "off") - before
        return done


SHORT = pytest.mark.short
IN_A_ROW = (1, 2, 5)
CLOSED = {"closeConnection": True}  # the commit goes on without an answer
REFUSED = [  # WriteConflict, NotWritablePrimary
    {"closeConnection": False, "failBeforeCommitExceptionCode": code} for code in (112, 10107)
]


@pytest.mark.parametrize(
    ("in_a_row", "how"),
    [
        pytest.param(2, CLOSED, marks=SHORT),
        *((n, CLOSED) for n in (1, 5)),
        *((2, how) for how in REFUSED),
    ],
    ids=str,
)
def test_a_commit_that_fails_is_sent_again(subject, settled, times, in_a_row, how):
    point = FailPoint(settled, in_a_row, **how)
    subject.meet(times(_TIMES), point, **_SMALL)
    assert point.fired >= times(_TIMES) * in_a_row


@pytest.mark.parametrize("command", _AT_START)
def test_a_command_of_the_start_whose_connection_closes_is_sent_again(subject, settled, command):
    node = settled.primary
    of = {"failCommands": [command], "appName": "dedup", "closeConnection": True}
    before = node.fail("failCommand", {"times": 2}, **of)
    process = subject.start()
    subject.must_end_well(process)
    assert node.fail("failCommand", "off") - before == 2


@pytest.mark.parametrize(
    ("command", "in_a_row"),
    [
        pytest.param("commitTransaction", 1, marks=SHORT),
        *(("commitTransaction", n) for n in IN_A_ROW[1:]),
        *(("insert", 2), ("update", 2)),
    ],
)
def test_a_command_that_took_effect_and_whose_answer_is_lost_does_no_harm(
    subject, settled, times, command, in_a_row
):
    with proxy(settled.primary.port) as between:

        def lose(_):
            return between.lose_answers(command, in_a_row, _LOSE_SECONDS)

        subject.meet(times(_TIMES), lose, uri=between.uri, **_SMALL)
        assert between.lost >= times(_TIMES) * in_a_row
