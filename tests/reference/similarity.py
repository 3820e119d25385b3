"""The naive versions of the similarities: Python's sets and the textbook's table.

They share no code with dedup_job.
"""

from __future__ import annotations


def naive_stripped(text: str) -> str:
    """Return the text without its white space."""
    return "".join(text.split())


def naive_grams(text: str) -> set[str]:
    """Return the character 3-grams of a text without white space; a shorter one is its own."""
    text = naive_stripped(text)
    if len(text) < 3:
        return {text}
    return {text[i : i + 3] for i in range(len(text) - 2)}


def naive_jaccard(a: str, b: str) -> float:
    """Return which part of the grams of either is in both."""
    grams, others = naive_grams(a), naive_grams(b)
    return len(grams & others) / len(grams | others)


def naive_containment(a: str, b: str) -> float:
    """Return which part of the grams of the text with fewer is in both."""
    grams, others = naive_grams(a), naive_grams(b)
    return len(grams & others) / min(len(grams), len(others))


def naive_distance(a: str, b: str) -> int:
    """Count the characters to insert, delete or replace: Wagner and Fischer, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def naive_edit(a: str, b: str) -> float:
    """Return which part of the longer text need not be edited, white space aside."""
    a, b = naive_stripped(a), naive_stripped(b)
    longer = max(len(a), len(b))
    return (longer - naive_distance(a, b)) / longer if longer > 0 else 1.0
