"""What a ledger row holds of its document."""

import random

import bson
import pytest

from dedup_job.columns import Documents
from dedup_job.documents import Document, Duplicate, Pair, Quarantined, Reason, Skipped
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo.database_settings import Storing
from dedup_job.mongo.ledger_rows import LedgerRows, stored_in
from dedup_job.mongo.rows import MAX_DOCUMENT_BYTES
from tests.deciding import decisions_of

DUPLICATE = Duplicate(Reason.NEAR, False, Pair(raw_bson.fields({"_id": 1}), 2, 0.9, ("simhash",)))


def document(raw, content="文"):
    return Document(
        id_keys.id_value(id_keys.id_element(raw)), id_keys.id_element(raw), raw, content
    )


def row_of(rows, one, decision, run):
    (row,) = rows.encode(Documents.of([one]), decisions_of([decision]), run).list()
    return row


def deep(levels):
    value = {"end": 1}
    for _ in range(levels):
        value = {"a": value}
    return value


ODD = {
    "deep": {"_id": 7, "text": "文", "more": deep(90)},
    "names": {"_id": 7, "text": "文", "more": {"$ref": 1, "x.y": 2, "": 3}},
    "large": {"_id": 7, "text": "文" * ((MAX_DOCUMENT_BYTES - 1000) // 3)},
}


@pytest.mark.parametrize("name", ODD)
def test_any_document_that_a_source_holds_fits_into_a_row(any_database, name):
    raw = bson.encode(ODD[name])
    row = row_of(LedgerRows(Storing.WHOLE), document(raw), DUPLICATE, 1)
    any_database["ledger"].insert_one(bson.raw_bson.RawBSONDocument(row))
    found = any_database["ledger"].with_options(
        codec_options=bson.CodecOptions(document_class=bson.raw_bson.RawBSONDocument)
    )
    assert stored_in(bytes(found.find_one().raw)) == raw


def test_a_document_too_large_for_its_row_is_stored_as_null():
    noise = bytes(range(256)) * 16
    rng = random.Random(1)
    raw = bson.encode({"_id": 7, "noise": rng.randbytes(MAX_DOCUMENT_BYTES - len(noise))})
    row = row_of(LedgerRows(Storing.WHOLE), document(raw), DUPLICATE, 1)
    assert bson.decode(row)["document"] is None
    assert stored_in(row) is None


@pytest.mark.parametrize(
    "decision", [Skipped(Reason.NOT_TEXT), Quarantined(Reason.UNDECODABLE, "why")]
)
def test_a_document_without_a_text_is_stored_whole_or_not_at_all(decision):
    raw = bson.encode({"_id": 7, "text": 5})
    assert stored_in(row_of(LedgerRows(Storing.WHOLE), document(raw), decision, 1)) == raw
    row = row_of(LedgerRows(Storing.NONE), document(raw), decision, 1)
    assert "document" not in bson.decode(row)
