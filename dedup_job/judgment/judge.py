"""The judge: two texts are the same if each difference between them is harmless."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.folding import fold_texts
from dedup_job.fingerprint.lexicon import Lexicon
from dedup_job.judgment.classes import CLASSES, HARMLESS, Difference, bits_of
from dedup_job.packed import Packed, pack

RULES: Final = 1
"""Version of the rules: of the canonical form, the differences and their classes."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is said of c pairs of texts.

    joined: bool (c,), whether all differences are harmless; classes: uint64 (c,), the classes of
    the differences as bits 1 << code; differences: int32 (c,), how many there are; refused: uint8
    (c,), the code of the class that keeps the pair apart, of no meaning where it is joined.
    """

    joined: NDArray[np.bool_]
    classes: NDArray[np.uint64]
    differences: NDArray[np.int32]
    refused: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Found:
    """One difference: its class, the words of either text, whether it is harmless."""

    kind: Difference
    text: str
    other: str
    harmless: bool


class Judge:
    """Classes the differences of pairs of texts; pure, safe to share between threads."""

    def __init__(
        self,
        lexicon: Lexicon,
        harmless: tuple[Difference, ...] = HARMLESS,
        words: Path | None = None,
    ) -> None:
        """Take a dictionary, the harmless classes, and a file with more words of the trade.

        Raises ConfigurationError with all bad lines of the file.
        """
        self._lexicon = lexicon
        self._harmless = bits_of(harmless)
        self._words = words

    def canonical(self, texts: Packed) -> Packed:
        """Return the canonical form of n texts, by which candidates are found."""
        return fold_texts(texts)

    def judge(
        self,
        left: Packed,
        left_rows: NDArray[np.int64],
        right: Packed,
        right_rows: NDArray[np.int64],
    ) -> Verdicts:
        """Judge text left_rows[i] of left and text right_rows[i] of right, int64 (c,); symmetric.

        The texts are cleaned ones.
        """
        one, other = self.canonical(left), self.canonical(right)
        same = np.array(
            [
                one.points[one.offsets[i] : one.offsets[i + 1]].tobytes()
                == other.points[other.offsets[j] : other.offsets[j + 1]].tobytes()
                for i, j in zip(left_rows.tolist(), right_rows.tolist(), strict=True)
            ],
            dtype=np.bool_,
        )
        content, layout = CLASSES.index(Difference.CONTENT), CLASSES.index(Difference.LAYOUT)
        codes = np.where(same, layout, content)
        return Verdicts(
            same,
            np.uint64(1) << codes.astype(np.uint64),
            np.ones(len(same), dtype=np.int32),
            codes.astype(np.uint8),
        )

    def differences(self, text: str, other: str) -> Sequence[Found]:
        """Name the differences of one pair of cleaned texts, in their order."""
        row = np.zeros(1, dtype=np.int64)
        verdict = self.judge(pack([text]), row, pack([other]), row)
        kind = CLASSES[int(verdict.refused[0])]
        return [Found(kind, text, other, bool(verdict.joined[0]))]
