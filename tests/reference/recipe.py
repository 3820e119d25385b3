"""The naive versions: plain loops that a reader checks by eye.

They share no code with dedup_job.
"""

import re
from typing import Any

import jieba.analyse
import xxhash

# the settings of the naive versions, said wherever a test compares: the tool's defaults may differ
PLAIN = {"top_k": 30, "weighting": "tfidf"}
BITS = 64
BLOCKS = 4
BLOCK_BITS = 16


def naive_hash(text):
    """Return the 64-bit hash of a token or of a whole text."""
    return xxhash.xxh64(text.encode("utf-8", "surrogatepass"), seed=0).intdigest()


def naive_simhash(weighted_tokens):
    """Add each token's weight where its hash has a 1, subtract it where it has a 0."""
    sums = [0.0] * BITS
    for token, weight in weighted_tokens:
        token_hash = naive_hash(token)
        for bit in range(BITS):
            if token_hash >> bit & 1:
                sums[bit] += weight
            else:
                sums[bit] -= weight
    value = 0
    for bit in range(BITS):
        if sums[bit] > 0:
            value += 2**bit
    return value


def naive_keywords(text, top_k=30, *, weighting="tfidf"):
    """Return the keywords with their weights, the heaviest first; top_k 0 takes all.

    With the options left alone these are the tags of `jieba.analyse.extract_tags`.
    """
    extractor = jieba.analyse.default_tfidf
    counts = {}
    for token in jieba.lcut(text):
        if len(token.strip()) < 2:
            continue
        if token.lower() in extractor.stop_words:
            continue
        counts[token] = counts.get(token, 0.0) + 1.0
    total = sum(counts.values())
    weights = {
        token: count * (extractor.idf_freq.get(token, extractor.median_idf) / total)
        for token, count in counts.items()
    }
    keywords = sorted(weights.items(), key=lambda item: item[1], reverse=True)
    keywords = keywords[:top_k] if top_k else keywords
    if weighting == "uniform":
        return [(token, 1.0) for token, _ in keywords]
    return keywords


def naive_ngrams(text, n):
    """Return the distinct n-grams of the characters other than white space, with their counts."""
    packed = "".join(character for character in text if not character.isspace())
    counts = {}
    for i in range(len(packed) - n + 1):
        ngram = packed[i : i + n]
        counts[ngram] = counts.get(ngram, 0.0) + 1.0
    return list(counts.items())


def is_jiebas(text):
    """Tell whether at least half of the characters that count are such as jieba segments.

    Letters, digits and whatever lies outside the basic plane count, and so do jieba's +#&._%-.
    """
    inside = outside = 0
    for character in text:
        if JIEBAS.match(character):
            inside += 1
        elif character.isalnum() or ord(character) >= 0x10000:
            outside += 1
    return inside >= outside


JIEBAS = re.compile(r"[\u4E00-\u9FD5a-zA-Z0-9+#&._%-]")


def naive_route(text, top_k=30, *, ngram=3, weighting="tfidf"):
    """Return what the fingerprint is made of: the route, and the features with weights."""
    keywords = naive_keywords(text, top_k, weighting=weighting)
    enough = min(top_k, 5) if top_k else 10
    if len(keywords) >= enough and (ngram == 0 or is_jiebas(text)):
        return "words", keywords
    ngrams = naive_ngrams(text, ngram) if ngram else []
    if ngram and len(ngrams) >= 16:
        return "n-grams", ngrams
    return "whole text", []


def naive_fingerprint(text, top_k=30, **options):
    """Return the fingerprint and whether the text is short; a short text is its own hash.

    With ngram=0 this is the plain recipe. The options are those of `naive_route`.
    """
    route, features = naive_route(text, top_k, **options)
    if route == "whole text":
        return naive_hash(text), True
    return naive_simhash(features), False


def naive_hamming(a, b):
    """Count the bits in which two fingerprints differ."""
    distance = 0
    for bit in range(BITS):
        if (a >> bit & 1) != (b >> bit & 1):
            distance += 1
    return distance


class NaiveIndex:
    """Four blocks of 16 bits: within distance 3 at least one block is equal in both."""

    def __init__(self):
        self._fingerprints = []
        self._buckets = {}

    def add(self, fingerprint):
        """Hold one more fingerprint; its position is the number held before."""
        position = len(self._fingerprints)
        self._fingerprints.append(fingerprint)
        for block in range(BLOCKS):
            self._buckets.setdefault(self._bucket(fingerprint, block), []).append(position)

    def candidates(self, fingerprint, distance=3):
        """Return (position, distance) of all held within the distance, in order of arrival."""
        if distance >= BLOCKS:
            raise ValueError("four blocks find all neighbours up to distance 3 only")
        positions = set()
        for block in range(BLOCKS):
            positions.update(self._buckets.get(self._bucket(fingerprint, block), []))
        found = []
        for position in sorted(positions):
            apart = naive_hamming(self._fingerprints[position], fingerprint)
            if apart <= distance:
                found.append((position, apart))
        return found

    def _bucket(self, fingerprint, block):
        return block, fingerprint // 2 ** (BLOCK_BITS * block) % 2**BLOCK_BITS


# what the tool does without a configuration
DEFAULTS = {"top_k": 0, "weighting": "uniform"}

# decision, of, distance, reason
NaiveDecision = tuple[str, Any, int | None, str]


def naive_decide(documents, clean, distance=3, **options):
    """Run the whole recipe over (id, content), None standing for a missing field; first wins.

    The options are those of `naive_fingerprint`, by default the tool's own.

    Returns the kept ids in order, and what became of all others.
    """
    kept = []
    dropped = {}
    kept_texts = {}
    index, index_ids = NaiveIndex(), []
    for id_, content in documents:
        if content is None:
            dropped[id_] = ("skipped", None, None, "missing")
            continue
        if not isinstance(content, str):
            dropped[id_] = ("skipped", None, None, "not_text")
            continue
        text = clean(content)
        if text == "":
            dropped[id_] = ("skipped", None, None, "empty")
            continue
        if text in kept_texts:
            dropped[id_] = ("duplicate", kept_texts[text], 0, "exact")
            continue
        fingerprint, short = naive_fingerprint(text, **(DEFAULTS | options))
        if not short:
            nearest, least = None, distance + 1
            for position, apart in index.candidates(fingerprint, distance):
                if apart < least:  # of equally near ones the first stays
                    nearest, least = index_ids[position], apart
            if least <= distance:
                dropped[id_] = ("duplicate", nearest, least, "near")
                continue
            index.add(fingerprint)
            index_ids.append(id_)
        kept.append(id_)
        kept_texts[text] = id_
    return kept, dropped


def plain_recipe(source_collection, target_collection, field):
    """Run the plain job that dedup replaces; return how many documents it scanned and kept.

    For benchmarks: one document at a time, nothing checked, nothing resumed.
    """
    scanned = kept = 0
    index = NaiveIndex()
    for document in source_collection.find():
        scanned += 1
        content = document.get(field)
        if not isinstance(content, str):
            continue
        text = re.sub(r"<[^>]+>", "", content).strip()
        if text == "":
            continue
        fingerprint = naive_simhash(jieba.analyse.extract_tags(text, topK=30, withWeight=True))
        if index.candidates(fingerprint):
            continue
        index.add(fingerprint)
        kept += 1
        signed = fingerprint - 2**BITS if fingerprint >= 2 ** (BITS - 1) else fingerprint
        target_collection.insert_one({"_id": document["_id"], field: text, "hash_value": signed})
    return scanned, kept
