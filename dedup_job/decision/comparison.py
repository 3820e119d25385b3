"""The difference between the index of a target and the target itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dedup_job.columns import KeptPage
from dedup_job.index import KeptIndex
from dedup_job.native.bytes_column import strings_of

_NAMED = 5


@dataclass(slots=True)
class Difference:
    """Documents that differ in one way: how many, and the keys of the first few."""

    count: int = 0
    keys: list[bytes] = field(default_factory=list)

    def add(self, keys: list[bytes]) -> None:
        """Count them in."""
        self.count += len(keys)
        self.keys += keys[: _NAMED - len(self.keys)]


class Comparison:
    """Compares an index with a target's pages; of the two the index alone is held in memory."""

    def __init__(self, kept: KeptIndex) -> None:
        self._kept, self._seen = kept, np.zeros(len(kept), dtype=np.bool_)
        self.missing = Difference()  # not remembered

    def add(self, page: KeptPage) -> None:
        """Compare some documents of the target; each of them comes once."""
        numbers = self._kept.find_ids(strings_of(page.keys))
        self.missing.add([page.keys[i] for i in np.flatnonzero(numbers < 0).tolist()])
        self._seen[numbers[numbers >= 0]] = True

    def surplus(self) -> Difference:
        """Return the documents of the index that were on no page."""
        live = self._kept.live_numbers()
        left = live[~self._seen[live]]
        return Difference(len(left), self._kept.documents(left[:_NAMED])[0].list())
