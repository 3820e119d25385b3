"""A target that lives: runs, changes, deletions, undo, restore and kills in any order."""

from __future__ import annotations

import functools
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pymongo.database import Database

from dedup_job import deduplicate
from dedup_job.commands.check import check_target
from dedup_job.commands.restore import restore, undo_run
from dedup_job.commands.survey import survey_target
from dedup_job.demo import make_corpus
from dedup_job.errors import UsageError
from dedup_job.runs.check import Check
from dedup_job.runs.run import Status
from dedup_job.settings import Settings, load
from tests.cut_off import Cut, cut_off
from tests.mongo.test_follow import SHORT, eventually, following
from tests.mongo.test_keep import stored
from tests.running import run_here, uri_of

Db = Database[dict[str, Any]]
NOTES = {Check.UNDECIDED, Check.CHANGED, Check.GONE, Check.SNAPSHOT}
STEPS = 60


@functools.cache
def texts() -> list[str]:
    """Return texts of which none is a duplicate of another."""
    found = (d.get("text") for d in make_corpus(900, seed=5))
    plain = [t for t in found if isinstance(t, str) and len(t) > 25 and "<" not in t]
    return [one.text for one in deduplicate(dict.fromkeys(plain)) if one.decision == "kept"]


class Living:
    """A source and its target, and what should be there."""

    def __init__(self, database: Db, keep: list[str], seed: int, patch: Any, folder: Path) -> None:
        self.db, self.keep, self.patch = database, keep, patch
        self.flags = {"output__keep": keep, "index__folder": str(folder)}  # so snapshots are used
        self.rng = random.Random(seed)
        self.pool, self.used = [*texts()], list[str]()
        self.rng.shuffle(self.pool)
        self.updated: dict[int, int] = {}
        self.before: dict[int, dict[str, list[dict[str, Any]]]] = {}  # by run
        self.steps = list[str]()

    def settings(self, **more: Any) -> Settings:
        """Return the settings of a run."""
        flags = {"connection.uri": uri_of(self.db), "output.keep": self.keep, **more}
        return load(flags).settings

    def step(self) -> None:
        """Take a step at random."""
        names = ["insert", "change", "delete", "run", "refresh", "undo", "restore", "kill"]
        weights = [4, 2, 2, 3, 3, 1, 1, 1]
        if "setName" in self.db.client.admin.command("hello"):
            names, weights = [*names, "follow"], [*weights, 1]
        (name,) = self.rng.choices(names, weights)
        self.steps.append(name)
        getattr(self, name)()

    def a_text(self) -> str:
        """Return a new text, or one that some document has."""
        if self.pool and (not self.used or self.rng.random() < 0.4):
            self.used.append(self.pool.pop())
        return self.rng.choice(self.used[-12:])

    def insert(self) -> None:
        """Insert some documents, of which some are copies."""
        rows = []
        for _ in range(self.rng.randint(1, 12)):
            id_ = self.rng.randrange(10**6)
            if id_ not in self.updated:
                self.updated[id_] = len(self.updated) * 7919 % 100_003
                rows.append({"_id": id_, "text": self.a_text(), "updated": self.updated[id_]})
        self.db.source.insert_many(rows)

    def some_id(self) -> int | None:
        """Return the id of some source document."""
        ids = [d["_id"] for d in self.db.source.find({}, {"_id": 1}).sort("_id", 1)]
        return self.rng.choice(ids) if ids else None

    def change(self) -> None:
        """Change the text of a document."""
        self.db.source.update_one({"_id": self.some_id()}, {"$set": {"text": self.a_text()}})

    def delete(self) -> None:
        """Delete a document from the source."""
        self.db.source.delete_one({"_id": self.some_id()})

    def run(self, **more: Any) -> None:
        """Run, and see that all is decided."""
        before, batch = stored(self.db), self.rng.choice([3, 8, 5000])
        number = run_here(self.db, run__batch_documents=batch, **self.flags, **more).number
        self.before.setdefault(number, before)
        decided = self.decided()
        assert self.source_ids() <= decided
        if more:
            assert self.source_ids() == decided

    def refresh(self) -> None:
        """Run so that the target is as the source is now."""
        self.run(source__on_change="refresh", source__on_delete="remove")

    def follow(self) -> None:
        """Follow what is inserted and changed meanwhile, in several short runs."""
        more = {"source__on_change": "refresh", "source__on_delete": "remove"}
        with following(self.db, SHORT, **self.flags, **more) as run:
            for what in (self.insert, self.change, self.delete, self.insert):
                what()
                eventually(lambda: run.error or self.source_ids() == self.all_decided())
            assert run.end().status in (Status.DONE, Status.STOPPED)
        self.before.clear()  # what lies between its runs is not known

    def undo(self) -> None:
        """Undo what was done last, and see that all is as before."""
        last = self.db["target.runs"].find_one(
            {"status": {"$ne": "undone"}, "piece": None}, sort=[("_id", -1)]
        )
        if last is None:
            return
        with suppress(UsageError):  # only copies of what was restored
            left = undo_run(self.settings(), f"{self.db.name}.target", last["_id"]).left
            before = self.before.pop(last["_id"], None)
            if before is not None and not left:
                assert stored(self.db) == before

    def restore(self) -> None:
        """Put a dropped document into the target, or have it decided again."""
        ids = [d["_id"] for d in self.db["target.ledger"].find({}, {"_id": 1}).sort("_id", 1)]
        if ids:
            with suppress(UsageError):  # the source no longer holds it
                again = self.rng.random() < 0.5
                name, id_ = f"{self.db.name}.target", str(self.rng.choice(ids))
                before = stored(self.db)
                done = restore(self.settings(), name, [id_], requeue=again)
                self.before[done.number] = before

    def kill(self) -> None:
        """Kill a run at some write; the next one goes on."""
        cut_off(self.patch, self.rng.randrange(6), commits=self.rng.randrange(3))
        before = stored(self.db)
        with suppress(Cut):
            more = {"source__on_change": "refresh", "source__on_delete": "remove"}
            run_here(
                self.db,
                run__batch_documents=3,
                **self.flags,
                **(more if self.rng.random() < 0.5 else {}),
            )
        self.patch.undo()
        last = self.db["target.runs"].find_one({"piece": None}, sort=[("_id", -1)])
        if last is not None:
            self.before.setdefault(last["_id"], before)
        self.run()

    def source_ids(self) -> set[int]:
        """Return what the source holds."""
        return {d["_id"] for d in self.db.source.find({}, {"_id": 1})}

    def decided(self) -> set[int]:
        """Return what is decided, each once."""
        parts = [{d["_id"] for d in rows} for rows in stored(self.db).values()]
        assert not set.intersection(*parts)
        return set.union(*parts)

    def all_decided(self) -> set[int]:
        """Return the same, while a run writes."""
        return {d["_id"] for rows in stored(self.db).values() for d in rows}

    def expect_sound(self) -> None:
        """Expect what has to hold after every step."""
        if not self.db["target.runs"].find_one():
            return
        found = check_target(
            self.settings(), f"{self.db.name}.source", f"{self.db.name}.target", None
        )
        wrong = [one for one in found.findings if one.found and one.check not in NOTES]
        assert not wrong, (wrong, self.steps)
        if not len(self.steps) % 4:
            assert survey_target(self.settings(), f"{self.db.name}.target").adds_up, self.steps
        kept = {d["_id"]: d for d in self.db.target.find()}
        groups = dict[int, list[int]]()
        dropped = {d["_id"]: d for d in self.db["target.ledger"].find()}
        for id_, own in kept.items():
            if (group := own["dedup"].get("group")) is not None:
                groups.setdefault(group, []).append(id_)
        assert all(len(ids) == 1 for ids in groups.values()), (self.steps, groups)
        for row in dropped.values():
            (head,) = groups.get(row["group"]) or [row["of"]]
            assert head in kept, (self.steps, row)
            if self.keep:
                assert self.updated[row["_id"]] < self.updated[head], (self.steps, row, head)


@pytest.mark.standalone
@pytest.mark.parametrize("keep", [[], ["newest:updated"]])
def test_every_step_leaves_a_sound_target(
    any_database: Db,
    keep: list[str],
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
    tmp_path: Path,
):
    steps = 500 if pytestconfig.getoption("--thorough") else STEPS
    living = Living(any_database, keep, 1, monkeypatch, tmp_path)
    living.insert()
    for _ in range(steps):
        living.step()
        living.expect_sound()
    living.refresh()
    run_here(any_database, target="fresh", output__keep=keep)
    found = [{d["text"] for d in any_database[name].find()} for name in ("target", "fresh")]
    assert found[0] == found[1]
