"""Kill a run with SIGKILL at random moments until it is through; compare with one left alone.

    python scripts/kill_suite.py [--kills 20] [--documents 3000]

On a replica set and on a standalone server: target, ledger and counts must be equal.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database

sys.path.insert(0, str(Path(__file__).parent.parent))

from dedup_job.demo import make_corpus
from dedup_job.mongo.embedded import embedded_server
from tests.running import (
    assert_each_source_id_is_in_one_place,
    environment_for,
    outcome,
    uri_of,
)

Db = Database[dict[str, Any]]


def command(database: Db, target: str) -> list[str]:
    """Return the command line of a run."""
    names = ["--db", database.name, "--source", "source", "--target", target, "--yes"]
    return [sys.executable, "-m", "dedup_job", "run", *names]


def scanned(database: Db) -> int:
    """Return how many documents the checkpoint counts."""
    checkpoint = (database["target.state"].find_one() or {}).get("checkpoint") or {}
    return int(checkpoint.get("counts", {}).get("scanned", 0))


def wait_for_moment(database: Db, rng: random.Random) -> None:
    """Wait for a random moment: one in three at the start, else while batches are written."""
    if rng.random() < 1 / 3:
        time.sleep(1.5 * rng.random())
        return
    before, deadline = scanned(database), time.monotonic() + 10
    while scanned(database) == before and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.1 * rng.random())


def run_killed(database: Db, kills: int, rng: random.Random) -> tuple[int, int]:
    """Start and kill a run so many times, then let it end; return (kills, of these at work)."""
    environment = environment_for(uri_of(database), DEDUP_RUN__BATCH_DOCUMENTS="50")
    at_work = done = 0
    for _ in range(kills):
        done += 1
        process = subprocess.Popen(
            command(database, "target"),
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for_moment(database, rng)
        process.kill()
        process.wait()
        state = database["target.state"].find_one() or {}
        at_work += bool(state.get("lease"))
        if (state.get("checkpoint") or {}).get("finished"):
            break
    subprocess.run(command(database, "target"), env=environment, check=True, capture_output=True)
    return done, at_work


def main() -> int:
    """Print a row for each server; return 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--documents", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    corpus = make_corpus(arguments.documents)
    bad = 0
    print("server       kills  with lease held  runs  scanned  target  ledger  counts")
    for replica_set in (True, False):
        with embedded_server(replica_set=replica_set) as uri, MongoClient[Any](uri) as client:
            database = client.kills
            database.source.insert_many(corpus)
            environment = environment_for(uri)
            subprocess.run(
                command(database, "alone"), env=environment, check=True, capture_output=True
            )
            kills, at_work = run_killed(database, arguments.kills, rng)
            bad += not report(database, replica_set, kills, at_work)
    return int(bad > 0)


def report(database: Db, replica_set: bool, kills: int, at_work: int) -> bool:
    """Print the row of a server; tell whether everything is equal."""
    assert_each_source_id_is_in_one_place(database)
    alone, killed = outcome(database, "alone"), outcome(database, "target")
    rows = [list(database[f"{t}.runs"].find()) for t in ("alone", "target")]
    checks = (
        alone[0] == killed[0],
        alone[1] == killed[1],
        rows[0][0]["counts"] == rows[1][0]["counts"],
    )
    words = ["equal" if check else "DIFFER" for check in checks]
    print(
        f"{'replica set' if replica_set else 'standalone':11} {kills:6}  {at_work:15}  "
        f"{len(rows[1]):4}  {rows[1][0]['counts']['scanned']:7,}  " + "   ".join(words),
        flush=True,
    )
    return all(checks)


if __name__ == "__main__":
    sys.exit(main())
