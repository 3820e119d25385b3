"""A password is nowhere: in no output, no log, no traceback, no stored row, no process list."""

import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
from pymongo import MongoClient

from dedup_job.demo import make_corpus
from dedup_job.mongo import redacted
from dedup_job.mongo.connection import ConnectionSettings, connect
from dedup_job.mongod import embedded_server
from tests.running import dedup, environment_for, invoke, refusal

SECRET = "geheim-7a!b"
QUOTED = "geheim-7a%21b"
SOON = "serverSelectionTimeoutMS=1000"
NAMES = ("--db", "d", "--source", "source", "--target", "target", "--yes")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return the URI, without a user, of a server that has one whose password is the secret."""
    folder = tmp_path_factory.mktemp("secret")
    with embedded_server(folder, replica_set=False) as uri, MongoClient(uri) as client:
        client.admin.command("createUser", "someone", pwd=SECRET, roles=["root"])
    options = ("--auth", "--setParameter", "enableTestCommands=1")
    with embedded_server(folder, replica_set=False, options=options) as uri:
        with MongoClient(named(uri)) as client:
            client.d.source.insert_many(make_corpus(300, seed=1))
        yield uri


def named(uri, password=QUOTED):
    with_user = uri.replace("mongodb://", f"mongodb://someone:{password}@")
    return f"{with_user}&authSource=admin"


def test_a_run_that_ends_well_shows_and_stores_no_password(server, tmp_path):
    report = tmp_path / "report.json"
    options = ("--report", str(report))
    result = dedup("run", *NAMES, *options, uri=named(server), DEDUP_TRACEBACK="1")
    assert result.returncode == 0, result.stderr
    with MongoClient(named(server)) as client:
        parts = (client.d["target.runs"], client.d["target.state"])
        stored = [str(row) for part in parts for row in part.find()]
        assert len(stored) > 1
    for text in (result.stdout, result.stderr, report.read_text(), *stored):
        assert "geheim" not in text


@pytest.mark.parametrize("traceback", ["", "1"])
@pytest.mark.parametrize(
    ("change", "arguments", "code"),
    [
        (lambda uri: f"{uri}&authSource=admin", NAMES, 2),
        (named, (*NAMES, "--limit", f"me:{SECRET}@host"), 2),
        (lambda _: f"mongodb://someone:{QUOTED}@127.0.0.1:9/?{SOON}", NAMES, 5),
        (lambda uri: named(uri, "geheim-7a%21b-wrong"), NAMES, 2),
        (named, (*NAMES, "--query", "{"), 2),
        (named, (*NAMES, "--query", '{"a": {"$nope": 1}}'), 2),
        (named, ("--source", "d.nothing", "--target", "d.target"), 2),
        (named, (*NAMES, "--nonsense"), 2),
        (lambda uri: f"{named(uri)}&tls=true&{SOON}", NAMES, 5),
        (lambda uri: f"{named(uri)}&tlsCAFile=/nowhere", NAMES, 2),
        (lambda uri: f"{named(uri)}&authMechanism=NOPE", NAMES, 2),
        (lambda uri: f"{named(uri)}&replicaSet=other&{SOON}", NAMES, 5),
        (lambda uri: named(uri, "geheim-7a!b@x/y"), NAMES, 2),
        (lambda uri: named(uri).replace("mongodb:", "mongo:"), NAMES, 2),
        (lambda _: "mongodb://someone:12345/geheim#x@host", NAMES, 2),
    ],
)
def test_no_failure_shows_the_password(server, change, arguments, code, traceback):
    result = dedup("run", *arguments, uri=change(server), DEDUP_TRACEBACK=traceback)
    assert result.returncode == code, result.stderr
    assert "geheim" not in result.stdout + result.stderr


def test_a_wrong_password_is_named_and_an_id_that_looks_alike_is_none(server):
    wrong = dedup("run", *NAMES, uri=named(server, "geheim-wrong"))
    assert "refused user or password" in wrong.stderr
    error = refusal("inspect", "--target", "d.t", "mailto:a@b.c", DEDUP_URI="mongodb://u:PW")
    assert "is not valid" in str(error)  # the connection string


@pytest.mark.parametrize("traceback", ["", "1"])
def test_an_unexpected_error_shows_no_password(server, traceback):
    """Whatever breaks deep inside, with the client in its hands."""
    program = (
        "import dedup_job.job.pipeline as job\n"
        "def broken(j):\n"
        "    raise RuntimeError(f'broken: {j.source.collection.database.client!r}')\n"
        "job.run = broken\n"
        "from dedup_job.cli import main\n"
        "main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, "run", *NAMES, "--dry-run"],
        env=environment_for(named(server), DEDUP_TRACEBACK=traceback),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "broken" in result.stderr
    assert ("Traceback" in result.stderr) == bool(traceback)
    assert "geheim" not in result.stdout + result.stderr


def test_the_list_of_processes_shows_no_password(server, tmp_path):
    file = tmp_path / "uri"
    file.write_text(named(server))
    words = [sys.executable, "-m", "dedup_job", "run", "--uri-file", str(file), *NAMES]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(words, env=environment_for(None), **pipes) as process:
        seen = set()
        while process.poll() is None:
            with suppress(psutil.Error):  # it just ended
                seen.update(psutil.Process(process.pid).cmdline())
            time.sleep(0.02)
        output = process.stdout.read()
    assert process.returncode == 0, output
    assert str(file) in seen
    assert "geheim" not in output + "".join(seen)


PLACES = ("--db", "--source", "--target", "--uri-file", "--config", "--report")
NOT_SHOWN = [
    "someone:geheim@host",
    "mongodb:/someone:geheim@host",
    "mongodb://someone:geheim",
    "mongodb://someone:geheim@host:port",
    "mongodb://someone:a:geheim@host",
    "mongodb://someone:a@geheim@host",
    "mongodb://someone:a/geheim@host",
    "mongodb://someone:12345/geheim#x@host",
    "MongoDB://someone:geheim@host",
    "mongodb+srv://someone:a@b@geheim.example",
    "mongo://someone:geheim@host",
]
SHOWN = {
    "mongodb://someone:geheim@one:1,[::1]:2/d": "mongodb://someone:***@one:1,[::1]:2/d",
    "mongodb://someone:geh%40eim@host/": "mongodb://someone:***@host/",
    "mongodb+srv://someone:geh?#eim@h.example": "mongodb+srv://someone:***@h.example",
    "mongodb://host/?tls=true&tlsCertificateKeyFilePassword=geheim": (
        "mongodb://host/?tls=true&tlsCertificateKeyFilePassword=***"
    ),
    "mongodb://host?authMechanismProperties=AWS_SESSION_TOKEN:geheim;w=1": (
        "mongodb://host?authMechanismProperties=***&w=1"
    ),
    "mongodb://host/d?replicaSet=rs&geheim": "mongodb://host/d?replicaSet=rs&***",
    "mongodb://host:1/?directConnection=true": "mongodb://host:1/?directConnection=true",
}


def test_of_a_connection_string_all_but_its_secrets_is_shown(server):
    assert {uri: redacted(uri) for uri in SHOWN} == SHOWN
    client, _ = connect(ConnectionSettings(uri=named(server)))  # the driver names options of TLS
    with client:
        assert "geheim" not in repr(client.d.source)


@pytest.mark.parametrize("uri", NOT_SHOWN)
def test_of_a_malformed_connection_string_neither_user_nor_password_is_shown(uri):
    for place in ({"DEDUP_URI": uri}, {"DEDUP_CONNECTION__URI": uri}):
        shown = invoke("config", "show", **place).output
        error = refusal("run", *NAMES, **place)
        assert error.code == 2
        assert "characters such as @ : / % in a password must be percent-encoded" in str(error)
        assert "***" in str(error)
        for text in (shown, str(error)):
            assert "geheim" not in text
            assert "someone" not in text


@pytest.mark.parametrize("uri", [*NOT_SHOWN, *(uri for uri in SHOWN if "=geheim" in uri)])
def test_a_password_in_uri_is_refused_well_formed_or_not(uri):
    for option in (("--uri", uri), (f"--uri={uri}",)):
        error = refusal("run", *NAMES, *option)
        assert error.code == 2
        assert "geheim" not in str(error)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--field", "{}"),
        ("run", "--query", "{}"),
        ("demo", "--embedded", "{}"),
        ("run", "--limit={}"),
        ("run", "--uri{}"),
        ("run", "-u{}/?a=b"),
        ("{}",),
        ("run", "{}"),
        ("inspect", "--target", "d.t", "{}"),
        ("config", "validate", "{}"),
        ("inspect", "{}"),
        *((*("run", *NAMES), option, "{}") for option in PLACES),
        *((*("run", *NAMES), f"{option}={{}}") for option in PLACES),
    ],
)
def test_a_password_anywhere_on_the_command_line_is_refused(words):
    uris = ["mongodb://someone:geheim@host"]
    if any(word.partition("=")[0] in PLACES for word in words[-2:]):
        uris.append("someone:geheim@host")
    for uri in uris:
        error = refusal(*(word.format(uri) for word in words))
        assert error.code == 2
        assert "holds a password" in str(error)
        assert "(DEDUP_URI) or into a file (--uri-file)" in str(error)
        assert "geheim" not in str(error)


@pytest.mark.parametrize(
    "written",
    [
        'connection = "mongodb://someone:geheim@host"',
        '[connection]\ndb = "someone:geheim@host"',
        '[connection]\nurl = "mongodb://someone:geheim@host"',
        '[source]\nfield = "mongodb://someone:geheim@host"',
        '[decision]\nharmless = ["mongodb://someone:geheim@host"]',
        '[decision]\nconfidence = "mongodb://someone:geheim@host"',
        '[index]\ncandidate_generators = ["mongodb://someone:geheim@host"]',
        '[source]\n"mongodb://someone:geheim@host" = 1',
        '["mongodb://someone:geheim@host"]\na = "mongodb://someone:geheim@host"',
    ],
)
def test_a_password_in_the_place_of_another_setting_is_refused(written, tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(written, encoding="utf-8")
    error = refusal("config", "validate", str(file))
    assert "geheim" not in str(error)
    assert "belongs in DEDUP_URI" in str(error)


@pytest.mark.parametrize("name", ["SOURCE__FIELD", "CONNECTION__DB", "RUN__THREADS"])
def test_a_password_in_the_environment_of_another_setting_is_refused(name):
    error = refusal("config", "show", **{f"DEDUP_{name}": "mongodb://someone:geheim@host"})
    assert "geheim" not in str(error)
    assert name.lower().replace("__", ".") in str(error)
