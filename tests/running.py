"""Run a job on a source collection: by the command in a process of its own, or in this one."""

import fcntl
import functools
import itertools
import multiprocessing
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from bson.raw_bson import RawBSONDocument
from platformdirs import user_cache_path
from typer.testing import CliRunner

from dedup_job import commands, decision
from dedup_job.cli import app
from dedup_job.commands.run import Request, RunCallbacks, run_job
from dedup_job.demo import make_corpus
from dedup_job.job import OrderedWriters
from dedup_job.messages import DedupError, chosen_language
from dedup_job.mongo.target import Target
from dedup_job.report.progress import Log
from dedup_job.runs.run_record import Progress
from dedup_job.settings import load
from tests.tampering import hold_lease


def share_dictionary_and_judge():
    """Cache the dictionary's tables and the judge's model for all commands of this process.

    Reading and checking them takes most of the processor time of a small run.
    """
    load, make = decision.load_lexicon, decision.Judge
    shared_judge = functools.lru_cache(8)(make)
    lexicons = {}

    def load_once(notify, **options):
        folder = user_cache_path("dedup")
        if folder not in lexicons:
            lexicons[folder] = load(notify, **options)
        return lexicons[folder]

    def judge(lexicon, confidence, model, *more):
        return (make if model else shared_judge)(lexicon, confidence, model, *more)

    decision.load_lexicon, decision.Judge = load_once, judge


share_dictionary_and_judge()


def uri_of(database):
    """Return the URI of the server of a database."""
    host, port = database.client.address
    return f"mongodb://{host}:{port}/?directConnection=true"


def run_here(
    database,
    *,
    source="source",
    target="target",
    limit=None,
    dry_run=False,
    stop=lambda: False,
    show=lambda _: None,
    **flags,
):
    """Run the job in this process; return its report.

    stop: called after each batch, ends the run if True; show: called with each snapshot of the
    progress; flags: settings by dotted name, with `__` for the dot.
    """
    names = (f"{database.name}.{source}", f"{database.name}.{target}")
    request = Request(*names, limit=limit, dry_run=dry_run)
    return run_job(
        settings_of(database, **flags), request, RunCallbacks(Progress(Log(), show), stop=stop)
    )


def written_at_once(writers, item, *, alone):  # noqa: ARG001
    """Write and settle an item in this thread; replaces `Writers.put`."""
    writers._settled += 1
    writers._write(item, writers._settled)
    writers._settle(item, writers._settled)


def run_until(database, batches, **flags):
    """Run as `run_here`, and stop after n batches."""
    stop = threading.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OrderedWriters, "put", written_at_once)
        after_batches(patch, batches, stop.set)
        return run_here(database, stop=stop.is_set, **flags)


def settings_of(database, **flags):
    """Return settings for the server of a database; flags: by dotted name, `__` for the dot."""
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return load({"connection.uri": uri_of(database), **dotted}).settings


def dedup(*arguments, uri=None, timeout=180, **environment):
    """Run `dedup` in a process of its own; return exit code, stdout and stderr.

    Raises TimeoutError after `timeout` seconds. environment: more variables.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        code = Forked(arguments, environment_for(uri, **environment), out, err=err).wait(timeout)
        printed = (file.read_text(encoding="utf-8") for file in (out, err))
        return subprocess.CompletedProcess([*arguments], code, *printed)


def on_terminal(arguments, environment, *, columns, cwd=None):
    """Start `dedup` on a new terminal; return the process and the terminal's master descriptor."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "dedup_job", *arguments],
        env=environment,
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    return process, master


def environment_for(uri, **more):
    """Return the environment of a child process: this one's, without DEDUP_ variables, and more."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("DEDUP_")}
    return {**own, **({"DEDUP_URI": uri} if uri else {}), **more}


def invoke(*arguments, stdin=None, **environment):
    """Run a command in this process; return its typer result, raise its error."""
    result = _invoke(arguments, stdin, environment)
    if result.exception is not None:
        raise result.exception
    return result


def refusal(*arguments, stdin=None, **environment):
    """Run a command in this process that ends with a DedupError; return the error."""
    result = _invoke(arguments, stdin, environment)
    assert isinstance(result.exception, DedupError), result.output
    return result.exception


def _invoke(words, stdin, more):
    chosen_language.cache_clear()  # each command has a language of its own
    result = CliRunner().invoke(app, words, input=stdin, env={"COLUMNS": "200", **more})
    chosen_language.cache_clear()
    return result


def outcome(database, target="target"):
    """Return the documents of the target and the rows of the ledger, in `_id` order."""
    return (
        list(database[target].find().sort("_id", 1)),
        list(database[f"{target}.ledger"].find().sort("_id", 1)),
    )


def drop_target(database, target="target"):
    """Drop the target, its ledger, its runs and its state."""
    for part in ("", ".ledger", ".runs", ".state"):
        database.drop_collection(f"{target}{part}")


def without_runs(database, target="target"):
    """Return documents and rows as `outcome`, without the numbers of their runs."""
    kept, ledger = outcome(database, target)
    for row in (*(one["dedup"] for one in kept), *ledger):
        del row["run"]
    return kept, ledger


def assert_each_source_id_is_in_one_place(database, source="source", target="target"):
    """Assert that source ids = target ids + ledger ids, with no overlap."""
    from bson import encode

    def ids(name):
        return [encode(row) for row in database[name].find({}, {"_id": 1})]

    kept, ledger = set(ids(target)), set(ids(f"{target}.ledger"))
    assert kept | ledger == set(ids(source))
    assert not kept & ledger


class Job:
    """A source collection with documents, runs into `target`, and their results."""

    def __init__(self, database, documents, **settings):
        """Insert documents; settings: of each run, by dotted name with `__` for the dot."""
        self.database, self.settings, self._numbers = database, settings, itertools.count(1)
        self.add(documents)

    def add(self, documents):
        """Insert documents into the source; a text becomes a document with the next number."""
        self.database.source.insert_many(
            one if isinstance(one, dict) else {"_id": next(self._numbers), "text": one}
            for one in documents
        )

    def run(self, **options):
        """Run in this process; return the report. options: as of `run_here`."""
        return run_here(self.database, **self.settings, **options)

    def dedup(self, *words, target="target", **environment):
        """Run a command on the target in a process of its own; return the completed process."""
        names = ["--db", self.database.name, "--target", target]
        if words[0] in ("run", "check"):
            names += ["--source", "source"]
        return dedup(*words, *names, uri=uri_of(self.database), **environment)

    @property
    def kept(self):
        """The documents of the target by `_id`."""
        return {document["_id"]: document for document in outcome(self.database)[0]}

    @property
    def dropped(self):
        """The rows of the ledger by `_id`."""
        return {row["_id"]: row for row in outcome(self.database)[1]}

    def stored(self, *names):
        """Return the BSON of each document of some collections, of all if none is named.

        Returns lists of bytes, in the order of `_id`, by name of the collection.
        """
        names = names or sorted(self.database.list_collection_names())
        raw = self.database.codec_options.with_options(document_class=RawBSONDocument)
        found = {name: self.database[name].with_options(raw).find() for name in names}
        return {name: [one.raw for one in rows.sort("_id", 1)] for name, rows in found.items()}


class Forked(ForkServerProcess):
    """A process of `dedup`, forked from one with its modules loaded: starts in 0.1 s, not 1.

    It has the methods of subprocess.Popen that the tests use.
    """

    def __init__(self, arguments, environment, out, first=None, err=None):
        """Start it; out, err: files of its output, both in `out` if err is None.

        first: called in the process before the command.
        """
        multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.warm"])
        self._out = out
        options = ([*arguments], dict(environment), out, err or out, first)
        super().__init__(target=_dedup, args=options)
        self.start()

    @property
    def returncode(self):
        """The exit code, the negative signal number if killed, None while it runs."""
        return self.exitcode

    def poll(self):
        """Return the exit code, None while it runs."""
        return self.exitcode

    def send_signal(self, signum):
        """Send a signal to the process."""
        assert self.pid is not None
        os.kill(self.pid, signum)

    def wait(self, timeout=None):
        """Return the exit code once it ended; TimeoutError after `timeout` seconds, and kill it."""
        self.join(timeout)
        if self.exitcode is None:
            self.kill()
            self.join()
            raise TimeoutError(self.output)
        return self.exitcode

    def wait_for(self, words):
        """Wait until its output holds the words; AssertionError if it ends, or after 60 s."""
        deadline = time.monotonic() + 60
        while words not in self.output:
            assert time.monotonic() < deadline, self.output
            assert self.poll() is None, self.output
            time.sleep(0.02)

    def stop(self, *signals, within):
        """Send signals, the second once it is asked for; return the exit code.

        within: seconds until the end, at most.
        """
        start = time.monotonic()
        for number, signum in enumerate(signals):
            if number:
                self.wait_for("once more to end at once")
            self.send_signal(signum)
        code = self.wait(60)
        assert time.monotonic() - start < within
        assert "Traceback" not in self.output
        return code

    @property
    def output(self):
        """Its output so far."""
        return self._out.read_text(encoding="utf-8", errors="replace") if self._out.exists() else ""

    def communicate(self, timeout=None):
        """Wait for its end; return its output, as subprocess.Popen does."""
        self.wait(timeout)
        return self.output, None


def after_batches(monkeypatch, number, act):
    """Call `act` in a run of this process once n batches are written; 0: before the first."""
    name = "settle" if number else "write"
    original, count = getattr(Target, name), 0

    def watched(target, *arguments):
        nonlocal count
        if not number and not count:
            act()
        original(target, *arguments)
        count += 1
        if count == number:
            act()

    monkeypatch.setattr(Target, name, watched)
    one_writer(monkeypatch)


def one_writer(monkeypatch):
    """Make runs of this process write one batch at a time."""
    monkeypatch.setattr(commands.run, "writers_for", lambda _: 1)


def interpose(monkeypatch, owner, name, act, *, when=lambda *_: True, after=False):
    """Call `act` before, or after, the first call of a method whose arguments pass `when`."""
    original, pending = getattr(owner, name), [act]

    def watched(*arguments, **named):
        acts = [pending.pop()] if pending and when(*arguments) else []
        if acts and not after:
            act()
        result = original(*arguments, **named)
        if acts and after:
            act()
        return result

    monkeypatch.setattr(owner, name, watched)


def start_run(database, target, *more, first=None, **environment):
    """Start a run with batches of 20 documents in a process of its own; return the process."""
    names = ("--db", database.name, "--source", "source", "--target", target, "--yes")
    environment = {"DEDUP_RUN__BATCH_DOCUMENTS": "20", **environment}
    environment = environment_for(uri_of(database), **environment)
    return Forked(["run", *names, *more], environment, Path(tempfile.mkdtemp(), "said"), first)


@contextmanager
def paused_run(database):
    """Yield the process of a run, suspended half way; it is killed at the end."""
    database["source"].insert_many(make_corpus(2000, seed=2))
    process = start_run(database, "target")
    pause_at_work(process, database)
    yield process
    process.kill()
    process.communicate()


def pause_at_work(process, database):
    """Suspend a run (SIGSTOP) after 40 documents; AssertionError if it has finished."""
    wait_for_batches(database, "target", 40)
    process.send_signal(signal.SIGSTOP)
    assert not finished(database, "target")


def wait_for_batches(database, target, more):
    """Wait until `more` documents are decided, the run is finished, or 120 s are over."""
    goal, deadline = scanned(database, target) + more, time.monotonic() + 120
    while scanned(database, target) < goal and time.monotonic() < deadline:
        if finished(database, target):
            return
        time.sleep(0.005)


def scanned(database, target="target"):
    """Return the number of decided documents in the checkpoint."""
    return int(_checkpoint(database, target).get("counts", {}).get("scanned", 0))


def finished(database, target="target"):
    """Return whether the checkpoint is that of a finished run."""
    return bool(_checkpoint(database, target).get("finished"))


def _checkpoint(database, target):
    return (database[f"{target}.state"].find_one() or {}).get("checkpoint") or {}


def held_elsewhere(database, session=b"x"):
    """Give the lease of the target to a run of another machine for a minute."""
    owner = {"host": "far", "machine": "other", "pid": 7, "process_started": 1.0}
    hold_lease(database, 60, sessions=[{"id": session}], **owner)


def _dedup(arguments, environment, out, err, first):
    os.environ.clear()
    os.environ.update(environment)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with out.open("wb") as file:
        os.dup2(file.fileno(), 1)
    if err == out:
        os.dup2(1, 2)
    else:
        with err.open("wb") as file:
            os.dup2(file.fileno(), 2)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # it is no file to be read
        os.dup2(nothing.fileno(), 0)
    if first is not None:
        first()
    sys.argv = ["dedup", *arguments]
    from dedup_job.cli import main

    main()
    sys.exit(0)
