"""The judge: how likely it is that an editor would keep only one of two texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.columns import Names
from dedup_job.judgment import relations
from dedup_job.judgment.differences import PLACES, RICHER, DifferenceKind, Found, kind_of
from dedup_job.judgment.features import in_words
from dedup_job.judgment.form_tables import form_tables
from dedup_job.judgment.guards import GUARDS
from dedup_job.judgment.model import KINDS, Model, TextKind, feature_names, load_model
from dedup_job.native.code_points import TextColumn, Texts, pack

RULES: Final = 6
"""Version of the rules: of cleaning, forms, differences, guards and features."""

UNLIKELY: Final = "unlikely"
"""What keeps a pair apart that no guard does: the model finds the same unlikely."""
APART: Final = (*(guard.name for guard in GUARDS), UNLIKELY)
"""What keeps a pair apart, by code: guards, then the model."""
SIMILARITY: Final = "similarity"
"""What keeps texts apart that are not alike enough."""
NAMES: Final = Names((*APART, SIMILARITY), RICHER)
"""What keeps a pair apart by its code, and what a text has more by its bit."""

_NAMED, _LEAST_WEIGHT = 3, 0.1  # features, log odds
_ROW: Final = np.zeros(1, dtype=np.int64)


class ReadTexts(NamedTuple):
    """n texts, and their outlines from row `first` on; main: what they ask, if known."""

    texts: TextColumn
    outlines: _core.Outlines
    first: int = 0
    main: TextColumn | None = None

    def part(self, rows: slice) -> ReadTexts:
        """Return some of them in a row."""
        start = rows.indices(len(self.texts.lengths))[0]
        main = None if self.main is None else self.main.take(rows)
        return ReadTexts(self.texts.take(rows), self.outlines, self.first + start, main)


Judged = Texts | ReadTexts
"""Texts that are judged; those that were read before are not read again."""


class Verdicts(NamedTuple):
    """What is said of c pairs of texts.

    joined: bool (c,), whether no guard keeps them apart and they are likely enough the same;
    probabilities: float64 (c,), by the model, NaN where a guard holds; refused: uint8 (c,), a code
    for APART, of no meaning where the pair is joined; richer: uint8 (c,), what the first text has
    that the second lacks, as bits for RICHER; left_out: uint8 (c,), the percentage of the text that
    is left out of the comparison, of the text with more of it: notes, an explanation, an answer
    that the other text lacks; similarities: float64 (c,), NaN unless measured.
    """

    joined: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    refused: NDArray[np.uint8]
    richer: NDArray[np.uint8]
    left_out: NDArray[np.uint8]
    similarities: NDArray[np.float64]

    @classmethod
    def unknown(cls, count: int) -> Verdicts:
        """Return verdicts of c pairs to be filled: none is joined."""
        refused, richer, left_out = np.zeros((3, count), dtype=np.uint8)
        probabilities, similarities = np.full((2, count), np.nan)
        joined = np.zeros(count, dtype=np.bool_)
        return cls(joined, probabilities, refused, richer, left_out, similarities)

    def put(self, positions: NDArray[np.int64], known: Verdicts) -> None:
        """Enter the verdicts of some pairs."""
        columns: Iterable[NDArray[Any]] = self
        for column, values in zip(columns, known, strict=True):
            column[positions] = values


@dataclass(frozen=True, slots=True)
class Weighed:
    """Why a pair is judged so: its probability, the guards that hold, and what each feature adds.

    kind: of text, one of KINDS; weights: by name of the feature, in log odds before calibration,
    for (above 0) or against.
    """

    kind: str
    probability: float
    guards: tuple[str, ...]
    features: dict[str, float]
    weights: dict[str, float]

    def reasons(self, sign: int) -> list[str]:
        """Return in words the features that weigh most for the pair (1) or against it (-1)."""
        own = [name for name, weight in self.weights.items() if sign * weight > _LEAST_WEIGHT]
        own.sort(key=lambda name: -sign * self.weights[name])
        said = (in_words(name, self.features) for name in own)
        return [reason for reason in said if reason][:_NAMED]


class Judge:
    """Judges pairs of texts; pure and symmetric but for `richer`, safe to share between threads."""

    def __init__(
        self,
        lexicon: _core.Lexicon,
        confidence: float,
        model: Path | None = None,
        kind: TextKind = TextKind.AUTO,
    ) -> None:
        """Take a dictionary, the least probability of a duplicate, a model, a kind of text.

        model: None is the one that ships. Raises
        ConfigurationError where the model's file is not as it should be.
        """
        self.model: Model = load_model(model)
        self._confidence = confidence
        off = [guard.name in self.model.guards_off for guard in GUARDS]
        self._heeded = np.uint32(sum(1 << k for k, is_off in enumerate(off) if not is_off))
        code = [*TextKind].index(kind)
        self._core = _core.Judge(form_tables(lexicon), relations.packed(), code)

    def read(self, texts: Judged) -> ReadTexts:
        """Return n texts with their outlines."""
        if isinstance(texts, ReadTexts):
            return texts
        packed = pack(texts)
        return ReadTexts(packed, self._core.outlines(packed.utf8()))

    def mains(self, texts: Judged, rows: NDArray[np.int64] | None = None) -> TextColumn:
        """Return what some texts ask, whatever the order of choices, or what all of them do."""
        read = self.read(texts)
        if read.main is not None:
            return read.main if rows is None else read.main.take(rows)
        if rows is None:
            rows = np.arange(len(read.texts.lengths))
        return TextColumn.of(self._core.gist(read.outlines, rows + read.first))

    def richness(self, texts: Judged) -> NDArray[np.uint32]:
        """Return what makes each of n texts the better copy, the larger the richer, uint32 (n, 4).

        The first column that differs decides: images, choices, whether there is an answer, and an
        explanation.
        """
        return self._core.richness(self.read(texts).outlines).reshape(-1, 4)

    def judge(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
        threads: int = 1,
    ) -> Verdicts:
        """Judge text left_rows[i] of left and text right_rows[i] of right, int64 (c,).

        The texts are cleaned ones.
        """
        pairs = self._pairs(left, left_rows, right, right_rows)
        probabilities, guards, richer, left_out = self._core.judge(
            self.model.trees, int(self._heeded), *pairs, threads
        )
        guards &= self._heeded
        guarded = guards != 0
        refused = np.full(len(guards), APART.index(UNLIKELY), dtype=np.uint8)
        first = np.bitwise_count(((guards & -guards) - 1).astype(np.uint32))  # guard of least code
        refused[guarded] = first[guarded]
        joined = ~guarded & (probabilities >= self._confidence)
        similarities = np.full(len(guards), np.nan)
        return Verdicts(joined, probabilities, refused, richer, left_out, similarities)

    def features(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.bool_], NDArray[np.uint8]]:
        """Return the features, guards, equality and kinds of c pairs, for training.

        features: float64 (c, f); guards: uint32 (c,), a bit for each of GUARDS, whether or not this
        model heeds it; equals: bool (c,), nothing differs, so they are the same whatever the
        model says; kinds: uint8 (c,), places in KINDS.
        """
        pairs = self._pairs(left, left_rows, right, right_rows)
        features, guards, equal, kinds = self._core.features(*pairs)
        return features.reshape(len(left_rows), -1), guards, equal.astype(np.bool_), kinds

    def weigh(self, text: str, other: str) -> Weighed:
        """Say why a pair of cleaned texts is judged so."""
        pairs = self._pairs([text], _ROW, [other], _ROW)
        features, guards, _, kind = self._core.features(*pairs)
        probability, *_ = self._core.judge(self.model.trees, 0, *pairs)
        held = tuple(
            one.name for k, one in enumerate(GUARDS) if int(guards[0] & self._heeded) >> k & 1
        )
        names, weights = feature_names(), self.model.trees[int(kind[0])].weigh(features)
        return Weighed(
            KINDS[int(kind[0])],
            float(probability[0]),
            held,
            dict(zip(names, features.tolist(), strict=True)),
            dict(zip(names, weights.tolist(), strict=True)),
        )

    def differences(self, text: str, other: str) -> Sequence[Found]:
        """Name the differences of one pair of cleaned texts, in their order."""
        return next(self.each_differences([text], _ROW, [other], _ROW))

    def each_differences(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
        threads: int = 1,
    ) -> Iterator[Sequence[Found]]:
        """Yield the differences of text left_rows[i] of left and right_rows[i] of right."""
        one, other = self.read(left), self.read(right)
        listed = self._core.differences(*self._pairs(one, left_rows, other, right_rows), threads)
        rows = left_rows.tolist(), right_rows.tolist()
        for found, row, other_row in zip(listed, *rows, strict=True):
            named = [
                Found(kind_of(moved=moved, notation=null, text=a, other=b), PLACES[place], a, b)
                for place, moved, null, a, b in found
            ]
            if not named:
                a, b = one.texts.text(row), other.texts.text(other_row)
                if a != b:
                    named.append(Found(DifferenceKind.LAYOUT, PLACES[0], a, b))
            yield named

    def _pairs(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> tuple[_core.Outlines, NDArray[np.int64], _core.Outlines, NDArray[np.int64]]:
        one, other = self.read(left), self.read(right)
        return one.outlines, left_rows + one.first, other.outlines, right_rows + other.first
