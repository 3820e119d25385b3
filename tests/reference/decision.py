"""The naive version of the decision stage: one text after the other, in plain Python.

It shares no code with dedup_job but for the parts of a text; a judge is handed in.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from tests.reference.similarity import canonical_of, naive_jaccard
from tests.reference.sketch import naive_bins, naive_bits, naive_keys, naive_sentence_key

CHANNELS = ("simhash", "minhash", "sentences", "form", "text")
BINS, MOST_EQUAL = 128, 128

Judges = Callable[[str, str], tuple[bool, float | None, str]]
"""Whether two texts are the same, how likely that is, and what keeps them apart."""


@dataclass(frozen=True)
class NaiveText:
    """A cleaned text, its fingerprint, whether it is short, and its sketch."""

    text: str
    value: int
    short: bool
    bands: list[int]
    bits: list[int]
    sentences: int
    form: str

    @classmethod
    def of(cls, text, value, short):
        """Sketch a text; its fingerprint is taken from elsewhere."""
        form = canonical_of(text)
        bins = naive_bins(form)
        sentences = naive_sentence_key(text)
        return cls(text, value, short, naive_keys(bins), naive_bits(bins), sentences, form)


@dataclass(frozen=True)
class NaiveDecision:
    """The outcome of a text; `of`, a number in order of arrival, is None where it is kept."""

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


@dataclass(frozen=True)
class NaiveKept:
    """A kept text and its number."""

    number: int
    text: NaiveText


@dataclass
class NaiveFirstWins:
    """Decides one text after the other.

    ranks: by number, of two copies the one with the larger rank is kept; replaced: by number, what
    became of kept texts whose place a better copy took. They are found no more, and have their
    place under each key for ever.
    """

    channels: Collection[str] = ("simhash", "minhash")
    distance: int = 3
    compares: bool = True
    threshold: float = 0.8
    judge: Judges | None = None
    most_candidates: int = 64
    most_equal: int = MOST_EQUAL
    most_same: int = 0  # of one simhash; 0: 1 with minhash, else 16
    ranks: dict[int, int] = field(default_factory=dict)
    replaced: dict[int, NaiveDecision] = field(default_factory=dict)
    others: dict[int, list[NaiveText]] = field(default_factory=dict)  # of the group of each kept
    texts: dict[int, NaiveText] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    kept: list[NaiveKept] = field(default_factory=list)
    simhashes: list[tuple[int, NaiveKept]] = field(default_factory=list)
    equal: dict[tuple[str, Any], list[NaiveKept]] = field(default_factory=dict)
    alike: dict[tuple[str, str], tuple[float, bool]] = field(default_factory=dict)

    def decide_all(self, texts):
        """Decide texts whose numbers are their places, from 0."""
        return [self.decide(number, text) for number, text in enumerate(texts)]

    def decide(self, number, text):
        """Decide a text, and keep it where it is no duplicate."""
        equal = [kept.number for kept in self.equal.get(("text", text.text), [])]
        if equal and equal[-1] in self.replaced:
            equal = []
        if equal and equal[-1] not in self.gone:
            said = 0, 1.0, None, ("text",), "exact"
            if self._takes_place(number, text, equal[-1]):
                self.replaced[equal[-1]] = NaiveDecision(number, *said)
                return NaiveDecision()
            return NaiveDecision(equal[-1], *said)
        void = set(equal[-1:])
        found = [(k, by) for k, by in self.found(text) if k.number not in self.replaced]
        if self.sketched:
            least = self.least_agreement(text.text)
            found = [(k, by) for k, by in found if self.agreement(k.text, text) >= least]
        found.sort(key=lambda pair: self.rank(pair[0], text))
        compared = found[: self.most_candidates]
        void |= {kept.number for kept, _ in compared} & self.gone
        compared = [(kept, by) for kept, by in compared if kept.number not in self.gone]
        tried = {
            "candidates": len(found),
            "cut": max(len(found) - self.most_candidates, 0),
            "void": frozenset(void),
        }
        joined, refused = [], []
        for kept, by in compared:
            apart = (kept.text.value ^ text.value).bit_count()
            similarity, agrees = self.compared(text, kept.text)
            likely = None
            if self.judge is None:
                order, kind = (-similarity, apart), "similarity"
            else:
                agrees, likely, kind = self.judge(text.text, kept.text.text)
                order = (-(likely or 0), 0)
            if agrees:
                joined.append((order, kept.number, apart, similarity, likely, by))
            else:
                refused.append((kept.number, similarity, likely, kind))
        if joined:
            _, of, apart, similarity, likely, by = min(joined)
            told = similarity if self.compares else None
            if self._takes_place(number, text, of):
                self.replaced[of] = NaiveDecision(number, apart, told, likely, by, "near")
                return NaiveDecision(**tried)
            self.others.setdefault(of, []).append(text)
            return NaiveDecision(of, apart, told, likely, by, "near", **tried)
        self.keep(number, text)
        return NaiveDecision(refused=refused[0] if refused else None, **tried)

    def _takes_place(self, number, text, of):
        """Keep a text in place of another one where it is the better copy, and like its group."""
        if not self.ranks or self.ranks[number] <= self.ranks[of]:
            return False
        former, others = self.texts[of], self.others.get(of, [])
        if text.text != former.text:
            if len(others) > self.most_candidates or not all(self.joins(text, o) for o in others):
                return False
            others = [*others, former]
        self.others[number] = others
        self.keep(number, text)
        return True

    def joins(self, text, other):
        """Tell whether two texts are duplicates."""
        if self.judge is not None:
            return self.judge(text.text, other.text)[0]
        return self.compared(text, other)[1]

    @property
    def sketched(self):
        """Tell whether the bits of sketches are known."""
        return "minhash" in self.channels

    def forget(self):
        """Begin anew."""
        for known in (self.gone, self.kept, self.simhashes, self.equal):
            known.clear()

    def keep(self, number, text):
        """Keep a text; of those with an equal key later texts find the first so many."""
        one = NaiveKept(number, text)
        self.kept.append(one)
        self.texts[number] = text
        self.equal.setdefault(("text", text.text), []).append(one)
        if not text.short and self._has_room("simhash", text.value, one):
            self.simhashes.append((text.value, one))
        for band, key in enumerate(text.bands):
            self._has_room("minhash", (band, key), one)
        self._has_room("sentences", text.sentences, one)
        self._has_room("form", text.form, one)

    def _has_room(self, channel, key, one):
        others = self.equal.setdefault((channel, key), [])
        most_same = self.most_same or (1 if "minhash" in self.channels else 16)
        room = len(others) < (most_same if channel == "simhash" else self.most_equal)
        if room:
            others.append(one)
        return room

    def found(self, text):
        """Return the kept texts that a text finds, each with the channels by which it does."""
        by = {name: [] for name in CHANNELS}
        if not text.short:
            near = self.simhashes
            by["simhash"] = [k for v, k in near if (v ^ text.value).bit_count() <= self.distance]
        keys = [("minhash", pair) for pair in enumerate(text.bands)]
        by["minhash"] = [kept for key in keys for kept in self.equal.get(key, [])]
        by["sentences"] = self.equal.get(("sentences", text.sentences), [])
        by["form"] = self.equal.get(("form", text.form), [])
        used = [*self.channels, *(["form"] if self.judge else [])]
        numbers = {name: {kept.number for kept in by[name]} for name in used}
        every = {kept.number: kept for name in used for kept in by[name]}
        if "simhash" in used and not text.short:  # also where an equal one hid it
            near = [kept for kept in every.values() if self._is_near(kept.text, text)]
            numbers["simhash"] |= {kept.number for kept in near}
        return [
            (kept, tuple(name for name in CHANNELS if number in numbers.get(name, ())))
            for number, kept in every.items()
        ]

    def _is_near(self, a, b):
        return (a.value ^ b.value).bit_count() <= self.distance and not a.short

    def rank(self, kept, text):
        """Return the order in which candidates are compared: likely ones first."""
        agreement = self.agreement(kept.text, text) if self.sketched else 0
        return -agreement, (kept.text.value ^ text.value).bit_count(), kept.number

    def agreement(self, a, b):
        """Count the equal bits of two sketches."""
        return BINS - sum((x ^ y).bit_count() for x, y in zip(a.bits, b.bits, strict=True))

    def least_agreement(self, text):
        """Return the bits that a candidate has equal: 3.5 standard deviations below the mean."""
        if self.judge is not None:  # 2 standard deviations below a similarity of 0.6
            return math.floor((0.8 - 2 * math.sqrt(0.8 * 0.2 / BINS)) * BINS)
        if not self.compares:
            return 0
        share = (1 + self.required(len(text) // 2)) / 2
        return math.floor((share - 3.5 * math.sqrt(share * (1 - share) / BINS)) * BINS)

    def required(self, length):
        """Return the least similarity for two texts, the longer one with so many characters.

        A character inside a text of 29 characters or more: its loss costs 5 grams of G + 2 at
        most, which leaves about 0.8. Of a shorter one the loss of one character costs more.
        """
        grams = min(length - 2, 27)
        if not self.compares or grams < 12:
            return self.threshold
        return self.threshold * (((grams - 3) / (grams + 2)) / ((27 - 3) / (27 + 2)))

    def compared(self, a, b):
        """Return how alike two texts are, and whether that is enough."""
        if not self.compares:
            return 1.0, True
        pair = a.text, b.text
        if pair not in self.alike:
            similarity = naive_jaccard(a.form, b.form)
            least = self.required(max(len(a.form), len(b.form)))
            self.alike[pair] = similarity, similarity >= least
        return self.alike[pair]
