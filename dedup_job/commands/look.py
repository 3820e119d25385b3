"""Read-only views of a target: documents and texts one by one, lists, samples, a survey."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from bson import json_util

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Fingerprints
from dedup_job.commands.run import decided_document
from dedup_job.commands.session import (
    Session,
    decided_records,
    no_text_reason,
    only_one,
    open_target,
)
from dedup_job.decision import Models
from dedup_job.decision.decider import PairRecheck, PairView
from dedup_job.documents import NO_TEXT, Difference, Document, Quarantined, text_or_refusal
from dedup_job.fingerprint import Explanation
from dedup_job.index import KeptIndex
from dedup_job.job.pipeline import load_index
from dedup_job.messages import Message, UsageError
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.audit import stored_counts
from dedup_job.mongo.id_keys import shown, unmistakable
from dedup_job.mongo.records import PairReader, Record, Records
from dedup_job.mongo.sampling import Sampler, naming
from dedup_job.mongo.state import with_checkpoint
from dedup_job.printing import id_as_json
from dedup_job.runs.decided import (
    DUPLICATE,
    KEPT,
    PAIRS,
    Counts,
    DecidedDocument,
    ListFilter,
    ListKind,
)
from dedup_job.runs.run_record import QUIET, About, Progress, Run, Status, is_by_hand
from dedup_job.runs.survey import EXTREME, OTHERS, RANDOM, Group, Survey
from dedup_job.settings import Settings, expect_settings

_MAX_VIEWED = 1000  # candidates that are compared
_KEY = raw_bson.fields({"_id": 0})  # of a text, which is in no collection
_SECTIONS = ("source", "cleaning", "fingerprint", "index", "decision")  # settings that decide


@dataclass(frozen=True, slots=True)
class Item:
    """A document or a text, as a run sees it.

    name: the `_id` as shown, or the title of a text; key: the id key, b"" of a text; also: other
    documents that the written id may mean, as unmistakable ids. text: cleaned, None without one;
    why_not: the reason why it is not compared. fingerprint: 64 bits in hex; why: tokens, route and
    weights, None if it is not compared. decided: the decision of a run, or for a text the one that
    a run would make.
    """

    name: str
    key: bytes
    text: str | None
    why_not: str = ""
    fingerprint: str = ""
    why: Explanation | None = None
    also: tuple[str, ...] = ()
    decided: DecidedDocument | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """A kept candidate of an item; before: whether it was kept earlier, None if not known."""

    id: str
    text: str
    view: PairView
    before: bool | None


@dataclass(frozen=True, slots=True)
class Inspected:
    """The decisions about one or two documents or texts, with their reasons.

    settings_of: the run that had these settings, 0 if the caller chose them; items: in the order of
    the call; original: the kept document that a duplicate was dropped for; pair: two items, or a
    duplicate and its original, compared now. near: the nearest of `found` candidates among `among`
    other kept documents; None if not searched. dropped: number of duplicates of a kept document.
    """

    settings: Settings
    items: tuple[Item, ...]
    settings_of: int = 0
    target: str = ""
    source: str = ""
    original: Item | None = None
    pair: PairView | None = None
    near: tuple[Near, ...] | None = None
    found: int = 0
    among: int = 0
    dropped: int | None = None

    @property
    def sides(self) -> tuple[Item, ...]:
        """The original, if there is one, and the items."""
        return (self.original, *self.items) if self.original else self.items

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values: ids in extended JSON, settings that decisions need."""
        return dict(_plain(self))


def inspect(
    settings: Settings,
    ids: Sequence[str] = (),
    texts: Sequence[str] = (),
    target: str | None = None,
    progress: Progress = QUIET,
    *,
    limit: int = 10,
) -> Inspected:
    """Return the decisions about one or two documents of a target, or texts; write nothing.

    ids: as a person writes them. Two items are compared; one text with a target is decided as the
    next document of a run. limit: the largest number of candidates. UsageError if no run decided
    an id.
    """
    expect_settings(settings)
    for words in (ids, texts):
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise UsageError("ids and texts must each be a sequence of str.")
    count = len(ids) + len(texts)
    if not 1 <= count <= 2:
        raise UsageError(
            "{number} documents and texts are given, expected one or two.", number=count
        )
    if ids and target is None:
        raise UsageError("an _id is looked up in a target: name it with --target.")
    if target is None:
        return _Inspector(settings, settings.models(progress.stage), progress).compared(texts)
    with open_target(settings, target, progress) as session:
        inspector = _Inspector(session.settings, session.models, progress, session)
        base = inspector.compared(texts, ids)
        name, source = session.target.name, session.target.source.full_name
        base = replace(base, settings_of=session.settings_of, target=name, source=source)
        return base if count > 1 else inspector.explained(base, limit)


@dataclass
class _Inspector:
    _settings: Settings
    _models: Models
    _progress: Progress
    _session: Session | Any = None  # not used without a target

    def __post_init__(self) -> None:
        self._pairs = PairRecheck(self._settings.decision, self._settings.index, self._models)

    def compared(self, texts: Sequence[str], ids: Sequence[str] = ()) -> Inspected:
        names = [Message("text {number}", number=n + 1) for n in range(len(texts))]
        names = [Message("text")] if len(texts) == 1 else names
        items = [self._document(id_) for id_ in ids]
        items += [self._with_text(Item(n, b"", t), t) for n, t in zip(names, texts, strict=True)]
        return Inspected(self._settings, tuple(items), pair=self._pair(*items))

    def explained(self, base: Inspected, limit: int) -> Inspected:
        (item,) = base.items
        decision = item.decided.decision if item.decided else ""
        if item.decided and decision == DUPLICATE:
            original = self._original(item.decided.pair.of)
            base = replace(base, original=original, pair=self._pair(item, original))
        if decision == KEPT:
            self._progress.stage(Message("looking for its duplicates"))
            duplicates = Sampler(self._session.target, ListFilter(ListKind.DROPPED), item.key)
            base = replace(base, dropped=duplicates.count())
        elif item.key:
            return base
        return self._with_near(base, item, limit)

    def _original(self, key: bytes) -> Item:
        """Return the original of a duplicate, even if a better copy has replaced it since."""
        records = Records(self._session.target)
        kept = records.kept(key)
        if kept is None and not id_keys.reference_name(key):
            record = records.of(key)
            if record.row is not None:
                return self._of_source(record)
        return self._kept(key, kept)

    def _document(self, written: str) -> Item:
        self._progress.stage(Message("looking the document up"))
        record, *alternatives = decided_records(self._session, written)
        document = DecidedDocument(record.key, KEPT if record.row is None else "")
        decided = PairReader(self._session.target).read([document], texts=False)
        item = self._of_source(record) if record.row else self._kept(record.key, record.kept)
        also = tuple(unmistakable(one.key) for one in alternatives)
        return replace(item, also=also, decided=decided.get(record.key, document))

    def _of_source(self, record: Record) -> Item:
        item = Item(shown(record.key), record.key, None)
        if record.dropped is None:
            return replace(item, why_not=Message("the source no longer holds it"))
        if not isinstance(record.dropped.content, str):
            return replace(
                item, why_not=no_text_reason(record.dropped, self._settings.source.field)
            )
        return self._with_text(item, record.dropped.content)

    def _kept(self, key: bytes, kept: str | None) -> Item:
        item = Item(shown(key), key, kept or None)
        if item.text is not None:
            return self._with_fingerprint(item, item.text)
        missing = Message("the target no longer holds it")
        if place := id_keys.reference_name(key):
            missing = Message("{collection} no longer holds it", collection=place)
        return replace(item, why_not=missing if kept is None else Message("its text is gone"))

    def _with_text(self, item: Item, text: str) -> Item:
        cleaned = Cleaner(self._settings.cleaning).clean(text)
        content = text_or_refusal(cleaned, self._settings.source.max_chars)
        if isinstance(content, str):
            return self._with_fingerprint(item, content)
        if isinstance(content, Quarantined):
            why_not = Message("{detail} (source.max_chars)", detail=content.detail)
            return replace(item, text=cleaned, why_not=why_not)
        return replace(item, text=None, why_not=Message("nothing is left of it after cleaning"))

    def _with_fingerprint(self, item: Item, text: str) -> Item:
        self._progress.stage(Message("loading the dictionary"))
        fingerprinter = self._models.fingerprinter
        prints, why = fingerprinter.fingerprint([text]), fingerprinter.explain(text)
        return replace(item, text=text, fingerprint=f"{int(prints.values[0]):016x}", why=why)

    def _pair(self, *items: Item) -> PairView | None:
        texts = [item.text for item in items if item.text is not None and item.why is not None]
        return self._pairs.view(*texts) if len(texts) > 1 else None

    def _with_near(self, base: Inspected, item: Item, limit: int) -> Inspected:
        index = KeptIndex(self._settings.index)
        if item.text is None or item.why is None:
            return base if item.key else replace(base, items=(self._with_decision(item, index),))
        target = self._session.target
        load_index(target, self._session.snapshots, index, self._progress)
        prints = self._models.fingerprinter.fingerprint([item.text])
        found, among = _candidates(index, prints), len(index)
        own = found.pop(item.key, None)
        texts = target.texts([*found][:_MAX_VIEWED])
        near = [
            Near(
                shown(key),
                text,
                self._pairs.view(item.text, text),
                None if own is None else found[key] < own,
            )
            for key in found
            if (text := texts.get(key)) is not None  # others are gone from the target
        ]
        near.sort(key=_nearness)
        if not item.key:
            base = replace(base, items=(self._with_decision(item, index),))
        among -= item.decided is not None and item.decided.decision == KEPT  # it is one of them
        return replace(base, near=tuple(near[:limit]), found=len(found), among=among)

    def _with_decision(self, item: Item, index: KeptIndex) -> Item:
        content = text_or_refusal(item.text or "", self._settings.source.max_chars)
        decision = self._pairs.decide_document(content, index, self._session.target.texts_of)
        document = Document(None, _KEY, b"", content)
        return replace(item, decided=decided_document(document, decision))


def _candidates(index: KeptIndex, prints: Fingerprints) -> dict[bytes, int]:
    found = index.find(prints)
    agreements = found["agreement"].astype(np.int64)
    order = np.lexsort((found["number"], found["distance"], -agreements, ~found["is_equal"]))
    numbers = found["number"][order]
    return dict(zip(index.keys_and_fingerprints(numbers)[0].list(), numbers.tolist(), strict=True))


def _nearness(one: Near) -> tuple[bool, float, int]:
    view = one.view
    distance = 64 if view.distance is None else view.distance
    return view.refused_by is not None, -view.similarity, distance


def _plain(value: Any) -> Any:
    if isinstance(value, Settings):
        return value.model_dump(mode="json", include={*_SECTIONS})
    if isinstance(value, Difference):
        kind, place, of, text = value
        return {"kind": kind, "place": place, "text": text, "other": of}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    if isinstance(value, DecidedDocument):
        pair = value.pair
        more = {"distance": pair.distance, "found_by": pair.found_by, "richer": pair.richer}
        return value.as_json(texts=False) | more
    if is_dataclass(value):
        names = [one.name for one in fields(value) if one.name != "key"]
        plain = {name: _plain(getattr(value, name)) for name in names}
        if isinstance(value, Near) or (isinstance(value, Item) and value.key):
            own = "id" if isinstance(value, Near) else "name"
            plain |= {own: id_as_json(plain[own])}
        return plain
    return json.loads(json_util.dumps(value))


def list_documents(
    settings: Settings,
    target: str,
    selection: ListFilter,
    progress: Progress = QUIET,
    *,
    limit: int | None = None,
    texts: bool = False,
) -> Iterator[list[DecidedDocument]]:
    """Yield the documents that a filter selects, in pages: by `_id`, or largest groups first."""
    with _sampler(settings, target, selection, progress) as sampler:
        yield from sampler.pages(limit, texts=texts)


def list_ids(
    settings: Settings,
    target: str,
    selection: ListFilter,
    progress: Progress = QUIET,
    *,
    limit: int | None = None,
) -> Iterator[list[str]]:
    """Yield the ids of the selected documents, in pages, as `restore` and `inspect` take them."""
    with _sampler(settings, target, selection, progress) as sampler:
        yield from sampler.ids(limit)


class Sample(NamedTuple):
    """Some of the selected documents, and the number of all."""

    documents: list[DecidedDocument]
    total: int


def sample_pairs(
    settings: Settings,
    target: str,
    selection: ListFilter,
    number: int,
    seed: int | None = None,
    progress: Progress = QUIET,
    *,
    texts: bool = True,
) -> Sample:
    """Return selected pairs with their texts: at random by a seed, else the most doubtful first.

    The same seed draws the same ones. Most doubtful are near duplicates with the largest part left
    out of the comparison, then the least likely, and the likeliest of refused pairs; by similarity
    if no model decided. UsageError if `selection` selects no pairs and a seed is given.
    """
    if seed is not None and selection.what not in PAIRS:
        raise UsageError(
            "{what} are not drawn at random; {pairs} are.",
            what=selection.what,
            pairs=", ".join(PAIRS),
        )
    with _sampler(settings, target, selection, progress) as sampler:
        return Sample(sampler.sample(number, seed, texts=texts), sampler.count())


@contextmanager
def _sampler(
    settings: Settings, target: str, selection: ListFilter, progress: Progress
) -> Iterator[Sampler]:
    selection.check()
    with open_target(settings, target, progress) as session:
        progress.stage(Message("looking through the ledger"))
        of_key = None if selection.of is None else _kept_key(session, selection.of)
        sampler = Sampler(session.target, selection, of_key, name=naming(session.target))
        sampler.check()
        yield sampler


def _kept_key(session: Session, written: str) -> bytes:
    decided = decided_records(session, written)
    kept = [record for record in decided if record.kept is not None]
    if not kept:
        raise UsageError(
            "_id {id} is not kept, so nothing is a duplicate of it. `dedup inspect` shows "
            "which kept document it was dropped for.",
            id=shown(decided[0].key),
        )
    return only_one(written, kept).key


_GROUPS, _MEMBERS, _RUNS = 15, 6, 200
_SEED = 0  # of the samples
_OF_RUNS = ("refused", "similar", "cut_documents", "cut_characters")  # counts of runs alone


def survey_target(settings: Settings, name: str, progress: Progress = QUIET) -> Survey:
    """Return the survey of a target: counts and samples of pairs; UsageError if no run wrote it."""
    with open_target(settings, name, progress) as session:
        target = session.target

        def sampler(what: ListKind, **more: Any) -> Sampler:
            return Sampler(target, ListFilter(what), **more)

        progress.stage(Message("counting"))
        rows, state = target.run_rows(), target.state.read() or {}
        own = [row for row in rows if not is_by_hand(row)]
        lines = [with_checkpoint(Run.from_row(row), state) for row in own]
        live = (line.counts for line in lines if line.status != Status.UNDONE)
        summed, stored = sum(live, Counts()), stored_counts(target)
        progress.stage(Message("drawing samples"))
        near = sampler(ListKind.NEAR).draw(_SEED, EXTREME, RANDOM)
        refused = sampler(ListKind.REFUSED).draw(_SEED, EXTREME, RANDOM)
        found = PairReader(target).read([*near.pairs, *refused.pairs])
        equal = sampler(ListKind.EXACT).sample(OTHERS, _SEED)
        for what, reasons in NO_TEXT.items():
            for reason in reasons:
                equal += sampler(ListKind(what), reason=reason).first(OTHERS)
        progress.stage(Message("looking for the largest groups"))
        groups = [
            Group(one, sampler(ListKind.DROPPED, of_key=one.key).first(_MEMBERS))
            for one in sampler(ListKind.GROUPS).first(_GROUPS)
        ]
        decision, last = session.settings.decision, own[-1] if own else {}
        made = last.get("settings", {}), last.get("versions", {})
        return Survey(
            about=About(target.source.full_name, target.name, *made, dry_run=False),
            counts=replace(stored, **{name: getattr(summed, name) for name in _OF_RUNS}),
            restored=sum(r.get("documents", 1) for r in rows if r["status"] == Status.RESTORED),
            source_gone=not target.retry(target.source.estimated_document_count),
            threshold=decision.confidence if decision.judges else decision.similarity,
            judged=decision.judges,
            near=near.without_changed(found),
            refused=refused.without_changed(found),
            unjudged=equal,
            groups=groups,
            runs=lines[-_RUNS:],
            runs_left_out=max(0, len(lines) - _RUNS),
        )
