"""The judge: how likely it is that an editor would keep only one of two texts."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.columns import Names
from dedup_job.documents import Difference
from dedup_job.judgment.features import GUARDS, in_words
from dedup_job.judgment.model import KINDS, Model, TextKind, feature_names, load_model
from dedup_job.judgment.tables import build_tables, table_digest
from dedup_job.native.bytes_column import Texts, pack
from dedup_job.native.snapshot import cache_file, kept_arrays

UNLIKELY: Final = "unlikely"
"""What keeps a pair apart that no guard does: the model finds the same unlikely."""
SIMILARITY: Final = "similarity"
"""What keeps texts apart that are not alike enough."""
PARTS: Final = _core.PARTS
"""Parts of a text; only the first two are compared word by word."""
APART: Final = (*_core.GUARDS, UNLIKELY, SIMILARITY)
"""What keeps a pair apart, by code."""
NAMES: Final = Names(APART, _core.RICHER)
JOINED: Final = _core.STATES.index("joined")
VERDICT: Final = np.dtype([*_core.VERDICT], align=True)
"""What is known of a pair of texts; see `Verdict` in src/judgment/judge.hpp."""
PAIR_FEATURES: Final = np.dtype([*_core.PAIR_FEATURES], align=True)
"""All that a comparison finds of a pair; see src/judgment/judge.hpp."""
Verdicts = NDArray[np.void]
"""Verdicts of c pairs, VERDICT (c,)."""

_NAMED, _LEAST_WEIGHT = 3, 0.1  # features, log odds
_ROW: Final = np.zeros(1, dtype=np.int64)


class DifferenceKind(StrEnum):
    """What became of the words at one place, seen from the text that came later."""

    vars().update({name.upper(): name for name in _core.DIFFERENCE_KINDS})


Judged = Texts | _core.ReadTexts
"""Texts to judge, read or not."""
TextPairs = tuple[Judged, NDArray[np.int64], Judged, NDArray[np.int64]]
"""c pairs of texts: texts, a row for each pair, other texts, and a row for each pair there."""


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
    """Judges pairs of texts; pure and symmetric but for `richer`, safe to share between threads.

    Texts are cleaned ones.
    """

    def __init__(
        self,
        lexicon: _core.Lexicon,
        confidence: float,
        model: Path | Model | None = None,
        kind: TextKind = TextKind.AUTO,
        judging: str = "differences",
        similarity: float = 1.0,
    ) -> None:
        """Take a dictionary, the least probability of a duplicate, a model, a kind of text.

        model: None is the one that ships; one without kinds finds features alone. judging: one of
        `_core.JUDGINGS`. similarity: the least of a duplicate if similarity decides. Raises
        ConfigurationError if the model's file is damaged.
        """
        self.model = model if isinstance(model, Model) else load_model(model)
        off = [guard.name in self.model.guards_off for guard in GUARDS]
        self._heeded = sum(1 << k for k, is_off in enumerate(off) if not is_off)

        def made_of(tables: Any) -> _core.Judge:
            return _core.Judge(
                lexicon,
                tables,
                [dict(one.trees) for one in self.model.kinds],
                heeded=self._heeded,
                confidence=confidence,
                kind=[*TextKind].index(kind),
                judging=_core.JUDGINGS.index(judging),
                similarity=similarity,
            )

        tables = cache_file("judge", table_digest())
        self.core = kept_arrays(tables, made_of, lambda: build_tables(lexicon))

    def read(self, texts: Judged) -> _core.ReadTexts:
        """Return n texts as they are compared."""
        if isinstance(texts, _core.ReadTexts):
            return texts
        *_, read = _core.sketch(pack(texts).utf8(), self.core)
        assert read is not None  # there is a judge
        return read

    def richness(self, texts: Judged) -> NDArray[np.uint32]:
        """Return the richness of n texts, larger for a better copy, uint32 (n, 4).

        The first column that differs decides: images, choices, whether there is an answer, and an
        explanation.
        """
        return self.core.richness(self.read(texts)).view(np.uint32).reshape(-1, 4)

    def judge(self, pairs: TextPairs) -> Verdicts:
        """Judge c pairs; their similarities are known if these decide."""
        return self.core.compare(*self._pairs(pairs)).view(VERDICT)

    def measure(self, pairs: TextPairs) -> Verdicts:
        """Measure the Jaccard similarity of the canonical texts of c pairs, and what is required.

        It is the share of the distinct character 3-grams of either that both have, without white
        space. A text of one or two characters is its only gram; two texts without characters are
        alike by 1, one such and another by 0. Equal left texts together are faster.
        """
        found = self.core.compare(*self._pairs(pairs), measures=True)
        return found.view(VERDICT)

    def explain(self, pairs: TextPairs) -> tuple[NDArray[np.void], list[tuple[Difference, ...]]]:
        """Return all that a comparison finds of c pairs of cleaned texts.

        Features, guards and probabilities, PAIR_FEATURES (c,), and the differences in their order.
        guards: a bit for each of GUARDS, whether or not this model heeds it; equal: nothing
        differs, so they are the same whatever the model says; kind: a place in KINDS.
        """
        kinds = _core.DIFFERENCE_KINDS
        found, differences = self.core.explain(*self._pairs(pairs))
        return found.view(PAIR_FEATURES), [
            tuple(Difference(kinds[kind], PARTS[part], of, text) for kind, part, text, of in each)
            for each in differences
        ]

    def weigh(self, text: str, other: str) -> Weighed:
        """Return the reasons of the verdict on a pair of cleaned texts."""
        (found,), _ = self.explain(([text], _ROW, [other], _ROW))
        names, kind = feature_names(), int(found["kind"])
        *_, weights = _core.evaluate(dict(self.model.kinds[kind].trees), found["features"])
        guards = int(found["guards"]) & self._heeded
        return Weighed(
            KINDS[kind],
            float(found["probability"]),
            tuple(one.name for k, one in enumerate(GUARDS) if guards >> k & 1),
            dict(zip(names, found["features"].tolist(), strict=True)),
            dict(zip(names, weights.tolist(), strict=True)),
        )

    def _pairs(
        self, pairs: TextPairs
    ) -> tuple[_core.ReadTexts, NDArray[np.int64], _core.ReadTexts, NDArray[np.int64]]:
        return self.read(pairs[0]), pairs[1], self.read(pairs[2]), pairs[3]
