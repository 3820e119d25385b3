"""The naive version of the decision stage: one text after the other, in plain Python.

It shares no code with dedup_job but for the parts of a text; the tests pass its judge.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tests.reference.similarity import canonical_of, naive_jaccard
from tests.reference.sketch import naive_bins, naive_bits, naive_keys, naive_sentence_key

CHANNELS = ("simhash", "minhash", "sentences", "form", "text")
BINS, MOST_EQUAL = 128, 128

Judges = Callable[[str, str], tuple[bool, float | None, str]]
"""Whether two texts are duplicates, their probability, and the reason if they are not."""


@dataclass(frozen=True)
class NaiveText:
    """A cleaned text with its fingerprint and sketch."""

    text: str
    value: int
    short: bool
    bands: list[int]
    bits: list[int]
    sentences: int
    form: str

    @classmethod
    def of(cls, text, value, short):
        """Return a text with its sketch, given its fingerprint."""
        form = canonical_of(text)
        bins, sentences = naive_bins(form), naive_sentence_key(text)
        return cls(text, value, short, naive_keys(bins), naive_bits(bins), sentences, form)


@dataclass(frozen=True)
class NaiveDecision:
    """The decision on a text; of: the number of the original, None for a kept text."""

    of: int | None = None
    distance: int = 0
    similarity: float | None = None
    probability: float | None = None
    found_by: tuple[str, ...] = ()
    reason: str = ""
    candidates: int = 0
    cut: int = 0
    refused: tuple[int, float, float | None, str] | None = None
    void: frozenset[int] = frozenset()


class NaiveKept(NamedTuple):
    """A kept text and its number."""

    number: int
    text: NaiveText


@dataclass
class NaiveFirstWins:
    """Decides one text after the other.

    ranks: by number, the better copy has the larger one; replaced: by number, the decisions on
    kept texts that a better copy superseded. They are no candidates any more, but still count for
    the limit of each key.
    """

    channels: Collection[str] = ("simhash", "minhash")
    distance: int = 3
    judge: str = "similarity"
    similarity: float = 0.8
    verdict: Judges | None = None  # of the judge "differences"
    most_candidates: int = 64
    most_equal: int = MOST_EQUAL
    most_same: int = 0  # of one simhash; 0: 1 with minhash, else 16
    ranks: dict[int, int] = field(default_factory=dict)
    replaced: dict[int, NaiveDecision] = field(default_factory=dict)
    near: dict[int, list[NaiveText]] = field(default_factory=dict)  # in the group of each kept text
    texts: dict[int, NaiveText] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    kept: list[NaiveKept] = field(default_factory=list)
    simhashes: list[tuple[int, NaiveKept]] = field(default_factory=list)
    equal: dict[tuple[str, Any], list[NaiveKept]] = field(default_factory=dict)
    alike: dict[tuple[str, str], tuple[float, bool]] = field(default_factory=dict)

    def decide_all(self, texts):
        """Return the decisions on texts, numbered from 0."""
        return [self.decide(number, text) for number, text in enumerate(texts)]

    def decide(self, number, text):
        """Return the decision on a text; a kept one becomes a candidate."""
        equal = [kept.number for kept in self.equal.get(("text", text.text), [])]
        if equal and equal[-1] in self.replaced:
            equal = []
        if equal and equal[-1] not in self.removed:
            exact = NaiveDecision(equal[-1], 0, 1.0, None, ("text",), "exact")
            if self._supersedes(number, text, equal[-1]):
                self.replaced[equal[-1]] = replace(exact, of=number)
                return NaiveDecision()
            return exact
        void = set(equal[-1:])
        found = [(k, by) for k, by in self.found(text) if k.number not in self.replaced]
        if self.sketched:
            least = self.least_agreement(text.text)
            found = [(k, by) for k, by in found if self.agreement(k.text, text) >= least]
        found.sort(key=lambda pair: self.rank(pair[0], text))
        compared = found[: self.most_candidates]
        void |= {kept.number for kept, _ in compared} & self.removed
        compared = [(kept, by) for kept, by in compared if kept.number not in self.removed]
        cut = max(len(found) - self.most_candidates, 0)
        tried = {"candidates": len(found), "cut": cut, "void": frozenset(void)}
        joined, refused = [], []
        for kept, by in compared:
            apart = (kept.text.value ^ text.value).bit_count()
            similarity, agrees = self.compared(text, kept.text)
            likely = None
            if self.judge != "differences":
                order, kind = (-similarity, apart), "similarity"
            else:
                agrees, likely, kind = self.verdict(text.text, kept.text.text)
                order = (-(likely or 0), 0)
            if agrees:
                joined.append((order, kept.number, apart, similarity, likely, by))
            else:
                refused.append((kept.number, similarity, likely, kind))
        if joined:
            _, of, apart, similarity, likely, by = min(joined)
            values = apart, None if self.judge == "none" else similarity, likely, by, "near"
            if self._supersedes(number, text, of):
                self.replaced[of] = NaiveDecision(number, *values)
                return NaiveDecision(**tried)
            self.near.setdefault(of, []).append(text)
            return NaiveDecision(of, *values, **tried)
        self.keep(number, text)
        return NaiveDecision(refused=refused[0] if refused else None, **tried)

    def _supersedes(self, number, text, of):
        """Keep a text instead of `of` if it is better, and a duplicate of all its group."""
        if not self.ranks or self.ranks[number] <= self.ranks[of]:
            return False
        former, near = self.texts[of], self.near.get(of, [])
        if text.text != former.text:
            if len(near) > self.most_candidates or not all(self.joins(text, o) for o in near):
                return False
            near = [*near, former]
        self.near[number] = near
        self.keep(number, text)
        return True

    def joins(self, a, b):
        """Return whether two texts are duplicates."""
        if self.judge == "differences":
            return self.verdict(a.text, b.text)[0]
        return self.compared(a, b)[1]

    @property
    def sketched(self):
        """Whether sketches are compared."""
        return "minhash" in self.channels

    def restart(self):
        """Remove all kept texts from the index."""
        for known in (self.removed, self.kept, self.simhashes, self.equal):
            known.clear()

    def keep(self, number, text):
        """Keep a text; later texts find only the first few with an equal key."""
        one = NaiveKept(number, text)
        self.kept.append(one)
        self.texts[number] = text
        self.equal.setdefault(("text", text.text), []).append(one)
        if not text.short and self._takes("simhash", text.value, one):
            self.simhashes.append((text.value, one))
        for band, key in enumerate(text.bands):
            self._takes("minhash", (band, key), one)
        self._takes("sentences", text.sentences, one)
        self._takes("form", text.form, one)

    def _takes(self, channel, key, one):
        same = self.equal.setdefault((channel, key), [])
        most_same = self.most_same or (1 if "minhash" in self.channels else 16)
        if len(same) >= (most_same if channel == "simhash" else self.most_equal):
            return False
        same.append(one)
        return True

    def found(self, text):
        """Return the candidates of a text, each with the generators that found it."""
        by = {name: [] for name in CHANNELS}
        if not text.short:
            near = self.simhashes
            by["simhash"] = [k for v, k in near if (v ^ text.value).bit_count() <= self.distance]
        keys = [("minhash", pair) for pair in enumerate(text.bands)]
        by["minhash"] = [kept for key in keys for kept in self.equal.get(key, [])]
        by["sentences"] = self.equal.get(("sentences", text.sentences), [])
        by["form"] = self.equal.get(("form", text.form), [])
        used = [*self.channels, *(["form"] if self.judge == "differences" else [])]
        numbers = {name: {kept.number for kept in by[name]} for name in used}
        every = {kept.number: kept for name in used for kept in by[name]}
        if "simhash" in used and not text.short:  # even if an equal one hides it
            near = [kept for kept in every.values() if self._is_near(kept.text, text)]
            numbers["simhash"] |= {kept.number for kept in near}
        return [
            (kept, tuple(name for name in CHANNELS if number in numbers.get(name, ())))
            for number, kept in every.items()
        ]

    def _is_near(self, a, b):
        return (a.value ^ b.value).bit_count() <= self.distance and not a.short

    def rank(self, kept, text):
        """Return the sort key of a candidate: likely ones are compared first."""
        agreement = self.agreement(kept.text, text) if self.sketched else 0
        return -agreement, (kept.text.value ^ text.value).bit_count(), kept.number

    def agreement(self, a, b):
        """Count the equal bits of two sketches."""
        return BINS - sum((x ^ y).bit_count() for x, y in zip(a.bits, b.bits, strict=True))

    def least_agreement(self, text):
        """Return the least equal bits of a candidate: 3.5 standard deviations below the mean."""
        if self.judge == "differences":  # 2 standard deviations below a similarity of 0.6
            return math.floor((0.8 - 2 * math.sqrt(0.8 * 0.2 / BINS)) * BINS)
        if self.judge == "none":
            return 0
        share = (1 + self.required(len(text) // 2)) / 2
        return math.floor((share - 3.5 * math.sqrt(share * (1 - share) / BINS)) * BINS)

    def required(self, length):
        """Return the least similarity of two duplicates, the longer one of `length` characters.

        The loss of a character changes 5 grams of G + 2, which leaves a similarity of about 0.8
        for 29 characters or more, and less for shorter texts.
        """
        grams = min(length - 2, 27)
        if grams < 12:
            return self.similarity
        return self.similarity * (((grams - 3) / (grams + 2)) / ((27 - 3) / (27 + 2)))

    def compared(self, a, b):
        """Return the similarity of two texts, and whether it is enough."""
        if self.judge == "none":
            return 1.0, True
        pair = a.text, b.text
        if pair not in self.alike:
            similarity = naive_jaccard(a.form, b.form)
            least = self.required(max(len(a.form), len(b.form)))
            self.alike[pair] = similarity, similarity >= least
        return self.alike[pair]
