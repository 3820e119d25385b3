"""Compiled code: functions over batches, without the interpreter's lock. See src/.

Arrays have exactly the type that is named here, one dimension (a pool of chunks two) and no gaps:
TypeError for others. That they fit each other is up to the caller.
"""

from collections.abc import Callable, Mapping, Sequence
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

TextArrays = tuple[_Bytes, _Ints, _Ints, _Ints]  # ... and the characters of each

# core
def hash_strings(strings: _Strings) -> _Words: ...
def count_characters(strings: _Strings) -> _Ints: ...
def copy_strings(strings: _Strings, to: _Bytes, at: _Ints) -> None: ...
def equal_strings(strings: _Strings, others: _Strings) -> _Bools: ...

# bson
def find_fields(array: _Bytes, path: Sequence[str]) -> _Ints: ...

# fingerprint
BANDS: int
BINS: int
HAN: tuple[int, int]
HMM_STATES: str
KEY_BITS: int
ROUTES: tuple[str, ...]
STOP_WORD: float

class Lexicon:
    def __init__(self, tables: Mapping[str, NDArray[Any]]) -> None: ...
    def __len__(self) -> int: ...
    def find(self, words: _Strings) -> NDArray[np.int32]: ...

class Fingerprinter:
    def __init__(
        self, lexicon: Lexicon, *, top_k: int, min_features: int, is_uniform: bool, ngram: int
    ) -> None: ...
    def fingerprint(self, texts: _Strings) -> _Bytes: ...
    def explain(self, text: str) -> tuple[str, list[str], list[tuple[str, float]]]: ...

def build_lexicon(
    words: _Strings, probabilities: _Floats, weights: _Floats, median: float
) -> dict[str, NDArray[Any]]: ...
def sketch(
    forms: _Strings,
    texts: _Strings,
    *,
    minhash: bool,
    sentences: bool,
    whole: bool,
) -> tuple[NDArray[np.uint32], _Words]: ...

# cleaning
ELEMENTS: tuple[str, ...]
LONGEST_NOTE: int

class Cleaner:
    def __init__(
        self,
        *,
        references: Mapping[str, str],
        html: bool,
        cut_at: Sequence[str],
    ) -> None: ...
    def clean(
        self, texts: _Strings, drop_rules: Callable[[str, bool], str]
    ) -> tuple[_Bools, _Ints, TextArrays]: ...

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
class FormTables:
    def __init__(
        self,
        lexicon: Lexicon,
        *,
        folded: _Points,
        folded_offsets: _Ints,
        scripts: NDArray[np.uint32],
        classes: _Bytes,
        proper: _Bytes,
        weights: NDArray[np.float32],
        phrases: _Points,
        phrase_offsets: _Ints,
        phrase_kinds: NDArray[np.uint16],
        words: _Points,
        word_offsets: _Ints,
        word_flags: NDArray[np.uint32],
        word_numbers: NDArray[np.uint32],
        negating: _Points,
    ) -> None: ...

class Outlines:
    def __len__(self) -> int: ...

class Relations:
    def __init__(
        self,
        *,
        opposites: _Words,
        opposite_groups: _Numbers,
        alike: _Words,
        alike_groups: _Numbers,
        spellings: _Words,
        uses: _Bytes,
        points: _Points,
        offsets: _Ints,
        longest_unit: int,
        unit_starts: _Points,
    ) -> None: ...

class Model:
    def __init__(
        self,
        feature: NDArray[np.int32],
        threshold: _Floats,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        value: _Floats,
        roots: NDArray[np.int32],
        scores: _Floats,
        probabilities: _Floats,
    ) -> None: ...
    def evaluate(self, features: _Floats) -> tuple[_Floats, _Floats]: ...
    def weigh(self, features: _Floats) -> _Floats: ...

class Judge:
    def __init__(self, tables: FormTables, relations: Relations, kind: int) -> None: ...
    def outlines(self, texts: _Strings) -> Outlines: ...
    def gist(self, outlines: Outlines, rows: _Ints) -> TextArrays: ...
    def richness(self, outlines: Outlines) -> _Numbers: ...
    def features(
        self, one: Outlines, rows: _Ints, other: Outlines, other_rows: _Ints
    ) -> tuple[_Floats, _Numbers, _Bytes, _Bytes]: ...
    def judge(
        self,
        models: Sequence[Model],
        stop: int,
        one: Outlines,
        rows: _Ints,
        other: Outlines,
        other_rows: _Ints,
        threads: int = 1,
    ) -> tuple[_Floats, _Numbers, _Bytes, _Bytes]: ...
    def differences(
        self, one: Outlines, rows: _Ints, other: Outlines, other_rows: _Ints, threads: int = 1
    ) -> list[list[tuple[int, bool, bool, str, str]]]: ...

FEATURES: tuple[tuple[str, int], ...]
TEXT_KINDS: tuple[str, ...]
GUARDS: tuple[str, ...]

def jaccard(texts: _Strings, rows: _Ints, others: _Strings, other_rows: _Ints) -> _Floats: ...
