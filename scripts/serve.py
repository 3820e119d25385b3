"""Start the server of scripts/serve on FOLDER at PORT, and print its process id."""

import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from dedup_job.messages import DedupError, localized
from dedup_job.mongod import server_command, wait_until_ready

PORT_IN_USE = 3  # the exit code that scripts/serve explains


def serve(folder: Path, port: int) -> int | None:
    """Return the process id of the replica set on a folder; start it if it does not run.

    Returns None if the port is taken by something else; UsageError if the server does not start.
    """
    with socket.socket() as probe:
        is_taken = not probe.connect_ex(("127.0.0.1", port))
    if not is_taken:
        command = [*server_command(folder, port, replica_set=True), "--fork"]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as started:  # it ends when the server serves, which goes on
            wait_until_ready(started, port, folder, replica_set=True)
    with (
        MongoClient[Any]("127.0.0.1", port, serverSelectionTimeoutMS=5000) as client,
        suppress(PyMongoError, KeyError),
    ):
        options = client.admin.command("getCmdLineOpts")["parsed"]
        if Path(options["storage"]["dbPath"]) == folder.resolve() and "replication" in options:
            pid: int = client.admin.command("serverStatus")["pid"]
            return pid
    return None


if __name__ == "__main__":
    try:
        pid = serve(Path(sys.argv[1]), int(sys.argv[2]))
    except DedupError as e:
        print(localized(e.message), file=sys.stderr)
        sys.exit(e.code)
    print(pid)
    sys.exit(0 if pid else PORT_IN_USE)
