"""Reading and writing without decoding gives the same as with it; any document fits its row."""

import random
import struct
from dataclasses import replace

import bson
import pytest
import xxhash
from bson.errors import BSONError
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pymongo import MongoClient

from dedup_job.columns import Documents
from dedup_job.documents import (
    Difference,
    Document,
    Duplicate,
    Kept,
    Pair,
    Quarantined,
    Reason,
    Skipped,
)
from dedup_job.fingerprint import Sketcher
from dedup_job.mongo import id_keys, raw_bson
from dedup_job.mongo import raw_bson as raw
from dedup_job.mongo.database_settings import DocumentForm, SourceSettings, Storing
from dedup_job.mongo.ledger_rows import LedgerRows, stored_in
from dedup_job.mongo.raw_bson import RawDocument
from dedup_job.mongo.reading import CHARACTERS, TEXT_END, find_fields, found_texts, raw_page
from dedup_job.mongo.rows import MAX_DOCUMENT_BYTES, KeptRows, signed
from dedup_job.mongo.source import Source
from dedup_job.native.bytes_column import bytes_of
from tests.deciding import decisions_of
from tests.mongo.test_raw_bson import DEPRECATED, INT32, NAMES, UTF8, VALUES, counted, element

IDS = UTF8 | INT32 | st.binary(min_size=12, max_size=12).map(bson.ObjectId) | st.just({"a": 1})
TEXTS = UTF8 | st.text("数学\0é🙂x", max_size=40)
FOUND = NAMES | st.sampled_from(["text", "a", "b", "dedup", "$ref", "$id"])
FIELDS = st.lists(
    st.tuples(FOUND, VALUES | TEXTS | st.dictionaries(FOUND, VALUES | TEXTS, max_size=3)),
    max_size=5,
)
_NOBODY = MongoClient(connect=False)
PATHS = st.sampled_from(["text", "a.b", "a.text.b"])
WHOLE = bson.encode({"_id": 1, "text": "题", "d": {"a": [1, "é"], "when": bson.DatetimeMS(1)}})


@st.composite
def raws(draw):
    """Draw a raw document: repeated names, `_id` at any position, damaged bytes."""
    fields = [raw.fields({name: value}) for name, value in draw(FIELDS)]
    fields += draw(st.lists(st.sampled_from(sorted(DEPRECATED.values())), max_size=1))
    text = draw(TEXTS)
    fields += draw(
        st.sampled_from(
            [
                [],
                [raw.fields({"text": text})],
                [raw.fields({"a": {"b": text}})],
                [raw.fields({"a": {"text": {"b": text}}})],
                [element(0x02, "text", counted(b"a\xed\xa0\x80"))],
            ]
        )
    )
    fields = draw(st.permutations(fields))
    fields.insert(draw(st.integers(0, len(fields))), raw.fields({"_id": draw(IDS)}))
    whole = bytearray(raw.join_fields(*fields))
    for at in draw(st.lists(st.integers(4, len(whole) - 2), max_size=2)):
        if draw(st.booleans()):
            whole[at] = draw(st.integers(0, 255))
    return bytes(whole)


def array_of(*documents):
    fields = (element(0x03, str(i), one) for i, one in enumerate(documents))
    return bytes_of(raw.join_fields(*fields))


EDGES = (
    "80 bf c0 c1bf c280 dfbf e09fbf e0a080 ed9fbf eda080 ee8080 efbfbf f08fbfbf f0908080 f48fbfbf"
    " f4908080 f5808080 ff 61"
)
PIECES = st.sampled_from([bytes.fromhex(edge) for edge in EDGES.split()])
DATA = st.binary(max_size=8) | st.lists(PIECES, max_size=4).map(b"".join) | UTF8.map(str.encode)


def characters_of(data):
    try:
        return len(data.decode())
    except UnicodeDecodeError:
        return None


def check_characters(batch):
    """Check that a text is found where Python says that it is one, with its characters."""
    fields = (element(0x02, "text", counted(data)) for data in batch)
    array = array_of(*(raw.join_fields(raw.fields({"_id": 1}), one) for one in fields))
    rows = find_fields(array, ["text"]).tolist()
    found = [row[CHARACTERS] if row[TEXT_END] > 0 else None for row in rows]
    assert found == [*map(characters_of, batch)]


@given(st.lists(DATA, max_size=6))
@example([b"\xe4\xb8", b"\xad"])
@example([b"\xf0\x90\x80", b"\x80"])
def test_bytes_are_texts_if_python_decodes_them(batch):
    check_characters(batch)


def source_of(field, most=1_000_000):
    settings = SourceSettings(field=field, max_chars=most)
    return Source(_NOBODY.d.source, settings)


def slow_row(one):
    """Return the row as it is read without native code; None where the document has no `_id`."""
    try:
        return RawDocument(id_keys.id_key_in(one), one)
    except (ValueError, struct.error, IndexError):
        return None


def said_of(source, row):
    return result_of(lambda: source.read(row))


def result_of(read):
    """Return a document with the bytes of its `_id`, or the error if the `_id` is damaged."""
    try:
        document = read()
        id_ = raw.fields({"_id": document.id})
    except (BSONError, OverflowError) as e:
        return type(e), str(e)
    content = document.content
    if isinstance(content, Quarantined):  # the driver's words differ from one time to the next
        content = replace(content, detail="")
    return id_, document.key, document.raw, content


@settings(max_examples=100)
@given(raws(), PATHS, st.sampled_from([3, 1_000_000]))
@example(WHOLE, "text", 100)
@example(b"\x0e\0\0\0\x02_id\0\xf7\xff\xff\xff\0", "text", 3)
@example(
    raw.join_fields(raw.fields({"_id": 1}), element(0x0E, "text", counted(b"sym"))),
    "text",
    9,
)
@example(raw.join_fields(*[raw.fields({"_id": i, "text": "x"}) for i in range(2)]), "text", 9)
def test_a_document_is_read_as_by_decoding_it(one, field, most):
    slow = slow_row(one)
    if slow is None:
        return
    good = bson.encode({"_id": 0, "text": "good"})
    rows = raw_page(array_of(good, one, good), [field.split(".")])
    assert [row.raw for row in rows] == [good, one, good]
    source = source_of(field, most)
    assert result_of(lambda: source.documents_of(rows)[1]) == said_of(source, slow)


@settings(max_examples=100)
@given(raws(), st.sampled_from(["text,a.b", "a.text.b,text,d", "d,text"]), st.sampled_from([3, 99]))
@example(bson.encode({"_id": 1, "text": "x", "a": {"b": None}}), "text,a.b", 99)
@example(bson.encode({"_id": 1, "a": [{"b": "x"}], "text": "y"}), "text,a.b", 99)
@example(bson.encode({"_id": 1, "a": {"b": ["x", "y"]}}), "text,a.b", 99)
@example(bson.encode({"_id": 1, "d": 5, "text": "x"}), "d,text", 99)
def test_several_fields_are_read_as_by_decoding_the_document(one, fields, most):
    slow = slow_row(one)
    if slow is None:
        return
    good = bson.encode({"_id": 0, "text": "good", "a": {"b": "too"}})
    source = source_of(fields, most)
    rows = raw_page(array_of(good, one, good), [name.split(".") for name in fields.split(",")])
    assert result_of(lambda: source.documents_of(rows)[1]) == said_of(source, slow)


@settings(max_examples=100)
@given(raws(), PATHS, TEXTS, st.booleans())
def test_a_kept_document_is_written_as_by_searching_its_text(one, field, text, same):
    if slow_row(one) is None:
        return
    page = raw_page(array_of(one), [field.split(".")])
    if not found_texts(page)[1].any():
        return
    (known,) = source_of(field).documents_of(page)
    rows = KeptRows(DocumentForm.WHOLE, field, Sketcher(()))
    text = known.content if same else text
    known = known if same else known.with_content(text)
    searched = Document(1, known.key, known.raw, text, as_read=same)
    kept = decisions_of([Kept(2**64 - 7, short=False)] * 2)
    written, other = rows.encode(Documents.of([known, searched]), kept, 3).list()
    assert written == other
    mark = {"fingerprint": signed(2**64 - 7), "run": 3}
    assert written.endswith(raw.fields({"dedup": mark}) + b"\0")


@pytest.mark.parametrize("damage", range(len(WHOLE) - 5))  # the driver refuses the last
def test_no_byte_of_a_document_can_be_changed_unseen(damage):
    source = source_of("text")
    for value in range(256):
        one = WHOLE[: 4 + damage] + bytes([value]) + WHOLE[5 + damage :]
        slow = slow_row(one)
        if slow is not None:
            page = raw_page(array_of(one), [["text"]])
            assert result_of(lambda page=page: source.documents_of(page)[0]) == said_of(
                source, slow
            )


@given(st.binary(max_size=6))
def test_other_fields_are_utf_8_if_python_decodes_them(data):
    one = raw.join_fields(
        raw.fields({"_id": 1, "text": "x"}), element(0x02, "other", counted(data))
    )
    texts, plain = found_texts(raw_page(array_of(one), [["text"]]))
    try:
        bson.decode(one)
    except BSONError:
        assert not plain[0]
    else:
        assert (texts.text(0), plain[0]) == ("x", True)


def test_a_reply_that_is_no_array_of_documents_is_an_error():
    with pytest.raises(ValueError, match="no array of documents"):
        raw_page(bytes_of(raw.join_fields(element(0x03, "0", b"\xff\0\0\0"))), [])


NEAR = st.builds(
    Duplicate,
    reason=st.just(Reason.NEAR),
    short=st.booleans(),
    pair=st.builds(
        Pair,
        of=IDS.map(lambda id_: raw.fields({"_id": id_})),
        distance=st.integers(0, 64),
        similarity=st.none() | st.floats(0, 1),
        found_by=st.sampled_from([("simhash",), ("minhash",), ("simhash", "minhash")]),
        differences=st.lists(
            st.builds(
                Difference,
                st.sampled_from(["inserted", "moved"]),
                st.sampled_from(["stem", "choice"]),
                UTF8,
                UTF8,
            ),
            max_size=3,
        ).map(tuple),
        richer=st.just(()) | st.just(("image",)),
        probability=st.none() | st.floats(0, 1),
    ),
)
MISSING = st.lists(st.just(raw.fields({"_id": 7})), max_size=2).map(tuple)
EXACT = NEAR.map(
    lambda found: Duplicate(Reason.EXACT, found.short, Pair(found.pair.of, 0, 1.0, ("text",)))
)
DROPPED = (
    NEAR
    | EXACT
    | st.builds(Skipped, st.sampled_from([Reason.EMPTY, Reason.MISSING, Reason.NOT_TEXT]))
    | st.builds(Quarantined, st.sampled_from([Reason.TOO_LARGE, Reason.UNDECODABLE]), UTF8)
)


@given(IDS, DROPPED, MISSING, st.integers(1, 2**40))
def test_a_ledger_row_is_what_encoding_its_values_gives(id_, decision, missing, run):
    is_text = isinstance(decision, Duplicate)
    content = "一段文字" if is_text else Skipped(Reason.EMPTY)
    document = Document(id_, raw.fields({"_id": id_}), b"", content)
    row = {"_id": id_, "decision": type(decision).__name__.lower(), "of": None}
    row |= {"distance": None, "similarity": None}
    pair = decision.pair if isinstance(decision, Duplicate) else None
    if pair:
        row |= {"of": id_keys.id_value(pair.of), "distance": pair.distance}
        row |= {"similarity": pair.similarity}
        row |= {} if pair.probability is None else {"probability": pair.probability}
    row |= {"found_by": list(pair.found_by) if pair else None}
    row |= {"reason": str(decision.reason), "run": run}
    if isinstance(decision, Quarantined):
        row["detail"] = decision.detail
    if pair and pair.differences:
        row["differences"] = [
            {"class": one.kind, "in": one.place, "of": one.of, "text": one.text}
            for one in pair.differences
        ]
    if pair and pair.richer:
        row["richer"] = list(pair.richer)
    if decision.reason == Reason.NEAR and missing:
        row["void"] = [7] * len(missing)
    if is_text:
        row["digest"] = signed(xxhash.xxh3_64_intdigest("一段文字".encode()))
    decided = decisions_of([decision], [(1, 0, missing)])
    (written,) = LedgerRows(Storing.NONE).encode(Documents.of([document]), decided, run).list()
    assert written == bson.encode(row)


DUPLICATE = Duplicate(Reason.NEAR, False, Pair(raw_bson.fields({"_id": 1}), 2, 0.9, ("simhash",)))


def document(raw, content="文"):
    return Document(id_keys.id_value(id_keys.id_key_in(raw)), id_keys.id_key_in(raw), raw, content)


def row_of(rows, one, decision, run):
    (row,) = rows.encode(Documents.of([one]), decisions_of([decision]), run).list()
    return row


def deep(levels):
    value = {"end": 1}
    for _ in range(levels):
        value = {"a": value}
    return value


ODD = {
    "deep": {"_id": 7, "text": "文", "more": deep(178)},
    "names": {"_id": 7, "text": "文", "more": {"$ref": 1, "x.y": 2, "": 3}},
    "large": {"_id": 7, "text": "文" * ((MAX_DOCUMENT_BYTES - 1000) // 3)},
}


@pytest.mark.parametrize("name", ODD)
def test_any_document_that_a_source_holds_fits_into_a_row(any_database, name):
    raw = bson.encode(ODD[name])
    any_database.source.insert_one(bson.raw_bson.RawBSONDocument(raw))
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
