"""What a reader calls the names that rows hold: guards, differences, reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_FLOOR, Decimal
from itertools import count
from typing import Final

from dedup_job.documents import Pair
from dedup_job.messages import Message

LABELS: Final[Mapping[str, Message]] = {
    # differences of two texts, but for those that are called as they are named
    "notation": Message("notation of a formula"),
    "name": Message("person, place or organisation"),
    "inserted": Message("inserted words"),
    "deleted": Message("missing words"),
    "replaced": Message("other words"),
    "moved": Message("moved words"),
    "blanks": Message("blank to fill in"),
    "mood": Message("question or statement"),
    "exchanged": Message("exchanged words"),
    "choice_negation": Message("negation in a choice"),
    "choice_opposite": Message("opposite in a choice"),
    "provision": Message("words of a statute"),
    "similarity": Message("similarity below the threshold"),
    "unlikely": Message("the model finds it unlikely"),
    # kinds of text
    "question": Message("question"),
    "article": Message("article"),
    "message": Message("message"),
    # reasons of a decision
    "exact": Message("equal text"),
    "near": Message("harmless differences"),
    "empty": Message("empty after cleaning"),
    "missing": Message("field absent or null"),
    "not_text": Message("field is no text"),
    "too_large": Message("too large"),
    "undecodable": Message("cannot be decoded"),
}


def label(name: str) -> Message:
    """Return what a reader calls a name; a stage or a state stands for itself."""
    return LABELS.get(name) or Message(name)


def measured(value: float, limit: float = 0.0) -> str:
    """Return a measure, cut off after three digits, or after as many as tell it from a limit."""
    exact, least = Decimal(str(value)), Decimal(str(limit))
    shown = (exact.quantize(Decimal(1).scaleb(-n), ROUND_FLOOR) for n in count(3))
    return str(next(one for one in shown if (one < least) == (exact < least)))


def measures(pair: Pair) -> Iterator[Message]:
    """Yield how alike a pair is, as far as it is known."""
    if pair.probability is not None:
        yield Message("probability {value}", value=measured(pair.probability))
    if pair.similarity is not None:
        yield Message("similarity {value}", value=measured(pair.similarity))
