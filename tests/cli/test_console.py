"""Whatever a collection holds: no command moves the cursor, breaks an id, or cuts a line."""

import json
import uuid

import pytest
from bson import Binary, Decimal128, Int64, ObjectId
from rich.cells import cell_len

from dedup_job.mongo import raw_bson as raw
from dedup_job.mongo.id_keys import shown
from tests.proving import command, refused
from tests.running import dedup, refusal, run_here, uri_of
from tests.test_printing import HOSTILE, commands

WEIRD = "\x1b[31mw\u202eeird\x9b"
TEXT = "光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物，同时释放氧气的过程。"
IDS = [
    *(ObjectId(), ObjectId(), Binary.from_uuid(uuid.UUID(int=7)), "a b 'c' \"d\"", HOSTILE[:-1]),
    *(Decimal128("1.50"), {"year": 2020, "no": Int64(3)}, "17", 17, Binary(b"\0\xff")),
]
DOCUMENTS = [
    {"_id": id_, HOSTILE[1:-1].replace("\x00", ""): 1, "text": text}
    for i, id_ in enumerate(IDS)
    for text in [f"{1990 + i}年的考题：{TEXT if i % 2 else TEXT[:-1]}\x9b31m\u202e"]
]


@pytest.fixture
def hostile(database):
    """Return a database with a source and a target of hostile names, ids and texts."""
    database[WEIRD].insert_many([*DOCUMENTS, {"_id": HOSTILE[1:-1], "text": 17}])
    run_here(database, source=WEIRD, target=f"t{WEIRD}")
    return database


def printed(database, *words, width):
    """Return the output of a command on a terminal of this width, or on a pipe (None)."""
    terminal = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": f"{width}", "LINES": "50"}
    where = {} if width is None else terminal
    return command(database, *words, "--target", f"t{WEIRD}", **where)


@pytest.mark.parametrize("width", [60, 80, None])
def test_every_command_prints_ids_whole_and_nothing_that_commands_the_terminal(
    hostile, tmp_path, width
):
    file = tmp_path / "report.json"
    hostile[WEIRD].insert_one({"_id": "late", "text": "一段新的文字。"})
    ids = [shown(raw.fields({"_id": id_})) for id_ in IDS]
    for words, named in (
        (["list", "--what", "refused", "--texts"], ids[1:]),
        (["inspect", "--text", f"1980年的考题：{TEXT}", "--limit", "50"], ids),
        (["inspect", ids[2]], [ids[2]]),
        (["inspect", ids[1], "--limit", "64"], ids),
        (["check", "--source", WEIRD, "--report", str(file)], []),
    ):
        output = printed(hostile, *words, width=width)
        assert commands(output) == [], words
        for name in named:
            assert name in output, words
        for line in output.splitlines():
            assert "─" not in line or cell_len(line) <= (width or 1000)
    assert commands(file.read_text(encoding="utf-8")) == []


def test_ids_as_they_are_printed_stand_in_a_file(hostile, tmp_path):
    texts = [
        {"_id": {"again": id_}, "text": d["text"]} for id_, d in zip(IDS, DOCUMENTS, strict=True)
    ]
    ends = {"_id": "other\u2028line\u0085ends", "text": DOCUMENTS[0]["text"]}
    hostile[WEIRD].insert_many([*texts, ends])
    run_here(hostile, source=WEIRD, target=f"t{WEIRD}")
    keys = [raw.fields({"_id": text["_id"]}) for text in texts]
    file = tmp_path / "ids"
    lines = [*map(shown, keys), ends["_id"]]
    file.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8", newline="")
    output = printed(hostile, "restore", "--ids", str(file), width=None)
    assert f": {len(IDS) + 1} documents " in output


def test_messages_reports_and_logs_of_a_process_command_nothing(hostile, tmp_path):
    file = tmp_path / f"{WEIRD}.json"
    names = ("--db", hostile.name, "--source", WEIRD, "--target", f"other{WEIRD}")
    done = dedup("run", *names, "--yes", "--report", str(file), uri=uri_of(hostile))
    assert done.returncode == 0, done.stderr
    report = file.read_text(encoding="utf-8")
    assert json.loads(report)["source"] == f"{hostile.name}.{WEIRD}"
    absent = dedup(
        "run", "--db", "d", "--source", f"no{WEIRD}", "--target", "t", uri=uri_of(hostile)
    )
    unknown = dedup("run", f"--{WEIRD}")
    assert (absent.returncode, unknown.returncode) == (2, 2)
    for text in (done.stdout, done.stderr, report, absent.stderr, unknown.stderr):
        assert commands(text) == []
    assert "no\\x1b[31mw\\u202eeird\\x9b does not exist" in absent.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--source", "\udcff", "--target", "t", "--db", "d"],
        ["run", "--source", "s", "--target", "t", "--db", "d\udcff"],
        ["run", "--source", "s", "--target", "t", "--db", "d", "--field", "\udcff"],
        ["run", "--source", "s", "--target", "t", "--db", "d", "--query", '{"a": "\udcff"}'],
        ["run", "--source", "s", "--target", "t", "--db", "d", "--query", '{"a": "\\ud800"}'],
        ["run", "--source", "s", "--target", "t", "--db", "d", "--query", f'{{"a": {2**70}}}'],
    ],
)
def test_half_a_character_is_refused_with_2(replica_set, words):
    assert refusal(*words, DEDUP_URI=replica_set).code == 2


def test_an_id_with_half_a_character_is_refused(hostile):
    error = refused(hostile, "inspect", "a\udcff", "--target", f"t{WEIRD}")
    assert "not in UTF-8" in str(error)


def test_a_lease_owner_forges_no_line(hostile):
    lease = {"host": "far\nerror: forged\x1b[2J", "machine": "other", "pid": 7}
    times = {"since": "$$NOW", "expires": {"$add": ["$$NOW", 100_000]}}
    state = hostile[f"t{WEIRD}.state"]
    state.update_one({}, [{"$set": {"lease": {**lease, "session": {"id": b"x"}, **times}}}])
    words = ("status", "--target", f"t{WEIRD}")
    assert r"far\nerror: forged\x1b[2J" in command(hostile, *words)
    message = str(refused(hostile, *words, "--break-lease"))
    assert r"far\nerror: forged" in message
