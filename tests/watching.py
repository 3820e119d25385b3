"""A look at target and ledger again and again, while something is at work."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import Any

from pymongo.database import Database
from pymongo.read_concern import ReadConcern


class Watcher(threading.Thread):
    """Finds the documents that are in neither target nor ledger at some moment.

    wanted: the `_id`s that should be there; lost: those that were not, once at least.
    """

    def __init__(self, database: Database[dict[str, Any]], wanted: Set[Any]) -> None:
        super().__init__(daemon=True)
        majority = ReadConcern("majority")
        target, ledger = (
            database[name].with_options(read_concern=majority)
            for name in ("target", "target.ledger")
        )
        # one that moves meanwhile, either way, is seen in one of them
        self._places, self._wanted = (target, ledger, target), wanted
        self._over = threading.Event()
        self.lost, self.looks = set[Any](), 0

    def run(self) -> None:
        """Look until the end."""
        while not self._over.is_set():
            self.look()

    def look(self) -> None:
        """Look once."""
        found = set[Any]()
        for collection in self._places:
            found.update(collection.distinct("_id"))
        self.lost |= self._wanted - found
        self.looks += 1

    def end(self) -> None:
        """Stop, and look for the last time."""
        self._over.set()
        self.join(60)
        self.look()


@contextmanager
def never_lost(database: Database[dict[str, Any]], wanted: Set[Any]) -> Iterator[None]:
    """Expect documents to be in target or ledger at any moment of the block."""
    watcher = Watcher(database, wanted)
    watcher.start()
    try:
        yield
    finally:
        watcher.end()
    assert watcher.looks > 2
    assert not watcher.lost, f"{len(watcher.lost)} of {len(wanted)}: {[*watcher.lost][:5]}"
