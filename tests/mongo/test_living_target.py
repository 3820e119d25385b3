"""A target that lives: runs, changes, deletions, undo, restore and kills in any order."""

import functools
import random
from contextlib import suppress
from typing import Any

import pytest
from bson import Int64

from dedup_job import deduplicate
from dedup_job.commands.check import check_target
from dedup_job.commands.restore import restore, undo_run
from dedup_job.demo import make_corpus
from dedup_job.errors import StateMismatch, UsageError
from dedup_job.runs.check import Check
from dedup_job.runs.run import Status
from tests.conftest import fresh_database
from tests.cut_off import Cut, cut_off
from tests.mongo.test_follow import SHORT, eventually, following
from tests.mongo.test_keep import PARTS, stored
from tests.running import run_here, run_watched, settings_of, uri_of

NOTES = {Check.UNDECIDED, Check.CHANGED, Check.GONE, Check.HALF}  # of a kill
STEPS, LIFE = 20, 100  # steps of the suite; steps of one source and target
REFRESH = {"source__on_change": "refresh", "source__on_delete": "remove"}
UPDATE = {"source__on_change": "update"}
PROMOTE, REMOVE = ({"source__on_delete": how} for how in ("promote", "remove"))
RUNS = ({}, REFRESH, {"source__on_change": "refresh"}, UPDATE, PROMOTE, REMOVE)
STEPS_OF = {
    **dict.fromkeys(("insert",), 4),
    **dict.fromkeys(("change", "run", "refresh"), 3),
    **dict.fromkeys(("delete", "limit", "kill"), 2),
    **dict.fromkeys(("reinsert", "blank", "retype", "update", "promote", "remove", "stop"), 1),
    **dict.fromkeys(("undo", "restore", "requeue", "follow"), 1),
}
_TAKES_BACK = ("undo", "requeue")


@functools.cache
def texts():
    found = (d.get("text") for d in make_corpus(900, seed=5))
    plain = [t for t in found if isinstance(t, str) and len(t) > 25 and "<" not in t]
    return [one.text for one in deduplicate(dict.fromkeys(plain)) if one.decision == "kept"]


def updated(id_):
    return int(id_) * 7919 % 1_000_003


class Side:
    """A source with its target, and what was done to it.

    deeds: the last run, or entry, before each step that added some, and what was stored then.
    """

    def __init__(self, database, flags, folder):
        self.db, self.flags = database, {**flags, "index__folder": str(folder)}
        self.name = f"{database.name}.target"
        self.deeds = []
        self.settings = settings_of(database, **flags)

    def last(self):
        """Return the last run, or entry, that is not undone; 0 for none."""
        only = {"status": {"$ne": "undone"}, "piece": None}
        row = self.db["target.runs"].find_one(only, sort=[("_id", -1)])
        return 0 if row is None else int(row["_id"])

    def run(self, limit=None, **flags):
        """Run; return False for one that a limit ended before anything was written."""
        before, last = stored(self.db), self.last()
        try:
            run_here(self.db, limit=limit, **self.flags, **flags)
        except StateMismatch:
            assert stored(self.db) == before
            return False
        if self.last() > last:  # else it went on with one that was stopped
            self.deeds.append((last, before))
        return True

    def undo(self):
        """Take back what the last step did, and expect all to be as before; False if refused."""
        if not self.deeds:
            return True
        last, before = self.deeds.pop()
        left = 0
        while (number := self.last()) > last:
            try:
                left += undo_run(self.settings, self.name, number).left
            except UsageError:  # only copies of what was restored
                return False
        assert left or before is None or stored(self.db) == before
        if left:  # what the source no longer holds stays
            self.deeds = [(number, None) for number, _ in self.deeds]
        return True

    def restore(self, id_, *, requeue):
        """Put a dropped document into the target, or have it decided again."""
        before, last = stored(self.db), self.last()
        with suppress(UsageError):  # the source no longer holds it, or a run is not at its end
            restore(self.settings, self.name, [str(id_)], requeue=requeue)
            self.deeds.append((last, before))

    def texts(self):
        """Return the texts of the source."""
        return {d["_id"]: d.get("text") for d in self.db.source.find()}

    def kept_texts(self):
        """Return the texts of the target."""
        return {d["text"] for d in self.db.target.find()}

    def decided(self):
        """Return the ids that are decided, each once."""
        parts = [{d["_id"] for d in rows} for rows in stored(self.db).values()]
        assert not set.intersection(*parts)
        return set.union(*parts)

    def outcome(self):
        """Return target and ledger, whatever the numbers of runs and groups."""
        found = stored(self.db)
        rows = [
            row.get("dedup", row) | {"_id": row["_id"]} for part in found.values() for row in part
        ]
        first = {}
        for row in rows:
            first.setdefault(row.get("group"), row["_id"])
        for part in found.values():
            for row in part:
                own = row.get("dedup", row)
                own["group"] = first.get(own.get("group"))
                own.pop("run", None)
        return found


class Living:
    """A side that is killed and stopped, and its twin, if any, that is left alone."""

    def __init__(self, side, twin, seed, patch):
        self.side, self.twin, self.patch = side, twin, patch
        self.sides = [side, *([twin] if twin else [])]
        self.seed = seed
        self.gone = []
        self.steps = list[str]()
        self.rng = random.Random()
        self.names = dict(STEPS_OF)
        if "setName" not in side.db.client.admin.command("hello"):
            del self.names["follow"]

    def step(self, number, name=""):
        """Take a step; what it draws depends on its number and on what there is."""
        self.rng.seed(f"{self.seed} {number}")
        name = name or self.rng.choices([*self.names], [*self.names.values()])[0]
        self.steps.append(f"{number} {name}")
        before = stored(self.side.db)
        flags = getattr(self, f"_{name}")() or {}
        self._expect_nothing_lost(before, flags)
        if self.twin:
            assert self.side.outcome() == self.twin.outcome(), self.steps
        self._expect_sound()

    def _note(self, *words):
        self.steps[-1] += "".join(f" {word}" for word in words)

    def _text(self):
        number = len(self.steps) // 2 + self.rng.randrange(8)
        return texts()[number % len(texts())]

    def _ids(self, most=3):
        ids = [d["_id"] for d in self.side.db.source.find({}, {"_id": 1}).sort("_id", 1)]
        return self.rng.sample(ids, min(len(ids), self.rng.randint(1, most)))

    def _write(self, rows):
        for row in rows:
            number = texts().index(row["text"]) if row["text"] in texts() else row["text"]
            self._note(repr(row["_id"]), number)
            for side in self.sides:
                only = {"_id": row["_id"]}
                side.db.source.replace_one(
                    only, {**row, "updated": updated(row["_id"])}, upsert=True
                )

    def _remove_from_source(self, ids):
        self._note(*ids)
        for side in self.sides:
            side.db.source.delete_many({"_id": {"$in": ids}})

    def _insert(self):
        new = [self.rng.randrange(10**6) for _ in range(self.rng.randint(1, 8))]
        there = self.side.texts()
        self._write([{"_id": id_, "text": self._text()} for id_ in new if id_ not in there])

    def _change(self):
        self._write([{"_id": id_, "text": self._text()} for id_ in self._ids()])

    def _blank(self):
        text = self.rng.choice([None, "", "（无）"])
        self._write([{"_id": id_, "text": text} for id_ in self._ids(2)])

    def _delete(self):
        ids = self._ids()
        self.gone += ids
        self._remove_from_source(ids)

    def _reinsert(self):
        there = self.side.texts()
        gone = [id_ for id_ in dict.fromkeys(self.gone) if id_ not in there]
        some = self.rng.sample(gone, min(len(gone), 2))
        self._write([{"_id": id_, "text": self._text()} for id_ in some])

    def _retype(self):
        there = self.side.texts()
        for id_ in self._ids(1):
            self._remove_from_source([id_])
            other = self.rng.choice([Int64, float, int])(id_)
            self._write([{"_id": other, "text": there[id_]}])

    def _run(self, limit=None, **flags):
        batch = self.rng.choice([3, 8, 5000])
        ran = [side.run(limit, run__batch_documents=batch, **flags) for side in self.sides]
        assert len({*ran}) == 1
        if ran[0] and limit is None:
            self._expect_decided(flags)
        return flags

    def _refresh(self):
        return self._run(**REFRESH)

    def _update(self):
        return self._run(**UPDATE)

    def _promote(self):
        return self._run(**PROMOTE)

    def _remove(self):
        return self._run(**REMOVE)

    def _limit(self):
        flags = self.rng.choice(RUNS)
        limit = self.rng.randint(1, 5)
        self._note(limit, flags)
        return self._run(limit, **flags)

    def _kill(self):
        flags, write, commits = self.rng.choice(RUNS), self.rng.randrange(6), self.rng.randrange(3)
        self._note(flags, write, commits)
        cut_off(self.patch, write, commits=commits)
        return self._interrupted(flags)

    def _stop(self):
        flags, batches = self.rng.choice(RUNS), [self.rng.randrange(4)]
        self._note(flags, *batches)

        def over():
            batches[0] -= 1
            return batches[0] < 0

        return self._interrupted(flags, over)

    def _interrupted(self, flags, stop=lambda: False):
        side, more = self.side, {"run__batch_documents": 3, **flags}
        before, last, deeds = stored(side.db), side.last(), len(side.deeds)
        ended = False
        with suppress(Cut, StateMismatch, KeyboardInterrupt):
            ended = run_watched(side.db, stop, **side.flags, **more).status is Status.DONE
        self.patch.undo()
        self._expect_nothing_lost(before, flags)
        goes_on = not ended and (self.twin is not None or self.rng.random() < 0.5)
        ran = side.run(**more) if goes_on else ended
        if side.last() > last:
            side.deeds[deeds:] = [(last, before)]
        if self.twin:
            assert self.twin.run(**more) == ran
            # copies decided before the cut may be promoted
            if flags == PROMOTE and goes_on and ran:
                assert side.kept_texts() == self.twin.kept_texts(), self.steps
                self._go_on_alike()
        if ran:
            self._expect_decided(flags)
        return flags

    def _undo(self):
        if len({side.undo() for side in self.sides}) > 1:
            pytest.fail("one was refused")

    def _restore(self, *, requeue=False):
        ids = [d["_id"] for d in self.side.db["target.ledger"].find({}, {"_id": 1}).sort("_id", 1)]
        if ids:
            id_ = self.rng.choice(ids)
            self._note(id_)
            for side in self.sides:
                side.restore(id_, requeue=requeue)

    def _requeue(self):
        self._restore(requeue=True)

    def _follow(self):
        side, twin = self.side, self.twin
        self.sides = [side]
        with following(side.db, SHORT, **side.flags, **REFRESH) as run:
            for what in (self._insert, self._change, self._delete, self._insert):
                what()
                eventually(lambda: run.error or self._all_decided())
            if not isinstance(run.error, StateMismatch):
                assert run.end().status in (Status.DONE, Status.STOPPED)
        if twin:
            self.sides = [side, twin]
        self._go_on_alike()  # it depends on the clock what comes first
        return REFRESH

    def _go_on_alike(self):
        for name in ("source", *PARTS, "target.changed") if self.twin else ():
            self.twin.db.drop_collection(name)
            if rows := [*self.side.db[name].find()]:
                self.twin.db[name].insert_many(rows)
        for name in ("target.state", "target.runs") if self.twin else ():
            other = {"$set": {"source": f"{self.twin.db.name}.source"}}
            self.twin.db[name].update_many({"source": {"$exists": True}}, other)
        for one in self.sides:
            one.deeds.clear()

    def _all_decided(self):
        found = {d["_id"] for rows in stored(self.side.db).values() for d in rows}
        return found == {*self.side.texts()}

    def _expect_decided(self, flags):
        ids, decided = {*self.side.texts()}, self.side.decided()
        assert ids <= decided, self.steps
        assert flags != REFRESH or ids == decided, self.steps

    def _expect_nothing_lost(self, before, flags):
        if self.steps[-1].split()[1] in _TAKES_BACK:
            return
        source, after = self.side.texts(), stored(self.side.db)
        kept = {d["_id"]: d.get("text") for d in after["target"]}
        ledger = {d["_id"]: d for d in after["target.ledger"]}
        decided = {d["_id"] for rows in before.values() for d in rows}
        lost = (decided & source.keys()) - kept.keys() - ledger.keys()
        assert not lost, (lost, self.steps)
        for one in before["target"]:
            id_, text = one["_id"], one["text"]
            held = (ledger.get(id_) or {}).get("document") or {}
            is_there = text in kept.values() or id_ in source or (id_ in ledger and held)
            removes = flags.get("source__on_delete") == "remove"
            assert is_there or removes, (id_, text, self.steps)

    def _expect_sound(self):
        side = self.side
        if not side.db["target.runs"].find_one():
            return
        found = check_target(side.settings, f"{side.db.name}.source", side.name, None)
        wrong = [one for one in found.findings if one.found and one.check not in NOTES]
        assert not wrong, (wrong, self.steps)
        kept = {d["_id"]: d for d in side.db.target.find()}
        groups = dict[int, list[Any]]()
        for id_, own in kept.items():
            if (group := own["dedup"].get("group")) is not None:
                groups.setdefault(group, []).append(id_)
        assert all(len(ids) == 1 for ids in groups.values()), (self.steps, groups)
        there = side.texts()
        for row in side.db["target.ledger"].find({"decision": "duplicate"}):
            (head,) = groups.get(row["group"]) or [row["of"]]
            assert head in kept or row["_id"] not in there, (self.steps, row)
            if "output__keep" in side.flags and head in kept and row["_id"] in there:
                assert updated(row["_id"]) < updated(head), (self.steps, row, head)


@pytest.mark.standalone
@pytest.mark.parametrize("keep", [[], ["newest:updated"]])
def test_every_step_leaves_a_sound_target(any_database, keep, monkeypatch, pytestconfig, tmp_path):
    thorough = pytestconfig.getoption("--thorough")
    steps = int((500 if thorough else STEPS) * pytestconfig.getoption("--scale"))
    for seed in range(0, steps, LIFE):
        live(any_database, keep, seed, min(LIFE, steps - seed), monkeypatch, tmp_path)


def live(db, keep, seed, steps, patch, folder):
    """Live for some steps, then expect the texts that one run over the source would keep."""
    flags = {"output__keep": keep} if keep else {}
    life = seed // LIFE
    if life % 2 != bool(keep):
        flags["ledger__document"] = "whole"
    for name in db.list_collection_names():
        db.drop_collection(name)
    for twin in fresh_database(uri_of(db)):
        others = None if life % 3 == 2 else Side(twin, flags, folder / "twin")
        living = Living(Side(db, flags, folder / "living"), others, seed, patch)
        living.step(0, "insert")
        for number in range(1, steps):
            living.step(number)
        if living.side.run(**REFRESH):
            run_here(db, target="fresh", **flags)
            assert living.side.kept_texts() == {d["text"] for d in db["fresh"].find()}
