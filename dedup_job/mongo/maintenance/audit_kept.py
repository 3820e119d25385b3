"""Kept documents beside their texts, their source, and what they were compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from bson.errors import BSONError

from dedup_job.columns import Fingerprints
from dedup_job.decision import PairRecheck
from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ids import comparable
from dedup_job.mongo.bson.rows import Mark
from dedup_job.mongo.maintenance.records import object_at
from dedup_job.mongo.maintenance.shapes import Classic, Dedup
from dedup_job.mongo.source import Source
from dedup_job.mongo.state.fields import misfits
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.check import Check, Tally, named

_NAMED = 5


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A document of the target; None for a field that is not as dedup writes it.

    wrong: names of fields that it should not have, or that do not fit.
    """

    key: bytes
    raw: bytes
    text: str | None
    mark: Mark | None
    wrong: tuple[str, ...] = ()

    @property
    def is_foreign(self) -> bool:
        """Tell whether dedup does not write such a document."""
        return self.mark is None or bool(self.wrong)

    @property
    def compared_with(self) -> bytes | None:
        """Key of the kept document that it says it is no duplicate of."""
        if self.mark is None or "refused" not in self.mark.own:
            return None
        refused = bson_edit.value(self.raw, b"dedup", b"refused")
        element = bson_edit.find(refused, b"of")
        return element and bson_edit.renamed(refused[element.start : element.end], b"_id")

    def forged(self, kind: str | None, similarity: float) -> list[str]:
        """Return what it says of that one that is not as the texts say."""
        own = self.mark.own["refused"] if self.mark else {}
        right = {
            "class": own.get("class") == kind,
            "similarity": math.isclose(own.get("similarity", -1), similarity, abs_tol=1e-9),
        }
        return [f"dedup.refused.{name}" for name, is_right in right.items() if not is_right]


@dataclass(slots=True)
class KeptChecker:
    """Compares documents of the target with what would be written today.

    known: numbers of runs; own_rules: the target was made by the rules of this version. gone: keys
    of some that name an original that is not there; altered: how many have another text or
    fingerprint than was stored.
    """

    target: TargetReader
    source: Source
    clean_all: Callable[[Sequence[str]], list[str]]
    fingerprint: Callable[[Sequence[str]], Fingerprints]
    recheck: PairRecheck
    tally: Tally
    known: Container[int]
    own_rules: bool
    gone: list[bytes] = field(default_factory=list)
    altered: int = 0

    def read(self, row: RawDocument) -> KeptRow:
        """Return what a document of the target says."""
        rows = self.target.rows
        try:
            text, mark = rows.read(row)
        except (BSONError, ValueError, OverflowError):
            return KeptRow(row.key, row.raw, None, None)
        if rows.has_runs:
            own = mark.own if mark else object_at(row.raw, "dedup")
            wrong = [f"dedup.{name}" for name in misfits(Dedup, own)]
            wrong += ["dedup.run"] if mark and mark.run not in self.known else []
        else:
            wrong = misfits(Classic, mark.own) if mark else []
            old = bson_edit.stored(mark.own.get("old_id")) if mark else row.key
            wrong += ["old_id"] if comparable(old) != comparable(row.key) else []
        if mark and rows.fields is not None:
            names = {element.name for element in bson_edit.elements(row.raw)}
            wrong += [name.decode(errors="replace") for name in names - rows.fields]
        return KeptRow(row.key, row.raw, text, mark, tuple(wrong))

    def check(self, page: Sequence[KeptRow]) -> None:
        """Look at some documents."""
        self._check_texts(page)
        self._check_refused([document for document in page if not document.is_foreign])

    def _check_texts(self, page: Sequence[KeptRow]) -> None:
        """Compare stored fingerprints with stored texts, and stored texts with the source's."""
        marked = [(d.key, d.text, d.mark) for d in page if d.mark]  # others were counted before
        self.tally.add(Check.FOREIGN, 0, [key for key, text, _ in marked if text is None])
        known = {key: (text, mark.fingerprint) for key, text, mark in marked if text is not None}
        now = self.fingerprint([text for text, _ in known.values()]).values.tolist()
        wrong = {k for (k, (_, then)), b in zip(known.items(), now, strict=True) if then != b}
        forged = [named(shown(key), ["fingerprint"]) for key in known if key in wrong]
        self.tally.add(Check.VALUES, len(known), forged)
        self.altered += len(wrong)
        source = self.source.documents([*known])
        whole = {document.key: document.raw for document in page}
        there = {k: d.content for k, d in source.items() if isinstance(d.content, str)}
        cleaned = dict(zip(there, self.clean_all([*there.values()]), strict=True))
        alike = [key for key, text in cleaned.items() if text == known[key][0]]
        # what a run would make of the source's today
        would_be = [source[key].with_content(cleaned[key]) for key in alike]
        same = self.target.rows.same_fields([whole[key] for key in alike], would_be)
        same_keys = {key for key, is_same in zip(alike, same, strict=True) if is_same}
        others = [key for key in cleaned if key not in alike]
        prints = self.fingerprint([cleaned[key] for key in others]).values.tolist()
        before = {k for k, value in zip(others, prints, strict=True) if value == known[k][1]}
        # the source's text is the one that was decided, so the other one was altered
        told = before & wrong
        changed = [key for key in source if key not in same_keys and key not in told]
        self.tally.add(Check.CHANGED, len(source), changed)

    def _check_refused(self, page: Sequence[KeptRow]) -> None:
        """Compare what kept documents say of the nearest one that they are no duplicate of."""
        of = {d.key: original for d in page if d.text and (original := d.compared_with)}
        originals = self.target.texts([*dict.fromkeys(of.values())])
        gone = [key for key, original in of.items() if original not in originals]
        self.gone += gone[: _NAMED - len(self.gone)]
        if not self.own_rules:
            return
        pairs = [d for d in page if of.get(d.key) in originals]
        others = [originals[of[d.key]] for d in pairs]
        said = self.recheck.keep_apart([d.text or "" for d in pairs], others)
        wrong = [
            named(shown(document.key), names)
            for document, (kind, similarity) in zip(pairs, said, strict=True)
            if (names := document.forged(kind, similarity))
            and self._is_as_stored(document.key)
            and self._is_as_stored(of[document.key])
        ]
        self.tally.add(Check.VALUES, len(pairs), wrong)

    def _is_as_stored(self, key: bytes) -> bool:
        """Tell whether a document has the text of its fingerprint; else that was told already."""
        texts = self.target.texts([key])
        stored = self.target.fingerprints([key])
        now = dict(zip(texts, self.fingerprint([*texts.values()]).values.tolist(), strict=True))
        return now == stored
