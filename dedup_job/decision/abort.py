"""Conditions that abort a run before it writes, because its result looks like a mistake."""

from collections import Counter
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from dedup_job.columns import Decisions, Documents
from dedup_job.decision import CUT_FROM, TEXTS_FROM, WINDOW, AbortSettings
from dedup_job.documents import Document, Reason, Skipped
from dedup_job.messages import Message, RunAborted
from dedup_job.printing import brief

_SHOWN = 80  # characters of a text
_SIMILAR = 0.1  # largest difference of a share to that of earlier runs


class AbortConditions:
    """Checks decisions batch by batch; counters are reset after each window."""

    def __init__(
        self,
        settings: AbortSettings,
        usual: float = 0.0,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take the limits.

        usual: share of documents without a text in earlier runs; warn: called with a message if the
        share is about as large again.
        """
        self._settings, self._usual, self._warn = settings, usual, warn
        self._warned = False
        self._read, self._without = 0, Counter[str]()  # documents; by reason, without a text
        self._decided = self._near = 0  # documents, and near duplicates among them
        self._texts = self._characters = 0  # before anything was cut off
        self._cut = self._most = 0  # characters cut off: of all texts, of one
        self._worst = ""  # the text with most

    def check(self, documents: Documents, decisions: Decisions) -> None:
        """Raise RunAborted if a limit is passed; the batch must not be written then."""
        self._check_texts(documents, decisions)
        self._check_cut(documents)
        self._check_near(documents, decisions)

    def _check_texts(self, documents: Documents, decisions: Decisions) -> None:
        refusals = decisions.refusals.values()
        self._read += len(documents)
        self._without.update(str(why.reason) for why in refusals if isinstance(why, Skipped))
        if self._read < TEXTS_FROM:
            return
        share = self._without.total() / self._read
        reasons = ", ".join(f"{name} {n:,}" for name, n in self._without.most_common())
        found = Message(
            "{share:.1%} of the last {read:,} documents have no text ({reasons})",
            share=share,
            read=self._read,
            reasons=reasons,
        )
        self._without, self._read = Counter(), 0
        if share <= self._settings.without_text:
            return
        if share > self._usual + _SIMILAR:
            self._abort("without_text", found, Message("Name another field with --field."))
        if not self._warned:
            self._warned = True
            usual = {"found": found, "usual": self._usual}
            self._warn(Message("{found}; in earlier runs {usual:.1%} had none", **usual))

    def _check_cut(self, documents: Documents) -> None:
        cut = documents.cut
        self._texts += len(cut)
        self._cut += int(cut.sum())
        self._characters += int(cut.sum() + documents.texts.lengths.sum())
        if len(cut) and (most := int(cut.max())) > self._most:
            self._most, self._worst = most, _named(documents[int(documents.rows[cut.argmax()])])
        if self._texts < CUT_FROM:
            return
        share, texts, most = self._cut / max(self._characters, 1), self._texts, self._most
        self._texts = self._characters = self._cut = self._most = 0
        if share > self._settings.cut:
            found = Message(
                "{share:.1%} of the characters of the last {texts:,} texts were cut off at the "
                "markers of cleaning.cut_at",
                share=share,
                texts=texts,
            )
            example = Message(
                "Most, {most:,} characters, of {document}\n  Take a marker that begins lines "
                "of the texts themselves out of cleaning.cut_at.",
                most=most,
                document=self._worst,
            )
            self._abort("cut", found, example)

    def _check_near(self, documents: Documents, decisions: Decisions) -> None:
        near = np.flatnonzero(decisions.have_reason(Reason.NEAR))
        self._near += len(near)
        self._decided += len(documents)
        if len(near):
            self._last = documents[int(near[-1])]
        if self._decided < WINDOW:
            return
        rate, decided = self._near / self._decided, self._decided
        self._near = self._decided = 0
        if rate > self._settings.near_rate:
            found = Message(
                "{rate:.1%} of the last {documents:,} documents are near duplicates",
                rate=rate,
                documents=decided,
            )
            self._abort("near_rate", found, _named(self._last))

    def _abort(self, name: str, found: str, example: str) -> NoReturn:
        raise RunAborted(found, f"{getattr(self._settings, name):.1%}", name, example)


def _named(document: Document) -> str:
    text = " ".join(str(document.content).split())
    shown = f": {brief(text, _SHOWN)}" if text else ""  # a worker of a cluster may have it
    return f"_id {document.id!r}{shown}"
