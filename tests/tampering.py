"""Changes of a target by hand: functions of a database that return the `_id` they change."""

LEDGER, RUNS, STATE = "target.ledger", "target.runs", "target.state"


def one(database, name="target", **query):
    """Return some document of a collection."""
    found = database[name].find_one(query, sort=[("_id", 1)])
    assert found is not None
    return found


def original(database):
    """Return a kept document that a row of the ledger names."""
    return one(database, _id=one(database, LEDGER, decision="duplicate")["of"])


def alone(database):
    """Return a kept document of the first run that no row of the ledger names."""
    named = database[LEDGER].distinct("of")
    return one(database, _id={"$nin": named}, **{"dedup.run": 1})


def remove(name, pick=None, **query):
    """Return a function that removes a document and returns its `_id`."""

    def do(database):
        id_ = (pick(database) if pick else one(database, name, **query))["_id"]
        database[name].delete_one({"_id": id_})
        return id_

    return do


def add(name, *without):
    """Return a function that adds a copy of a document, without some fields."""

    def do(database):
        added = {k: v for k, v in one(database, name).items() if k not in without}
        database[name].insert_one({**added, "_id": "added by hand"})
        return "added by hand"

    return do


def change(name, operators, **query):
    """Return a function that updates a document and returns its `_id`."""

    def do(database):
        id_ = one(database, name, **query)["_id"]
        database[name].update_one({"_id": id_}, operators)
        return id_

    return do


def row(values, **query):
    """Return a function that sets fields of a ledger row."""
    return change(LEDGER, {"$set": values}, **query)


def state(**values):
    """Return a function that sets fields of the state."""
    return change(STATE, {"$set": values}, _id="state")


def text(new, pick=alone):
    """Return a function that changes the text of a kept document."""

    def do(database):
        kept = pick(database)
        database.target.update_one({"_id": kept["_id"]}, {"$set": {"text": new(kept["text"])}})
        return kept["_id"]

    return do


def decided_twice(database):
    """Add a document that the ledger holds."""
    id_ = one(database, LEDGER, reason="exact")["_id"]
    database.target.insert_one({**one(database), "_id": id_})
    return id_


def hold_lease(database, seconds=60, **more):
    """Give the lease to a process of another machine, for some seconds."""
    lease = {
        "host": "elsewhere",
        "machine": "another",
        "pid": 1,
        "sessions": [{"id": b"x"}],
        **more,
    }
    times = {"since": "$$NOW", "expires": {"$add": ["$$NOW", int(seconds * 1000)]}}
    database[STATE].update_one({}, [{"$set": {"lease": {**lease, **times}}}])


def run_ahead(database):
    """Add the row of a run that did not happen."""
    database[RUNS].insert_one({**one(database, RUNS, _id=2), "_id": 1000})
