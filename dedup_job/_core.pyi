"""Compiled code: functions over batches, without the interpreter's lock. See src/.

Arrays have exactly the type that is named here, one dimension and no gaps:
TypeError for others. That they fit each other is up to the caller.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Bytes = NDArray[np.uint8]
_Bools = NDArray[np.bool_]
_Ints = NDArray[np.int64]
_Words = NDArray[np.uint64]
_Floats = NDArray[np.float64]
_Tables = Mapping[str, NDArray[Any]]
_Strings = tuple[_Bytes, _Ints, _Ints]  # data, starts, lengths; see native/bytes_column.py

# core
def copy_strings(strings: _Strings, to: _Bytes, at: _Ints) -> None: ...

# bson
def find_fields(array: _Bytes, path: Sequence[str]) -> _Ints: ...

# fingerprint
FINGERPRINT: _Fields
HAN: tuple[int, int]
HMM_STATES: str
ROUTES: tuple[str, ...]
STOP_WORD: float

class Lexicon:
    nodes: int

    def __init__(self, tables: _Tables) -> None: ...
    def find(self, words: _Strings) -> NDArray[np.int32]: ...
    def fingerprint(self, texts: _Strings, options: tuple[Any, ...]) -> _Bytes: ...
    def explain(
        self, text: str, options: tuple[Any, ...]
    ) -> tuple[str, list[str], list[tuple[str, float]]]: ...

def build_lexicon(
    words: _Strings, probabilities: _Floats, weights: _Floats, median: float
) -> dict[str, NDArray[Any]]: ...

# cleaning
ELEMENTS: Mapping[str, int]  # roles of elements by name, as in vocabulary.hpp
LONGEST_NOTE: int

class Cleaner:
    def __init__(
        self,
        *,
        references: Mapping[str, Sequence[int]],
        html: bool,
        cut_at: Sequence[Sequence[int]],
    ) -> None: ...
    def clean(
        self, texts: _Strings, drop_rules: Callable[[str, bool], str]
    ) -> tuple[_Bools, _Ints, _Strings, _Ints]: ...

# index
_Prints = tuple[NDArray[Any], ...]  # records, keys, bits; see columns.Fingerprints
_Write = Callable[[str, NDArray[Any]], None]  # takes an array, which is valid as long as it runs

class Index:
    counts: tuple[int, int, int, int]
    collections: list[str]
    gone: _Ints
    segments: list[tuple[int, int]]

    def __init__(
        self,
        distance: int,
        by_simhash: bool,
        limits: tuple[int, int, int],
        references: Sequence[tuple[str, Index]] = (),
    ) -> None: ...
    def add(self, ids: _Strings, prints: _Prints, groups: Mapping[int, int]) -> None: ...
    def find(self, prints: _Prints) -> _Bytes: ...
    def find_ids(self, ids: _Strings) -> _Ints: ...
    def documents(self, numbers: _Ints) -> tuple[_Strings, _Words]: ...
    def set_gone(self, ids: _Strings, gone: bool) -> None: ...
    def load(self, facts: Mapping[str, Any], arrays: _Tables, first: int = -1) -> None: ...
    def dump(self, first: int, write: _Write) -> dict[str, Any]: ...

FOUND: _Fields

# decision
_Named = dict[int, tuple[tuple[int, int, str, str], ...]]

class Decider:
    seconds: tuple[float, float, float]

    def __init__(
        self,
        index: Index,
        judge: Judge | None,
        *,
        judging: int,
        similarity: float,
        most_candidates: int,
        threads: int,
        part: int,
        memory: int,
    ) -> None: ...
    def decide(
        self,
        ids: _Strings,
        texts: _Strings,
        lengths: _Ints,
        prints: _Prints,
        key_channels: _Bytes,
        parsed: ReadTexts | None,
        ranks: _Strings | None,
        texts_of: Callable[[_Strings], tuple[_Ints, _Strings]],
        ranks_of: Callable[[_Strings], Sequence[bytes]] | None,
        near_of: Callable[[Mapping[int, list[bytes]], int], Mapping[int, list[str]]] | None,
        stored: int,
    ) -> tuple[
        _Bytes,
        _Strings,
        _Named,
        dict[int, tuple[bytes, ...]],
        tuple[_Ints, _Strings, _Strings, _Bytes, _Named],
    ]: ...

CHANNELS: tuple[str, ...]
DECISION: _Fields
MOST_NAMED: int
MOST_SHOWN: int

# judgment
_Records = NDArray[np.uint8]  # the bytes of a structured array
_Fields = tuple[tuple[str, str], ...]  # names and formats

class ReadTexts:
    def parts(self) -> list[tuple[str, list[str], str, str, str, list[str], bool]]: ...

class Judge:
    def __init__(
        self,
        lexicon: Lexicon,
        tables: _Tables,
        models: Sequence[_Tables],  # trees and calibration; see judgment/model.py
        *,
        heeded: int,
        confidence: float,
        kind: int,
        judging: int,
        similarity: float,
    ) -> None: ...
    def richness(self, texts: ReadTexts) -> _Records: ...
    def compare(
        self,
        one: ReadTexts,
        rows: _Ints,
        other: ReadTexts,
        other_rows: _Ints,
        threads: int = 1,
        measures: bool = False,
    ) -> _Records: ...
    def explain(
        self, one: ReadTexts, rows: _Ints, other: ReadTexts, other_rows: _Ints
    ) -> tuple[_Records, list[list[tuple[int, int, str, str]]]]: ...

def sketch(
    texts: _Strings,
    judge: Judge | None,
    *,
    minhash: bool = False,
    sentences: bool = False,
    whole: bool = False,
) -> tuple[NDArray[np.uint32], _Words, ReadTexts | None]: ...
def evaluate(model: _Tables, features: _Floats) -> tuple[_Floats, _Floats, _Floats]: ...

BANDS: int
BINS: int
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
