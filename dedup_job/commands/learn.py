"""A model for one collection, trained on the labels that people gave to its pairs."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash

from dedup_job.commands.review import LETTER_OF, LETTERS, label_objects, read_lines
from dedup_job.commands.session import Session, open_target
from dedup_job.decision import Judging
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


class LabeledPair(NamedTuple):
    """A pair of texts with its label. where: its line, for messages; bank: of the file."""

    texts: tuple[str, str]
    label: Label
    where: str
    bank: str
    when: str
    name: str


@dataclass(frozen=True, slots=True)
class LearnResult:
    """A trained model, the settings of the target, and the number of labels by kind.

    unusable: labels without one of their texts, or with equal ones; contradictions: messages about
    labels that a later one replaces.
    """

    source: str
    target: str
    learnt: FittedModel
    settings: Settings
    same: int
    different: int
    unsure: int
    unusable: int
    contradictions: Sequence[str] = ()

    def settings_with(self, model: Path) -> dict[str, dict[str, Any]]:
        """Return the settings of the target with this model, by section, without defaults."""
        update = {
            "judge": Judging.DIFFERENCES,
            "model": model,
            "confidence": self.learnt.confidence,
        }
        decision = self.settings.decision.model_copy(update=update)
        sections = self.settings.model_copy(update={"decision": decision}).model_dump(
            mode="json", exclude={"connection", "run"}, exclude_defaults=True
        )
        sections["decision"]["confidence"] = decision.confidence  # even if it is the default
        return sections


def learn_target(
    settings: Settings,
    target: str,
    files: Mapping[str, str] | None = None,
    progress: Progress = QUIET,
) -> LearnResult:
    """Train a model on the labels of a target, and on labelled pairs of files.

    files: content by name, JSON lines. UsageError names malformed lines, or missing labels.
    """
    pairs = list[LabeledPair | None]()
    for name, text in (files or {}).items():
        pairs += read_lines(text.split("\n"), partial(_pair_of, file=name), _WRONG, name)
    with open_target(settings, target, progress) as session:
        progress.stage(Message("reading the labels"))
        return _trained(session, [*map(_pair_of, label_objects(session, BREAK)), *pairs])


def _trained(session: Session, pairs: Sequence[LabeledPair | None]) -> LearnResult:
    known = [one for one in pairs if one is not None and one.label is not Label.UNSURE]
    cleaned = _cleaned(session, known)
    latest, contradictions = _latest(cleaned)
    same = sum(one.label is Label.SAME for one in latest)
    target, confidence = session.target, session.settings.decision.confidence
    _check(target.name, same, len(latest) - same)
    session.progress.stage(Message("learning"))
    counts = Counter((one.bank or target.name, LETTER_OF[one.label]) for one in latest)
    sources = [
        {"bank": bank, "label": label, "pairs": n}
        for (bank, label), n in sorted(counts.most_common(_BANKS))
    ]
    learnt = learn(_labels(session, latest), confidence, sources)
    unsure = sum(one is not None and one.label is Label.UNSURE for one in pairs)
    return LearnResult(
        target.source.full_name,
        target.name,
        learnt,
        session.settings,
        same,
        len(latest) - same,
        unsure,
        len(pairs) - unsure - len(cleaned),
        contradictions,
    )


def _labels(session: Session, pairs: Sequence[LabeledPair]) -> Labels:
    decision = session.settings.decision
    judge = Judge(session.models.lexicon, decision.confidence, kind=decision.kind)
    rows = np.arange(len(pairs))
    encoded = (pair.texts[0].encode("utf-8", "surrogatepass") for pair in pairs)
    left, right = (judge.parsed([pair.texts[side] for pair in pairs]) for side in (0, 1))
    return Labels(
        judge.explain((left, rows, right, rows))[0],
        np.array([pair.label is Label.SAME for pair in pairs]),
        np.array([xxhash.xxh3_64_intdigest(text) >> 1 for text in encoded], dtype=np.int64),
    )


def _cleaned(session: Session, pairs: Sequence[LabeledPair]) -> list[LabeledPair]:
    clean = session.target.rows.cleaner.clean_all
    sides = [clean([pair.texts[side] for pair in pairs]) for side in (0, 1)]
    return [
        pair._replace(texts=(min(left, right), max(left, right)))
        for pair, left, right in zip(pairs, *sides, strict=True)
        if left and right and left != right
    ]


def _latest(pairs: Sequence[LabeledPair]) -> tuple[list[LabeledPair], list[str]]:
    latest: dict[tuple[str, str], LabeledPair] = {}
    contradictions = list[str]()
    for one in sorted(pairs, key=lambda one: (one.when, one.name)):
        former = latest.get(one.texts)
        if former is not None and former.label is not one.label:
            before, after = (
                Message("{where}: {label}", where=pair.where, label=Message(str(pair.label)))
                for pair in (former, one)
            )
            contradictions.append(
                Message("{former}; {latest}, which counts", former=before, latest=after)
            )
        latest[one.texts] = one
    return [*latest.values()], contradictions


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


def _pair_of(values: dict[str, Any], where: str = "", file: str = "") -> LabeledPair | None:
    texts, written = [values.get("a"), values.get("b")], values.get("label")
    label = _LABELS.get(written) if isinstance(written, str) else None
    if label is None:
        wrong = Message(
            "label is {label:.40}, expected S, D or U (same, different, unsure)",
            label=repr(written),
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
    return LabeledPair((a, b), label, where, (bank or file)[:_BANK], when, name)
