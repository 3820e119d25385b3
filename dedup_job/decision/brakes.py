"""Brakes: a run stops before it writes where what it finds is hardly what was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dedup_job.decision.settings import BrakeSettings
from dedup_job.documents import NOTHING_TRIED, Decision, Document, Duplicate, Kept, Reason, Skipped
from dedup_job.errors import BrakeApplied

_SHOWN = 80  # characters of a text
_SIMILAR = 0.1  # of a share to that of earlier runs


@dataclass(slots=True)
class _Window:
    documents: int = 0
    near: int = 0
    last: Document | None = None  # that is a near duplicate
    candidates: int = 0
    most: int = 0
    crowded: Document | None = None  # with the most candidates


class Brakes:
    """Watches decisions batch by batch; what is counted begins anew with each window."""

    def __init__(
        self,
        settings: BrakeSettings,
        usual: float = 0.0,
        fields: Callable[[Sequence[Document]], str] = lambda _: "",
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take the limits.

        usual: share of documents without a text in earlier runs; fields: says in which fields
        documents hold text; warn: is told what is no more than usual.
        """
        self._settings = settings
        self._window = _Window()
        self._usual, self._fields, self._warn = usual, fields, warn
        self._without: Counter[str] = Counter()  # by reason, of so many documents
        self._read = 0
        self._warned = False

    def check(self, documents: Sequence[Document], decisions: Sequence[Decision]) -> None:
        """Raise BrakeApplied where a limit is passed; nothing of the batch may be written then."""
        self._check_texts(documents, decisions)
        window = self._window
        for document, decision in zip(documents, decisions, strict=True):
            if isinstance(decision, Kept) and decision.tried is NOTHING_TRIED:
                continue  # as most
            if isinstance(decision, Duplicate) and decision.reason is Reason.NEAR:
                window.near += 1
                window.last = document
                if 0 < self._settings.cluster < decision.cluster:
                    raise BrakeApplied(
                        f"{decision.cluster:,} documents are near duplicates of one",
                        f"{self._settings.cluster:,}",
                        "brakes.cluster",
                        _named(document),
                    )
            if isinstance(decision, Kept | Duplicate):
                window.candidates += decision.tried.candidates
                if decision.tried.candidates > window.most:
                    window.most, window.crowded = decision.tried.candidates, document
        window.documents += len(documents)
        if window.documents >= self._settings.window:
            self._check_window(window)
            self._window = _Window()

    def _check_texts(self, documents: Sequence[Document], decisions: Sequence[Decision]) -> None:
        skipped = [(d, x) for d, x in zip(documents, decisions, strict=True) if type(x) is Skipped]
        self._read += len(documents)
        self._without.update(str(decision.reason) for _, decision in skipped)
        if self._read < self._settings.without_text_from:
            return
        limit, share = self._settings.without_text, self._without.total() / self._read
        reasons = ", ".join(f"{name} {n:,}" for name, n in self._without.most_common())
        found = f"{share:.1%} of the last {self._read:,} documents have no text ({reasons})"
        self._without, self._read = Counter(), 0
        if share <= limit:
            return
        if share > self._usual + _SIMILAR:
            raise BrakeApplied(
                found,
                f"{limit:.1%}",
                "brakes.without_text",
                f"{self._fields([document for document, _ in skipped])} Name another field with "
                "--field; --yes goes on all the same.",
            )
        if not self._warned:
            self._warned = True
            self._warn(f"{found}; in earlier runs {self._usual:.1%} had none")

    def _check_window(self, window: _Window) -> None:
        documents = f"of the last {window.documents:,} documents"
        limit, rate = self._settings.near_rate, window.near / window.documents
        if window.last and rate > limit:
            raise BrakeApplied(
                f"{rate:.1%} {documents} are near duplicates",
                f"{limit:.1%}",
                "brakes.near_rate",
                _named(window.last),
            )
        mean = window.candidates / window.documents
        if window.crowded and 0 < self._settings.candidates < mean:
            raise BrakeApplied(
                f"each {documents} has {mean:,.0f} candidates on average",
                f"{self._settings.candidates:,}",
                "brakes.candidates",
                _named(window.crowded),
            )


def _named(document: Document) -> str:
    text = " ".join(str(document.content).split())
    more = "..." if len(text) > _SHOWN else ""
    return f"_id {document.id!r}: {text[:_SHOWN]}{more}"
