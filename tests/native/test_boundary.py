"""Every entry point of the compiled core refuses what it cannot work with, in words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dedup_job import _core
from dedup_job.native.growable_array import GrowableArray
from tests.cleaning.test_core import TABLES

Arguments = dict[str, Any]
PLANE = 1 << 16


def array(kind: str, *values: Any) -> np.ndarray:
    return np.array(values, dtype=kind)


def chunks(count: int) -> np.ndarray:
    return GrowableArray(count, 16, np.uint32).array[:count]


def texts() -> Arguments:
    return {"points": array("u4", *map(ord, "ab一")), "offsets": array("i8", 0, 2, 3)}


def strings(prefix: str = "") -> Arguments:
    columns = array("u1", 97, 98, 99), array("i8", 0, 2), array("i8", 2, 1)
    return {
        prefix + name: one for name, one in zip(("data", "starts", "lengths"), columns, strict=True)
    }


def near() -> Arguments:
    return {"blocks": [(0, 4, 1), (4, 4, 0)], "distance": 2}


def filled_near() -> tuple[_core.HammingIndex, Arguments]:
    index = _core.HammingIndex(**near())
    held = {"pool": chunks(40), "fingerprints": array("u8", 1, 1, 2)}
    index.insert(**held, searchable=np.ones(3, np.bool_), stop=3)
    return index, held


def growing() -> Arguments:
    buckets = GrowableArray(4, 64, np.uint32).array[:4]
    return {"buckets": buckets, "slots": np.zeros(8, np.uint64), "number_bits": 4}


def bands() -> Arguments:
    return {"columns": [_core.GrowingColumn(**growing()) for _ in range(2)], "size": 0}


def rows(kind: str = "u4") -> np.ndarray:
    return np.array([[1, 2], [1, 3]], dtype=kind)


def filled_bands() -> _core.BandIndex:
    index = _core.BandIndex(**bands())
    index.insert(rows(), array("u4", 3, 3), 0, np.zeros(2, np.int64))
    return index


def packing() -> Arguments:
    forms = {"sources": [filled_bands()], "column": 1, "address_bits": 3, "number_bits": 2}
    return forms | {"starts": np.zeros(9, np.uint32), "words": np.zeros(2, np.uint64)}


def packed() -> Arguments:
    made = packing()
    _core.pack(**made)
    names = "starts", "words", "address_bits", "number_bits"
    return {name: made[name] for name in names} | {"size": 2}


def part(kept: int = 0) -> tuple[np.ndarray, ...]:
    """Return candidates of two texts: the first has one, by a key."""
    kinds = zip(["i4", "u1", "u1", "u8"], (1, 0, 0, 5), strict=True)
    columns = [np.array([value], dtype=kind.replace("i4", "u4")) for kind, value in kinds]
    return array("i8", 0, 1, 1), array("i8", kept), *columns


def batch() -> Arguments:
    return {
        "values": array("u8", 1, 2),
        "is_short": np.zeros(2, np.bool_),
        "keys": rows(),
        "bits": np.zeros((2, 2), np.uint64),
        "least": np.zeros(2, np.int64),
    }


def in_batch() -> Arguments:
    given = {"found": part(), "held": part(), "twins": np.zeros(2, np.int64), **batch()}
    return given | {"limits": (2, 9, 9), "count": 5, "distance": 3}


def visibility() -> _core.BatchVisibility:
    return _core.look_up_in_batch(**in_batch())[1]


def search() -> Arguments:
    index, held = filled_near()
    kept_bits = np.zeros((3, 2), np.uint64)
    given = {"near": index, **held, "sharing": filled_bands(), "kept_bits": kept_bits, **batch()}
    return given | {"most_same": 9}


def deciding() -> Arguments:
    offsets, numbers, columns, distances, agreements, _ = part()
    pairs = {
        "numbers": numbers,
        "columns": columns,
        "distances": distances,
        "agreements": agreements,
    }
    of_texts = {"twins": array("i8", -1, -1), "alike": array("i8", 0, 1)}
    of_texts |= {"places": array("i8", 0, 1), "beats": np.zeros(2, np.bool_)}
    of_pairs = {"verdicts": array("u1", 1), "cost": array("f8", 0.5)}
    of_pairs |= {"pair_beats": np.zeros(1, np.bool_)}
    options = {"held": 1, "most": 9, "by_distance": True, "rows": array("i8", 0, 1)}
    outcome = {
        "state": np.zeros(2, np.uint8),
        "chosen": np.zeros(2, np.int64),
        "totals": np.zeros(2, np.int64),
        "replaced": np.zeros(2, np.int64),
        "by": np.zeros(2, np.int64),
        "voids": np.zeros(1, np.bool_),
    }
    start = {"visibility": visibility(), "offsets": offsets}
    return {**start, **pairs, **of_texts, **of_pairs, **options, **outcome}


def entry(node: int, *, shift: int = 16, slot: int = 0, used: int = 0) -> int:
    """Return the second half of an entry of a trie."""
    return node | shift << 24 | slot << 32 | used << 56


def lexicon() -> Arguments:
    count, word = 2, 16  # nodes; bytes of a word
    first = np.full(PLANE, -1, np.int32)
    first[0x4E00] = 0
    return {
        "first": first,
        "characters": np.full(count + 8, 0x4E01, np.uint16),
        "entries": array("u8", 0, entry(0, slot=1, used=1), 0, entry(1)),
        "words": np.zeros(count, "f8,u8").view(np.uint8).reshape(count * word),
        "classes": np.zeros(PLANE, np.uint8),
        "pairs": np.zeros(128 * 128, np.bool_),
        "emission": np.zeros(4 * (0x9FD5 - 0x4E00 + 1)),
        "start": np.zeros(4),
        "transition": np.zeros(16),
        "unknown": -1.0,
        "median": 1.0,
    }


def fingerprinter() -> Arguments:
    options = {"top_k": 9, "min_features": 1, "weighting": 0}
    return {"lexicon": _core.Lexicon(**lexicon()), **options, "ngram": 2}


def form_tables() -> Arguments:
    count, nodes = PLANE + 0x400, 2  # folded characters; nodes of the lexicon
    return {
        "lexicon": _core.Lexicon(**lexicon()),
        "folded": np.arange(count, dtype=np.uint32),
        "folded_offsets": np.arange(count + 1),
        "scripts": np.zeros(count, np.uint32),
        "classes": np.isin(np.arange(PLANE), [*b" \n"]).astype(np.uint8),
        "proper": np.zeros(nodes, np.uint8),
        "weights": np.zeros(nodes, np.float32),
        "phrases": array("u4", *map(ord, "abc")),
        "phrase_offsets": array("i8", 0, 2, 3),
        "phrase_kinds": array("u2", 1, 2),
        "words": array("u4", *map(ord, "ab")),
        "word_offsets": array("i8", 0, 2),
        "word_flags": array("u4", 4),
        "word_numbers": array("u4", 1),
        "negating": array("u4", ord("不")),
    }


def relations() -> Arguments:
    return {
        "opposites": array("u8", 3, 5),
        "opposite_groups": array("u4", 0, 0),
        "alike": array("u8", 7, 8),
        "alike_groups": array("u4", 1, 1),
        "spellings": array("u8", 9),
        "uses": array("u1", 1),
        "points": array("u4", ord("m")),
        "offsets": array("i8", 0, 1),
        "longest_unit": 2,
        "unit_starts": array("u4", ord("米")),
    }


def model() -> Arguments:
    return {
        "feature": array("i4", 1, -1, -1),
        "threshold": array("f8", 0.5, 0, 0),
        "left": array("i4", 1, 0, 0),
        "right": array("i4", 2, 0, 0),
        "value": array("f8", 0, -1, 1),
        "roots": array("i4", 0),
        "scores": array("f8", -1, 1),
        "probabilities": array("f8", 0.1, 0.9),
    }


def judge() -> _core.Judge:
    return _core.Judge(_core.FormTables(**form_tables()), _core.Relations(**relations()))


def forms() -> _core.Forms:
    return judge().forms(judge().outlines(**texts()))


def pairs() -> Arguments:
    read = judge().outlines(**texts())
    rows = array("i8", 0, 1, 1)
    return {"one": read, "rows": rows, "other": read, "other_rows": rows[::-1].copy()}


def gist_of(**given: Any) -> Any:
    read = judge().outlines(**given)
    return judge().gist(read, np.arange(len(read)))


def trie() -> Arguments:
    return texts() | {"probabilities": array("f8", -1, -2)}


def cleaner() -> Arguments:
    return dict(TABLES)


def page() -> np.ndarray:
    """Return a BSON array of one document, `{"_id": 1}`."""
    document = b"\x0e\0\0\0\x10_id\0\x01\0\0\0\0"
    whole = b"\x030\0" + document + b"\0"
    return np.frombuffer((len(whole) + 4).to_bytes(4, "little") + whole, dtype=np.uint8)


def plain(point: Any, arguments: Callable[[], Arguments]) -> Callable[[], tuple[Any, Arguments]]:
    return lambda: (point, arguments())


def of(make: Callable[[], Any], name: str, arguments: Callable[[], Arguments]) -> Any:
    return lambda: (getattr(make(), name), arguments())


def table() -> Arguments:
    return {"table": array("u4", 0, 0, 0, 0), "digests": array("u8", 1, 2), "start": 0, "stop": 2}


def full_table() -> Arguments:
    made = table()
    _core.equal_insert(**made)
    return {name: made[name] for name in ("table", "digests")}


# By name: what returns a callable and arguments that it takes.
GOOD: dict[str, Callable[[], tuple[Any, Arguments]]] = {
    "digests": plain(_core.digests, texts),
    "hash_words": plain(_core.hash_words, texts),
    "hash_strings": plain(_core.hash_strings, strings),
    "count_characters": plain(_core.count_characters, strings),
    "decode": plain(_core.decode, strings),
    "encode": plain(_core.encode, texts),
    "copy_strings": plain(
        _core.copy_strings,
        lambda: strings() | {"to": np.zeros(9, np.uint8), "at": array("i8", 4, 0)},
    ),
    "equal_strings": plain(_core.equal_strings, lambda: strings() | strings("other_")),
    "find_fields": plain(_core.find_fields, lambda: {"array": page(), "path": ["text"]}),
    "Lexicon": plain(_core.Lexicon, lexicon),
    "Lexicon.find": of(lambda: _core.Lexicon(**lexicon()), "find", texts),
    "Fingerprinter": plain(_core.Fingerprinter, fingerprinter),
    "Fingerprinter.fingerprint": of(
        lambda: _core.Fingerprinter(**fingerprinter()), "fingerprint", texts
    ),
    "Fingerprinter.explain": of(
        lambda: _core.Fingerprinter(**fingerprinter()),
        "explain",
        lambda: {"points": texts()["points"]},
    ),
    "simhash": plain(
        _core.simhash,
        lambda: {
            "hashes": array("u8", 1, 2),
            "weights": array("f8", 1, 2),
            "offsets": array("i8", 0, 2),
        },
    ),
    "build_trie": plain(_core.build_trie, trie),
    "sketch": plain(_core.sketch, texts),
    "bins": plain(_core.bins, lambda: {"points": texts()["points"]}),
    "sentence_keys": plain(
        _core.sentence_keys,
        lambda: (
            texts() | {"folded": np.zeros(PLANE, np.uint16), "kinds": np.zeros(PLANE, np.uint8)}
        ),
    ),
    "Cleaner": plain(_core.Cleaner, cleaner),
    "Cleaner.clean": of(
        lambda: _core.Cleaner(**cleaner()), "clean", lambda: texts() | {"html": True, "read": False}
    ),
    "Cleaner.clean_utf8": of(
        lambda: _core.Cleaner(**cleaner()),
        "clean_utf8",
        lambda: strings() | {"characters": 3, "longest": 2, "html": True},
    ),
    "HammingIndex": plain(_core.HammingIndex, near),
    "HammingIndex.insert": of(
        lambda: _core.HammingIndex(**near()),
        "insert",
        lambda: {
            "pool": chunks(40),
            "fingerprints": array("u8", 1, 2),
            "searchable": np.ones(2, np.bool_),
            "stop": 2,
        },
    ),
    "HammingIndex.search": lambda: (
        (made := filled_near())[0].search,
        made[1] | {"queries": array("u8", 1), "most_equal": 0},
    ),
    "HammingIndex.load": of(
        lambda: _core.HammingIndex(**near()),
        "load",
        lambda: {
            "pool": chunks(40),
            "fingerprints": array("u8", 1, 2),
            "searchable": np.ones(2, np.bool_),
            "repeats": np.zeros((0, 2), np.uint32),
        },
    ),
    "HammingIndex.repeats": of(lambda: filled_near()[0], "repeats", dict),
    "HammingIndex.flips": of(lambda: filled_near()[0], "flips", lambda: {"block": 1}),
    "GrowingColumn": plain(_core.GrowingColumn, growing),
    "GrowingColumn.take": of(
        lambda: _core.GrowingColumn(**growing()),
        "take",
        lambda: {"other": filled_bands().columns[0]},
    ),
    "PackedColumn": plain(_core.PackedColumn, packed),
    "BandIndex": plain(_core.BandIndex, bands),
    "BandIndex.search": of(filled_bands, "search", lambda: {"keys": rows()}),
    "BandIndex.insert": of(
        lambda: _core.BandIndex(**bands()),
        "insert",
        lambda: {
            "keys": rows(),
            "stored": array("u4", 3, 3),
            "most_equal": 0,
            "dropped": np.zeros(2, np.int64),
        },
    ),
    "BandIndex.column": of(filled_bands, "column", lambda: {"column": 1}),
    "BatchVisibility.keep": of(visibility, "keep", lambda: {"row": 1}),
    "BatchVisibility.store_columns": of(
        visibility, "store_columns", lambda: {"kept": np.ones(2, np.bool_)}
    ),
    "BatchVisibility.count_unseen": of(visibility, "count_unseen", dict),
    "pairs_within": plain(
        _core.pairs_within,
        lambda: {
            "fingerprints": array("u8", 1, 2),
            "is_short": np.zeros(2, np.bool_),
            "distance": 3,
        },
    ),
    "lanes_say": plain(
        _core.lanes_say,
        lambda: {"pool": chunks(2), "check": 1, "limit": 3, "fingerprints": array("u8", 1)},
    ),
    "pack": plain(_core.pack, packing),
    "pairs_sharing": plain(_core.pairs_sharing, lambda: {"keys": rows()}),
    "count_meetings": plain(_core.count_meetings, lambda: {"keys": rows(), "every": 1}),
    "equal_insert": plain(_core.equal_insert, table),
    "equal_find": plain(
        _core.equal_find,
        lambda: (
            full_table()
            | {
                "fingerprints": array("u8", 5, 6),
                "values": array("u8", 5, 9, 9),
                "sought": array("u8", 1, 2, 7),
            }
        ),
    ),
    "find": plain(_core.find, search),
    "limit": plain(
        _core.limit,
        lambda: {
            "parts": [part(), part(3)],
            "least": np.zeros(2, np.int64),
            "most_equal": 1,
            "most_same": 1,
        },
    ),
    "look_up_in_batch": plain(_core.look_up_in_batch, in_batch),
    "decide": plain(_core.decide, deciding),
    "FormTables": plain(_core.FormTables, form_tables),
    "Relations": plain(_core.Relations, relations),
    "Model": plain(_core.Model, model),
    "Model.evaluate": of(
        lambda: _core.Model(**model()),
        "evaluate",
        lambda: {"features": np.zeros(2 * len(_core.FEATURES))},
    ),
    "Model.weigh": of(
        lambda: _core.Model(**model()),
        "weigh",
        lambda: {"features": np.zeros(len(_core.FEATURES))},
    ),
    "Judge": plain(
        _core.Judge,
        lambda: {
            "tables": _core.FormTables(**form_tables()),
            "relations": _core.Relations(**relations()),
        },
    ),
    "Judge.outlines": lambda: (gist_of, texts()),
    "Judge.richness": of(judge, "richness", lambda: {"outlines": judge().outlines(**texts())}),
    "Judge.gist": of(
        judge, "gist", lambda: {"outlines": judge().outlines(**texts()), "rows": array("i8", 1, 0)}
    ),
    "Judge.forms": lambda: (
        lambda **given: judge().forms(**given).points(),
        {"outlines": judge().outlines(**texts())},
    ),
    "Judge.features": of(judge, "features", pairs),
    "Judge.judge": of(
        judge, "judge", lambda: {"model": _core.Model(**model()), "stop": 1, **pairs()}
    ),
    "Judge.likely": of(
        judge,
        "likely",
        lambda: {"model": _core.Model(**model()), "confidence": 0.5, "stop": 1, **pairs()},
    ),
    "Judge.differences": of(judge, "differences", pairs),
    "jaccard": plain(
        _core.jaccard,
        lambda: {
            **texts(),
            "rows": array("i8", 0, 1),
            "other_points": texts()["points"],
            "other_offsets": texts()["offsets"],
            "other_rows": array("i8", 1, 1),
        },
    ),
    "Forms.place": of(forms, "place", lambda: {"row": 1}),
    "Forms.points": of(forms, "points", dict),
    "Forms.tokens": of(forms, "tokens", dict),
}
NOT_MADE = {"BatchVisibility", "Outlines", "Forms"}  # classes without a constructor
MAY_BE_NONE = {("find", "near"), ("find", "pool"), ("find", "sharing"), ("find", "keys")}
MAY_BE_NONE |= {("look_up_in_batch", "keys")}
OF_STRINGS = (
    *("count_characters", "decode", "hash_strings", "copy_strings", "equal_strings"),
    "Cleaner.clean_utf8",
)
WITH_GAPS = {"starts", "lengths", "other_starts", "other_lengths"}
WRITTEN = {
    ("copy_strings", "to"),
    ("GrowingColumn", "buckets"),
    ("GrowingColumn", "slots"),
    ("BandIndex.insert", "dropped"),
    ("HammingIndex.insert", "pool"),
    ("pack", "starts"),
    ("pack", "words"),
    ("equal_insert", "table"),
    *(("decide", name) for name in ("state", "chosen", "totals", "replaced", "by", "voids")),
}


def entry_points() -> set[str]:
    names = set()
    for name, one in vars(_core).items():
        if name.startswith("__") or isinstance(one, tuple):  # names
            continue
        if not inspect.isclass(one):
            names.add(name)
            continue
        names |= {name} - NOT_MADE
        own = vars(one).items()
        names |= {f"{name}.{method}" for method, what in own if callable(what) and method[0] != "_"}
    return names


def test_every_entry_point_has_a_row():
    assert set(GOOD) == entry_points()


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_is_taken(name):
    call, arguments = GOOD[name]()
    call(**arguments)


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def bad_arrays(good: np.ndarray, has_gaps: bool) -> Iterator[tuple[str, Any]]:
    """Yield what is no array of this type and form."""
    other = np.int16 if good.dtype != np.int16 else np.int32
    for kind in (other, np.float32, np.complex128, np.object_, ">i8", "M8[s]", "S4", "U4", "i4,i4"):
        if np.dtype(kind) != good.dtype:
            yield f"type {kind}", np.zeros(good.shape, dtype=kind)
    if good.dtype.itemsize > 1:
        yield "byte order", good.astype(good.dtype.newbyteorder())
        raw = np.zeros(good.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(good.tobytes(), np.uint8)
        if good.size > 1:
            yield "alignment", raw[1:].view(good.dtype).reshape(good.shape)
    yield "signed", good.astype(f"{'i' if good.dtype.kind == 'u' else 'u'}{good.dtype.itemsize}")
    yield "dimension more", good[np.newaxis]
    yield "dimension less", good.reshape(-1) if good.ndim > 1 else good.reshape(-1)[:1].reshape(())
    if good.shape[0] > 1 and not has_gaps:
        yield "gaps", np.repeat(good, 2, axis=0)[::2]
        yield "backwards", good[::-1].copy()[::-1]
        yield (
            "no strides",
            np.broadcast_to(good.reshape(-1)[:1], good.shape[:1]) if good.ndim == 1 else good.T,
        )
    if good.ndim > 1 and min(good.shape) > 1:
        yield "Fortran order", np.asfortranarray(good)
    yield "list", good.tolist()
    yield "None", None
    yield "number", 3
    yield "text", "abc"
    if good.dtype != np.uint8:
        yield "bytes", good.tobytes()[:1]
    yield "object", object()


AS_MANY_AS_ARE_GIVEN = {"most_equal", "most_same", "every"}  # no number is too great
NUMBERS = [None, "5", b"5", 1.5, np.float64(1.5), np.float32(2), object(), [], 2**64, -(2**70)]


def bad_values(name: str, field: str, good: Any) -> Iterator[tuple[str, Any]]:
    if is_array(good):
        yield from bad_arrays(good, field in WITH_GAPS and name in OF_STRINGS)
        if (name, field) in WRITTEN:
            read_only = good.copy()
            read_only.flags.writeable = False
            yield "read-only", read_only
    elif isinstance(good, bool):
        yield from ((repr(value), value) for value in (None, 1, 0, "yes", 1.0, np.zeros(2)))
    elif isinstance(good, int):
        numbers = NUMBERS + [2**63] * (field not in AS_MANY_AS_ARE_GIVEN)
        yield from ((repr(value), value) for value in numbers)
    elif isinstance(good, float):
        yield from ((repr(value), value) for value in (None, "1", [], object(), 1j))
    else:
        yield from (
            (repr(value), value)
            for value in (None, 5, 1.5, "abc", b"abc", object(), [object()], [None])
        )
    if (name, field) in {
        ("look_up_in_batch", "found"),
        ("look_up_in_batch", "held"),
        ("limit", "parts"),
    }:
        one = good[0] if isinstance(good, list) else good
        for place, held in enumerate(one):
            for what, value in bad_arrays(held, False):
                bad = (*one[:place], value, *one[place + 1 :])
                yield f"{place}: {what}", [bad] if isinstance(good, list) else bad
        yield "too few", [one[:5]] if isinstance(good, list) else one[:5]


SAYS = re.compile(r"incompatible function arguments|[a-z]{2,} [a-z]{2,}", re.DOTALL)


def said_of(call: Any, arguments: Arguments) -> str:
    """Return what it is refused with, nothing if it is taken."""
    try:
        call(**arguments)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def refused(call: Any, arguments: Arguments) -> str:
    said = said_of(call, arguments)
    assert SAYS.search(said), said
    return said


@pytest.mark.parametrize("name", GOOD)
def test_values_of_other_types_are_refused(name):
    call, good = GOOD[name]()
    taken = []
    for field, value in good.items():
        for what, bad in bad_values(name, field, value):
            if bad is None and (name, field) in MAY_BE_NONE:
                continue
            if said := said_of(call, good | {field: bad}):
                assert SAYS.search(said), (field, what)
            else:
                taken.append((name, field, what))
    assert taken == []


@pytest.mark.parametrize("name", GOOD)
def test_another_number_of_values_is_refused(name):
    call, good = GOOD[name]()
    for field in good:
        rest = {other: value for other, value in good.items() if other != field}
        assert "incompatible" in refused(call, rest)
    assert "incompatible" in refused(call, good | {"no_such": 1})


@pytest.mark.parametrize(
    ("name", "method", "arguments"),
    [
        ("HammingIndex", "repeats", ()),
        ("BandIndex", "search", (rows(),)),
        ("PackedColumn", "__getattribute__", ("nbytes",)),
        ("GrowingColumn", "__getattribute__", ("nbytes",)),
        ("BatchVisibility", "count_unseen", ()),
        ("Forms", "points", ()),
    ],
)
def test_what_was_not_made_does_nothing(name, method, arguments):
    made = getattr(_core, name).__new__(getattr(_core, name))
    with pytest.warns(RuntimeWarning, match="uninitialized"), pytest.raises(TypeError):
        getattr(made, method)(*arguments)


@pytest.mark.parametrize("name", sorted(NOT_MADE))
def test_what_the_core_makes_has_no_constructor(name):
    with pytest.raises(TypeError, match="no constructor"):
        getattr(_core, name)()
