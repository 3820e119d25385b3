"""The model of the judge: a file of JSON, read and checked.

format, version   what it is
features          names, in the order of the rows that it weighs
kinds             a model for each kind of text, of three parts:
trees             feature, threshold, left, right, value: a node each, of all trees; a leaf has
                  the feature -1, from others it goes left where the feature is at most the
                  threshold, to a later node; roots: where each tree begins
calibration       scores, sums of the leaves' values, ascending; probabilities of those, between
                  them a line
left_out          what models of other banks said of labelled pairs: probabilities of different
                  and same ones, ascending; 0 where a guard keeps a pair apart
guards_off        guards that keep no pair apart where this model decides; none if absent
sources           what it was trained on
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.errors import ConfigurationError
from dedup_job.files import read_text
from dedup_job.messages import Message

FORMAT: Final = "judge of dedup"
VERSION: Final = 2
KINDS: Final = _core.TEXT_KINDS
"""Kinds of text, in the order of their codes."""
MOST_BYTES: Final = 1_000_000
_NODES = {
    "feature": np.int32, "threshold": np.float64, "left": np.int32, "right": np.int32,
    "value": np.float64, "roots": np.int32,
}  # fmt: skip
_CALIBRATION = {"scores": np.float64, "probabilities": np.float64}
_LEFT_OUT = {"different": np.float64, "same": np.float64}


class TextKind(StrEnum):
    """Kinds of text, in the order of their codes; auto: told from the texts."""

    vars().update({name.upper(): name for name in KINDS})
    AUTO = "auto"


class Joined(NamedTuple):
    """How many labelled pairs are joined, of so many."""

    joined: int
    of: int


class KindModel(NamedTuple):
    """The model of a kind of text: its trees, and what it said of labelled pairs it had not seen.

    trees: see `_core.evaluate`; different, same: float64 (d,) and (s,), ascending.
    """

    trees: Mapping[str, NDArray[Any]]
    different: NDArray[np.float64]
    same: NDArray[np.float64]

    def joined(self, confidence: float) -> tuple[Joined, Joined]:
        """Return how many of the different and of the same pairs are as likely as that."""
        below = (int(np.searchsorted(each, confidence)) for each in (self.different, self.same))
        sizes = len(self.different), len(self.same)
        different, same = (Joined(n - k, n) for k, n in zip(below, sizes, strict=True))
        return different, same


class Model(NamedTuple):
    """Models in the order of KINDS, and the guards that do not count."""

    kinds: tuple[KindModel, ...]
    guards_off: tuple[str, ...] = ()

    def evaluate(
        self, features: NDArray[np.float64], kinds: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return scores and probabilities of n pairs, float64 (n,), by features and kinds."""
        scores, probabilities = np.zeros((2, len(kinds)))
        for code, kind in enumerate(self.kinds):
            own = kinds == code
            rows = np.ascontiguousarray(features[own]).ravel()
            scores[own], probabilities[own], _ = _core.evaluate(kind.trees, rows)
        return scores, probabilities


def feature_names() -> list[str]:
    """Return the names of the features of a pair, in their order."""
    return [name for name, _ in _core.FEATURES]


def shipped_model() -> str:
    """Return the file of the model that ships."""
    return files("dedup_job.judgment").joinpath("model.json").read_text("utf-8")


def load_model(path: Path | None) -> Model:
    """Return the model of a file, or the one that ships.

    ConfigurationError says what is wrong with it.
    """
    if path is None:
        return model_of(shipped_model(), Message("that ships"))
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        _refuse(path, Message("it is larger than {most:,} bytes", most=MOST_BYTES))
    return model_of(read_text(path), path)


def model_of(text: str, path: Path | str) -> Model:
    """Return the model that a text holds; `path` is named in errors."""
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        _refuse(path, Message("it is no JSON, or cut off"))
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        _refuse(path, Message("it is no model of the judge"))
    if document.get("version") != VERSION:
        _refuse(
            path,
            Message(
                "it is of version {version:.20}, not {expected}: train anew",
                version=str(document.get("version")),
                expected=VERSION,
            ),
        )
    if document.get("features") != feature_names():
        _refuse(path, Message("it weighs other features than this version of dedup: train anew"))
    try:
        kinds = tuple(_kind_of(document["kinds"][name]) for name in KINDS)
        off = tuple(map(str, document.get("guards_off", [])))
    except (KeyError, TypeError, ValueError, OverflowError):
        _refuse(path, Message("it is damaged"))
    if not {*off} <= {*_core.GUARDS}:
        _refuse(path, Message("it is damaged"))
    return Model(kinds, off)


def _kind_of(document: Mapping[str, Mapping[str, Any]]) -> KindModel:
    trees = _arrays(document["trees"], _NODES) | _arrays(document["calibration"], _CALIBRATION)
    left_out = _arrays(document["left_out"], _LEFT_OUT)
    for values in left_out.values():
        if np.any(np.diff(values) < 0) or np.any((values < 0) | (values > 1)):
            raise ValueError
    _core.evaluate(trees, np.empty(0))  # which refuses what is damaged
    return KindModel(trees, **left_out)


def _arrays(part: Mapping[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    for name, kind in kinds.items():
        types = (int,) if kind is np.int32 else (int, float)
        if not all(type(value) in types for value in part[name]):
            raise ValueError
    return {name: np.array(part[name], dtype=kind) for name, kind in kinds.items()}


def part_of(
    arrays: Mapping[str, Sequence[float]], left_out: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, list[float]]]:
    """Return the part of a file for one kind, given the arrays of its trees."""
    return {
        "trees": {name: list(arrays[name]) for name in _NODES},
        "calibration": {name: list(arrays[name]) for name in _CALIBRATION},
        "left_out": {name: list(left_out[name]) for name in _LEFT_OUT},
    }


def document_of(
    kinds: Mapping[str, object], sources: object, guards_off: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the document of a file; kinds: a `part_of` each."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "sources": sources,
        "features": feature_names(),
        "kinds": {name: kinds[name] for name in KINDS},
        "guards_off": list(guards_off),
    }


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse(path: Path | str, why: str) -> NoReturn:
    wrong = Message("the model {file} cannot be used: {why}", file=path, why=why)
    raise ConfigurationError([wrong]) from None
