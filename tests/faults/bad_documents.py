"""Documents and texts that would break a run, among many that must not suffer from them."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bson
from bson.raw_bson import RawBSONDocument

from dedup_job.cleaning import Cleaner
from dedup_job.demo import make_corpus
from dedup_job.mongo.bson import edit as raw
from dedup_job.mongo.reading import majority
from tests.faults import generated
from tests.faults.bad_document_kinds import KEPT, MAX_CHARS, mixed_id, planted
from tests.faults.servers import replica_set
from tests.faults.subject import Db, Subject
from tests.faults.table import Row, times

_PORTS = (27453, 27454, 27455)
_DOCUMENTS, _PLANTED = 100_000, 10_000
_INSERTED = 2000  # documents of an insert
_SKIPPED = {"empty", "missing", "not_text"}
Rows = dict[bytes, dict[str, Any]]


def run(scale: float) -> Iterator[Row]:
    """Yield what became of the bad documents, of those around them, and of generated texts."""
    with (
        replica_set(_PORTS) as servers,
        tempfile.TemporaryDirectory(prefix="dedup-faults-") as folder,
    ):
        subject = Subject(servers.uri, Path(folder), documents=100, name="bad_documents")
        yield from _among_others(subject, times(_DOCUMENTS, scale), times(_PLANTED, scale))
        subject.database.client.close()
    yield from generated.run(scale)


def _among_others(subject: Subject, documents: int, bad: int) -> Iterator[Row]:
    """Decide a source with bad documents and one without, each in two runs; the second resumes."""
    database = subject.database
    others = [
        RawBSONDocument(raw.document(raw.fields({**document, "_id": mixed_id(number)})))
        for number, document in enumerate(make_corpus(documents))
    ]
    planted_ones = list(planted(max(bad, 200)))
    _insert(database, "source", [])
    _insert(database, "clean", others)
    _insert(database, "source", [RawBSONDocument(document) for document, _, _ in planted_ones])
    _insert(database, "source", others)
    codes = []
    for name in ("clean", "source"):
        codes += [_run(subject, name, "--limit", str(documents // 2)), _run(subject, name)]
    yield _bad(database, codes, planted_ones)
    yield _innocent(database, len(others), len(planted_ones))
    yield _ids(database)


def _run(subject: Subject, source: str, *more: str) -> int:
    """Decide a source; return the exit code."""
    environment = {"DEDUP_SOURCE__MAX_CHARS": str(MAX_CHARS), "DEDUP_RUN__BATCH_DOCUMENTS": "1000"}
    target = f"{source}_target"
    code = subject.run(target, "--source", source, *more, **environment)
    if code not in (0, 3):
        print(subject.said())
    return code


def _insert(database: Db, name: str, documents: list[RawBSONDocument]) -> None:
    """Put documents into a collection; without any, empty it."""
    collection = database.get_collection(name)
    if not documents:
        collection.drop()
    for start in range(0, len(documents), _INSERTED):
        collection.insert_many(documents[start : start + _INSERTED])  # type: ignore[arg-type]


def _rows(database: Db, name: str, projection: dict[str, int] | None = None) -> Rows:
    """Return the documents of a collection by the bytes of their `_id`; keys repeated are lost."""
    found: Rows = {}
    for document in majority(database[name]).find({}, projection):
        one = bytes(document.raw)
        found[raw.id_element(one)] = bson.decode(one, raw.LENIENT)
    return found


def _bad(database: Db, codes: list[int], planted_ones: list[Any]) -> Row:
    """Compare what became of each planted document with what should."""
    kept = _rows(database, "source_target", {"_id": 1, "text": 1})
    ledger = _rows(database, "source_target.ledger")
    wrong: Counter[str] = Counter()
    cleaner = Cleaner()
    for document, kind, text in planted_ones:
        key = raw.id_element(document)
        if key in kept:
            became = (
                KEPT
                if kept[key]["text"] == cleaner.clean(text) and key not in ledger
                else "wrong text"
            )
        else:
            row = ledger.get(key, {"reason": "lost", "decision": None})
            became = row["reason"]
            if row["decision"] != ("skipped" if became in _SKIPPED else "quarantined"):
                became = f"{became}, {row['decision']}"
        if became != kind.becomes:
            wrong[f"{kind.name}: {became}"] += 1
    kinds = Counter(kind.becomes for _, kind, _ in planted_ones)
    detail = ", ".join(f"{count:,} {reason}" for reason, count in kinds.most_common())
    if wrong:
        detail = f"WRONG {dict(wrong.most_common(5))}; " + detail
    ended = [0, 0, 3, 3]
    good = len(planted_ones) - wrong.total() if codes == ended else 0
    return Row("bad documents", len(planted_ones), good, f"{detail}; runs ended with {codes}")


def _innocent(database: Db, others: int, bad: int) -> Row:
    """Compare the outcome of the others with their outcome in a run without the bad ones."""
    good = 0
    there = 0
    for part in ("", ".ledger"):
        alone, among = (_rows(database, f"{name}_target{part}") for name in ("clean", "source"))
        there += len(among)
        for key, document in alone.items():
            same = among.get(key, {})
            good += _without_run(document) == _without_run(same)
    lost = others + bad - there
    detail = f"decided as in a run without the bad ones; {lost:,} of {others + bad:,} lost"
    return Row("documents among the bad ones", others, good if not lost else 0, detail)


def _without_run(document: dict[str, Any]) -> bytes:
    """Return a document without the number of its run: the bad ones move where a run ends."""
    own = document.get("dedup")
    mark = {"dedup": own["fingerprint"]} if isinstance(own, dict) else {}
    return bson.encode({**document, **mark, "run": 0})


def _ids(database: Db) -> Row:
    """Count by type of `_id` what is in exactly one of target and ledger."""
    source, kept, ledger = (
        set(_rows(database, name, {"_id": 1}))
        for name in ("source", "source_target", "source_target.ledger")
    )
    once = (kept ^ ledger) & source
    kinds = len({key[0] for key in source})
    return Row(
        f"documents with an _id of {kinds} BSON types",
        len(source),
        len(once) if not (kept | ledger) - source else 0,
        "each in exactly one of target and ledger",
    )
