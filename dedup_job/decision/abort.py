"""What a run is aborted for: it stops before it writes where its result looks like a mistake."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dedup_job.columns import Decisions, Documents
from dedup_job.decision import CUT_FROM, TEXTS_FROM, WINDOW, AbortSettings
from dedup_job.documents import Document, Reason, Skipped
from dedup_job.errors import RunAborted
from dedup_job.messages import Message
from dedup_job.printing import brief

_SHOWN = 80  # characters of a text
_SIMILAR = 0.1  # of a share to that of earlier runs


@dataclass(slots=True)
class _Window:
    documents: int = 0
    near: int = 0
    last: Document | None = None  # that is a near duplicate


@dataclass(slots=True)
class _Cut:
    texts: int = 0
    characters: int = 0  # before anything was cut off
    cut: int = 0
    most: int = 0
    worst: Document | None = None  # which lost the most


class AbortConditions:
    """Watches decisions batch by batch; what is counted begins anew with each window."""

    def __init__(
        self,
        settings: AbortSettings,
        usual: float = 0.0,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take the limits.

        usual: share of documents without a text in earlier runs; warn: takes the message about a
        share that is as usual.
        """
        self._settings = settings
        self._window, self._cut = _Window(), _Cut()
        self._usual, self._warn = usual, warn
        self._without: Counter[str] = Counter()  # by reason, of so many documents
        self._read = 0
        self._warned = False

    def check(self, documents: Documents, decisions: Decisions) -> None:
        """Raise RunAborted where a limit is passed; nothing of the batch may be written then."""
        self._check_texts(documents, decisions)
        self._check_cut(documents)
        window, near = self._window, np.flatnonzero(decisions.are(Reason.NEAR))
        if len(near):
            window.near += len(near)
            window.last = documents[int(near[-1])]
        window.documents += len(documents)
        if window.documents >= WINDOW:
            self._check_window(window)
            self._window = _Window()

    def _check_texts(self, documents: Documents, decisions: Decisions) -> None:
        refusals = decisions.refusals.values()
        self._read += len(documents)
        self._without.update(str(why.reason) for why in refusals if isinstance(why, Skipped))
        if self._read < TEXTS_FROM:
            return
        limit, share = self._settings.without_text, self._without.total() / self._read
        reasons = ", ".join(f"{name} {n:,}" for name, n in self._without.most_common())
        found = Message(
            "{share:.1%} of the last {read:,} documents have no text ({reasons})",
            share=share,
            read=self._read,
            reasons=reasons,
        )
        self._without, self._read = Counter(), 0
        if share <= limit:
            return
        if share > self._usual + _SIMILAR:
            raise RunAborted(
                found,
                f"{limit:.1%}",
                "abort_if.without_text",
                Message("Name another field with --field."),
            )
        if not self._warned:
            self._warned = True
            self._warn(
                Message(
                    "{found}; in earlier runs {usual:.1%} had none", found=found, usual=self._usual
                )
            )

    def _check_cut(self, documents: Documents) -> None:
        seen, cut = self._cut, documents.cut
        seen.texts += len(cut)
        seen.cut += int(cut.sum())
        seen.characters += int(cut.sum() + documents.texts.lengths.sum())
        if len(cut) and (most := int(cut.max())) > seen.most:
            seen.most, seen.worst = most, documents[int(documents.rows[cut.argmax()])]
        if seen.texts < CUT_FROM:
            return
        self._cut = _Cut()
        limit, share = self._settings.cut, seen.cut / max(seen.characters, 1)
        if seen.worst and share > limit:
            raise RunAborted(
                Message(
                    "{share:.1%} of the characters of the last {texts:,} texts were cut off at the "
                    "markers of cleaning.cut_at",
                    share=share,
                    texts=seen.texts,
                ),
                f"{limit:.1%}",
                "abort_if.cut",
                Message(
                    "Most, {most:,} characters, of {document}\n  Take a marker that begins lines "
                    "of the texts themselves out of cleaning.cut_at.",
                    most=seen.most,
                    document=_named(seen.worst),
                ),
            )

    def _check_window(self, window: _Window) -> None:
        limit, rate = self._settings.near_rate, window.near / window.documents
        if window.last and rate > limit:
            raise RunAborted(
                Message(
                    "{rate:.1%} of the last {documents:,} documents are near duplicates",
                    rate=rate,
                    documents=window.documents,
                ),
                f"{limit:.1%}",
                "abort_if.near_rate",
                _named(window.last),
            )


def _named(document: Document) -> str:
    text = " ".join(str(document.content).split())
    shown = f": {brief(text, _SHOWN)}" if text else ""  # a worker of a cluster may have it
    return f"_id {document.id!r}{shown}"
