"""Run the command as a user does, in a process of its own, or in this one where that is enough."""

import fcntl
import functools
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
from platformdirs import user_cache_path
from typer.testing import CliRunner

from dedup_job import commands, decision
from dedup_job.cli import app
from dedup_job.commands.run import Request, Watch, run_job
from dedup_job.demo import make_corpus
from dedup_job.job.parts import Writers
from dedup_job.messages import DedupError, chosen_language
from dedup_job.mongo.target import Target
from dedup_job.report.progress import Log
from dedup_job.runs.run import Progress
from dedup_job.settings import load
from tests.tampering import hold_lease


def share_dictionary_and_judge():
    """Let the commands of this process read the dictionary's tables and the judge's model once.

    Each command reads and checks them else: most of the processor time of a small run.
    """
    load = decision.load_lexicon
    held = {}
    make = decision.Judge
    shared = functools.lru_cache(8)(make)

    def load_once(notify, **how):
        key = user_cache_path("dedup")
        if key not in held:
            held[key] = load(notify, **how)
        return held[key]

    def judge(lexicon, confidence, model, *more):
        return (make if model else shared)(lexicon, confidence, model, *more)

    decision.load_lexicon, decision.Judge = load_once, judge


share_dictionary_and_judge()


def uri_of(database):
    """Return a URI for the server that a database lies on."""
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
    """Run the job in this process; flags are settings by dotted name, `__` for the dot.

    stop: tells whether it is to end; show: takes what it tells.
    """
    names = (f"{database.name}.{source}", f"{database.name}.{target}")
    request = Request(*names, limit=limit, dry_run=dry_run)
    return run_job(settings_of(database, **flags), request, Watch(Progress(Log(), show), stop=stop))


def written_at_once(writers, item, *, alone):  # noqa: ARG001
    """Write an item in this thread, as `Writers.put` lets others do."""
    writers._settled += 1
    writers._write(item, writers._settled)
    writers._settle(item, writers._settled)


def run_until(database, batches, **flags):
    """Run until so many batches are written; flags as of `run_here`."""
    stop = threading.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Writers, "put", written_at_once)
        after_batches(patch, batches, stop.set)
        return run_here(database, stop=stop.is_set, **flags)


def settings_of(database, **flags):
    """Return settings for the server of a database, by dotted name with `__` for the dot."""
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return load({"connection.uri": uri_of(database), **dotted}).settings


def dedup(*arguments, uri=None, timeout=180, **environment):
    """Run `dedup` with arguments in a process of its own; TimeoutError where it takes longer."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        code = Forked(arguments, environment_for(uri, **environment), out, err=err).wait(timeout)
        said, told = (file.read_text(encoding="utf-8") for file in (out, err))
        return subprocess.CompletedProcess([*arguments], code, said, told)


def on_terminal(arguments, environment, *, columns, cwd=None):
    """Start `dedup` on a terminal of its own; return the process and the terminal's other end."""
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
    """Return the environment of a child process."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("DEDUP_")}
    return {**own, **({"DEDUP_URI": uri} if uri else {}), **more}


def invoke(*arguments, stdin=None, **environment):
    """Run a command that ends well in this process."""
    result = _invoke(arguments, stdin, environment)
    if result.exception is not None:
        raise result.exception
    return result


def refusal(*arguments, stdin=None, **environment):
    """Run a command that is refused in this process; return the error."""
    result = _invoke(arguments, stdin, environment)
    assert isinstance(result.exception, DedupError), result.output
    return result.exception


def _invoke(words, stdin, more):
    chosen_language.cache_clear()  # each command has a language of its own
    result = CliRunner().invoke(app, words, input=stdin, env={"COLUMNS": "200", **more})
    chosen_language.cache_clear()
    return result


def outcome(database, target="target"):
    """Return target and ledger, each in `_id` order."""
    return (
        list(database[target].find().sort("_id", 1)),
        list(database[f"{target}.ledger"].find().sort("_id", 1)),
    )


def drop_target(database, target="target"):
    """Remove a target with all that belongs to it."""
    for part in ("", ".ledger", ".runs", ".state"):
        database.drop_collection(f"{target}{part}")


def without_runs(database, target="target"):
    """Return target and ledger as `outcome`, without the numbers of their runs."""
    kept, ledger = outcome(database, target)
    for row in (*(one["dedup"] for one in kept), *ledger):
        del row["run"]
    return kept, ledger


def assert_each_source_id_is_in_one_place(database, source="source", target="target"):
    """Source ids = target ids + ledger ids, with no overlap."""
    from bson import encode

    def ids(name):
        return [encode(row) for row in database[name].find({}, {"_id": 1})]

    kept, ledger = set(ids(target)), set(ids(f"{target}.ledger"))
    assert kept | ledger == set(ids(source))
    assert not kept & ledger


# Processes that are `dedup`, forked from one that has loaded its modules: in 0.1 s, not 1.


class Forked(ForkServerProcess):
    """A process that is `dedup`, with the methods of subprocess.Popen that the tests use."""

    def __init__(self, arguments, environment, out, first=None, err=None):
        """Start it; it writes to out, and to err or out as well.

        first: what it does before it becomes `dedup`.
        """
        multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.warm"])
        self._out = out
        given = ([*arguments], dict(environment), out, err or out, first)
        super().__init__(target=_dedup, args=given)
        self.start()

    @property
    def returncode(self):
        """The exit code, negative where a signal ended it, None while it is at work."""
        return self.exitcode

    def poll(self):
        """Return the exit code, None while it is at work."""
        return self.exitcode

    def send_signal(self, signum):
        """Send it a signal."""
        assert self.pid is not None
        os.kill(self.pid, signum)

    def wait(self, timeout=None):
        """Wait for its end; return the exit code, TimeoutError where it takes too long."""
        self.join(timeout)
        if self.exitcode is None:
            self.kill()
            self.join()
            raise TimeoutError(self.said)
        return self.exitcode

    def wait_for(self, words):
        """Wait until it says so."""
        deadline = time.monotonic() + 60
        while words not in self.said:
            assert time.monotonic() < deadline, self.said
            assert self.poll() is None, self.said
            time.sleep(0.02)

    def stop(self, *signals, within):
        """Send signals, the second when it asks for that; return the exit code."""
        start = time.monotonic()
        for number, signum in enumerate(signals):
            if number:
                self.wait_for("once more to end at once")
            self.send_signal(signum)
        code = self.wait(60)
        assert time.monotonic() - start < within
        assert "Traceback" not in self.said
        return code

    @property
    def said(self):
        """What it printed so far."""
        return self._out.read_text(encoding="utf-8", errors="replace") if self._out.exists() else ""

    def communicate(self, timeout=None):
        """Wait for its end; return what it printed."""
        self.wait(timeout)
        return self.said, None


def after_batches(monkeypatch, number, act):
    """Do something in a run of this process once so many batches are written; 0: before any."""
    name = "settle" if number else "write"
    original, done = getattr(Target, name), 0

    def watched(target, *arguments):
        nonlocal done
        if not number and not done:
            act()
        original(target, *arguments)
        done += 1
        if done == number:
            act()

    monkeypatch.setattr(Target, name, watched)
    one_writer(monkeypatch)


def one_writer(monkeypatch):
    """Let batches be written one after the other."""
    monkeypatch.setattr(commands.run, "writers_for", lambda _: 1)


def interpose(monkeypatch, owner, name, act, *, when=lambda *_: True, after=False):
    """Do something the first time that a method is called so, before its work or after it."""
    original, left = getattr(owner, name), [act]

    def watched(*arguments, **named):
        acts = [left.pop()] if left and when(*arguments) else []
        if acts and not after:
            act()
        result = original(*arguments, **named)
        if acts and after:
            act()
        return result

    monkeypatch.setattr(owner, name, watched)


def start_run(database, target, *more, first=None):
    """Start a run of small batches in a process of its own."""
    names = ("--db", database.name, "--source", "source", "--target", target, "--yes")
    environment = environment_for(uri_of(database), DEDUP_RUN__BATCH_DOCUMENTS="20")
    return Forked(["run", *names, *more], environment, Path(tempfile.mkdtemp(), "said"), first)


@contextmanager
def paused_run(database):
    """Yield a run that sleeps in the middle of its work; it is killed at the end."""
    database["source"].insert_many(make_corpus(2000, seed=2))
    process = start_run(database, "target")
    pause_at_work(process, database)
    yield process
    process.kill()
    process.communicate()


def pause_at_work(process, database):
    """Stop a process (SIGSTOP) in the middle of its run, which may take less than a second."""
    wait_for_batches(database, "target", 40)
    process.send_signal(signal.SIGSTOP)
    assert not finished(database, "target")


def wait_for_batches(database, target, more):
    """Wait until so many documents more are decided, or the run is done."""
    goal = scanned(database, target) + more
    deadline = time.monotonic() + 120
    while scanned(database, target) < goal and time.monotonic() < deadline:
        if finished(database, target):
            return
        time.sleep(0.005)


def scanned(database, target="target"):
    """Return how many documents the checkpoint counts."""
    checkpoint = (database[f"{target}.state"].find_one() or {}).get("checkpoint") or {}
    return int(checkpoint.get("counts", {}).get("scanned", 0))


def finished(database, target="target"):
    """Tell whether the checkpoint says so."""
    checkpoint = (database[f"{target}.state"].find_one() or {}).get("checkpoint") or {}
    return bool(checkpoint.get("finished"))


def held_elsewhere(database, session=b"x"):
    """Let a run of another machine hold the lease of the target for a minute."""
    owner = {"host": "far", "machine": "other", "pid": 7, "process_started": 1.0}
    hold_lease(database, 60, sessions=[{"id": session}], **owner)


def _dedup(arguments, environment, out, err, first):
    """Be `dedup` with these arguments."""
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
