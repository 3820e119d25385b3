"""What the tool sees in a text, and how it compares two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dedup_job.cleaning import Cleaner
from dedup_job.commands.opened import opened_as_made
from dedup_job.decision import Equipment
from dedup_job.decision.pair import PairView, PairViewer
from dedup_job.documents import Fingerprints
from dedup_job.errors import UsageError
from dedup_job.fingerprint import Explanation
from dedup_job.report.progress import QUIET, Progress
from dedup_job.settings import Settings, expect_settings


@dataclass(frozen=True, slots=True)
class SeenText:
    """A text as the tool sees it.

    text: cleaned; value: the fingerprint, 64 bits; short: the text has too few features, so its
    fingerprint is a hash of the whole; why: tokens, route and weights.
    """

    text: str
    value: int
    short: bool
    why: Explanation


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """Two texts, how they are compared, and the settings that this takes."""

    one: SeenText
    other: SeenText
    view: PairView
    settings: Settings


def fingerprint_texts(
    settings: Settings, texts: Sequence[str], progress: Progress = QUIET
) -> list[SeenText]:
    """Clean texts and return their fingerprints."""
    return _see(texts, settings, expect_settings(settings).equipment(progress.stage))[0]


def compare_texts(
    settings: Settings,
    one: str,
    other: str,
    target: str | None = None,
    progress: Progress = QUIET,
    *,
    given: bool = True,
) -> ComparedTexts:
    """Compare two texts; target: as the last run of this target does it."""
    if target is not None:
        with opened_as_made(settings, target, progress, given=given) as on:
            settings = on.settings
    equipment = expect_settings(settings).equipment(progress.stage)
    (first, second), prints = _see([one, other], settings, equipment)
    viewer = PairViewer(settings.decision, settings.index, equipment.any_judge)
    return ComparedTexts(first, second, viewer.view(first.text, second.text, prints), settings)


def _see(
    texts: Sequence[str], settings: Settings, equipment: Equipment
) -> tuple[list[SeenText], Fingerprints]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise UsageError("texts must be a sequence of str.")
    fingerprinter = equipment.fingerprinter
    cleaned = Cleaner(settings.cleaning).clean_all(texts)
    prints = fingerprinter.fingerprint(cleaned)
    seen = [
        SeenText(text, int(prints.values[i]), bool(prints.short[i]), fingerprinter.explain(text))
        for i, text in enumerate(cleaned)
    ]
    return seen, prints
