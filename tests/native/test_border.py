"""Compiled code checks its arguments: TypeError or ValueError, never a crash."""

from contextlib import suppress

import bson
import numpy as np
import pytest

from dedup_job import _core
from dedup_job.cleaning import Cleaner
from dedup_job.fingerprint import load_lexicon
from dedup_job.native.bytes_column import BytesColumn, strings_of
from tests.judging import judge_for

STRINGS = strings_of([b"ab", "数学题".encode(), b"", b"c" * 40])
ROWS = np.arange(4, dtype=np.int64)
IDS = strings_of([b"\x10_id\0" + bytes([n, 0, 0, 0]) for n in range(4)])
PRINTS = (np.zeros(4 * 24, np.uint8), np.ones((4, 2), np.uint32), np.ones((4, 2), np.uint64))
REPLY = np.frombuffer(bson.encode({"0": {"_id": 1, "a": "x"}}), np.uint8)


def index():
    made = _core.Index(3, True, (128, 16, 1))
    made.add(IDS, PRINTS, {})
    return made


def dump(made):
    arrays = {}
    facts = made.dump(0, lambda name, array: arrays.update({name: array.copy()}))
    return facts, arrays


def decider(made):
    rules = {"similarity": 1.0, "most_candidates": 64, "threads": 1, "part": 100, "memory": 1000}
    return _core.Decider(made, None, judging=_core.JUDGINGS.index("none"), **rules)


def no_texts(_):
    return np.empty(0, np.int64), strings_of([])


def calls():
    """Return each entry point over arrays, with valid arguments."""
    judge, kept = judge_for().core, index()
    *_, read = _core.sketch(STRINGS, judge)
    pairs = read, ROWS, read, ROWS[::-1].copy()
    lengths = np.array([2, 3, 0, 40], dtype=np.int64)
    channels = np.zeros(2, np.uint8)
    batch = IDS, STRINGS, lengths, PRINTS, channels, None, None, no_texts, None, None, 0
    sizes = {"minhash": True, "sentences": True, "whole": True}
    lexicon = load_lexicon(lambda _: None)
    options = 0, 2, False, 3
    words, floats = strings_of([b"a", b"bc"]), np.zeros(2)
    return {
        "copy_strings": (_core.copy_strings, STRINGS, np.zeros(80, np.uint8), ROWS * 10),
        "find_fields": (lambda array: _core.find_fields(array, ["a"]), REPLY),
        "build_lexicon": (lambda *a: _core.build_lexicon(*a, 1.0), words, floats, floats),
        "find": (lexicon.find, STRINGS),
        "fingerprint": (lambda a: lexicon.fingerprint(a, options), STRINGS),
        "sketch": (lambda a, b: _core.sketch(a, b, **sizes), STRINGS, judge),
        "clean": (lambda a: Cleaner()._core.clean(a, lambda text, _: text), STRINGS),
        "add": (lambda *a: index().add(*a, {}), IDS, PRINTS),
        "find documents": (kept.find, PRINTS),
        "find_ids": (kept.find_ids, IDS),
        "documents": (kept.documents, ROWS),
        "set_gone": (lambda a: index().set_gone(a, True), IDS),
        "decide": (lambda *a: decider(index()).decide(*a, *batch[5:]), *batch[:5]),
        "compare": (judge.compare, *pairs),
        "explain": (judge.explain, *pairs),
        "richness": (judge.richness, read),
    }


NAMES = [*calls()]


def of_another_type(argument):
    """Yield an object, and the argument with each array of another type or no array."""
    yield object()
    if isinstance(argument, tuple):
        yield from replaced_one(argument, of_another_type)
    elif isinstance(argument, np.ndarray):
        yield argument.astype(np.float32)
        yield argument.astype(">i4")
        yield argument[..., None]
        yield argument.tolist()


def out_of_bounds(argument):
    """Yield columns of strings outside their data, and arrays of another length."""
    if isinstance(argument, np.ndarray):
        yield argument[:-1]
        yield np.concatenate([argument, argument])
    elif isinstance(argument, BytesColumn):
        for shift in (-1, 1 << 40, -(1 << 62), (1 << 63) - 1):
            yield argument._replace(starts=argument.starts + shift)
            yield argument._replace(lengths=argument.lengths + shift)
        yield argument._replace(lengths=argument.lengths[:-1])
        yield argument.take(slice(3))
    elif isinstance(argument, tuple):
        yield from replaced_one(argument, out_of_bounds)


def replaced_one(values, variants):
    """Yield tuples with one value replaced by each of its variants."""
    for i, value in enumerate(values):
        for variant in variants(value):
            yield (*values[:i], variant, *values[i + 1 :])


@pytest.mark.parametrize("name", NAMES)
def test_valid_arguments_are_taken(name):
    function, *arguments = calls()[name]
    function(*arguments)


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_of_another_type_is_refused(name):
    function, *arguments = calls()[name]
    for variant in replaced_one(tuple(arguments), of_another_type):
        with pytest.raises((TypeError, ValueError)):
            function(*variant)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_that_do_not_fit_each_other_never_crash(name):
    function, *arguments = calls()[name]
    for variant in replaced_one(tuple(arguments), out_of_bounds):
        with suppress(TypeError, ValueError):
            function(*variant)


KEPT = dump(index())


@pytest.mark.parametrize("name", sorted(KEPT[1]))
def test_arrays_of_a_file_that_do_not_fit_are_refused(name):
    facts, arrays = KEPT
    for wrong in (None, arrays[name].astype(np.float32), arrays[name][None]):
        with pytest.raises((TypeError, ValueError)):
            index().load(facts, {**arrays, name: wrong})
    with pytest.raises(ValueError):
        index().load(facts, {key: array for key, array in arrays.items() if key != name})


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: _core.sketch(STRINGS._replace(lengths=ROWS[:3]), None), "as many lengths"),
        (lambda: _core.copy_strings(STRINGS, np.zeros(5, np.uint8), ROWS), "does not fit"),
        (lambda: _core.copy_strings(STRINGS, np.zeros(80, np.uint8), ROWS[:2]), "as many offsets"),
        (lambda: index().add(IDS.take(slice(2)), PRINTS, {}), "as many ids"),
        (lambda: index().find((PRINTS[0][:-1], *PRINTS[1:])), "no row of records"),
        (lambda: index().find((PRINTS[0], PRINTS[1][:3], PRINTS[2])), "as many keys"),
        (lambda: index().find((PRINTS[0], np.ones((4, 33), np.uint32), PRINTS[2])), "32 keys"),
        (lambda: index().documents(np.array([4])), "not number 4"),
        (lambda: _core.sketch(strings_of([b"\xff"]), judge_for().core), "not UTF-8"),
        (lambda: _core.find_fields(np.zeros(3, np.uint8), ["a"]), "no array of documents"),
    ],
)
def test_the_message_names_the_misfit(call, why):
    with pytest.raises((ValueError, IndexError), match=why):
        call()
