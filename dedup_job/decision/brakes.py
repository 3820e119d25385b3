"""Brakes: a run stops before it writes where what it finds is hardly what was meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dedup_job.decision.settings import BrakeSettings
from dedup_job.documents import NOTHING_TRIED, Decision, Document, Duplicate, Kept, Reason
from dedup_job.errors import BrakeApplied

_SHOWN = 80  # characters of a text


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

    def __init__(self, settings: BrakeSettings) -> None:
        self._settings = settings
        self._window = _Window()

    def check(self, documents: Sequence[Document], decisions: Sequence[Decision]) -> None:
        """Raise BrakeApplied where a limit is passed; nothing of the batch may be written then."""
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
