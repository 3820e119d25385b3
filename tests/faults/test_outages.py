"""A run waits for servers that die, step down, hang or cannot be reached, and then goes on.

A primary that dies with writes that no other server has rolls them back when it returns. What a
run reported is not lost then, and what is rolled back in the source is not kept.
"""

import random
import re
import signal
import time
from contextlib import suppress

import pytest
from bson import encode
from pymongo import WriteConcern
from pymongo.read_concern import ReadConcern

from tests.faults.servers import wait_for
from tests.faults.subject import Subject

pytestmark = pytest.mark.faults
_AWAY_SECONDS = 20.0
_SLOW_SECONDS = 2.0
_ALONE_SECONDS = 1.5  # a primary writes what nobody else gets
_ROLLBACK_SECONDS = 30.0
_HELD_SECONDS, _COME_SECONDS = 2.0, 10.0  # of a read that is held; for it to come
_ROLLED_BACK = re.compile(r'"msg":"Rollback successful"')


@pytest.fixture(scope="module")
def subject(three, is_long, tmp_path_factory):
    documents = 2000 if is_long else 1000
    folder = tmp_path_factory.mktemp("subject")
    subject = Subject(three.uri, folder, documents=documents, serverSelectionTimeoutMS=2000)
    yield subject
    subject.end_all()


def term(node):
    return int(node.client.admin.command("replSetGetStatus")["term"])


@pytest.mark.short
@pytest.mark.parametrize("dies", [True, False], ids=["is killed", "steps down"])
def test_a_run_goes_on_after_a_primary_goes_at_any_moment_and_at_a_write(
    subject, three, times, dies
):
    commands = iter([None, "insert", "commitTransaction"] * 100)  # what the server is at

    def gone(process):
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


@pytest.mark.parametrize(
    ("away", "signum"),
    [
        *(("two of three", signal.SIGKILL), ("two of three", signal.SIGSTOP)),
        ("the primary", signal.SIGSTOP),
    ],
)
def test_a_run_waits_for_servers_that_are_away_and_follows_to_another_primary(
    subject, three, away, signum
):
    def gone(process):
        first = three.primary
        for node in three.secondaries if away == "two of three" else [first]:
            node.send(signum)
        time.sleep(_AWAY_SECONDS)
        met = process.is_alive() and not first.is_primary()
        met = met and (away == "two of three" or three.primary is not first)
        three.heal()
        return met

    subject.meet(1, gone)


def rolled_back(servers, meanwhile):
    """Let the primary write what no other server gets, kill it, and let another take over.

    Return what `meanwhile` returns, called while the primary is on its own, and whether the
    killed server rolled anything back when it returned.
    """
    old, others = servers.primary, servers.secondaries
    before = len(_ROLLED_BACK.findall(old.log))
    for node in others:
        node.fail("stopReplProducer", "alwaysOn")
    try:
        seen = meanwhile(old)
        old.kill()
    finally:
        for node in others:
            node.fail("stopReplProducer", "off")
    wait_for(lambda: any(node.is_primary() for node in others))
    servers.heal()
    with suppress(TimeoutError):  # it finds out a moment after its return
        wait_for(lambda: len(_ROLLED_BACK.findall(old.log)) > before, _ROLLBACK_SECONDS, 0.2)
    servers.heal()
    return seen, len(_ROLLED_BACK.findall(old.log)) > before


def decided(client, level="majority"):
    """Return the ids in target and ledger that a majority of the servers has, or this one."""
    return frozenset(
        encode(row)
        for name in ("target", "target.ledger")
        for row in client.faults.get_collection(name, read_concern=ReadConcern(level)).find(
            {}, {"_id": 1}
        )
    )


def reported(old, process):
    """Wait until the primary has what nobody else has.

    Return the ids that a majority has, and how many documents are undone by a rollback.
    """
    time.sleep(_ALONE_SECONDS)
    state = old.client.faults.get_collection("target.state", read_concern=ReadConcern("majority"))
    done = state.find_one()["checkpoint"]["counts"]["scanned"]
    ids, here = decided(old.client), decided(old.client, "local")
    assert len(ids) >= done
    assert process.is_alive()
    return ids, len(here - ids)


@pytest.mark.short
def test_a_run_that_goes_on_after_a_rollback_lost_nothing_that_it_reported(subject, three, times):
    def fault(process):
        (ids, undone), happened = rolled_back(three, lambda old: reported(old, process))
        assert ids <= decided(subject.database.client)
        return happened and undone > 0

    subject.meet(times(4), fault)


@pytest.mark.parametrize(("is_killed", "code"), [(True, -9), (False, 5)], ids=["killed", "gave up"])
def test_a_run_that_is_started_again_after_a_rollback_lost_nothing_that_it_reported(
    subject, three, times, is_killed, code
):
    for _ in range(times(2)):
        process = subject.start(DEDUP_RUN__BATCH_DOCUMENTS="10", DEDUP_RUN__RETRY_FOR="0")
        subject.wait_for_batches(process, more=300)

        def meanwhile(old, process=process):
            found = reported(old, process)
            if is_killed:
                process.kill()
            return found

        (ids, undone), happened = rolled_back(three, meanwhile)
        assert subject.end(process) == code
        assert ids <= decided(subject.database.client)
        assert happened
        assert undone > 0
        subject.must_end_well(subject.start())


def test_documents_of_the_source_that_are_rolled_back_are_not_kept(subject, three):
    """The next read of the source is held on the server until they are there.

    Else it would not read in the short time in which the commits of the run wait.
    """
    process = subject.start(DEDUP_RUN__BATCH_DOCUMENTS="20")
    wait_for(lambda: subject.scanned() >= 200, pause=0.005)
    of = {"failCommands": ["find"], "appName": "dedup", "namespace": "faults.source"}
    blocked = {"blockConnection": True, "blockTimeMS": _HELD_SECONDS * 1000}
    before = three.primary
    entered = before.fail("failCommand", {"times": 1}, **of, **blocked)
    assert before.entered("failCommand", entered + 1, _COME_SECONDS)
    double = {"_id": {"$type": "double"}}

    def meanwhile(old):
        time.sleep(0.3)  # for the secondaries to stop
        plain = old.client.faults.get_collection("source", write_concern=WriteConcern(1, j=False))
        texts = (f"不存在的文档，第{i}篇" for i in range(1, subject.documents))
        plain.insert_many({"_id": i + 0.5, "text": text} for i, text in enumerate(texts, 1))
        time.sleep(_HELD_SECONDS + 1)
        return plain.with_options(read_concern=ReadConcern("local")).count_documents(double)

    shown, happened = rolled_back(three, meanwhile)
    subject.end(process)
    assert happened
    assert shown > 0 == subject.database.source.count_documents(double)
    names = ("target", "target.ledger")
    assert not any(subject.database[name].count_documents(double) for name in names)
    subject.drop()


@pytest.mark.parametrize("command", ["find", "insert", "commitTransaction"])
def test_a_run_bears_a_server_that_takes_its_time(subject, three, command):
    three.settle()
    subject.meet(1, lambda _: three.primary.hold(command, _SLOW_SECONDS, times=3))
