"""Candidates of a batch: those before it, those within it, the best of many, and who is gone."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from dedup_job.columns import CHANNELS as NAMES
from dedup_job.columns import (
    EXACT,
    KEPT,
    NEAR,
    Batch,
    Decisions,
    Documents,
    Fingerprints,
    Sketches,
)
from dedup_job.decision import DecisionSettings
from dedup_job.decision.batches import choose
from dedup_job.decision.compared import LocalPairs
from dedup_job.decision.rounds import Rules
from dedup_job.decision.texts import KeptTexts, by_key
from dedup_job.decision.weighing import PairScorer
from dedup_job.documents import Channel, Document, names_of
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.judgment import CLASSES
from tests.judging import DigitJudge

A = 0x0F0F_1234_5678_9ABC
CHANNELS = (Channel.MINHASH, Channel.MINHASH, Channel.SENTENCES)


def made(*rows):
    """Make fingerprints of (text, value, three keys, agreeing bits); equal texts are equal."""
    bits = [[2**64 - 1 >> 64 - row[3] if row[3] else 0, 2**64 - 1] for row in rows]
    return [row[0] for row in rows], Fingerprints(
        np.array([row[1] for row in rows], dtype=np.uint64),
        np.array([hash(row[0]) % 2**64 for row in rows], dtype=np.uint64),
        np.zeros(len(rows), dtype=np.bool_),
        Sketches(
            np.array([row[2] for row in rows], dtype=np.uint32).reshape(len(rows), 3),
            np.array(bits, dtype=np.uint64).reshape(len(rows), 2),
            CHANNELS,
        ),
    )


def chosen(index, scorer, known, most, texts, prints, *, by_distance=True):
    """Decide texts in this process."""
    documents = Documents.of([Document(None, b"", b"", text) for text in texts])
    pairs = LocalPairs(
        scorer, known.get, Batch(documents, prints), slice(0, len(texts)), len(index)
    )
    least = scorer.threshold.least_agreement(documents.texts.lengths)
    made = Decisions.all_kept(prints.values, prints.short)
    choices = choose(index, pairs, Rules(most, by_distance), least, prints, made)
    entered = ("outcomes", "distances", "similarities", "channels", "kinds", "candidates")
    return SimpleNamespace(**choices._asdict(), **{name: getattr(made, name) for name in entered})


class Found:
    """Choices for some texts, after others that are kept and of which some are gone."""

    def __init__(self, before, here, gone=(), most=64, **decision):
        self.index = KeptIndex(IndexSettings())
        texts, prints = made(*before)
        self.index.add([str(number).encode() for number in range(len(before))], prints)
        self.asked = []

        def fetch(keys):
            self.asked.append([int(key) for key in keys])
            return {key: texts[int(key)] for key in keys if int(key) not in gone}

        settings = DecisionSettings(**({"judge": "similarity", "similarity": 0.5} | decision))
        scorer = PairScorer(settings, DigitJudge())
        known = KeptTexts(by_key(fetch), self.index.packed_keys)
        self.choices = chosen(
            self.index, scorer, known, most, *made(*here), by_distance=not settings.judges
        )

    @property
    def near(self):
        """Return (row, number, distance, channels) of each near duplicate."""
        return self.pairs(NEAR)

    @property
    def refused(self):
        """Return (row, number, distance, channels) of the nearest candidate of each kept text."""
        return self.pairs(KEPT)

    @property
    def exact(self):
        """Return the numbers of the kept ones by the rows of exact duplicates."""
        return {row: number for row, number, *_ in self.pairs(EXACT)}

    @property
    def kept(self):
        """Return the rows that are kept."""
        return np.flatnonzero(self.choices.outcomes == KEPT).tolist()

    def pairs(self, outcome):
        """Return (row, number, distance, channels) of the pairs of texts with this outcome."""
        made = self.choices
        rows = np.flatnonzero((made.outcomes == outcome) & (made.numbers >= 0)).tolist()
        numbers, distances = made.numbers.tolist(), made.distances.tolist()
        channels = [names_of(bits, NAMES) for bits in made.channels.tolist()]
        return [(row, numbers[row], distances[row], channels[row]) for row in rows]


TEXT, OTHER = "甲乙丙丁戊己", "子丑寅卯辰巳"
NONE = (900, 901, 902)


def test_the_most_similar_candidate_is_named_with_its_channels():
    before = [
        (TEXT[:-1] + "庚", A ^ 1, NONE, 0),
        (OTHER, 0, (5, 6, 9), 0),
        (TEXT + "庚", 0, (1, 2, 7), 0),
        (TEXT, 1 << 63, (3, 4, 8), 0),
    ]
    found = Found(before, [(TEXT + "辛", A, (5, 2, 7), 0)])
    assert found.near == [(0, 2, A.bit_count(), ("minhash", "sentences"))]
    assert found.choices.candidates.tolist() == [3]
    assert found.asked == [[0, 1, 2]]
    alone = Found(before, [(OTHER[:3] + TEXT[:3], A, (5, 6, 90), 0)], similarity=0.9)
    assert alone.refused == [(0, 0, 1, ("simhash",))]
    assert alone.kept == [0]


def test_earlier_texts_of_the_batch_are_candidates_if_they_are_kept():
    rows = [(TEXT + c, A, NONE, 0) for c in "一二三"] + [(OTHER, A, NONE, 0)]
    found = Found([], rows)
    assert found.kept == [0, 3]
    every = ("simhash", "minhash", "sentences")
    assert found.near == [(1, 0, 0, every), (2, 0, 0, every)]
    assert found.refused == [(3, 0, 0, every)]
    assert found.choices.candidates.tolist() == [0, 1, 1, 1]
    assert found.asked == []


def test_numbers_are_those_that_the_kept_texts_get():
    """The index holds two documents; of the batch the second and the fourth are duplicates."""
    before = [(TEXT, A, NONE, 0), (OTHER * 2, 0xFFFF, (7, 8, 9), 0)]
    rows = [
        (OTHER, 0, (1, 2, 3), 0),
        (TEXT, A, NONE, 0),
        (OTHER * 3, 0xFFFF << 20, (4, 5, 6), 0),
        (OTHER * 3 + "甲", 0xFFFF << 40, (4, 5, 6), 0),
    ]
    found = Found(before, rows)
    assert found.kept == [0, 2]
    assert found.exact == {1: 0}
    assert [(row, number) for row, number, *_ in found.near] == [(3, 3)]


def test_a_twin_is_the_kept_text_or_an_earlier_one_of_the_batch():
    found = Found(
        [(TEXT, A, NONE, 0)], [(TEXT, A, NONE, 0), (OTHER, 0, NONE, 0), (OTHER, 0, NONE, 0)]
    )
    assert found.exact == {0: 0, 2: 1}
    assert found.kept == [1]
    assert found.asked == [[0]]  # what has a twin is compared with nothing else


def test_equal_hashes_of_unequal_texts_are_no_twins():
    texts, prints = made((TEXT, A, NONE, 0))
    kept = KeptIndex(IndexSettings())
    kept.add([b"0"], prints)
    known = KeptTexts(by_key(lambda keys: dict.fromkeys(keys, OTHER)), kept.packed_keys)
    scorer = PairScorer(DecisionSettings(judge="similarity"), DigitJudge())
    choices = chosen(kept, scorer, known, 64, texts, prints)
    assert choices.outcomes.tolist() == [KEPT]
    assert choices.numbers.tolist() == [0]  # a candidate like any other
    assert choices.missing == {}


def test_what_is_gone_is_void_and_compared_with_nothing():
    before = [(TEXT, A, NONE, 0), (TEXT + "庚", A, NONE, 0), (OTHER, A ^ 1, NONE, 0)]
    found = Found(before, [(TEXT + "辛", A, NONE, 0)], gone=(0, 2))
    assert [number for _, number, *_ in found.near] == [1]
    assert found.choices.candidates.tolist() == [3]
    assert found.choices.missing == {0: (0, 2)}


def test_without_its_twin_a_text_is_compared_with_the_others_and_stands_in_for_it():
    before = [(TEXT, A, NONE, 0), (TEXT + "庚", A ^ 1, NONE, 0)]
    copy = (TEXT, A, NONE, 0)
    found = Found(before, [copy, copy], gone=(0,), similarity=0.9)
    assert found.kept == [0]
    assert [number for _, number, *_ in found.refused] == [1]
    assert found.choices.candidates.tolist()[0] == 2
    assert found.choices.missing[0] == (0,)
    assert found.asked[0] == [0]
    assert found.exact == {1: 2}
    assert found.index.equal(made(copy)[1]).tolist() == [2]


def test_of_too_many_those_with_the_most_equal_bits_are_compared_then_the_nearest_then_the_first(
    monkeypatch,
):
    """Before and within the batch alike; what is left aside is not even asked for."""
    before = [
        (f"{TEXT}{i}", A ^ apart, (1, i + 100, i + 200), bits)
        for i, (apart, bits) in enumerate([(0, 5), (0b11, 9), (0b1, 9), (0b1, 9), (0, 0)])
    ]
    here = [
        (f"{TEXT}x", A, (1, 300, 400), 9),
        (f"{TEXT}y", A ^ 0b111, (1, 301, 401), 64),
        (f"{TEXT}z", A, (1, 302, 402), 64),
    ]
    query = (TEXT, A, (1, 303, 403), 64)
    ranked = [7, 6, 5, 2, 3, 1, 0, 4]  # 64 equal bits, then 9, then 5, then none
    names = [*(text for text, *_ in before), *(text for text, *_ in here)]
    for most in range(1, 9):
        compared = []

        class Noting(PairScorer):
            def verdicts(self, texts, rows, others, other_rows, seen=compared):
                pairs = zip(rows.tolist(), other_rows.tolist(), strict=True)
                others_, own = others.texts.texts(), texts.texts.texts()
                seen += [names.index(others_[j]) for i, j in pairs if own[i] == TEXT]
                return super().verdicts(texts, rows, others, other_rows)

        texts, prints = made(*before)
        index = KeptIndex(IndexSettings())
        index.add([str(number).encode() for number in range(len(before))], prints)
        held = dict(enumerate(texts))
        fetch = by_key(lambda keys, held=held: {k: held[int(k)] for k in keys})
        known = KeptTexts(fetch, index.packed_keys)
        settings = DecisionSettings(judge="similarity", similarity=1.0)
        scorer = Noting(settings, DigitJudge())
        zeros = np.zeros(4, dtype=np.int64)  # all that is found is a candidate
        monkeypatch.setattr(scorer.threshold, "least_agreement", lambda _, zeros=zeros: zeros)
        choices = chosen(index, scorer, known, most, *made(*here, query))
        assert sorted(compared) == sorted(ranked[:most])
        assert choices.candidates.tolist()[3] == 8
        assert choices.numbers[3] == ranked[0]


def test_with_too_few_equal_bits_nothing_is_a_candidate():
    before = [(TEXT, A, (1, 2, 3), 0), (TEXT + "庚", A, (1, 2, 3), 64)]
    found = Found(before, [("长" * 80, A, (1, 2, 3), 64)], similarity=0.8)
    assert [number for _, number, *_ in found.refused] == [1]
    assert found.choices.candidates.tolist() == [1]


def test_with_a_judge_the_fewest_differences_are_named_then_the_earliest():
    before = [(TEXT + "，，" + c, A, NONE, 64) for c in "一二三"]
    before += [(TEXT + c, A, NONE, 64) for c in "四五"]
    found = Found(before, [(TEXT, A, NONE, 64)], judge="differences")
    assert [number for _, number, *_ in found.near] == [3]
    assert 0 < found.choices.similarities[0] < 1


def test_with_a_judge_the_nearest_refused_is_that_with_the_most_equal_bits():
    before = [
        (f"{TEXT}{i}", A ^ apart, NONE, bits)
        for i, (apart, bits) in enumerate([(0, 50), (0b11, 60), (0b1, 60), (0b1, 60)])
    ]
    found = Found(before, [(TEXT + "9", A, NONE, 64)], judge="differences")
    assert [number for _, number, *_ in found.refused] == [2]
    assert CLASSES[found.choices.kinds[0]] == "number"
    assert 0 < found.choices.similarities[0] < 1
