"""Naive versions of the fingerprint and of a run, in plain loops; no code of dedup_job."""

import re

import jieba.analyse
import xxhash

from tests.reference.decision import NaiveFirstWins, NaiveText

# the settings of the naive versions, for tests that compare with them
PLAIN = {"top_k": 30, "weighting": "tfidf"}
BITS = 64
BLOCKS = 4
BLOCK_BITS = 16


def naive_hash(text):
    """Return the 64-bit hash of a token or of a whole text."""
    return xxhash.xxh64(text.encode("utf-8", "surrogatepass"), seed=0).intdigest()


def naive_simhash(weighted_tokens):
    """Return the simhash: a bit is 1 if the tokens with a 1 there weigh more than the others."""
    sums = [0.0] * BITS
    for token, weight in weighted_tokens:
        token_hash = naive_hash(token)
        for bit in range(BITS):
            sums[bit] += weight if token_hash >> bit & 1 else -weight
    return sum(2**bit for bit in range(BITS) if sums[bit] > 0)


def naive_keywords(text, top_k=30, *, weighting="tfidf"):
    """Return the keywords with their weights, the heaviest first; top_k 0 takes all.

    By default these are the tags of `jieba.analyse.extract_tags`.
    """
    extractor = jieba.analyse.default_tfidf
    counts = {}
    for token in jieba.lcut(text):
        if len(token.strip()) >= 2 and token.lower() not in extractor.stop_words:
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
    """Return whether jieba segments at least half of the characters that count.

    Letters, digits, characters beyond the basic plane and jieba's +#&._%- count.
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
    """Return the kind of features of a text ("words", "n-grams", "whole text"), and these."""
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
    """Return the number of bits in which two fingerprints differ."""
    return f"{a ^ b:b}".count("1")


class NaiveIndex:
    """Four blocks of 16 bits: within distance 3 at least one block is equal in both."""

    def __init__(self):
        self._buckets = {}

    def add(self, fingerprint):
        """Add a fingerprint."""
        for bucket in self._buckets_of(fingerprint):
            self._buckets.setdefault(bucket, []).append(fingerprint)

    def finds(self, fingerprint):
        """Return whether a fingerprint within distance 3 was added."""
        found = (self._buckets.get(bucket, []) for bucket in self._buckets_of(fingerprint))
        return any(naive_hamming(one, fingerprint) <= 3 for some in found for one in some)

    def _buckets_of(self, fingerprint):
        for block in range(BLOCKS):
            yield block, fingerprint // 2 ** (BLOCK_BITS * block) % 2**BLOCK_BITS


def naive_decide(documents, clean):
    """Return the kept ids in order, and by id the decisions on all others; first wins.

    documents: (id, content), content None for a missing field. A decision is kind, original id,
    distance and reason. Fingerprints are those of the default settings.
    """
    kept, dropped, ids = [], {}, []
    first_wins = NaiveFirstWins(channels=("simhash",), judge="none")
    for id_, content in documents:
        text = clean(content) if isinstance(content, str) else None
        if not text:
            reason = "missing" if content is None else "not_text" if text is None else "empty"
            dropped[id_] = ("skipped", None, None, reason)
            continue
        fingerprint, short = naive_fingerprint(text, top_k=0, weighting="uniform")
        made = NaiveText(text, fingerprint, short, bands=[], bits=[], sentences=0, form="")
        decision = first_wins.decide(len(ids), made)
        ids.append(id_)
        if decision.of is None:
            kept.append(id_)
        else:
            dropped[id_] = ("duplicate", ids[decision.of], decision.distance, decision.reason)
    return kept, dropped


def plain_recipe(source_collection, target_collection, field):
    """Run the plain job that dedup replaces; return the numbers of scanned and kept documents.

    For benchmarks: one document at a time, without checks or resumption.
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
        if index.finds(fingerprint):
            continue
        index.add(fingerprint)
        kept += 1
        signed = fingerprint - 2**BITS if fingerprint >= 2 ** (BITS - 1) else fingerprint
        target_collection.insert_one({"_id": document["_id"], field: text, "hash_value": signed})
    return scanned, kept
