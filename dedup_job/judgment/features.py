"""Sentences on the features and guards of pairs; a guard overrules the model."""

from collections.abc import Mapping
from typing import Final

from dedup_job import _core
from dedup_job.messages import Message

RULES: Final = 6
"""Version of the rules: of cleaning, forms, differences, guards and features."""

_MEANINGS: Final[Mapping[str, Message]] = {
    "pieces": Message("places of the question that differ: {value}"),
    "forms": Message("places that differ only in notation or light words: {value}"),
    "grammar": Message("light words that differ: {value}"),
    "begin": Message("words at the beginning that are equal: {value}"),
    "edge_share": Message("whole clauses that only one text has: {value:.0%} of the question"),
    "inserted_max": Message("weight of the rarest word that is inserted: {value}"),
    "replaced": Message("places where words are replaced: {value}"),
    "replaced_min": Message("weight of the words that are replaced, of the lighter side: {value}"),
    "replaced_share": Message("words that are replaced: {value:.0%} of the question"),
    "unlike": Message("words replaced by ones that neither look nor sound alike: {value}"),
    "unlike_max": Message("weight of the rarest word that is replaced by an unlike one: {value}"),
    "unlike_min": Message(
        "weight of the words replaced by unlike ones, of the lighter side: {value}"
    ),
    "unlike_ratio": Message("characters in common where words are replaced: {value:.0%}"),
    "contained": Message("words replaced by a part of them: {value}"),
    "length": Message("characters of the question: {value}"),
    "letters_min": Message(
        "characters that one text has and the other lacks, of the fewer: {value}"
    ),
    "letters_max": Message(
        "characters that one text has and the other lacks, of the more: {value}"
    ),
    "han": Message("Chinese characters: {value:.0%} of the question"),
    "notation": Message("numbers, letters and signs: {value:.0%} of the question"),
    "numbers": Message("numbers in common: {value}"),
    "own_most": Message(
        "words that each text has and the other lacks: {value:.0%} of the one with more"
    ),
    "named_most": Message(
        "weight of the word that names each text and that the other lacks, of the heavier: {value}"
    ),
    "held": Message("words of one text that the other holds: {value:.0%}"),
    "clauses_most": Message("text without a difference: {value:.0%} of the one with more"),
    "title_most": Message("weight of the words of one title that the other lacks: {value}"),
    "choices_unmatched": Message("choices without a counterpart: {value:.0%}"),
    "choices_order": Message("order of the choices: another one"),
    "choices_weight": Message("weight of the choices that are equal: {value}"),
    "choices_length": Message("characters of a choice: {value}"),
    "choices_apart": Message("characters by which the choices differ: {value}"),
    "choices_letters_min": Message(
        "characters of the choices that one text lacks, of the fewer: {value}"
    ),
    "choices_letters_max": Message(
        "characters of the choices that one text lacks, of the more: {value}"
    ),
}
_OF: Final[Mapping[str, str]] = {  # the feature without which another one says nothing
    **dict.fromkeys(("unlike_max", "unlike_min", "unlike_ratio", "contained"), "unlike"),
    **dict.fromkeys(("replaced_min", "replaced_share"), "replaced"),
    **{one: one for one in ("forms", "grammar", "inserted_max", "replaced", "edge_share")},
    "choices_order": "choices_order",
}
_CONTEXT: Final = frozenset(
    (
        *("begin", "length", "han", "notation", "choices_length"),
        *("own_least", "named_least", "clauses_least"),  # the larger of the two says it
    )
)


def in_words(name: str, features: Mapping[str, float]) -> str:
    """Return a sentence on a feature of a pair, "" if the feature only adds to another one."""
    if name in _CONTEXT or (name.startswith("choices_") and not features["choices_length"]):
        return ""
    if not features[_OF.get(name, name)] and name in _OF:
        return ""
    meaning, value = _MEANINGS[name], features[name]
    return Message(meaning, value=value if "%" in meaning else f"{value:.3g}")


_SENTENCES: Final = {
    "number": "Another number, also in a choice that states something; "
    "one more or fewer in a formula.",
    "name": "Another person, place or organisation, written in Chinese.",
    "blanks": "Another word is to be filled in.",
    "unit": "Another unit.",
    "formula": "Another sign, letter or term in Latin letters.",
    "negation": "One denies what the other says.",
    "mood": "One asks whether it is so, the other states it.",
    "opposite": "Words that exclude each other: opposites, directions, relations.",
    "exchanged": "Who does what to whom is exchanged, "
    "or it asks for the other of two things both name.",
    "image": "Another image.",
    "emphasis": "Another word is emphasised.",
    "answer": "The keys say different things.",
    "choice_negation": "A choice denies what its counterpart says.",
    "choice_opposite": "A choice says the opposite of its counterpart.",
    "title": "The titles of two articles name different things.",
    "provision": "Another word in a statute.",
}
GUARDS: Final = {name: _SENTENCES[name] for name in _core.GUARDS}
"""A sentence on the pairs that each guard keeps apart, by bit of `PAIR_FEATURES.guards`."""
