"""A run waits for servers that die, step down, hang or cannot be reached, and then goes on."""

from __future__ import annotations

import random
import signal
import time

import pytest

from tests.faults.proxy import proxy
from tests.faults.servers import Node
from tests.faults.subject import Subject

pytestmark = pytest.mark.faults
_AWAY_SECONDS = 20.0
_HANG_SECONDS = 12.0
_CUT_SECONDS = (0.1, 2.0)
_SILENT_SECONDS = 15.0  # more than the 10 s after which the job gives a silent server up
_SLOW_SECONDS = 2.0


@pytest.fixture(scope="module")
def subject(three, is_long, tmp_path_factory):
    documents = 2000 if is_long else 600
    folder = tmp_path_factory.mktemp("subject")
    subject = Subject(three.uri, folder, documents=documents, serverSelectionTimeoutMS=2000)
    yield subject
    subject.end_all()


@pytest.fixture(scope="module")
def between(three):
    """Return a proxy to the primary, which stays primary from now on."""
    three.settle()
    with proxy(three.primary.port) as running:
        yield running


def term(node: Node) -> int:
    """Return the number of the election that a server knows of."""
    return int(node.client.admin.command("replSetGetStatus")["term"])


@pytest.mark.short
@pytest.mark.parametrize("dies", [True, False], ids=["is killed", "steps down"])
def test_a_run_goes_on_after_a_primary_goes_at_any_moment_and_at_a_write(
    subject, three, times, dies
):
    commands = iter([None, "insert", "commitTransaction"] * 100)  # what the server is at

    def gone(process) -> bool:
        node, command = three.primary, next(commands)
        time.sleep(random.random() * 0.05)
        held, before = node.hold(command, 1.0) if command else True, term(node)
        if dies:
            node.kill()
        else:
            three.step_down()
            node.fail("failCommand", "off")
        alive = process.is_alive()
        three.heal()
        return held and alive and term(three.primary) > before

    subject.meet(times(20), gone)


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGSTOP])
def test_a_run_waits_for_two_of_three_servers_that_are_away(subject, three, signum):
    def away(process) -> bool:
        first = three.primary
        for node in three.secondaries:
            node.send(signum)
        time.sleep(_AWAY_SECONDS)
        met = process.is_alive() and not first.is_primary()
        three.heal()
        return met

    subject.meet(1, away)


def test_a_run_follows_to_another_primary_when_the_first_hangs(subject, three):
    def hang(process) -> bool:
        first = three.primary
        first.send(signal.SIGSTOP)
        time.sleep(_HANG_SECONDS)
        met = process.is_alive() and three.primary is not first
        three.heal()
        return met

    subject.meet(1, hang)


@pytest.mark.short
def test_a_run_goes_on_after_a_cut_of_the_network(subject, between, times):
    chance = random.Random(2)

    def cut(process) -> bool:
        before = between.reset
        between.cut(chance.uniform(*_CUT_SECONDS))
        return between.reset > before and process.is_alive()

    subject.meet(times(20), cut, uri=between.uri)


def test_a_run_gives_up_connections_that_are_half_open(subject, between, times):
    def half_open(process) -> bool:
        before = between.reset
        between.half_open(_SILENT_SECONDS)
        return between.reset > before and process.is_alive()

    subject.meet(times(2), half_open, uri=between.uri)


def test_a_run_bears_a_slow_network(subject, between, times):
    def slow(process) -> bool:
        between.slow(0.05, _SLOW_SECONDS)
        return process.is_alive()

    subject.meet(times(3), slow, uri=between.uri)


@pytest.mark.usefixtures("between")
@pytest.mark.parametrize("command", ["find", "insert", "commitTransaction"])
def test_a_run_bears_a_server_that_takes_its_time(subject, three, command):
    subject.meet(1, lambda _: three.primary.hold(command, _SLOW_SECONDS, times=3))
