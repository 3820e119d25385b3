"""What a reader calls the names that rows hold: guards, differences, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dedup_job.messages import Message

LABELS: Final[Mapping[str, Message]] = {
    # differences of two texts
    "layout": Message("layout"),
    "width": Message("full or half width"),
    "case": Message("upper or lower case"),
    "punctuation": Message("punctuation"),
    "blank": Message("form of a blank"),
    "numbering": Message("numbering"),
    "numeral": Message("form of a numeral"),
    "notation": Message("notation of a formula"),
    "typo": Message("misspelling or OCR error"),
    "function_word": Message("function word"),
    "synonym": Message("synonym"),
    "order": Message("order"),
    "script": Message("traditional or simplified"),
    "unit_notation": Message("form of a unit"),
    "added": Message("added note or source"),
    "truncated": Message("cut off"),
    "corrected": Message("corrected words"),
    "number": Message("number"),
    "unit": Message("unit"),
    "polarity": Message("affirmed or denied"),
    "content": Message("content"),
    "asked": Message("what is asked"),
    "choice": Message("choice"),
    "answer": Message("answer"),
    "image": Message("image"),
    "formula": Message("formula"),
    "emphasis": Message("emphasis"),
    "code": Message("code"),
    "name": Message("person, place or organisation"),
    "explanation": Message("explanation"),
    "sentence": Message("sentence"),
    "rest": Message("rest of a text cut off"),
    "inserted": Message("inserted words"),
    "deleted": Message("missing words"),
    "replaced": Message("other words"),
    "moved": Message("moved words"),
    "blanks": Message("blank to fill in"),
    "negation": Message("negation"),
    "opposite": Message("opposite"),
    "exchanged": Message("exchanged words"),
    "choice_negation": Message("negation in a choice"),
    "choice_opposite": Message("opposite in a choice"),
    "similarity": Message("similarity below the threshold"),
    "unlikely": Message("the model finds it unlikely"),
    "richer": Message("more content"),
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
