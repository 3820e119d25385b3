"""What the features of a pair mean, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from dedup_job.messages import Message

MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pieces": "places of the question that differ: {value}",
        "forms": "places that differ only in notation or light words: {value}",
        "begin": "words at the beginning that are equal: {value}",
        "edge_share": "whole clauses that only one text has: {value:.0%} of the question",
        "inserted_max": "weight of the rarest word that is inserted: {value}",
        "replaced": "places where words are replaced: {value}",
        "replaced_min": "weight of the words that are replaced, of the lighter side: {value}",
        "replaced_share": "words that are replaced: {value:.0%} of the question",
        "unlike": "words replaced by ones that neither look nor sound alike: {value}",
        "unlike_max": "weight of the rarest word that is replaced by an unlike one: {value}",
        "unlike_min": "weight of the words replaced by unlike ones, of the lighter side: {value}",
        "unlike_ratio": "characters in common where words are replaced: {value:.0%}",
        "contained": "words replaced by a part of them: {value}",
        "alike": "words replaced by ones that look or sound alike: {value}",
        "slips": "slips that leave no word of the dictionary: {value}",
        "moved": "clauses that stand elsewhere: {value:.0%} of the question",
        "moved_within": "weight of the words that stand elsewhere: {value}",
        "length": "characters of the question: {value}",
        "all_shared": "words that both texts have: {value:.1%} by weight",
        "letters_min": "characters that one text has and the other lacks, of the fewer: {value}",
        "letters_max": "characters that one text has and the other lacks, of the more: {value}",
        "han": "Chinese characters: {value:.0%} of the question",
        "notation": "numbers, letters and signs: {value:.0%} of the question",
        "numbers": "numbers in common: {value}",
        "choices_any": "choices: there are some",
        "choices_equal": "choices that are equal: {value:.0%}",
        "choices_mean": "how alike the choices are: {value:.0%}",
        "choices_least": "how alike the two least alike choices are: {value:.0%}",
        "choices_second": "how alike the next two choices are: {value:.0%}",
        "choices_bad": "choices without a counterpart: {value}",
        "choices_unmatched": "choices without a counterpart: {value:.0%}",
        "choices_order": "order of the choices: another one",
        "choices_weight": "weight of the choices that are equal: {value}",
        "choices_length": "characters of a choice: {value}",
        "choices_apart": "characters by which the choices differ: {value}",
        "choices_letters_min": "characters of the choices that one text lacks, of the fewer: "
        "{value}",
        "choices_letters_max": "characters of the choices that one text lacks, of the more: "
        "{value}",
        "choices_alike": "choices that differ by a slip: {value}",
    }
)
_OF: Final[Mapping[str, str]] = MappingProxyType(  # what has to be there
    {
        **dict.fromkeys(("unlike_max", "unlike_min", "unlike_ratio", "contained"), "unlike"),
        **dict.fromkeys(("replaced_min", "replaced_share", "alike", "slips"), "replaced"),
        **{one: one for one in ("forms", "moved", "moved_within", "inserted_max", "edge_share")},
        **{one: one for one in ("choices_order", "choices_alike", "replaced")},
    }
)
_CONTEXT: Final = frozenset(("begin", "length", "han", "notation", "choices_any", "choices_length"))


def in_words(name: str, features: Mapping[str, float]) -> Message | None:
    """Return what a feature says of a pair, None where that is nothing of its own."""
    if name in _CONTEXT or (name.startswith("choices_") and not features["choices_any"]):
        return None
    if not features[_OF.get(name, name)] and name in _OF:
        return None
    meaning, value = MEANINGS[name], features[name]
    return Message(meaning, value=value if "%" in meaning else f"{value:.3g}")
