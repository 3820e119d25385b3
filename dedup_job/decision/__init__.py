"""Settings of the decision stage, and its models, made on demand."""

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from dedup_job import _core
from dedup_job.documents import Channel
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, Sketcher, load_lexicon
from dedup_job.index import IndexSettings
from dedup_job.judgment import Judge
from dedup_job.judgment.model import TextKind

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Judging(StrEnum):
    """The methods that decide whether a candidate is a duplicate."""

    DIFFERENCES = "differences"
    SIMILARITY = "similarity"
    NONE = "none"


CONFIDENCE = 0.94
"""Default of decision.confidence: at most one in 200 pairs labelled different, of banks that the
model had not seen, reaches it."""
WINDOW = 10_000
"""Documents over which abort_if.near_rate is measured."""
TEXTS_FROM = 1000
"""Documents from which abort_if.without_text applies."""
MOST_CANDIDATES = 64
"""Candidates compared per document, at most."""
CUT_FROM = 100
"""Texts from which abort_if.cut applies: one or two short ones prove nothing."""


class DecisionSettings(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    """The rules by which a candidate is a duplicate."""

    similarity: Share = Field(
        default=0.8,
        description="with decision.judge = similarity: least similarity of a duplicate, "
        "slightly lower for texts under 30 characters",
    )
    judge: Judging = Field(
        default=Judging.DIFFERENCES,
        description="differences: a candidate is a duplicate if no guard keeps the two texts "
        "apart and the model, which weighs their differences, is as sure as decision.confidence; "
        "similarity: if the texts share as many 3-grams (Jaccard) as decision.similarity "
        "requires; none: every candidate is a duplicate, texts are not compared",
    )
    confidence: float = Field(
        default=CONFIDENCE,
        gt=0.0,
        le=1.0,
        description="with decision.judge = differences: least probability, as the model sees "
        "it, that an editor would keep only one of the two; higher: fewer are dropped",
    )
    kind: TextKind = Field(
        default=TextKind.AUTO,
        description="kind of text, each judged by a model of its own; auto: determined for each "
        "pair from its texts",
    )
    model: Path | None = Field(
        default=None,
        description="file with a model that dedup learn wrote; unset: the one that ships",
    )

    @property
    def compares(self) -> bool:
        """Whether texts are compared; else every candidate is a duplicate."""
        return self.judge is not Judging.NONE

    @property
    def judges(self) -> bool:
        """Whether the judge decides by the differences of two texts, not their similarity."""
        return self.judge is Judging.DIFFERENCES


class AbortSettings(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    """Limits above which a run is aborted, because its result looks like a mistake."""

    near_rate: Share = Field(
        default=0.98,
        description=f"a larger share of {WINDOW:,} documents are near duplicates, not "
        "counting equal texts; 1: never",
    )
    without_text: Share = Field(
        default=0.5,
        description=f"a larger share of {TEXTS_FROM:,} documents has no text (missing, not "
        "text or empty); only a warning if earlier runs had as many. 1: never",
    )
    cut: Share = Field(
        default=0.2,  # a note of 15 characters is a tenth of a question of 150
        description="a larger share of the characters is cut off at the markers of "
        f"cleaning.cut_at, measured over {CUT_FROM} texts or more; 1: never",
    )
    leaving: Share = Field(
        default=0.4,
        description="with --on-change or --on-delete: a larger share of the decided documents "
        "would leave, since the source deleted them, or they have no text any more, or are copies "
        "of one now. It is known before anything leaves, and --yes does not switch it off. "
        "1: never",
    )


class Models:
    """Fingerprinter, judge and sketcher for the same settings, loaded on use; thread-safe."""

    def __init__(
        self,
        fingerprint: FingerprintSettings,
        index: IndexSettings,
        decision: DecisionSettings,
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take the settings; `notify` gets the name of each step that takes seconds."""
        self._settings, self._decision, self._notify = fingerprint, decision, notify
        channels = (*index.candidate_generators, *(Channel.FORM,) * decision.judges)
        judge = (lambda: self.any_judge.core) if decision.compares else None
        self.sketcher = Sketcher(channels, judge)

    @cached_property
    def lexicon(self) -> _core.Lexicon:
        """The dictionary."""
        return load_lexicon(self._notify)

    @cached_property
    def judge(self) -> Judge | None:
        """The judge; None if texts are not compared."""
        return self.any_judge if self._decision.compares else None

    @cached_property
    def any_judge(self) -> Judge:
        """The judge, whether or not texts are compared."""
        decision = self._decision
        return Judge(
            self.lexicon,
            decision.confidence,
            decision.model,
            decision.kind,
            str(decision.judge),
            decision.similarity,
        )

    @cached_property
    def fingerprinter(self) -> Fingerprinter:
        """The fingerprinter, with the sketches that the index needs."""
        return Fingerprinter(self._settings, self.lexicon, self.sketcher)
