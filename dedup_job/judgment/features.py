"""What the features of a pair mean, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pieces": "places of the question that differ: {}",
        "forms": "places that differ only in notation or light words: {}",
        "begin": "words at the beginning that are equal: {}",
        "edge_share": "whole clauses that only one text has: {:.0%} of the question",
        "inserted_max": "weight of the rarest word that is inserted: {}",
        "replaced": "places where words are replaced: {}",
        "replaced_min": "weight of the words that are replaced, of the lighter side: {}",
        "replaced_share": "words that are replaced: {:.0%} of the question",
        "unlike": "words replaced by ones that neither look nor sound alike: {}",
        "unlike_max": "weight of the rarest word that is replaced by an unlike one: {}",
        "unlike_min": "weight of the words replaced by unlike ones, of the lighter side: {}",
        "unlike_ratio": "characters in common where words are replaced: {:.0%}",
        "contained": "words replaced by a part of them: {}",
        "alike": "words replaced by ones that look or sound alike: {}",
        "slips": "slips that leave no word of the dictionary: {}",
        "moved": "clauses that stand elsewhere: {:.0%} of the question",
        "moved_within": "weight of the words that stand elsewhere: {}",
        "length": "characters of the question: {}",
        "all_shared": "words that both texts have: {:.1%} by weight",
        "letters_min": "characters that one text has and the other lacks, of the fewer: {}",
        "letters_max": "characters that one text has and the other lacks, of the more: {}",
        "han": "Chinese characters: {:.0%} of the question",
        "notation": "numbers, letters and signs: {:.0%} of the question",
        "numbers": "numbers in common: {}",
        "choices_any": "choices: there are some",
        "choices_equal": "choices that are equal: {:.0%}",
        "choices_mean": "how alike the choices are: {:.0%}",
        "choices_least": "how alike the two least alike choices are: {:.0%}",
        "choices_second": "how alike the next two choices are: {:.0%}",
        "choices_bad": "choices without a counterpart: {}",
        "choices_unmatched": "choices without a counterpart: {:.0%}",
        "choices_order": "order of the choices: another one",
        "choices_weight": "weight of the choices that are equal: {}",
        "choices_length": "characters of a choice: {}",
        "choices_apart": "characters by which the choices differ: {}",
        "choices_letters_min": "characters of the choices that one text lacks, of the fewer: {}",
        "choices_letters_max": "characters of the choices that one text lacks, of the more: {}",
        "choices_alike": "choices that differ by a slip: {}",
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


def in_words(name: str, features: Mapping[str, float]) -> str:
    """Return what a feature says of a pair, "" where that is nothing of its own."""
    if name in _CONTEXT or (name.startswith("choices_") and not features["choices_any"]):
        return ""
    if not features[_OF.get(name, name)] and name in _OF:
        return ""
    meaning, value = _MEANINGS[name], features[name]
    return meaning.format(value if "%" in meaning else f"{value:.3g}")
