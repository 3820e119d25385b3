"""What fails in a run at work: POINTS, each with its world and how often it is met.

A point brings its fault about and returns the process that met it, with the exit codes it may have.
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property, partial
from typing import NamedTuple

import psutil
import pytest
from bson import encode
from pymongo.read_concern import ReadConcern

from dedup_job import cluster as cluster_module
from dedup_job.native import snapshot
from tests.faults.cluster import WORKER, processes_of, simulated_nodes
from tests.faults.points import SavePoint, die_at
from tests.faults.servers import rolled_back, wait_for
from tests.faults.subject import ENDED_WELL
from tests.running import environment_for

UNREACHABLE, LOST, HELD = 5, 6, 11
KILLED, STOPPED = -signal.SIGKILL, 143
CUT_OFF = (*ENDED_WELL, UNREACHABLE, KILLED)
_PER_TARGET = 6  # kills before a run is let through
_AWAY, SLOW, _ALONE = 20.0, 2.0, 1.5  # seconds
_LONGEST = 90.0  # seconds; a run takes two, so none waits for an hour
HOUR = 3600
_SMALL = {"DEDUP_RUN__BATCH_DOCUMENTS": "10"}
RETRY = {"DEDUP_RUN__RETRY_FOR": "60"}
_PACED = {"DEDUP_RUN__MAX_RATE": "300"}  # else a run is over before it notices
_VICTIMS = {  # words of a command line
    "a worker": WORKER,
    "the raylet": ("raylet/raylet",),
    "the GCS": ("gcs_server",),
    "the client": (),
    "the command": (),
}


class World:
    """A subject with its servers and their clocks; again: further words of a run started again."""

    def __init__(self, subject, servers=None, clocks=None, again=list, **environment):
        self.subject, self.servers, self.clocks = subject, servers, clocks
        self.again, self.environment = again, environment
        self.chance, self.number = random.Random(400), 0  # of the round

    @cached_property
    def seconds(self):
        """How long a run takes."""
        return self.subject.seconds()


class Point(NamedTuple):
    """A fault: `act(world)` returns a process that meets it, and its exit codes.

    world: a fixture; full: rounds of the long form; short: rounds in the suite, 0 for none.
    """

    act: object
    world: str
    full: int
    short: int = 0


def killed(world):
    subject, seconds = world.subject, world.seconds
    for _ in range(_PER_TARGET):
        rest = 1 - max(subject.scanned(), 0) / subject.documents
        process = subject.start()
        time.sleep(world.chance.random() * seconds * (0.3 + 0.7 * rest))
        process.kill()
        assert subject.end(process) in (0, KILLED), subject.output()
        if subject.finished():
            break
    return process, (*ENDED_WELL, KILLED)


def killed_at_its_snapshot(world):
    """Kill a run at its first snapshot, which stays incomplete, or at a later one."""
    subject, former = world.subject, None
    if world.number % 2:
        process = subject.start()
        subject.wait_for_batches(process)
        process.terminate()
        assert subject.end(process) == STOPPED
        former = snapshot.read(subject.file_of())
    parts = len(former.parts) if former else len(snapshot.read(subject.file_of("alone")).parts)
    die = partial(die_at, SavePoint.PART, world.chance.randint(1, parts))
    process = subject.start(first=die)
    assert subject.end(process) == KILLED
    if former:
        assert snapshot.read(subject.file_of()).facts == former.facts
    else:
        with pytest.raises(snapshot.NoSnapshotError):
            snapshot.read(subject.file_of())
    process = subject.start()
    assert subject.end(process) == 0, subject.output()
    assert former is None or "its snapshot: it is of batch" in subject.output()
    return process, (0,)


def asleep(world):
    """Another run takes over and finishes; woken, this one ends without a write."""
    subject = world.subject
    while True:
        process = subject.start()
        time.sleep(world.chance.random() * world.seconds)
        if process.is_alive():
            os.kill(process.pid, signal.SIGSTOP)
        wait_for(lambda p=process: not p.is_alive() or is_stopped(p))
        lease = subject.state().get("lease") or {}
        if lease.get("pid") == process.pid and not subject.finished():
            break
        process.kill()  # too early or too late
        process.join()
        subject.drop()
    over = {"$set": {"lease.expires": datetime(2000, 1, 1)}}
    subject.database["target.state"].update_one({}, over)
    assert subject.run() == 0, subject.output()
    before = subject.all_of()
    os.kill(process.pid, signal.SIGCONT)
    assert subject.end(process) == LOST
    assert "took the lease" in subject.output(1)
    assert subject.all_of() == before
    return process, (LOST,)


def is_stopped(process):
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
    return True


def at_work(fault):
    """Return a point of the table: a fault of the servers while 100 documents or more are left."""

    def act(world, **how):
        subject = world.subject
        for _ in range(3):
            process, met = subject.start(**_SMALL), False
            if subject.wait_for_batches(process, more=world.chance.randrange(1, 400)):
                before = subject.documents - subject.scanned()
                met = fault(world, process, **how) and 100 < before <= subject.documents
            if met:
                return process, ENDED_WELL
            subject.must_end_well(process)
        raise AssertionError("the fault did not come about")

    return act


@at_work
def primary_goes(world, process, *, dies):
    """Kill the primary or make it step down, at any moment or at a write."""
    servers = world.servers
    node, command = servers.primary, world.chance.choice([None, "insert", "commitTransaction"])
    time.sleep(world.chance.random() * 0.05)
    is_held, before = node.hold(command, 1.0) if command else True, servers.term
    if dies:
        node.kill()
    else:
        servers.step_down()
        node.fail("failCommand", "off")
    is_alive = process.is_alive()
    servers.heal()
    return is_held and is_alive and servers.term > before


@at_work
def servers_away(world, process, *, signum, secondaries):
    """Stop or kill the primary, or both secondaries, for a while; the run waits or follows."""
    servers, first = world.servers, world.servers.primary
    for node in servers.secondaries if secondaries else [first]:
        node.send(signum)
    time.sleep(_AWAY)
    met = process.is_alive() and not first.is_primary()
    met = met and (secondaries or servers.primary is not first)
    servers.heal()
    return met


@at_work
def slow(world, _, *, command):
    with world.servers.settled():
        return world.servers.primary.hold(command, SLOW, times=3)


def decided(client, level="majority"):
    """Return the ids in target and ledger, read with this read concern."""
    names, concern = ("target", "target.ledger"), ReadConcern(level)
    collections = (client.faults.get_collection(name, read_concern=concern) for name in names)
    return frozenset(encode(row) for one in collections for row in one.find({}, {"_id": 1}))


def revert(world, process, ends=lambda _: None):
    """Roll writes of the run back; documents that it reported stay decided.

    ends: called with the process meanwhile.
    """

    def meanwhile(old):
        time.sleep(_ALONE)
        state = old.client.faults.get_collection(
            "target.state", read_concern=ReadConcern("majority")
        )
        reported = state.find_one()["checkpoint"]["counts"]["scanned"]
        ids, local = decided(old.client), decided(old.client, "local")
        assert len(ids) >= reported
        assert process.is_alive()
        ends(process)
        return ids, len(local - ids)

    (ids, undone), happened = rolled_back(world.servers, meanwhile)
    assert ids <= decided(world.subject.database.client)
    return happened and undone > 0


@at_work
def reverted(world, process):
    return revert(world, process)


def reverted_at_its_end(world, *, is_killed):
    """Roll back writes while the run ends, which is killed or may not retry."""
    process = world.subject.start(**_SMALL, DEDUP_RUN__RETRY_FOR="0")
    world.subject.wait_for_batches(process, more=300)
    assert revert(world, process, (lambda one: one.kill()) if is_killed else lambda _: None)
    return process, (KILLED if is_killed else UNREACHABLE,)


def own_clock(world, *, seconds):
    """Move the clock of the run's machine; its row in T.runs shows that the run saw it."""
    subject, (clock,) = world.subject, world.clocks.values()
    names = ["--db", subject.database.name, "--target", "target", "--source", "source", "--yes"]
    own = {**subject.environment, **clock.environment, "DEDUP_RUN__MAX_RATE": "2000"}
    process = subprocess.Popen(
        [sys.executable, "-m", "dedup_job", "run", *names],
        env=environment_for(None, **own),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: subject.scanned() > 0, pause=0.002)
    with clocks_set([clock], seconds):
        assert process.wait(_LONGEST) == 0
    row = subject.database["target.runs"].find_one()
    took = (row["finished"] - row["started"]).total_seconds()
    assert abs(took - seconds) < _LONGEST, "the run did not see it"
    return process, (0,)


def clock_of_servers(world, *, seconds, every):
    """Move the clock of one server or of every one; the run ends, and the next does not wait."""
    subject, clocks = world.subject, world.clocks
    process = subject.start()
    subject.wait_for_batches(process)
    now = [{"$limit": 1}, {"$project": {"n": "$$NOW"}}]
    (before,), began = subject.database.source.aggregate(now), time.monotonic()
    with clocks_set([*clocks.values()] if every else [clocks[world.servers.primary.port]], seconds):
        (after,) = subject.database.source.aggregate(now)
        assert abs((after["n"] - before["n"]).total_seconds() - seconds) < _LONGEST
        assert subject.end(process, _LONGEST) == 0
        assert subject.run() == 0
    assert time.monotonic() - began < _LONGEST
    return process, (0,)


def lease_ended_by_a_clock(world):
    subject = world.subject
    first = subject.start()
    subject.wait_for_batches(first)
    with clocks_set(world.clocks.values(), HOUR):
        second = subject.end(subject.start())
        assert (subject.end(first), second) in {(LOST, 0), (0, HELD)}
    return first, (LOST, 0)


def lease_prolonged_by_a_clock(world):
    """Set the clocks back, so that the lease of a dead run lasts longer; it can be broken."""
    subject = world.subject
    process = subject.start()
    subject.wait_for_batches(process)
    process.kill()
    process.join()
    elsewhere = {"lease.machine": "another", "lease.host": "far"}
    subject.database["target.state"].update_one({}, {"$set": elsewhere})
    with clocks_set(world.clocks.values(), -HOUR):
        assert subject.run() == HELD
        assert subject.command("status", "--break-lease", "--target", "target", "--yes") == 0
        code = subject.run()
    assert code in ENDED_WELL
    return process, (KILLED,)


@contextmanager
def clocks_set(clocks, seconds):
    for clock in clocks:
        clock.set(seconds)
    try:
        yield
    finally:
        for clock in clocks:
            clock.set(0)


def give_up_soon():
    """Wait less for a silent cluster than the test does for the run."""
    cluster_module._SILENT_SECONDS = 60


def on_cluster(world, address):
    subject = world.subject
    option = "--cluster", address
    process = subject.start("target", *option, first=give_up_soon, **RETRY, **_PACED)
    subject.wait_for_batches(process, more=1 + world.chance.randrange(subject.documents // 2))
    return process


def struck(world, *, victim, signum=signal.SIGKILL):
    process, is_struck = on_cluster(world, "local:2"), False
    for _ in range(world.chance.randint(1, 2)):
        is_struck |= strike(process, victim, signum, world.chance)
        time.sleep(world.chance.random() / 2)
    assert is_struck
    workers = processes_of(process, "ray::")
    world.subject.end(process)
    for one in workers if signum is signal.SIGSTOP else ():
        with suppress(psutil.NoSuchProcess):
            one.kill()
    return process, CUT_OFF


def strike(process, victim, signum, chance):
    """Send a signal to the victim, a process of the run; return whether it was there."""
    if victim == "the command":
        with suppress(ProcessLookupError):
            os.kill(process.pid, signum)
        return True
    with suppress(psutil.NoSuchProcess):
        if victim == "the client":
            found = psutil.Process(process.pid).children()[:1]
        else:
            found = processes_of(process, *_VICTIMS[victim])
        if found:
            chance.choice(found).send_signal(signum)
        return bool(found)
    return True


def node_lost(world):
    with simulated_nodes() as (nodes, node):
        process = on_cluster(world, nodes.address)
        nodes.remove_node(node, allow_graceful=False)
        world.subject.end(process)
    return process, CUT_OFF


def point(act, world, full, short=0, **how):
    return Point(partial(act, **how), world, full, short)


POINTS = {
    "killed": point(killed, "on_replica_set", 17, 1),
    "killed on a standalone server": point(killed, "on_standalone", 17, 1),
    "killed at its snapshot": point(killed_at_its_snapshot, "on_replica_set", 20, 2),
    "asleep": point(asleep, "on_replica_set", 5, 1),
    "the primary is killed": point(primary_goes, "on_three", 20, 1, dies=True),
    "the primary steps down": point(primary_goes, "on_three", 20, 1, dies=False),
    "two are killed": point(servers_away, "on_three", 1, signum=signal.SIGKILL, secondaries=True),
    "two hang": point(servers_away, "on_three", 1, signum=signal.SIGSTOP, secondaries=True),
    "the primary hangs": point(
        servers_away, "on_three", 1, signum=signal.SIGSTOP, secondaries=False
    ),
    "its writes are rolled back": point(reverted, "on_three", 4, 1),
    "killed and rolled back": point(reverted_at_its_end, "on_three", 2, is_killed=True),
    "given up and rolled back": point(reverted_at_its_end, "on_three", 2, is_killed=False),
    "its clock is set back": point(own_clock, "with_a_clock", 3, 1, seconds=-HOUR),
    "its clock is set forward": point(own_clock, "with_a_clock", 3, seconds=HOUR),
    "a clock ends its lease": point(lease_ended_by_a_clock, "with_clocks", 3),
    "a clock prolongs its lease": point(lease_prolonged_by_a_clock, "with_clocks", 3),
    "a worker hangs": point(struck, "on_a_cluster", 5, victim="a worker", signum=signal.SIGSTOP),
    "a node is lost": point(node_lost, "on_a_cluster", 5),
}
POINTS |= {f"{who} is killed": point(struck, "on_a_cluster", 12, victim=who) for who in _VICTIMS}
for command in ("find", "insert", "commitTransaction"):
    POINTS[f"slow {command}"] = point(slow, "on_three", 1, command=command)
for seconds in (-HOUR, HOUR):
    for which in ("the primary", "all servers"):
        how = {"seconds": seconds, "every": which == "all servers"}
        POINTS[f"clock of {which} by {seconds}"] = point(clock_of_servers, "with_clocks", 3, **how)
