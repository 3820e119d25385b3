"""Documents that runs did not keep, as the ledger has them, with the texts of duplicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import bson

from dedup_job.mongo.bson import edit as bson_edit
from dedup_job.mongo.bson.edit import RawDocument
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.mongo.bson.ledger_rows import DOCUMENT
from dedup_job.mongo.care.records import stored_document
from dedup_job.mongo.reading import PageSize, majority, some
from dedup_job.mongo.source import Source, SourceSettings
from dedup_job.mongo.target import Target


@dataclass(frozen=True, slots=True)
class Dropped:
    """A document that a run did not keep.

    id, of: as shown; of is "" but for duplicates, similarity None where texts were not compared;
    text, other: cleaned text of the document and of the kept one, None where they are gone.
    """

    id: str
    reason: str
    detail: str
    of: str = ""
    similarity: float | None = None
    text: str | None = None
    other: str | None = None


def read_dropped(
    target: Target,
    settings: SourceSettings,
    clean_all: Callable[[Sequence[str]], list[str]],
    wanted: Mapping[str, str],
    limit: int,
) -> list[Dropped]:
    """Return up to `limit` rows of the ledger whose fields are as wanted.

    Of near duplicates the least similar come first, else they come in `_id` order. A text is read
    from the source, or from the ledger where the source no longer holds it.
    """
    order = [("similarity", 1)] if wanted.get("reason") == "near" else []
    ledger = majority(target.ledger)

    def read() -> list[bytes]:
        found = ledger.find(dict(wanted), {DOCUMENT: 0}).sort([*order, ("_id", 1)]).limit(limit)
        return [bytes(row.raw) for row in found]

    raws = target.patience(read)
    rows = [bson.decode(raw, bson_edit.LENIENT) for raw in raws]
    keys = [bson_edit.id_element(raw) for raw in raws]
    pairs = [(key, row) for key, row in zip(keys, rows, strict=True) if "of" in row]
    texts = _texts(target, settings, clean_all, [key for key, _ in pairs])
    originals = {key: bson_edit.fields({"_id": row["of"]}) for key, row in pairs}
    others = target.texts([*dict.fromkeys(originals.values())])
    return [
        Dropped(
            shown(key),
            str(row.get("reason")),
            str(row.get("detail") or ""),
            shown(originals[key]) if key in originals else "",
            similarity if isinstance(similarity := row.get("similarity"), float) else None,
            texts.get(key),
            others.get(originals[key]) if key in originals else None,
        )
        for key, row in zip(keys, rows, strict=True)
    ]


def _texts(
    target: Target,
    settings: SourceSettings,
    clean_all: Callable[[Sequence[str]], list[str]],
    keys: Sequence[bytes],
) -> dict[bytes, str]:
    """Return the cleaned texts of dropped documents by key; those that are gone are left out."""
    source = Source(target.source, settings, [], PageSize(), target.patience)
    found = source.texts(keys)
    for row in some(majority(target.ledger), [k for k in keys if k not in found], {}):
        held = stored_document(RawDocument(row.key, row.raw), source)
        if held is not None and isinstance(held[0].content, str):
            found[row.key] = held[0].content
    return dict(zip(found, clean_all([*found.values()]), strict=True))
