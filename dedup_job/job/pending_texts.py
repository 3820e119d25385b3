"""Kept documents that are decided and not yet written: what is looked up there is found here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from dedup_job.documents import Batch, Decision, Kept

Texts = Callable[[Sequence[bytes]], Mapping[bytes, str]]


class PendingTexts:
    """Fetches texts of kept documents, from the batches under way first, else from the target."""

    def __init__(self, texts: Texts) -> None:
        """Take what fetches texts from the target, where those that are gone are left out."""
        self._texts = texts
        self._batches: dict[bytes, dict[bytes, str]] = {}  # by the key of their first document
        self._lock = threading.Lock()

    def add(self, batch: Batch, decisions: Sequence[Decision]) -> None:
        """Take note of a batch that is decided."""
        texts = {
            document.key: document.content
            for document, decision in zip(batch.documents, decisions, strict=True)
            if isinstance(decision, Kept) and isinstance(document.content, str)
        }
        with self._lock:
            self._batches[batch.documents[0].key] = texts

    def arrived(self, batch: Batch) -> None:
        """Take note that a batch is in the target."""
        with self._lock:
            del self._batches[batch.documents[0].key]

    def __call__(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the texts of kept documents by key; those that are gone are left out."""
        with self._lock:
            found = {
                key: texts[key] for texts in self._batches.values() for key in keys if key in texts
            }
        missing = [key for key in keys if key not in found]
        return {**found, **self._texts(missing)} if missing else found
