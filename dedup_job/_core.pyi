"""Compiled code: functions over batches, without the interpreter's lock. See src/.

Arrays have exactly the type that is named here, one dimension (a pool of chunks two) and no gaps:
TypeError for others. That they fit each other is up to the caller.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Bytes = NDArray[np.uint8]
_Bools = NDArray[np.bool_]
_Points = NDArray[np.uint32]
_Ints = NDArray[np.int64]
_Words = NDArray[np.uint64]
_Floats = NDArray[np.float64]
_Strings = tuple[_Bytes, _Ints, _Ints]  # data, starts, lengths; see native/bytes_column.py

# core
def digests(points: _Points, offsets: _Ints) -> _Words: ...
def hash_words(points: _Points, offsets: _Ints) -> _Words: ...
def hash_strings(strings: _Strings) -> _Words: ...
def count_characters(strings: _Strings) -> _Ints: ...
def decode(strings: _Strings) -> tuple[_Points, _Ints]: ...
def encode(points: _Points, offsets: _Ints) -> tuple[_Bytes, _Ints]: ...
def copy_strings(strings: _Strings, to: _Bytes, at: _Ints) -> None: ...
def equal_strings(strings: _Strings, others: _Strings) -> _Bools: ...

# bson
def find_fields(array: _Bytes, path: Sequence[str]) -> _Ints: ...

# fingerprint
class Lexicon:
    def __init__(
        self,
        *,
        first: NDArray[np.int32],
        characters: NDArray[np.uint16],
        entries: _Words,
        words: _Bytes,
        classes: _Bytes,
        pairs: _Bools,
        emission: _Floats,
        start: _Floats,
        transition: _Floats,
        unknown: float,
        median: float,
    ) -> None: ...
    def find(self, points: _Points, offsets: _Ints) -> NDArray[np.int32]: ...

class Fingerprinter:
    def __init__(
        self,
        lexicon: Lexicon,
        *,
        top_k: int,
        min_features: int,
        weighting: int,
        ngram: int,
    ) -> None: ...
    def fingerprint(self, points: _Points, offsets: _Ints) -> tuple[_Words, _Bytes]: ...
    def explain(self, points: _Points) -> tuple[int, _Ints, _Ints, _Ints, _Floats, _Points]: ...

def build_trie(
    points: _Points, offsets: _Ints, probabilities: _Floats
) -> tuple[NDArray[np.int32], NDArray[np.uint16], _Words, NDArray[np.int32], int]: ...
def sketch(points: _Points, offsets: _Ints) -> tuple[NDArray[np.uint32], _Words]: ...
def sentence_keys(
    points: _Points, offsets: _Ints, folded: NDArray[np.uint16], kinds: _Bytes
) -> NDArray[np.uint32]: ...

# cleaning
class Cleaner:
    def __init__(
        self,
        *,
        classes: NDArray[np.uint16],
        kinds: _Bytes,
        references: Mapping[str, str],
    ) -> None: ...
    def clean(
        self, points: _Points, offsets: _Ints, *, html: bool, read: bool
    ) -> tuple[_Points, _Ints, _Bytes]: ...
    def clean_utf8(
        self,
        texts: _Strings,
        characters: int,
        longest: int,
        *,
        html: bool,
    ) -> tuple[_Points, _Ints, _Bytes]: ...

ELEMENTS: tuple[str, ...]

# index
_Numbers = NDArray[np.uint32]
_Candidates = tuple[_Ints, _Ints, _Numbers, _Bytes, _Bytes, _Words]
_Given = Sequence[NDArray[Any]]  # as _Candidates, or a tuple of its own type

class HammingIndex:
    used: int

    def __init__(self, blocks: Sequence[tuple[int, int, int]], distance: int) -> None: ...
    def insert(
        self, pool: _Numbers, fingerprints: _Words, searchable: _Bools, stop: int
    ) -> None: ...
    def load(
        self, pool: _Numbers, fingerprints: _Words, searchable: _Bools, repeats: _Numbers
    ) -> None: ...
    def repeats(self) -> _Numbers: ...

class PackedColumn:
    def __init__(
        self, starts: _Numbers, words: _Words, address_bits: int, number_bits: int, size: int
    ) -> None: ...

class GrowingColumn:
    nbytes: int
    spilled: int

    def __init__(self, buckets: _Numbers, slots: _Words, number_bits: int) -> None: ...
    def take(self, other: GrowingColumn) -> bool: ...

_Columns = list[PackedColumn] | list[GrowingColumn] | list[PackedColumn | GrowingColumn]

class BandIndex:
    columns: list[GrowingColumn]
    room: int

    def __init__(self, columns: _Columns, size: int) -> None: ...
    def insert(self, keys: _Numbers, stored: _Numbers, most_equal: int, dropped: _Ints) -> None: ...

class BatchVisibility:
    most_same: int
    stored: _Numbers
    visible: _Numbers

    def keep(self, row: int) -> None: ...
    def store_columns(self, kept: _Bools) -> None: ...
    def count_unseen(self) -> int: ...

def pack(
    sources: Sequence[BandIndex],
    column: int,
    address_bits: int,
    number_bits: int,
    starts: _Numbers,
    words: _Words,
) -> None: ...
def count_meetings(keys: _Numbers | _Words, every: int) -> int: ...
def equal_insert(table: _Numbers, digests: _Words, start: int, stop: int) -> None: ...
def equal_find(
    table: _Numbers, digests: _Words, fingerprints: _Words, values: _Words, sought: _Words
) -> _Ints: ...
def find(
    near: HammingIndex | None,
    pool: _Numbers,
    sharing: BandIndex | None,
    fingerprints: _Words,
    kept_bits: _Words,
    values: _Words,
    is_short: _Bools,
    keys: _Numbers | None,
    bits: _Words,
    least: _Ints,
    most_same: int,
) -> tuple[_Candidates, _Candidates, _Ints]: ...
def limit(
    parts: Sequence[_Given], least: _Ints, most_equal: int, most_same: int
) -> tuple[_Candidates, _Candidates, _Ints]: ...
def look_up_in_batch(
    found: _Given,
    held: _Given,
    twins: _Ints,
    values: _Words,
    is_short: _Bools,
    keys: _Numbers | None,
    bits: _Words,
    least: _Ints,
    limits: tuple[int, int, int],
    count: int,
    distance: int,
) -> tuple[_Candidates, BatchVisibility, _Bools]: ...

# decision
def decide(
    visibility: BatchVisibility,
    held: int,
    offsets: _Ints,
    numbers: _Ints,
    columns: _Numbers,
    distances: _Bytes,
    agreements: _Bytes,
    rows: _Ints,
    twins: _Ints,
    alike: _Ints,
    places: _Ints,
    beats: _Bools,
    verdicts: _Bytes,
    cost: _Floats,
    pair_beats: _Bools,
    most: int,
    by_distance: bool,
    state: _Bytes,
    chosen: _Ints,
    totals: _Ints,
    replaced: _Ints,
    by: _Ints,
    voids: _Bools,
) -> _Ints: ...

# judgment
_Model = Mapping[str, NDArray[Any]]  # trees and calibration; see judgment/model.py
_Records = NDArray[np.uint8]  # the bytes of a structured array
_Fields = tuple[tuple[str, str], ...]  # names and formats

class ReadTexts: ...

class Judge:
    def __init__(
        self,
        lexicon: Lexicon,
        tables: Mapping[str, NDArray[Any]],
        models: Sequence[_Model],
        *,
        heeded: int,
        confidence: float,
        kind: int,
        judging: int,
        similarity: float,
    ) -> None: ...
    def read(self, texts: _Strings) -> ReadTexts: ...
    def canonical(self, texts: ReadTexts) -> tuple[_Bytes, _Ints, _Ints, _Ints]: ...
    def richness(self, texts: ReadTexts) -> _Records: ...
    def compare(
        self,
        one: ReadTexts,
        rows: _Ints,
        other: ReadTexts,
        other_rows: _Ints,
        threads: int = 1,
        judges: bool = True,
        measures: bool = False,
    ) -> _Records: ...
    def features(
        self, one: ReadTexts, rows: _Ints, other: ReadTexts, other_rows: _Ints
    ) -> _Records: ...
    def differences(
        self, one: ReadTexts, rows: _Ints, other: ReadTexts, other_rows: _Ints, threads: int = 1
    ) -> list[list[tuple[int, int, str, str]]]: ...

def evaluate(model: _Model, features: _Floats) -> tuple[_Floats, _Floats, _Floats]: ...
def required_similarity(threshold: float, lengths: _Ints) -> _Floats: ...

VERDICT: _Fields
PAIR_FEATURES: _Fields
FEATURES: tuple[tuple[str, int], ...]
GUARDS: tuple[str, ...]
TEXT_KINDS: tuple[str, ...]
JUDGINGS: tuple[str, ...]
STATES: tuple[str, ...]
RICHER: tuple[str, ...]
PARTS: tuple[str, ...]
DIFFERENCE_KINDS: tuple[str, ...]
CLASSES: tuple[str, ...]
FLAGS: dict[str, int]
PHRASES: dict[str, int]
