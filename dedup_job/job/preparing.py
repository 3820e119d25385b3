"""A page becomes a batch: its texts are cleaned and fingerprinted, in as many threads as wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Documents
from dedup_job.documents import Quarantined, Reason, Refusal, Skipped, too_long
from dedup_job.fingerprint import Fingerprinter
from dedup_job.messages import Message
from dedup_job.runs.stages import Stage, Stopwatch, Work

_TOO_LARGE = Quarantined(
    Reason.TOO_LARGE,
    Message("with the fields that dedup adds the document is larger than 16 MiB"),
)


@dataclass(frozen=True, slots=True)
class Preparation:
    """Cleans and fingerprints pages of the source.

    fits: tells which documents can be stored, bool (n,); most_chars: of a cleaned text; ranks:
    tells which copies are better, None where the first one stays.
    """

    cleaner: Cleaner
    fingerprinter: Fingerprinter
    fits: Callable[[Documents], NDArray[np.bool_]]
    most_chars: int
    ranks: Callable[[Documents], Sequence[bytes]] | None = None

    def prepare(self, page: Documents, watch: Stopwatch) -> Batch:
        """Return the batch that a page becomes, counting the time."""
        watch.add(Stage.READ, Work(documents=len(page)))
        with watch.timing(Stage.CLEAN, len(page)):
            documents = self._cleaned(page)
        with watch.timing(Stage.FINGERPRINT, len(documents.rows)):
            prints = self.fingerprinter.fingerprint(documents.texts)
            return Batch(documents, prints, self.ranks and self.ranks(documents))

    def _cleaned(self, page: Documents) -> Documents:
        clean = self.cleaner.cleaned if page.marked is None else self.cleaner.parts_cleaned
        documents = page.cleaned(*clean(page.texts))
        lengths = documents.texts.lengths
        refusals: dict[int, Refusal] = {}
        for row in page.rows[~self.fits(documents)[page.rows]].tolist():
            refusals[row] = _TOO_LARGE
        for place in np.flatnonzero(lengths > self.most_chars).tolist():
            refusals[int(page.rows[place])] = too_long(int(lengths[place]), self.most_chars)
        refusals |= dict.fromkeys(page.rows[lengths == 0].tolist(), Skipped(Reason.EMPTY))
        return documents.without(refusals) if refusals else documents
