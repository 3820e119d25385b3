"""Targets that someone changed by hand: `dedup check` finds each, and passes what is untouched."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bson import Int64
from pymongo import MongoClient

from dedup_job.mongo.bson.extended_json import shown_value
from dedup_job.report.check import Check
from tests.faults import interrupted_commands
from tests.faults.commands import Commands, fill, put_back, stored
from tests.faults.servers import replica_set
from tests.faults.subject import Db
from tests.faults.table import Row, times

_PORTS = (27456, 27457, 27458)
_TIMES = 3  # at scale 1, of each kind
_DOCUMENTS = 2000
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tampering:
    """What is done, which returns the `_id` it is done to; what is found; whether it is an error.

    named: the check that shows this `_id`, where one can.
    """

    name: str
    do: Callable[[Db, random.Random], Any]
    found: frozenset[Check]
    named: Check | None = None
    is_error: bool = True


def run(scale: float) -> Iterator[Row]:
    """Yield what the check said of each kind; then what became of commands that were killed."""
    with (
        replica_set(_PORTS) as servers,
        tempfile.TemporaryDirectory(prefix="dedup-faults-") as folder,
        MongoClient[Document](servers.uri) as client,
    ):
        commands = Commands(servers.uri, Path(folder), "tampered")
        fill(client.tampered, commands, _DOCUMENTS)
        before = stored(client.tampered)
        yield _untouched(commands, Path(folder))
        for kind in KINDS:
            yield _row(client.tampered, commands, Path(folder), kind, times(_TIMES, scale), before)
    yield from interrupted_commands.run(scale)


def _check(commands: Commands, folder: Path) -> tuple[int, dict[Check, list[str]]]:
    """Run `dedup check --all`; return exit code and what it found, each with the first ids."""
    report = folder / "check.json"
    names = ("--source", "source", "--target", "target", "--all", "--report", str(report))
    code = commands.run("check", *names)
    rows = json.loads(report.read_text(encoding="utf-8"))["checks"]
    return code, {Check(row["check"]): row["first"] for row in rows if row["found"]}


def _untouched(commands: Commands, folder: Path) -> Row:
    code, found = _check(commands, folder)
    good = code == 0 and not found
    return Row("check: a target that nobody touched", 1, int(good), f"exit code {code}")


def _row(
    database: Db,
    commands: Commands,
    folder: Path,
    kind: Tampering,
    count: int,
    before: Mapping[str, list[Document]],
) -> Row:
    good, wrong = 0, ""
    for seed in range(count):
        id_ = kind.do(database, random.Random(seed))
        code, found = _check(commands, folder)
        said = commands.said()
        expected = 6 if kind.is_error else 0
        shown = kind.named is None or any(
            shown_value(id_) in at for at in found.get(kind.named, [])
        )
        if code == expected and kind.found <= found.keys() and shown and _named(said, kind):
            good += 1
        else:
            wrong = f"WRONG: code {code}, {found} for {id_!r}; "
        put_back(database, before)
    verdict = "exit code 6" if kind.is_error else "told, exit code 0"
    return Row(f"check: {kind.name}", count, good, f"{wrong}{verdict}: {_words(kind.found)}")


def _named(said: str, kind: Tampering) -> bool:
    """Tell whether the output for people names what was found, too."""
    plain = " ".join(said.split())
    return all(str(check) in plain for check in kind.found)


def _words(checks: frozenset[Check]) -> str:
    return ", ".join(sorted(str(check) for check in checks))


def _one(database: Db, rng: random.Random, name: str, **query: Any) -> Document:
    """Return some document of a collection."""
    ids = [d["_id"] for d in database[name].find(query, {"_id": 1}).sort("_id", 1)]
    found = database[name].find_one({"_id": rng.choice(ids)})
    assert found is not None
    return found


def _remove(name: str, **query: Any) -> Callable[[Db, random.Random], Any]:
    def do(database: Db, rng: random.Random) -> Any:
        id_ = _one(database, rng, name, **query)["_id"]
        database[name].delete_one({"_id": id_})
        return id_

    return do


def _add(name: str) -> Callable[[Db, random.Random], Any]:
    def do(database: Db, rng: random.Random) -> Any:
        id_ = f"added by hand {rng.random()}"
        database[name].insert_one({**_one(database, rng, name), "_id": id_})
        return id_

    return do


def _change(
    name: str, change: Callable[[Document], Document], **query: Any
) -> Callable[[Db, random.Random], Any]:
    def do(database: Db, rng: random.Random) -> Any:
        document = _one(database, rng, name, **query)
        database[name].update_one({"_id": document["_id"]}, {"$set": change(document)})
        return document["_id"]

    return do


def _twice(database: Db, rng: random.Random) -> Any:
    row = _one(database, rng, "target.ledger")
    database.target.insert_one({**_one(database, rng, "target"), "_id": row["_id"]})
    return row["_id"]


def _original(database: Db, rng: random.Random) -> Any:
    of = _one(database, rng, "target.ledger", decision="duplicate")["of"]
    database.target.delete_one({"_id": of})
    return of


def _source_of_kept(database: Db, rng: random.Random) -> Any:
    document = _one(database, rng, "target")
    text = f"另一篇文章，第{rng.random()}号，与原来的毫无关系。"
    database.source.update_one({"_id": document["_id"]}, {"$set": {"text": text}})
    return document["_id"]


def _emptied(database: Db, _: random.Random) -> Any:
    database.source.delete_many({})


def _other_text(document: Document) -> Document:
    return {"text": f"{document['text']}，这是后来加上去的一句话。"}


def _other_fingerprint(document: Document) -> Document:
    return {"dedup.fingerprint": Int64(document["dedup"]["fingerprint"] ^ 1)}


def _other_counts(document: Document) -> Document:
    return {"counts.kept": document["counts"]["kept"] + 1}


def _kind(
    name: str,
    do: Callable[[Db, random.Random], Any],
    *found: Check,
    named: Check | None = None,
    is_error: bool = True,
) -> Tampering:
    return Tampering(name, do, frozenset(found), named, is_error)


KINDS = (
    _kind("a document removed", _remove("target"), Check.RECORDS, Check.UNDECIDED,
          named=Check.UNDECIDED),
    _kind("a document added", _add("target"), Check.RECORDS, Check.GONE, named=Check.GONE),
    _kind("a text altered", _change("target", _other_text), Check.VALUES,
          named=Check.VALUES),
    _kind("a fingerprint altered", _change("target", _other_fingerprint), Check.VALUES,
          named=Check.VALUES),
    _kind("a row of the ledger removed", _remove("target.ledger"), Check.RECORDS, Check.UNDECIDED,
          named=Check.UNDECIDED),
    _kind("a row of the ledger added", _add("target.ledger"), Check.RECORDS, Check.GONE,
          named=Check.GONE),
    _kind("a row of the ledger altered", _change("target.ledger", lambda _: {"reason": "else"}),
          Check.FOREIGN, Check.RECORDS, named=Check.FOREIGN),
    _kind("a document decided twice", _twice, Check.TWICE, Check.RECORDS, named=Check.TWICE),
    _kind("the original of a duplicate removed", _original, Check.ORIGINAL, Check.RECORDS,
          named=Check.ORIGINAL),
    _kind("counts of a run altered", _change("target.runs", _other_counts), Check.RECORDS),
    _kind("a run removed", _remove("target.runs"), Check.RECORDS),
    _kind("a source document removed", _remove("source"), Check.GONE, named=Check.GONE,
          is_error=False),
    _kind("a source document altered", _source_of_kept, Check.CHANGED, named=Check.CHANGED,
          is_error=False),
    _kind("the source emptied", _emptied, Check.GONE, is_error=False),
)  # fmt: skip
