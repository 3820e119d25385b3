"""What a target holds, read for the index and for comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dedup_job.documents import KeptPage
from dedup_job.errors import StateMismatch
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.rows import KeptRows
from dedup_job.mongo.connection import Documents
from dedup_job.mongo.patience import NO_PATIENCE, Patience
from dedup_job.mongo.reading import PageSize, majority, pages, some

_NAMED = 5  # documents in a message
_PAGE = PageSize(documents=5000)


class KeptDocuments:
    """The documents of a target, each with its text and its fingerprint."""

    def __init__(
        self, documents: Documents, rows: KeptRows, patience: Patience = NO_PATIENCE
    ) -> None:
        """Take the collection, how it is read, and what repeats that where it is not answered."""
        self._documents = majority(documents)
        self._patience = patience
        self._rows = rows

    @property
    def name(self) -> str:
        """The namespace."""
        return self._documents.full_name

    def count(self, expected: int) -> int:
        """Return the number of documents; counts them one by one only if they seem to differ."""
        count = self._patience(self._documents.estimated_document_count)
        if count == expected:
            return count
        return self._patience(lambda: self._documents.count_documents({}, hint="_id_"))

    def pages(self) -> Iterator[KeptPage]:
        """Yield them in `_id` order, for the index; StateMismatch names what is not dedup's own."""
        strange: list[bytes] = []
        count = 0
        for rows in pages(
            self._documents, _PAGE, None, self._rows.projection, patience=self._patience
        ):
            page, others = self._rows.decode(rows)
            count += len(others)
            strange += others[: _NAMED - len(strange)]
            yield page
        if count:
            raise StateMismatch(self._not_ours(count, strange))

    def fingerprints(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Return the stored fingerprints of some documents, by key."""
        rows = some(self._documents, keys, self._rows.projection, self._patience)
        page, _ = self._rows.decode(rows)
        return dict(zip(page.keys, page.fingerprints.values.tolist(), strict=True))

    def texts(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the stored texts of some documents by key; those that are gone are left out."""
        path = self._rows.path
        rows = some(self._documents, keys, {".".join(path): 1}, self._patience, path)
        stored = {row.key: row.text or self._rows.stored_text(row) for row in rows}
        texts = {key: text for key, text in stored.items() if text is not None}
        return dict(zip(texts, self._rows.cleaned([*texts.values()]), strict=True))

    def _not_ours(self, count: int, keys: Sequence[bytes]) -> str:
        names = ", ".join(map(shown, keys))
        more = ", ..." if count > len(keys) else ""
        return (
            f"the target {self._documents.full_name} holds {count:,} documents that dedup did not "
            "write or that someone changed: they lack their text or fingerprint, or it is of "
            f"another type. _id {names}{more}. Remove them from the target or put them back as "
            "they were, or name another --target."
        )
