"""`dedup undo`, `restore` and `check` killed in the middle: the next command ends it well."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from dedup_job.mongo.embedded import embedded_server
from tests.faults.commands import Commands, Stored, fill, put_back, stored
from tests.faults.subject import Db
from tests.faults.table import Row, times

_TIMES = 10  # at scale 1, of each command on each server
_DOCUMENTS = 400
_LONGEST_CHECK = 0.5  # seconds of a check
_KILLED = -9
_CHECK = ("check", "--source", "source", "--target", "target", "--all")
_RUN = ("run", "--source", "source", "--target", "target", "--yes")


@dataclass(frozen=True, slots=True)
class Ground:
    """A target by two runs, with everything as it was after them."""

    commands: Commands
    database: Db
    before: Stored

    def is_good(self) -> str:
        """Return what is wrong by the target's own data; empty if nothing is."""
        if (code := self.commands.run(*_CHECK)) != 0:
            return f"check ended with {code}: {self.commands.said()[-300:]}"
        state = self.database["target.state"].find_one() or {}
        return "something is unfinished" if state.get("undo") or state.get("intent") else ""

    def decided(self) -> dict[Any, str]:
        """Return where each document is, and of which one it is a duplicate."""
        kept = {d["_id"]: "kept" for d in self.database.target.find({}, {"_id": 1})}
        rows = self.database["target.ledger"].find({}, {"reason": 1, "of": 1})
        return {**kept, **{row["_id"]: f"{row['reason']} {row['of']}" for row in rows}}


def run(scale: float) -> Iterator[Row]:
    """Yield a row for each command, on a replica set and on a standalone server."""
    for is_set in (True, False):
        where = "replica set" if is_set else "standalone"
        with (
            tempfile.TemporaryDirectory(prefix="dedup-faults-") as folder,
            embedded_server(replica_set=is_set) as uri,
            MongoClient[dict[str, Any]](uri) as client,
        ):
            commands = Commands(uri, Path(folder), "interrupted")
            fill(client.interrupted, commands, _DOCUMENTS)
            ground = Ground(commands, client.interrupted, stored(client.interrupted))
            for name in ("undo", "restore", "restore --requeue"):
                yield _row(ground, name, where, times(_TIMES, scale))
            yield _killed_checks(ground, where, times(_TIMES, scale))


def _row(ground: Ground, name: str, where: str, count: int) -> Row:
    """Kill a command after its first write, after its second, and so on, from the first again."""
    killed = good = ended = 0
    at, most, wrong = 1, 0, ""
    while killed < count and ended <= count:
        words = _words(ground, name, random.Random(killed))
        code = ground.commands.run(*words, dies_at=at)
        if code == _KILLED:
            killed += 1
            most = max(most, at)
            if problem := _after(ground, words, same=killed % 2 == 1):
                wrong = f"WRONG: {name} killed after write {at}: {problem}; "
            else:
                good += 1
            at += 1
        else:  # it has fewer writes than that
            ended += 1
            at = 1
        put_back(ground.database, ground.before)
    return Row(f"{name} killed, {where}", killed, good, f"{wrong}after each of its {most} writes")


def _words(ground: Ground, name: str, rng: random.Random) -> tuple[str, ...]:
    if name == "undo":
        return ("undo", "2", "--target", "target", "--yes")
    query = {"decision": "duplicate"} if name == "restore" else {}
    ids = [row["_id"] for row in ground.database["target.ledger"].find(query, {"_id": 1})]
    command, *more = name.split()
    return (command, str(rng.choice(sorted(ids))), "--target", "target", *more)


def _after(ground: Ground, words: tuple[str, ...], *, same: bool) -> str:
    """Give the same command again or a run, then the other; return what is wrong then."""
    for command in (words, _RUN) if same else (_RUN, words, _RUN):
        code = ground.commands.run(*command)
        # what was done before the kill is refused a second time: nothing is left to do
        if code not in ((0, 2, 3) if command is words else (0, 3)):
            return f"{command[0]} ended with {code}: {ground.commands.said()[-300:]}"
    row = ground.database["target.runs"].find_one({"_id": 2}) or {}
    if same and words[0] == "undo" and row["status"] != "undone":
        return f"run 2 is {row['status']}"
    return ground.is_good() or _differences(ground, words)


def _differences(ground: Ground, words: tuple[str, ...]) -> str:
    """Tell what differs from the outcome of the command left alone, once a run has followed."""
    decided = ground.decided()
    expected = _decided_of(ground.before)
    if words[0] == "restore" and "--requeue" not in words:
        expected[int(words[1])] = "kept"
    other = {i for i in decided.keys() | expected.keys() if decided.get(i) != expected.get(i)}
    return f"{len(other)} are decided otherwise: {sorted(other)[:3]}" if other else ""


def _decided_of(before: Stored) -> dict[Any, str]:
    rows = {row["_id"]: f"{row['reason']} {row['of']}" for row in before["target.ledger"]}
    return {**dict.fromkeys((d["_id"] for d in before["target"]), "kept"), **rows}


def _killed_checks(ground: Ground, where: str, count: int) -> Row:
    """Kill a check at random moments: nothing is changed, and the next one is good."""
    rng = random.Random(3)
    killed = good = tried = 0
    while killed < count and tried < 5 * count:
        tried += 1
        process = ground.commands.start(*_CHECK)
        time.sleep(rng.random() * _LONGEST_CHECK)
        process.kill()
        process.join()
        if process.exitcode != _KILLED:
            continue
        killed += 1
        unchanged = stored(ground.database) == ground.before
        good += unchanged and not ground.is_good()
    return Row(f"check killed, {where}", killed, good, "at random moments; nothing changed")
