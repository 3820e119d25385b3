"""Whatever a field of a document or a row becomes, `check --all` sees it, but for a table below.

A field is removed, gets another type, another value, and a neighbour that no run writes, at every
depth. No change may end in a traceback.
"""

import copy

import pytest
from bson import Int64
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.messages import DedupError
from tests.conftest import fresh_database
from tests.proving import command, found
from tests.running import run_here

ADDED = "added_by_hand"

QUESTION = "在标准状况下，将一定量的二氧化碳气体缓慢通入澄清石灰水，观察到溶液先变浑浊后又变澄清"
TEXTS = (
    *(f"{QUESTION}，第{i}次实验共用去{i * 13 + 7}毫升。" for i in range(3)),
    f"<p>{QUESTION}，第1次实验共用去20毫升。</p>",
    f"3. {QUESTION}，第1次实验共用去20毫升。",
    f"{QUESTION}，第1次实验共用去20毫升。<img src='a.png'>",
    "下列关于细胞膜结构的叙述，正确的是：流动镶嵌模型说明膜的成分可以运动，蛋白质镶在其中。",
    *("短句一", "短句二", "短句一", "   ", None, 7, "长" * 2000),
)
# What is no error, by collection, path and how; docs/operations.md gives these reasons.
UNSEEN = {
    ("target", ADDED, "add"),  # a note: the source may have changed instead
    ("target.ledger", "digest", "revalue"),  # the same, of a near duplicate
    *(("target.ledger", "detail", how) for how in ("retype", "revalue")),  # words for a person
    ("target", "dedup.refused", "remove"),  # the nearest candidate is not looked for again
    ("target", "dedup.refused.of", "retype"),
    ("target.ledger", "group", "remove"),  # absent it means the same
}


@pytest.fixture(scope="module")
def made(replica_set):
    """Return a target of two runs and a restore, with rows of all kinds; each test mends it."""
    for database in fresh_database(replica_set):
        for first in (0, 100):
            rows = [{"_id": first + i, "text": t, "answer": "A"} for i, t in enumerate(TEXTS)]
            more = [{"_id": 200 + i, "text": f"全新的第{i}道题，讲的是光。"} for i in range(4)]
            database.source.insert_many(rows + more * bool(first))
            run_here(database, source__max_chars=1500)
        command(database, "restore", "103")
        yield database


def changes_of(database):
    """Return collection, `_id`, path and how of all that can be done to a row of each kind."""
    kinds = {}
    for name in ("target", "target.ledger"):
        for row in database[name].find().sort("_id", -1):
            kind = (name, *sorted(row), *sorted(row.get("dedup") or ()), row.get("reason"))
            kinds[kind] = (name, row)
    rows = kinds.values()
    return [(name, row["_id"], path, how) for name, row in rows for path, how in _changes(row)]


def _changes(value, path=""):
    if isinstance(value, dict):
        yield f"{path}{ADDED}", "add"
        names = [name for name in value if path or name not in ("_id", "text", "answer")]
        yield from ((f"{path}{name}", "remove") for name in names)
    else:
        names = ["0"] if value else []
    for name in names:
        inner = value[name] if isinstance(value, dict) else value[0]
        yield from ((f"{path}{name}", how) for how in ("retype", "revalue"))
        if isinstance(inner, dict | list):
            yield from _changes(inner, f"{path}{name}.")


def other_value(value):
    match value:
        case bool():
            return not value
        case Int64():
            return Int64(value ^ 1)
        case int() | float():
            return value + (1 if isinstance(value, int) else 0.25)
        case str():
            return f"{value}x"
        case bytes():
            return bytes([value[0] ^ 1, *value[1:]])
        case dict():
            return {**value, ADDED: 1}
        case list():
            return [*value, *(value[:1] or [1])]
        case _:
            return 5


def changed(row, path, how):
    row = copy.deepcopy(row)
    *outer, last = path.split(".")
    place = row
    for name in outer:
        place = place[int(name)] if isinstance(place, list) else place[name]
    key = int(last) if isinstance(place, list) else last
    if how == "remove":
        del place[key]
    elif how == "add":
        place[key] = 1
    elif how == "retype":
        place[key] = ["x"] if isinstance(place[key], str) else "x"
    else:
        place[key] = other_value(place[key])
    return row


def checked(database, file):
    """Return exit code and words of a check of everything."""
    file.unlink(missing_ok=True)
    code, message = 0, ""
    try:
        command(database, "check", "--source", "source", "--all", "--report", str(file))
    except DedupError as e:
        code, message = e.code, str(e)
    lines = found(file).values() if file.exists() else ()
    return code, " ".join([message, *(line for first in lines for line in first)])


@given(data=st.data())
def test_a_change_of_any_field_is_seen_and_its_row_named(made, tmp_path_factory, data):
    name, id_, path, how = data.draw(st.sampled_from(changes_of(made)))
    row, file = made[name].find_one({"_id": id_}), tmp_path_factory.getbasetemp() / "check.json"
    made[name].replace_one({"_id": id_}, changed(row, path, how))
    try:
        code, shown = checked(made, file)
    finally:
        made[name].replace_one({"_id": id_}, row)
    if (name, path, how) in UNSEEN:
        assert code in (0, 6), shown
        return
    is_run = path in ("run", "dedup.run") and how == "revalue"
    named = [f"run {number}: " for number in (1, 2, 3)] if is_run else [str(id_)]
    assert code == 6, shown
    assert any(one in shown for one in named), shown
