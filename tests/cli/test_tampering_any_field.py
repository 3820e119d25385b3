"""Whatever a field of a document or a row becomes, `check --all` sees it, but for a table below.

A field is removed, gets another type, another value, and a neighbour that no run writes, at every
depth. No change may end in a traceback.
"""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from bson import Int64
from hypothesis import given
from hypothesis import strategies as st
from pymongo.database import Database

from dedup_job.errors import DedupError
from tests.conftest import fresh_database
from tests.proving import command, found, good, names
from tests.running import invoke, run_here, uri_of

Db = Database[dict[str, Any]]
Document = dict[str, Any]
ADDED = "added_by_hand"

QUESTION = "在标准状况下，将一定量的二氧化碳气体缓慢通入澄清石灰水，观察到溶液先变浑浊后又变澄清"
TEXTS = (
    *(f"{QUESTION}，第{i}次实验共用去{i * 13 + 7}毫升。" for i in range(3)),
    f"<p>{QUESTION}，第1次实验共用去20毫升。</p>",
    f"3. {QUESTION}，第1次实验共用去20毫升。",
    f"{QUESTION}，第1次实验共用去20毫升。<img src='a.png'>",
    "下列关于细胞膜结构的叙述，正确的是：流动镶嵌模型说明膜的成分可以运动，蛋白质镶在其中。",
    "短句一",
    "短句二",
    "短句一",
    "   ",
    None,
    7,
    "长" * 2000,
)


class Mutation(NamedTuple):
    """What is done to which field of which row."""

    collection: str
    id: Any
    path: str
    how: str


# What is no error, by collection, path and how; docs/operations.md gives these reasons.
UNSEEN: tuple[tuple[str, str, str], ...] = (
    # told: the source may have changed instead
    ("target", ADDED, "add"),
    ("target.ledger", "digest", "revalue"),  # of a near duplicate
    # words for a person, of the source as it was
    ("target.ledger", "detail", "retype revalue"),
    # the nearest candidate is not looked for again
    ("target", "dedup.refused", "remove"),
    ("target", "dedup.refused.of", "retype"),
    # absent it means the same
    ("target.ledger", "group", "remove"),
)


def fill_all_kinds(database: Db) -> None:
    """Make a target by two runs and a restore, with rows of all kinds."""
    rows = [{"_id": i, "text": text, "answer": f"A{i}"} for i, text in enumerate(TEXTS)]
    database.source.insert_many(rows)
    run_here(database, source__max_chars=1500)
    late = [{"_id": 100 + i, "text": text, "answer": "B"} for i, text in enumerate(TEXTS)]
    more = [{"_id": 200 + i, "text": f"全新的第{i}道题，讲的是{'光电子力'[i]}。"} for i in range(4)]
    database.source.insert_many([*late, *more])
    run_here(database, source__max_chars=1500)
    command(database, "restore", "103")


@pytest.fixture(scope="module")
def made(replica_set: str) -> Iterator[Db]:
    """Return a database with such a target; each test puts back what it changes."""
    for database in fresh_database(replica_set):
        fill_all_kinds(database)
        yield database


def test_untouched_it_is_good(made: Db, tmp_path: Path) -> None:
    assert good(made, tmp_path, "--all") == {}


def rows_of(database: Db) -> list[tuple[str, Document]]:
    """Return one row of each kind and make."""
    kinds: dict[tuple[Any, ...], tuple[str, Document]] = {}
    for name in ("target", "target.ledger"):
        for row in database[name].find().sort("_id", -1):
            kind = (name, *sorted(row), *sorted(row.get("dedup") or ()), row.get("reason"))
            kinds[kind] = (name, row)
    return list(kinds.values())


def mutations_of(database: Db) -> list[Mutation]:
    """Return all that can be done to one field of these rows."""
    return [
        Mutation(name, row["_id"], path, how)
        for name, row in rows_of(database)
        for path, hows in _paths(row)
        for how in hows
    ]


def _paths(value: Any, path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(value, dict):
        yield f"{path}{ADDED}", ("add",)
        for name, inner in value.items():
            if path or name not in ("_id", "text", "answer"):
                yield f"{path}{name}", ("remove", "retype", "revalue")
                yield from _paths(inner, f"{path}{name}.")
    elif isinstance(value, list) and value:
        yield f"{path}0", ("retype", "revalue")
        yield from _paths(value[0], f"{path}0.")


def other_type(value: Any) -> Any:
    """Return a value of another type."""
    return ["x"] if isinstance(value, str) else "x"


def other_value(value: Any) -> Any:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case Int64():
            return Int64(value ^ 1)
        case int():
            return value + 1
        case float():
            return value + 0.25
        case str():
            return f"{value}x"
        case bytes():
            return bytes([value[0] ^ 1, *value[1:]])
        case datetime():
            return value + timedelta(days=1)
        case dict():
            return {**value, ADDED: 1}
        case list():
            return [*value, *(value[:1] or [1])]
        case None:
            return 5
        case _:
            return "x"


def changed(row: Document, mutation: Mutation) -> Document:
    """Return a row with the change."""
    row = copy.deepcopy(row)
    *outer, last = mutation.path.split(".")
    place: Any = row
    for name in outer:
        place = place[int(name)] if isinstance(place, list) else place[name]
    key: Any = int(last) if isinstance(place, list) else last
    if mutation.how == "remove":
        del place[key]
    elif mutation.how == "add":
        place[key] = 1
    else:
        place[key] = (other_type if mutation.how == "retype" else other_value)(place[key])
    return row


def is_unseen(mutation: Mutation) -> bool:
    """Tell whether the table says that this cannot be seen."""
    return any(
        mutation.collection == collection
        and fnmatch.fnmatchcase(mutation.path, path)
        and mutation.how in how.split()
        for collection, path, how in UNSEEN
    )


def outcome(database: Db, mutation: Mutation, folder: Path) -> str:
    """Return "" where the change was seen and its row named, else what is wrong."""
    row = database[mutation.collection].find_one({"_id": mutation.id})
    assert row is not None
    file = folder / "check.json"
    file.unlink(missing_ok=True)
    database[mutation.collection].replace_one({"_id": mutation.id}, changed(row, mutation))
    words = names(database, "check", "--source", "source", "--all", "--report", str(file))
    said = ""
    try:
        invoke(*words, DEDUP_URI=uri_of(database))
        code = 0
    except DedupError as e:
        code, said = e.code, str(e)
    except Exception as e:  # noqa: BLE001  # a traceback is what must not be
        return f"traceback: {type(e).__name__}: {e}"
    finally:
        database[mutation.collection].replace_one({"_id": mutation.id}, row)
    lines = found(file).values() if file.exists() else ()
    shown = " ".join([said, *(line for first in lines for line in first)])
    if is_unseen(mutation):
        return "" if code in (0, 6) else f"exit code {code}: {said}"
    if code != 6:
        return f"exit code {code}: {shown}"
    return "" if any(name in shown for name in names_of(mutation)) else f"not named: {shown}"


def names_of(mutation: Mutation) -> list[str]:
    """Return the names of a row; of one with another run, of both runs."""
    if mutation.path in ("run", "dedup.run") and mutation.how == "revalue":
        return ["run 1: ", "run 2: ", "run 3: "]
    return [str(mutation.id)]


@given(data=st.data())
def test_a_change_of_any_field_is_seen(
    made: Db, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    mutation = data.draw(st.sampled_from(mutations_of(made)))
    assert not outcome(made, mutation, tmp_path_factory.getbasetemp())


@pytest.mark.thorough
def test_a_change_of_every_field_is_seen(made: Db, tmp_path: Path) -> None:
    said = {one: outcome(made, one, tmp_path) for one in mutations_of(made)}
    wrong = [f"{one}: {words}" for one, words in said.items() if words]
    assert not wrong, "\n".join(wrong)
