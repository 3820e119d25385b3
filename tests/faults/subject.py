"""Runs with injected faults, each in a process, and an undisturbed run to compare with."""

import time
import weakref
from contextlib import suppress
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from dedup_job.demo import make_corpus
from tests.running import (
    Forked,
    drop_target,
    environment_for,
    finished,
    outcome,
    scanned,
)

ENDED_WELL = (0, 3)  # 3: some documents are quarantined
_PARTS = ("", ".ledger", ".runs", ".state")
_LONGEST = 300.0  # seconds of a command


class Subject:
    """A source with the target of an undisturbed run, and runs to other targets."""

    def __init__(self, uri, folder, *, documents=3000, name="faults", environment=None, **more):
        """Create the source and do the undisturbed run; more: options of this suite's client."""
        self._folder, self._count, self.uri = folder, 0, uri
        self.environment = {
            "DEDUP_URI": uri,
            "DEDUP_INDEX__FOLDER": str(folder),
            "DEDUP_RUN__BATCH_DOCUMENTS": "50",
            "COLUMNS": "200",
            **(environment or {}),
        }
        self.documents = documents
        self._client = MongoClient[dict[str, Any]](uri, **more)
        weakref.finalize(self, self._client.close)  # else it warns when it is collected
        self.database = self._client[name]
        self._client.drop_database(name)
        self.database.source.insert_many(make_corpus(documents))
        self.leave_alone()

    def leave_alone(self):
        self.drop("alone")
        code = self.run("alone")
        assert code in ENDED_WELL, self.output()

    def end_all(self):
        self._client.admin.command("killAllSessions", [])  # a killed run's transaction bars it
        self._client.drop_database(self.database.name)
        self._client.close()

    def start(self, target="target", *more, first=None, **environment):
        """Start `dedup run` into a target; return its process.

        more: further arguments; first: called in the process first; environment: variables.
        """
        words = ("run", "--source", "source", "--target", target, "--yes", *more)
        return self._start(words, first, environment)

    def _start(self, words, first, environment):
        self._count += 1
        arguments = [*words, "--db", self.database.name]
        whole = {**environment_for(None), **self.environment, **environment}
        return Forked(arguments, whole, self._log(self._count), first)

    def end(self, process, seconds=_LONGEST):
        """Wait for the end of a command; return its exit code, negative if it died."""
        return process.wait(seconds)

    def command(self, *words):
        return self.end(self._start(words, None, {}))

    def output(self, back=0):
        return self._log(self._count - back).read_text(encoding="utf-8", errors="replace")

    def _log(self, number):
        return self._folder / f"{self.database.name}{number}.log"

    def run(self, target="target", *more, **environment):
        return self.end(self.start(target, *more, **environment))

    def seconds(self):
        began = time.monotonic()
        self.run("timed")
        took = time.monotonic() - began
        self.drop("timed")
        return took

    def state(self, target="target"):
        return self.database[f"{target}.state"].find_one() or {}

    def scanned(self, target="target"):
        """Return the number of documents in the checkpoint, -1 if no server answers."""
        with suppress(PyMongoError):
            return scanned(self.database, target)
        return -1

    def finished(self, target="target"):
        return finished(self.database, target)

    def file_of(self, target="target"):
        """Return the file of a target's index."""
        return self._folder / f"{self.state(target)['id']}.index"

    def wait_for_batches(self, process, target="target", more=1):
        """Wait until a run has decided `more` documents; return False if it ended before."""
        goal = max(self.scanned(target), 0) + more
        while process.is_alive():
            if self.scanned(target) >= goal:
                return True
            time.sleep(0.002)
        return False

    def drop(self, *targets):
        """Remove targets, by default `target`, with all that belongs to them."""
        for target in targets or ("target",):
            drop_target(self.database, target)

    def all_of(self, target="target"):
        return {p: list(self.database[target + p].find().sort("_id", 1)) for p in _PARTS}

    def differences(self, target="target"):
        """Return the differences from the target of the undisturbed run, as lines."""
        alone, result = outcome(self.database, "alone"), outcome(self.database, target)
        found = [
            f"{part}: {len(b):,} instead of {len(a):,}, or not the same"
            for part, a, b in zip(("target", "ledger"), alone, result, strict=True)
            if a != b
        ]
        counts = [
            (self.database[f"{name}.runs"].find_one({"_id": 1}) or {}).get("counts")
            for name in ("alone", target)
        ]
        return found if counts[0] == counts[1] else [*found, f"counts: {counts[1]}"]

    def must_end_well(self, process):
        """Wait for a run, whose target must equal the undisturbed one; then drop its target."""
        code = self.end(process)
        assert code in ENDED_WELL, f"ended with {code}: {self.output()}"
        assert self.differences() == []
        self.drop()
