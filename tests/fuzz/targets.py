"""What is tried with random inputs: documents, UTF-8, texts, arrays of files and of a batch."""

from __future__ import annotations

import functools
import random
import struct
import sys
from contextlib import suppress

import bson
import jieba
import numpy as np
import pytest

from dedup_job import _core
from dedup_job.cleaning import Cleaner
from dedup_job.cleaning.clean_batch import clean_batch
from dedup_job.demo import make_corpus
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from dedup_job.fingerprint.lexicon import NODE, Lexicon
from dedup_job.fingerprint.sketch import sentence_keys, sketch
from dedup_job.fingerprint.trie import build_trie
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.index.snapshot import SnapshotError
from dedup_job.judgment import form_tables, relations
from dedup_job.judgment.form_tables import FormTables
from dedup_job.mongo.bson.scan import END, KEY, KEY_END, START, TEXT, TEXT_END, find_fields
from dedup_job.mongo.reading import raw_page
from dedup_job.native.bytes_column import bytes_of, strings_of
from dedup_job.native.code_points import TextColumn, decoded, pack
from dedup_job.native.hashing import text_digest, text_digests
from tests.cleaning.pages import page
from tests.cleaning.test_properties import MARKS
from tests.index.test_look_up import CHANNELS, made
from tests.index.test_snapshot import sketched
from tests.judgment import forms
from tests.judgment.test_form import PIECES as FORM_PIECES
from tests.judgment.test_form import QUESTIONS
from tests.mongo.bson.test_edit import DEPRECATED
from tests.mongo.bson.test_scan import WHOLE, array_of, said_of, slow_row, source_of
from tests.reference.form import form_of
from tests.reference.recipe import PLAIN, naive_fingerprint
from tests.reference.sketch import naive_bins, naive_bits, naive_keys, naive_sentence_key
from tests.strings import NASTY, generated

LONGEST, SHORT = 3000, 200  # characters or bytes; characters of a text that plain versions take
KEPT, LINE = 120, 64  # documents of a snapshot; bytes of a cache line
NO_CHARACTERS = {"\ue000": 0x110000, "\ue001": 2**31, "\ue002": 2**32 - 1}  # what stands for them
EDGES = [*map(bytes.fromhex, ("80", "c1bf", "c280", "e0a080", "ed9fbf", "eda080", "f48fbfbf"))]
HEADS = [bytes([kind]) + name for kind in (2, 3, 4, 5) for name in (b"text\0", b"_id\0", b"a\0")]
LENGTHS = [struct.pack("<i", size) for size in (-1, 0, 1, 4, 5, 2**31 - 1, -(2**31))]
TAGS = [*MARKS.split(), *NO_CHARACTERS, "<ruby>", "<rt>", "<table><tr><td>", "<math>", "```\n"]
TAGS += ["<u>", "<li>", "<sup>", "<svg>", "<img src='", "data-latex='", "{a:b}", "\n", " "]
PIECES = [*NO_CHARACTERS, "。", "\n", "3.14%", "C++", "ＡＢ", "\ud800", "的", "数学"]
EDIT = struct.Struct("<BBHI")  # which array, what is done, place, value
VALUES = (0, 1, 2, 5, KEPT - 1, KEPT, KEPT + 1, 255, 512, 2**31, 2**32 - 2, 2**32 - 1)


def documents():
    nested = {"_id": bson.ObjectId(b"123456789012"), "a": {"b": "数", "text": {"b": "🙂"}}}
    ours = {"text": "x" * 40, "dedup": {"run": 3}, "_id": "k", "b": b"\0\1", "n": None}
    more = {"_id": 2.5, "text": ["x"], "l": [bson.Int64(5), True, bson.Timestamp(1, 2)]}
    deep = functools.reduce(lambda inner, _: {"a": [inner]}, range(40), {"_id": 3})
    return [WHOLE, *map(bson.encode, (nested, ours, more, {"_id": 3, "deep": deep}))]


def check_documents(batch):
    for one in batch:
        with suppress(ValueError):
            for row in find_fields(bytes_of(one), ["text"]).tolist():
                assert 4 < row[START] < row[END] < len(one)
                for first, last in ((KEY, KEY_END), (TEXT, TEXT_END)):
                    assert row[last] <= 0 or row[START] < row[first] < row[last] < row[END]
    framed = [struct.pack("<i", len(one)) + one[4:-1] + b"\0" for one in batch if len(one) > 5]
    slow = {one: row for one in framed if (row := slow_row(one))}
    for path in ("text", "a.b", "a.text.b"):
        source, rows = source_of(path), raw_page(array_of(*slow), path.split("."))
        for row, other in zip(rows, slow.values(), strict=True):
            assert (row.raw, said_of(source, row)) == (other.raw, said_of(source, other))


def check_utf8(batch):
    texts, valid = decoded(strings_of(batch))
    right = [one.decode(errors="replace") for one in batch]
    assert valid.tolist() == [a.encode() == b for a, b in zip(right, batch, strict=True)]
    right = [one for one, is_valid in zip(right, valid, strict=True) if is_valid]
    texts = texts.take(valid)
    assert texts.texts() == right
    assert texts.utf8().list() == [one.encode() for one in right]
    assert text_digests(*texts).tolist() == [text_digest(one) for one in right]
    numbers = np.frombuffer(b"".join(batch)[: 4 * LONGEST].ljust(4 * LONGEST), dtype=np.uint32)
    if numbers.max() > sys.maxunicode:
        with pytest.raises(ValueError, match="no character"):
            TextColumn(numbers, np.array([0, LONGEST])).utf8()


def any_numbers(batch):
    """Return texts together and alone; some characters stand for numbers that are none."""
    points, offsets = pack(batch)
    points = points.copy()
    for stands, number in NO_CHARACTERS.items():
        points[points == ord(stands)] = number
    texts = TextColumn(points, offsets)
    return texts, [texts.take(np.array([row])) for row in range(len(batch))]


@functools.cache
def real_texts():
    demo = [one["text"] for one in make_corpus(60) if isinstance(one.get("text"), str)]
    return [one[:LONGEST] for one in (*demo, *NASTY, *generated(200, seed=1))]


def check_cleaning(batch):
    cleaner, (texts, alone) = Cleaner(), any_numbers(batch)
    clean = cleaner.clean_all(batch)
    assert clean == [cleaner.clean(one) for one in batch]
    for html, read in ((True, False), (False, False), (False, True)):
        found = clean_batch(texts, html=html, read=read)
        for row, text in enumerate(alone):
            own = clean_batch(text, html=html, read=read)
            assert np.array_equal(found.points_of_row(row), own.texts.points)
            assert found.found[row] == own.found[0]


@functools.cache
def tables():
    return Fingerprinter(FingerprintSettings()).lexicon


def check_fingerprints(batch):
    texts, alone = any_numbers(batch)
    settings = PLAIN, {"top_k": 0, "weighting": "levels", "digits": False, "ngram": 2}
    plain, other = (Fingerprinter(FingerprintSettings(**s), lexicon=tables()) for s in settings)
    for call in (plain._core.fingerprint, other._core.fingerprint, _core.sketch):
        parts = zip(*(call(*text) for text in alone), strict=True)
        assert all(map(np.array_equal, call(*texts), map(np.concatenate, parts)))
    assert sentence_keys(pack(batch)).tolist() == [naive_sentence_key(one) for one in batch]
    short = [one[:SHORT] for one in batch[:12]]
    found, (keys, bits) = plain.fingerprint(short), sketch(pack(short))
    for row, text in enumerate(short):
        assert plain.tokens(text) == jieba.lcut(text)
        assert (found.values[row], found.short[row]) == naive_fingerprint(text)
        bins = naive_bins(text)
        assert (keys[row].tolist(), bits[row].tolist()) == (naive_keys(bins), naive_bits(bins))


def edits():
    """Return changes of one array or two, to values at the edges of what is right."""
    some = [EDIT.pack(i % 16, i % 5, i * 37 % 4000, VALUES[i % len(VALUES)]) for i in range(400)]
    return [b"", *some, *map(bytes.__add__, some, some[7:])]


def damaged(arrays, program):
    """Return copies, changed; each begins at a cache line."""
    copies = {}
    for name, array in arrays.items():
        room = np.empty(array.nbytes + LINE, dtype=np.uint8)
        copy = room[-room.ctypes.data % LINE :][: array.nbytes].view(array.dtype)
        copies[name] = copy.reshape(array.shape)
        copies[name][...] = array
    for which, how, place, value in EDIT.iter_unpack(program[: len(program) // 8 * 8]):
        array = copies[name := [*copies][which % len(copies)]]
        if how >= 250:
            copies[name] = array[: place % (len(array) + 1)]
            continue
        flat = array.reshape(-1).view(f"u{min(array.itemsize, 8)}")
        places = np.flatnonzero(flat) if how % 4 < 2 else np.arange(len(flat))  # most are 0
        if len(places):
            at = places[place % len(places)]
            former = int(flat[at]) + value % 5 - 2
            flat[at] = (former if how % 2 else value) % 2 ** (8 * flat.itemsize)
    return copies


def check_snapshots(batch):
    sound, texts = sketched(KEPT)
    facts, pieces = sound.sealed()
    arrays = {name: np.concatenate([*one.pieces]) for name, one in pieces}  # which adds facts
    for program in batch:
        index = KeptIndex(IndexSettings())
        try:
            index.load(facts, damaged(arrays, program))
        except SnapshotError:
            continue
        for _ in range(2):
            count = len(index)
            numbers = index.look_up(texts, np.zeros(KEPT, dtype=np.int64)).candidates.numbers
            assert ((numbers >= 0) & (numbers < count + KEPT)).all()
            assert (index.equal(texts) < count).all()
            assert len(index.near(texts[np.array([7])], 3)) <= count
            assert len(index.keys(range(count))) == count
            index.add([b"x"] * KEPT, texts, np.full(KEPT, 7, dtype=np.uint32))
        with suppress(ValueError):  # what packed columns hold is compared when it is read
            for _, one in index.sealed()[1]:
                list(one.pieces)


def check_lexicons(batch):
    words = ["数学", "数", "数学物理", "the", "The", "C++", "a.", "物理", "云计算"]
    words += ["数" + chr(0x4E00 + i) for i in range(0, 400, 9)]
    trie, _, n = build_trie(words, np.linspace(-9, -1, len(words)))
    few = tables()._asdict() | trie._asdict()
    few["nodes"] = np.zeros(n, dtype=NODE)
    few |= {name: np.zeros(n, dtype=np.bool_) for name in ("split", "names")}
    rest = {"constants": few.pop("constants")}
    texts = [*real_texts()[::40], "".join(words), "数学物理 the C++ a. 云计算 Ab1.5%"]
    for program in batch:
        with suppress(ValueError):
            one = Lexicon(**damaged(few, program), **rest)
            Fingerprinter(FingerprintSettings(), lexicon=one).fingerprint(texts)


def check_forms(batch):
    texts, alone = any_numbers(batch)
    judge = forms.judge()
    read, parts = judge.outlines(*texts), [judge.outlines(*text) for text in alone]
    found, each = judge.forms(read), [*map(judge.forms, parts)]
    assert found.points().tolist() == [point for one in each for point in one.points().tolist()]
    gist = TextColumn(*judge.gist(read, np.arange(len(read))))
    for row, (part, one) in enumerate(zip(parts, each, strict=True)):
        assert found.place(row)[2].tolist() == one.place(0)[2].tolist()
        assert np.array_equal(
            gist.take(np.array([row])).points, judge.gist(part, np.zeros(1, np.int64))[0]
        )
    short = [one[:SHORT] for one in batch[:12]]
    assert forms.forms_of(short) == [form_of(one) for one in short]


@functools.cache
def tables_of_forms():
    return form_tables.build_tables(tables().compiled(), len(tables().nodes))._asdict()


def check_form_tables(batch):
    texts = pack([*QUESTIONS, *real_texts()[::60]])
    for program in batch:
        with suppress(ValueError):
            known = FormTables(**damaged(tables_of_forms(), program)).compiled(tables().compiled())
            judge = _core.Judge(known, relations.packed())
            read, rows = judge.outlines(*texts), np.arange(len(texts.lengths))
            judge.gist(read, rows)
            judge.features(read, rows, read, rows[::-1].copy())


def check_rounds(batch):
    rows = [(0xABC ^ 1 << i % 4, i % 5 == 4, (i % 3, i % 2, 1, i % 4), i) for i in range(40)]
    texts, index = made(rows, CHANNELS["both"]), KeptIndex(IndexSettings())
    index.add([b"key"] * 9, texts[:9])
    found = index.look_up(texts, np.zeros(len(rows), dtype=np.int64))
    n, pairs = len(rows), np.arange(len(found.candidates.numbers))
    names = ("offsets", "numbers", "columns", "distances", "agreements")
    arrays = {name: getattr(found.candidates, name) for name in names}
    arrays |= {"rows": np.arange(n), "twins": np.full(n, -1), "alike": np.arange(n)}
    arrays |= {"verdicts": (pairs % 4).astype(np.uint8), "cost": pairs / 7, "voids": pairs < 0}
    arrays |= {
        "places": np.arange(n) % 7,
        "beats": np.arange(n) % 2 > 0,
        "pair_beats": pairs % 3 > 0,
    }
    arrays |= {"replaced": np.arange(n), "by": np.arange(n)}
    arrays |= {"state": np.zeros(n, np.uint8), "chosen": np.arange(n), "totals": np.arange(n)}
    for program in batch:
        given, most = damaged(arrays, program), len(program) // 8
        with suppress(ValueError):
            needed = _core.decide(found.turns, found.held, **given, most=most, by_distance=True)
            assert (given["verdicts"][needed] == 0).all()
            assert (given["state"][given["rows"]] <= 3).all()


TARGETS = {  # what has to hold of a batch, inputs to begin with, words of the format
    "bson": (check_documents, documents, [*DEPRECATED.values(), *HEADS, *LENGTHS, *EDGES]),
    "utf-8": (check_utf8, documents, EDGES),
    "cleaning": (check_cleaning, lambda: [*map(page, map(random.Random, range(300)))], TAGS),
    "fingerprints": (check_fingerprints, real_texts, PIECES),
    "snapshots": (check_snapshots, edits, edits()[1:]),
    "lexicons": (check_lexicons, edits, edits()[1:]),
    "forms": (check_forms, lambda: [*QUESTIONS, *real_texts()], [*FORM_PIECES, *NO_CHARACTERS]),
    "form tables": (check_form_tables, edits, edits()[1:]),
    "rounds": (check_rounds, edits, edits()[1:]),
}
