"""A model for one collection, learnt from what people said of its pairs."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash

from dedup_job.commands.opened import Opened, opened
from dedup_job.commands.review import LETTER_OF, LETTERS, label_lines, read_lines
from dedup_job.decision import DecisionSettings, Judging
from dedup_job.judgment import Judge
from dedup_job.judgment.model import FittedModel, Labels, learn
from dedup_job.messages import Message, UsageError, counted, joined
from dedup_job.native.bytes_column import BREAK
from dedup_job.printing import command_line
from dedup_job.runs.run_record import QUIET, Progress
from dedup_job.runs.survey import Label
from dedup_job.settings import Settings

_LABELS = {**LETTERS, **{str(label): label for label in Label}}
_WRONG = Message("{number:,} lines are no labelled pairs; nothing was learnt:")
_BANKS, _BANK = 100, 100  # in a model's file, and characters of a name


class Said(NamedTuple):
    """What someone said of a pair of texts. where: as a person finds it; bank: of the file."""

    texts: tuple[str, str]
    label: Label
    where: str
    bank: str
    when: str
    name: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learnt, and from how many labels; settings: to run with, but for the model's place.

    gone: labels without one of their texts, or with equal ones; contradictions: in words, labels
    that a later one replaces.
    """

    source: str
    target: str
    learnt: FittedModel
    settings: Settings
    same: int
    different: int
    unsure: int
    gone: int
    contradictions: Sequence[str] = field(default_factory=tuple)

    def file(self) -> str:
        """Return the model as its file holds it."""
        return json.dumps(self.learnt.document, ensure_ascii=False, separators=(",", ":")) + "\n"

    def settings_file(self, model: Path) -> str:
        """Return the settings of the target with this model, as --config takes them."""
        decision = self.settings.decision.model_copy(
            update={
                "judge": Judging.DIFFERENCES,
                "model": model,
                "confidence": self.learnt.confidence,
            }
        )
        found = self.settings.model_copy(update={"decision": decision}).model_dump(
            mode="json", exclude={"connection", "run"}, exclude_defaults=True
        )
        found["decision"]["confidence"] = decision.confidence  # also where it is the default
        lines = ["# Written by dedup learn."]
        for section, values in found.items():
            named = {name: value for name, value in values.items() if value is not None}
            lines += [f"\n[{section}]"] if named else []
            lines += [f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in named.items()]
        return "\n".join(lines) + "\n"


def learn_target(
    settings: Settings,
    target: str,
    files: Mapping[str, str] | None = None,
    progress: Progress = QUIET,
) -> Lesson:
    """Learn from the labels of a target, and from files of labelled pairs, JSON lines by name.

    UsageError names lines that are no labelled pairs, and says what is missing.
    """
    given = list[Said | None]()
    for name, text in (files or {}).items():
        given += read_lines(text.split("\n"), partial(_said_of, file=name), _WRONG, name)
    with opened(settings, target, progress) as on:
        progress.stage(Message("reading the labels"))
        stored = map(_said_of, label_lines(on, BREAK))
        return _lesson(on, [*stored, *given])


def _lesson(on: Opened, said: Sequence[Said | None]) -> Lesson:
    known = _cleaned(on, [one for one in said if one is not None and one.label is not Label.UNSURE])
    latest, contradictions = _latest(known)
    same = sum(one.label is Label.SAME for one in latest)
    _check(on.target.name, same, len(latest) - same)
    on.progress.stage(Message("learning"))
    sources = Counter((one.bank or on.target.name, LETTER_OF[one.label]) for one in latest)
    learnt = learn(
        _labels(on.settings.decision, on, latest),
        on.settings.decision.confidence,
        [
            {"bank": bank, "label": label, "pairs": n}
            for (bank, label), n in sorted(sources.most_common(_BANKS))
        ],
    )
    unsure = sum(one is not None and one.label is Label.UNSURE for one in said)
    return Lesson(
        on.target.source.full_name,
        on.target.name,
        learnt,
        on.settings,
        same,
        len(latest) - same,
        unsure,
        len(said) - unsure - len(known),
        contradictions,
    )


def _labels(decision: DecisionSettings, on: Opened, said: Sequence[Said]) -> Labels:
    judge = Judge(on.models.lexicon, decision.confidence, kind=decision.kind)
    rows = np.arange(len(said))
    encoded = (pair.texts[0].encode("utf-8", "surrogatepass") for pair in said)
    one, other = (judge.read([pair.texts[side] for pair in said]) for side in (0, 1))
    return Labels(
        judge.explain((one, rows, other, rows))[0],
        np.array([pair.label is Label.SAME for pair in said]),
        np.array([xxhash.xxh3_64_intdigest(one) >> 1 for one in encoded], dtype=np.int64),
    )


def _cleaned(on: Opened, said: Sequence[Said]) -> list[Said]:
    clean = on.target.rows.cleaner.clean_all
    sides = [clean([pair.texts[side] for pair in said]) for side in (0, 1)]
    return [
        pair._replace(texts=(min(one, other), max(one, other)))
        for pair, one, other in zip(said, *sides, strict=True)
        if one and other and one != other
    ]


def _latest(said: Sequence[Said]) -> tuple[list[Said], list[str]]:
    latest: dict[tuple[str, str], Said] = {}
    contradictions = list[str]()
    for one in sorted(said, key=lambda one: (one.when, one.name)):
        former = latest.get(one.texts)
        if former is not None and former.label is not one.label:
            contradictions.append(
                Message("{former}; {latest}, which counts", former=_told(former), latest=_told(one))
            )
        latest[one.texts] = one
    return [*latest.values()], contradictions


def _told(said: Said) -> Message:
    return Message("{where}: {label}", where=said.where, label=Message(str(said.label)))


def _check(target: str, same: int, different: int) -> None:
    review = command_line("review", "--target", target)
    if not same + different:
        raise UsageError(
            "{target} has no labels to learn from: label pairs with `{review}`, or give a file "
            "with --pairs.",
            target=target,
            review=review,
        )
    if not same or not different:
        none_of_one = (
            Message("{labels} of same, none of different: nothing tells one from the other.")
            if same
            else Message("{labels} of different, none of same: nothing tells one from the other.")
        )
        more = Message(
            "Label pairs with `{review}`, or give a file with --pairs; a larger --sample shows "
            "more kinds.",
            review=review,
        )
        labels = counted(same + different, "label")
        raise UsageError(joined([Message(none_of_one, labels=labels), more]))


def _said_of(values: dict[str, Any], where: str = "", file: str = "") -> Said | None:
    texts, said = [values.get("a"), values.get("b")], values.get("label")
    label = _LABELS.get(said) if isinstance(said, str) else None
    if label is None:
        wrong = Message(
            "label is {label:.40}, expected S, D or U (same, different, unsure)",
            label=repr(said),
        )
        raise ValueError(wrong)
    if not {"a", "b"} <= values.keys() or not all(isinstance(t, str | None) for t in texts):
        raise ValueError(Message("a and b are the two texts of the pair"))
    a, b = texts
    bank, when, name = (str(values.get(key) or "") for key in ("bank", "when", "name"))
    if not where:
        ids = {"id": json.dumps(values.get("id_b")), "other": json.dumps(values.get("id_a"))}
        where = Message("{name} of _id {id} and {other}", name=name, **ids)
    if a is None or b is None:
        return None
    if any("\ud800" <= character <= "\udfff" for character in a + b + bank):
        raise ValueError(Message("it holds half a character, a surrogate"))
    return Said((a, b), label, where, (bank or file)[:_BANK], when, name)
