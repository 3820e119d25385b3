"""What the settings of a run call for: fingerprinter, judge and sketcher, made when needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from dedup_job import _core
from dedup_job.decision.settings import DecisionSettings
from dedup_job.documents import Channel
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, Sketcher
from dedup_job.fingerprint.lexicon import load_lexicon
from dedup_job.index import IndexSettings
from dedup_job.judgment import Judge


class Models:
    """Fingerprinter, judge and sketcher that belong together: candidates are found as judged.

    They are the same for all threads. The dictionary is loaded at the first use of one of them;
    until then a sketcher is cheap, so a target can be checked before.
    """

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
        """The judge; None where texts are not compared."""
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
        return Fingerprinter(
            self._settings, self._notify, sketcher=self.sketcher, lexicon=self.lexicon
        )
