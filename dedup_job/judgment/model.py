"""The model of the judge: a file of JSON, read and checked.

    format, version   what it is
    features          names, in the order of the rows that it weighs
    trees             feature, threshold, left, right, value: a node each, of all trees; a leaf has
                      the feature -1, from others it goes left where the feature is at most the
                      threshold, to a later node; roots: where each tree begins
    calibration       scores, sums of the leaves' values, ascending; probabilities of those, between
                      them a line
    sources           what it was trained on
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from dedup_job import _core
from dedup_job.errors import ConfigurationError
from dedup_job.files import read_text

FORMAT: Final = "judge of dedup"
VERSION: Final = 1
MOST_BYTES: Final = 200_000
_NODES = {
    "feature": np.int32, "threshold": np.float64, "left": np.int32, "right": np.int32,
    "value": np.float64, "roots": np.int32,
}  # fmt: skip
_CALIBRATION = {"scores": np.float64, "probabilities": np.float64}


def feature_names() -> list[str]:
    """Return the names of the features of a pair, in their order."""
    return [name for name, _ in _core.FEATURES]


def load_model(path: Path) -> _core.Model:
    """Return the model of a file; ConfigurationError says what is wrong with it."""
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        _refuse(path, f"it is larger than {MOST_BYTES:,} bytes")
    return model_of(read_text(path), path)


def model_of(text: str, path: Path) -> _core.Model:
    """Return the model that a text holds; `path` is named in errors."""
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        _refuse(path, "it is no JSON, or cut off")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        _refuse(path, "it is no model of the judge")
    if document.get("version") != VERSION:
        _refuse(path, f"it is of version {document.get('version')!s:.20}, not {VERSION}: train anew")
    if document.get("features") != feature_names():
        _refuse(path, "it weighs other features than this version of dedup: train anew")
    arrays = _arrays(document, "trees", _NODES, path)
    arrays |= _arrays(document, "calibration", _CALIBRATION, path)
    try:
        return _core.Model(**arrays)
    except ValueError as e:
        _refuse(path, str(e))


def document_of(arrays: Mapping[str, Sequence[float]], sources: object) -> dict[str, Any]:
    """Return what a file holds of the arrays that `_core.Model` takes."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "sources": sources,
        "features": feature_names(),
        "trees": {name: list(arrays[name]) for name in _NODES},
        "calibration": {name: list(arrays[name]) for name in _CALIBRATION},
    }


def _arrays(
    document: dict[str, Any], part: str, kinds: Mapping[str, type], path: Path
) -> dict[str, Any]:
    values = document.get(part)
    if not isinstance(values, dict) or not all(isinstance(values.get(k), list) for k in kinds):
        _refuse(path, f"its {part} lack a list of {', '.join(kinds)}")
    for name, kind in kinds.items():
        types = (int,) if kind is np.int32 else (int, float)
        if not all(type(value) in types for value in values[name]):
            _refuse(path, f"{part}.{name} holds what is no number")
    try:
        return {name: np.array(values[name], dtype=kind) for name, kind in kinds.items()}
    except OverflowError:
        _refuse(path, f"a number of its {part} is too large")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse(path: Path, why: str) -> NoReturn:
    raise ConfigurationError([f"the model {path} cannot be used: {why}"]) from None
