"""Targets of random inputs: documents, UTF-8, texts."""

import functools
import struct
from contextlib import suppress
from functools import partial

import bson
import jieba
import numpy as np

from dedup_job import _core
from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.demo import make_corpus
from dedup_job.documents import Channel
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, Sketcher, load_lexicon
from dedup_job.mongo.reading import END, KEY, KEY_END, START, TEXT, TEXT_END, find_fields, raw_page
from dedup_job.native.bytes_column import bytes_of, pack, strings_of
from tests.cleaning.test_golden import PAGES
from tests.cleaning.test_markup import MARKS
from tests.judgment import forms
from tests.judgment.test_form import PIECES as FORM_PIECES
from tests.judgment.test_form import QUESTIONS
from tests.mongo.test_raw_bson import DEPRECATED
from tests.mongo.test_scan import (
    WHOLE,
    array_of,
    check_characters,
    result_of,
    said_of,
    slow_row,
    source_of,
)
from tests.reference.recipe import PLAIN, naive_fingerprint
from tests.reference.sketch import naive_bins, naive_bits, naive_keys, naive_sentence_key
from tests.strings import NASTY, generated

LONGEST, SHORT = 3000, 200  # characters or bytes; characters of a text that plain versions take
EDGES = [*map(bytes.fromhex, ("80", "c1bf", "c280", "e0a080", "ed9fbf", "eda080", "f48fbfbf"))]
HEADS = [bytes([kind]) + name for kind in (2, 3, 4, 5) for name in (b"text\0", b"_id\0", b"a\0")]
LENGTHS = [struct.pack("<i", size) for size in (-1, 0, 1, 4, 5, 2**31 - 1, -(2**31))]
TAGS = [*MARKS.split(), "<ruby>", "<rt>", "<table><tr><td>", "<math>", "```\n"]
TAGS += ["<u>", "<li>", "<sup>", "<svg>", "<img src='", "data-latex='", "{a:b}", "\n", " "]
PIECES = ["。", "\n", "3.14%", "C++", "ＡＢ", "\ud800", "的", "数学"]


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
        source, rows = source_of(path), raw_page(array_of(*slow), [path.split(".")])
        for number, expected in enumerate(slow.values()):
            row = rows[number : number + 1]
            read = partial(lambda source, row: source.documents_of(row)[0], source, row)
            assert result_of(read) == said_of(source, expected)


def check_utf8(batch):
    check_characters(batch)
    strings, judge = strings_of(batch), forms.judge().core
    for call in (
        partial(plain()._lexicon.fingerprint, options=plain()._options),
        partial(_core.sketch, judge=judge, minhash=True, sentences=True, whole=True),
        partial(_core.sketch, judge=None, minhash=True, sentences=True, whole=True),
        partial(Cleaner()._core.clean, drop_rules=lambda a, _: a),
    ):
        with suppress(ValueError):  # "text 3 is not UTF-8"
            call(strings)


def each_alone(batch):
    """Return a column of the texts of a batch, and a column for each of them alone."""
    texts = pack(batch)
    return texts, [texts.take(np.array([row])) for row in range(len(batch))]


@functools.cache
def real_texts():
    demo = [one["text"] for one in make_corpus(60) if isinstance(one.get("text"), str)]
    return [one[:LONGEST] for one in (*demo, *NASTY, *generated(200, seed=1))]


def check_cleaning(batch):
    for html in ("auto", "never"):
        cleaner = Cleaner(CleaningSettings(html=html, cut_at=("数", "}")))
        clean, cut, same, _ = cleaner.cleaned(pack(batch))
        alone = [cleaner.cleaned(pack([one])) for one in batch]
        assert clean.texts() == [one.texts.text(0) for one in alone]
        assert cut.tolist() == [int(one.cut[0]) for one in alone]
        assert same.tolist() == [a == b for a, b in zip(clean.texts(), batch, strict=True)]


@functools.cache
def plain():
    return Fingerprinter(FingerprintSettings(**PLAIN), load_lexicon(print))


@functools.cache
def uniform():
    settings = FingerprintSettings(top_k=0, weighting="uniform", ngram=2)
    return Fingerprinter(settings, load_lexicon(print))


def check_fingerprints(batch):
    texts, alone = each_alone(batch)
    sketcher = Sketcher([Channel.MINHASH, Channel.SENTENCES])
    for one in (plain(), uniform()):
        rows = np.concatenate([one.fingerprint(text).rows for text in alone])
        assert np.array_equal(one.fingerprint(texts).rows, rows)
    made = sketcher.sketch(texts)
    assert made.keys.tolist() == [sketcher.sketch(text).keys[0].tolist() for text in alone]
    assert made.keys[:, -1].tolist() == [naive_sentence_key(one) for one in batch]
    short = [one[:SHORT] for one in batch[:12]]
    found, made = plain().fingerprint(short), sketcher.sketch(pack(short))
    for row, text in enumerate(short):
        assert [*plain().explain(text).tokens] == jieba.lcut(text)
        assert (found.values[row], found.short[row]) == naive_fingerprint(text)
        bins = naive_bins(text)
        assert made.keys[row, :-1].tolist() == naive_keys(bins)
        assert made.bits[row].tolist() == naive_bits(bins)


def check_forms(batch):
    judge, rows = forms.judge(), np.arange(len(batch))
    read, partners = judge.parsed(batch), (rows + 1) % len(batch)
    found, named = judge.explain((read, rows, read, partners))
    keys = forms.sketched(batch, judge.core)
    for row, partner in zip(rows.tolist(), partners.tolist(), strict=True):
        assert forms.sketched([batch[row]], judge.core) == [keys[row]]
        alone, its = judge.explain(([batch[row]], rows[:1], [batch[partner]], rows[:1]))
        forms.check_equal(alone, found[[row]])
        assert its == [named[row]]
    forms.check([one[:SHORT] for one in batch[:12]])


TARGETS = {  # a check of a batch, inputs to begin with, words of the format
    "bson": (check_documents, documents, [*DEPRECATED.values(), *HEADS, *LENGTHS, *EDGES]),
    "utf-8": (check_utf8, documents, EDGES),
    "cleaning": (check_cleaning, lambda: PAGES, TAGS),
    "fingerprints": (check_fingerprints, real_texts, PIECES),
    "forms": (check_forms, lambda: [*QUESTIONS, *real_texts()], FORM_PIECES),
}
