"""The naive version of the similarity: Python's sets.

It shares no code with dedup_job.
"""


def naive_stripped(text):
    """Return the text without its white space."""
    return "".join(text.split())


def naive_grams(text):
    """Return the character 3-grams of a text without white space; a shorter one is its own."""
    text = naive_stripped(text)
    if len(text) < 3:
        return {text}
    return {text[i : i + 3] for i in range(len(text) - 2)}


def naive_jaccard(a, b):
    """Return which part of the grams of either is in both."""
    grams, others = naive_grams(a), naive_grams(b)
    return len(grams & others) / len(grams | others)
