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
from dedup_job.judgment.model import FEATURE_NAMES, KINDS, Model, TextKind, load_model
from dedup_job.judgment.tables import build_tables, table_digest
from dedup_job.native.bytes_column import Texts, pack
from dedup_job.native.snapshot import cache_file, load_or_build

UNLIKELY: Final = "unlikely"
"""The reason of a refused pair without a guard: the model finds duplicates unlikely."""
SIMILARITY: Final = "similarity"
"""The reason of a pair refused for its similarity."""
PARTS: Final = _core.PARTS
"""The names of the parts of a text; only the first two are compared word by word."""
APART: Final = (*_core.GUARDS, UNLIKELY, SIMILARITY)
"""The reasons of refused pairs, by code."""
NAMES: Final = Names(APART, _core.RICHER)
JOINED: Final = _core.STATES.index("joined")
VERDICT: Final = np.dtype([*_core.VERDICT], align=True)
"""The verdict on a pair of texts; see `Verdict` in src/judgment/judge.hpp."""
PAIR_FEATURES: Final = np.dtype([*_core.PAIR_FEATURES], align=True)
"""The full result of a comparison; see src/judgment/judge.hpp."""
Verdicts = NDArray[np.void]
"""Verdicts of c pairs, VERDICT (c,)."""

_NAMED, _LEAST_WEIGHT = 3, 0.1  # features, log odds
_ROW: Final = np.zeros(1, dtype=np.int64)


class DifferenceKind(StrEnum):
    """The kinds of differences, as seen from the later text."""

    vars().update({name.upper(): name for name in _core.DIFFERENCE_KINDS})


TextsOrParsed = Texts | _core.ReadTexts
"""Texts to judge, parsed or not."""
TextPairs = tuple[TextsOrParsed, NDArray[np.int64], TextsOrParsed, NDArray[np.int64]]
"""c pairs of texts: left texts, the row of each pair in them, right texts, the row in these."""


@dataclass(frozen=True, slots=True)
class VerdictReasons:
    """The reasons of a verdict: probability, guards that hold, features and their weights by name.

    kind: of text, one of KINDS; weights: contributions to the log odds before calibration, positive
    for duplicates.
    """

    kind: str
    probability: float
    guards: tuple[str, ...]
    features: dict[str, float]
    weights: dict[str, float]

    def reasons(self, sign: int) -> list[str]:
        """Return sentences on the features with most weight; sign: 1 for duplicates, -1 against."""
        own = [name for name, weight in self.weights.items() if sign * weight > _LEAST_WEIGHT]
        own.sort(key=lambda name: -sign * self.weights[name])
        sentences = (in_words(name, self.features) for name in own)
        return [sentence for sentence in sentences if sentence][:_NAMED]


class Judge:
    """Judges pairs of cleaned texts; pure, thread-safe, symmetric except for `richer`."""

    def __init__(
        self,
        lexicon: _core.Lexicon,
        confidence: float,
        model: Path | Model | None = None,
        kind: TextKind = TextKind.AUTO,
        judging: str = "differences",
        similarity: float = 1.0,
    ) -> None:
        """Load the model; raises ConfigurationError if its file is damaged.

        confidence: the least probability of a duplicate. model: None for the one that ships; one
        without kinds computes features only. judging: one of `_core.JUDGINGS`. similarity: the
        least of a duplicate if similarity decides.
        """
        self.model = model if isinstance(model, Model) else load_model(model)
        off = self.model.guards_off
        self._heeded = sum(1 << k for k, guard in enumerate(GUARDS) if guard not in off)

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
        self.core = load_or_build(tables, made_of, lambda: build_tables(lexicon))

    def parsed(self, texts: TextsOrParsed) -> _core.ReadTexts:
        """Return n texts parsed for comparison."""
        if isinstance(texts, _core.ReadTexts):
            return texts
        *_, read = _core.sketch(pack(texts).utf8(), self.core)
        assert read is not None  # there is a judge
        return read

    def richness(self, texts: TextsOrParsed) -> NDArray[np.uint32]:
        """Return the richness of n texts, larger for a better copy, uint32 (n, 4).

        Columns: images, choices, has an answer, has an explanation; the first that differs decides.
        """
        return self.core.richness(self.parsed(texts)).view(np.uint32).reshape(-1, 4)

    def judge(self, pairs: TextPairs) -> Verdicts:
        """Return the verdicts on c pairs, with similarities if these decide."""
        return self.core.compare(*self._pairs(pairs)).view(VERDICT)

    def measure(self, pairs: TextPairs) -> Verdicts:
        """Return verdicts on c pairs with `similarity` and `required`, the least of a duplicate.

        Similarity is the Jaccard index of the sets of character 3-grams of the canonical texts,
        without white space. A text of one or two characters is its only gram; two empty texts have
        similarity 1, an empty and another one 0. Equal left texts in a row are faster.
        """
        return self.core.compare(*self._pairs(pairs), measures=True).view(VERDICT)

    def explain(self, pairs: TextPairs) -> tuple[NDArray[np.void], list[tuple[Difference, ...]]]:
        """Return of c pairs an array PAIR_FEATURES (c,), and a tuple of differences for each.

        guards: a bit for each of GUARDS, even if this model ignores it; equal: no difference,
        so the pair is joined without the model; kind: an index of KINDS.
        """
        kinds = _core.DIFFERENCE_KINDS
        found, differences = self.core.explain(*self._pairs(pairs))
        return found.view(PAIR_FEATURES), [
            tuple(Difference(kinds[kind], PARTS[part], of, text) for kind, part, text, of in each)
            for each in differences
        ]

    def verdict_reasons(self, text: str, earlier: str) -> VerdictReasons:
        """Return the reasons of the verdict on a pair of cleaned texts."""
        (found,), _ = self.explain(([text], _ROW, [earlier], _ROW))
        names, kind = FEATURE_NAMES, int(found["kind"])
        *_, weights = _core.evaluate(dict(self.model.kinds[kind].trees), found["features"])
        guards = int(found["guards"]) & self._heeded
        return VerdictReasons(
            KINDS[kind],
            float(found["probability"]),
            tuple(one for k, one in enumerate(GUARDS) if guards >> k & 1),
            dict(zip(names, found["features"].tolist(), strict=True)),
            dict(zip(names, weights.tolist(), strict=True)),
        )

    def _pairs(
        self, pairs: TextPairs
    ) -> tuple[_core.ReadTexts, NDArray[np.int64], _core.ReadTexts, NDArray[np.int64]]:
        return self.parsed(pairs[0]), pairs[1], self.parsed(pairs[2]), pairs[3]
