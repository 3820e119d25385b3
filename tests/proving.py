"""A target written by two runs, and commands on it, above all `dedup check`."""

import json

from dedup_job.demo import make_corpus
from tests.running import invoke, refusal, run_here, uri_of


def fill(database, **flags):
    """Write a target by two runs, with all kinds of decisions."""
    database.source.insert_many(make_corpus(300, seed=8))
    database.source.insert_one({"_id": -1, "text": "长" * 2000})
    run_here(database, source__max_chars=1500, **flags)
    late = make_corpus(300, seed=9)
    database.source.insert_many({**document, "_id": f"late {document['_id']}"} for document in late)
    run_here(database, source__max_chars=1500, **flags)


def fill_alike(database):
    """Write the same target as `fill`; from the second call on it is copied, not decided."""
    if not _filled:
        fill(database)
        _filled.update(stored(database))
        return
    for name, documents in _filled.items():
        database[name].insert_many(documents)
    for name in ("target.state", "target.runs"):
        database[name].update_many({}, {"$set": {"source": f"{database.name}.source"}})


_filled = {}


def run_again(database, **more):
    """Run again with the settings of `fill`."""
    run_here(database, source__max_chars=1500, **more)


def names(database, name, *more):
    """Return the arguments of a command on the target."""
    return [name, "--db", database.name, "--target", "target", *more]


def command(database, *words, stdin=None, **more):
    """Run a command on the target; return its stdout, raise its error. more: environment."""
    where = {"DEDUP_URI": uri_of(database), **more}
    return invoke(*names(database, *words), stdin=stdin, **where).stdout


def refused(database, *words, stdin=None, **more):
    """Run a command on the target that ends with a DedupError; return the error."""
    where = {"DEDUP_URI": uri_of(database), **more}
    return refusal(*names(database, *words), stdin=stdin, **where)


def good(database, folder, *more):
    """Run `dedup check`, which must pass; return the ids in its notes, by finding."""
    file = folder / "good.json"
    command(database, "check", "--source", "source", "--report", str(file), *more)
    return found(file)


def wrong(database, folder, *more):
    """Run a check that finds errors; return them, as `found`."""
    file = folder / "wrong.json"
    error = refused(database, "check", "--source", "source", "--report", str(file), *more)
    assert error.code == 6, error
    return found(file)


def found(file):
    """Return the findings in a report of `dedup check`: name of the check -> first ids."""
    checks = json.loads(file.read_text(encoding="utf-8"))["checks"]
    return {row["check"]: row["first"] for row in checks if row["found"]}


def stored(database):
    """Return the documents of all collections in `_id` order, by name."""
    names = sorted(database.list_collection_names())
    return {name: list(database[name].find().sort("_id", 1)) for name in names}
