"""A target that lives: runs, changes, deletions, undo, restore and kills in any order."""

import functools
import random
from contextlib import nullcontext, suppress

import pytest
from bson import Int64

from dedup_job import deduplicate
from dedup_job.commands.maintenance import check_target, restore, undo_run
from dedup_job.demo import make_corpus
from dedup_job.messages import StateMismatch, UsageError
from dedup_job.runs.run_record import Status
from dedup_job.runs.status import Check
from tests.mongo.test_follow import SHORT, eventually, following
from tests.mongo.test_keep import stored
from tests.running import run_here, settings_of
from tests.wire import killed_at

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
def corpus():
    found = (d.get("text") for d in make_corpus(900, seed=5))
    plain = [t for t in found if isinstance(t, str) and len(t) > 25 and "<" not in t]
    return [one.text for one in deduplicate(dict.fromkeys(plain)) if one.decision == "kept"]


def updated(id_):
    return int(id_) * 7919 % 1_000_003


class Living:
    """A source with its target, and the steps taken.

    deeds: for each step that added a row to `T.runs`, the last row before it and the stored rows.
    """

    def __init__(self, database, flags, folder, seed):
        self.db, self.flags = database, {**flags, "index__folder": str(folder)}
        self.name, self.settings = f"{database.name}.target", settings_of(database, **flags)
        self.seed, self.rng = seed, random.Random()
        self.deeds, self.vanished, self.steps = [], [], []
        self.names = dict(STEPS_OF)
        if "setName" not in database.client.admin.command("hello"):
            del self.names["follow"]

    def step(self, number, name=""):
        """Take the step `name` or a random one; chance depends on number and stored rows."""
        self.rng.seed(f"{self.seed} {number}")
        name = name or self.rng.choices([*self.names], [*self.names.values()])[0]
        self.steps.append(f"{number} {name}")
        before = stored(self.db)
        flags = getattr(self, f"_{name}")() or {}
        self._expect_nothing_lost(before, flags)
        self._expect_sound()

    def run(self, limit=None, **flags):
        """Run; return False for one that a limit ended before anything was written."""
        before, last = stored(self.db), self._last()
        try:
            run_here(self.db, limit=limit, **self.flags, **flags)
        except StateMismatch:
            assert stored(self.db) == before
            return False
        if self._last() > last:  # else it went on with one that was stopped
            self.deeds.append((last, before))
        return True

    def _last(self):
        """Return the last run, or entry, that is not undone; 0 for none."""
        only = {"status": {"$ne": "undone"}, "chunk": None}
        row = self.db["target.runs"].find_one(only, sort=[("_id", -1)])
        return 0 if row is None else int(row["_id"])

    def _undo(self):
        """Undo the last step, and expect all to be as before, unless refused."""
        if not self.deeds:
            return
        last, before = self.deeds.pop()
        left = 0
        while (number := self._last()) > last:
            try:
                left += undo_run(self.settings, self.name, number).left
            except UsageError:  # only copies of restored documents
                return
        assert left or before is None or stored(self.db) == before
        if left:  # what the source no longer holds stays
            self.deeds = [(number, None) for number, _ in self.deeds]

    def _restore(self, *, requeue=False):
        ids = [d["_id"] for d in self.db["target.ledger"].find({}, {"_id": 1}).sort("_id", 1)]
        if not ids:
            return
        id_ = self.rng.choice(ids)
        self._note(id_)
        before, last = stored(self.db), self._last()
        with suppress(UsageError):  # the source no longer holds it, or a run is not at its end
            restore(self.settings, self.name, [str(id_)], requeue=requeue)
            self.deeds.append((last, before))

    def _requeue(self):
        self._restore(requeue=True)

    def _note(self, *words):
        self.steps[-1] += "".join(f" {word}" for word in words)

    def _texts(self):
        return {d["_id"]: d.get("text") for d in self.db.source.find()}

    def _text(self):
        """Return one of a few texts, others as time goes by."""
        number = len(self.steps) // 2 + self.rng.randrange(8)
        return corpus()[number % len(corpus())]

    def _ids(self, most=3):
        ids = [d["_id"] for d in self.db.source.find({}, {"_id": 1}).sort("_id", 1)]
        return self.rng.sample(ids, min(len(ids), self.rng.randint(1, most)))

    def _write(self, rows):
        """Write documents to the source, in place of present ones."""
        for row in rows:
            self._note(repr(row["_id"]), row["text"])
            new = {**row, "updated": updated(row["_id"])}
            self.db.source.replace_one({"_id": row["_id"]}, new, upsert=True)

    def _remove_from_source(self, ids):
        self._note(*ids)
        self.db.source.delete_many({"_id": {"$in": ids}})

    def _insert(self):
        new = [self.rng.randrange(10**6) for _ in range(self.rng.randint(1, 8))]
        current = self._texts()
        self._write([{"_id": id_, "text": self._text()} for id_ in new if id_ not in current])

    def _change(self):
        self._write([{"_id": id_, "text": self._text()} for id_ in self._ids()])

    def _blank(self):
        text = self.rng.choice([None, "", "（无）"])
        self._write([{"_id": id_, "text": text} for id_ in self._ids(2)])

    def _delete(self):
        ids = self._ids()
        self.vanished += ids
        self._remove_from_source(ids)

    def _reinsert(self):
        """Insert some deleted documents again."""
        current = self._texts()
        vanished = [id_ for id_ in dict.fromkeys(self.vanished) if id_ not in current]
        some = self.rng.sample(vanished, min(len(vanished), 2))
        self._write([{"_id": id_, "text": self._text()} for id_ in some])

    def _retype(self):
        """Give a document an id of another type."""
        current = self._texts()
        for id_ in self._ids(1):
            self._remove_from_source([id_])
            other = self.rng.choice([Int64, float, int])(id_)
            self._write([{"_id": other, "text": current[id_]}])

    def _run(self, limit=None, **flags):
        """Run, and see that all is decided."""
        batch = self.rng.choice([3, 8, 5000])
        if self.run(limit, run__batch_documents=batch, **flags) and limit is None:
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
        """Kill a run at some write; the same command goes on, or another one comes."""
        flags, number = self.rng.choice(RUNS), self.rng.randrange(5, 30)
        self._note(flags, number)
        return self._interrupted(flags, killed=killed_at("", number, surely=False))

    def _stop(self):
        flags, batches = self.rng.choice(RUNS), self.rng.randrange(4)
        self._note(flags, batches)
        left = iter([False] * batches)
        return self._interrupted(flags, lambda: next(left, True))

    def _interrupted(self, flags, stop=lambda: False, killed=nullcontext()):  # noqa: B008
        more = {"run__batch_documents": 3, **flags}
        before, last, deeds = stored(self.db), self._last(), len(self.deeds)
        ended = False
        with suppress(StateMismatch, KeyboardInterrupt), killed:
            ended = run_here(self.db, stop=stop, **self.flags, **more).status is Status.DONE
        self._expect_nothing_lost(before, flags)
        if not ended and self.rng.random() < 0.5:
            ended = self.run(**more)
        if self._last() > last:
            self.deeds[deeds:] = [(last, before)]
        if ended:
            self._expect_decided(flags)
        return flags

    def _follow(self):
        """Follow inserts, changes and deletions in several short runs."""
        with following(self.db, SHORT, **self.flags, **REFRESH) as run:
            for what in (self._insert, self._change, self._delete, self._insert):
                what()
                eventually(lambda: run.error or self._decided() == {*self._texts()})
            if not isinstance(run.error, StateMismatch):
                assert run.end().status in (Status.DONE, Status.STOPPED)
        self.deeds.clear()
        return REFRESH

    def _decided(self):
        return {d["_id"] for rows in stored(self.db).values() for d in rows}

    def _expect_decided(self, flags):
        ids, parts = {*self._texts()}, [{d["_id"] for d in r} for r in stored(self.db).values()]
        assert not set.intersection(*parts), self.steps
        assert ids <= set.union(*parts), self.steps
        assert flags != REFRESH or ids == set.union(*parts), self.steps

    def _expect_nothing_lost(self, before, flags):
        """Expect each document decided before in target or ledger, unless it was removed."""
        if self.steps[-1].split()[1] in _TAKES_BACK:
            return
        source, after = self._texts(), stored(self.db)
        kept = {d["_id"]: d.get("text") for d in after["target"]}
        ledger = {d["_id"]: d for d in after["target.ledger"]}
        decided = {d["_id"] for rows in before.values() for d in rows}
        lost = (decided & source.keys()) - kept.keys() - ledger.keys()
        assert not lost, (lost, self.steps)
        for one in before["target"]:
            id_, text = one["_id"], one["text"]
            document = (ledger.get(id_) or {}).get("document") or {}
            is_there = text in kept.values() or id_ in source or (id_ in ledger and document)
            removes = flags.get("source__on_delete") == "remove"
            assert is_there or removes, (id_, text, self.steps)

    def _expect_sound(self):
        """Expect the invariants of every step."""
        if not self.db["target.runs"].find_one():
            return
        found = check_target(self.settings, f"{self.db.name}.source", self.name, None)
        wrong = [one for one in found.findings if one.found and one.check not in NOTES]
        assert not wrong, (wrong, self.steps)
        kept = {d["_id"]: d for d in self.db.target.find()}
        groups = {}
        for id_, own in kept.items():
            if (group := own["dedup"].get("group")) is not None:
                groups.setdefault(group, []).append(id_)
        assert all(len(ids) == 1 for ids in groups.values()), (self.steps, groups)
        current = self._texts()
        for row in self.db["target.ledger"].find({"decision": "duplicate", "against": None}):
            (head,) = groups.get(row["group"]) or [row["of"]]
            assert head in kept or row["_id"] not in current, (self.steps, row)
            if "output__keep" in self.flags and head in kept and row["_id"] in current:
                assert updated(row["_id"]) < updated(head), (self.steps, row, head)


@pytest.mark.standalone
@pytest.mark.parametrize(
    ("keep", "references"), [([], 0), (["newest:updated"], 0), (["newest:updated"], 6)]
)
def test_every_step_leaves_a_sound_target(any_database, keep, references, pytestconfig, tmp_path):
    """In the end the target holds the texts that one run over the source would keep.

    references: number of texts that are in another collection as well.
    """
    steps = 500 if pytestconfig.getoption("--thorough") else STEPS
    steps = int(steps * pytestconfig.getoption("--scale"))
    for seed in range(0, steps, LIFE):
        flags = {"output__keep": keep} if keep else {}
        if seed // LIFE % 2 != bool(keep):
            flags["ledger__document"] = "whole"
        for name in any_database.list_collection_names():
            any_database.drop_collection(name)
        if references:
            any_database.other.insert_many({"text": text} for text in corpus()[:references])
            flags["source__against"] = any_database.other.full_name
        living = Living(any_database, flags, tmp_path / "living", seed)
        living.step(0, "insert")
        for number in range(1, min(LIFE, steps - seed)):
            living.step(number)
        if living.run(**REFRESH):
            run_here(any_database, target="fresh", **flags)
            kept, fresh = ({d["text"] for d in any_database[n].find()} for n in ("target", "fresh"))
            assert kept == fresh
