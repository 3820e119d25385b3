"""Candidates of a batch: those before it, those within it, the best of many, and who is gone."""

from __future__ import annotations

import numpy as np
import pytest

from dedup_job.decision import DecisionSettings, candidates
from dedup_job.decision.candidates import Candidates
from dedup_job.decision.check import Check
from dedup_job.decision.texts import KeptTexts
from dedup_job.documents import Channel, Fingerprints, Sketches
from dedup_job.index import IndexSettings, KeptIndex

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


class Found:
    """Candidates of some texts, after others that are kept and of which some are gone."""

    def __init__(self, before, here, gone=(), most=64, **decision):
        self.index = KeptIndex(IndexSettings())
        texts, prints = made(*before)
        self.index.add([str(number).encode() for number in range(len(before))], prints)
        self.asked = []

        def fetch(keys):
            self.asked.append([int(key) for key in keys])
            return {key: texts[int(key)] for key in keys if int(key) not in gone}

        self.candidates = Candidates(
            self.index,
            Check(DecisionSettings(**({"compare": "edit", "similarity": 0.5} | decision))),
            KeptTexts(fetch, self.index.key),
            most,
            *made(*here),
        )

    def of(self, row):
        """Return (number, distance, channels, agrees) of each, how many there are, who is gone."""
        looked = self.candidates.of(row)
        told = [
            (c.number, c.distance, self.candidates.channels(c), c.agrees) for c in looked.compared
        ]
        return told, looked.total, looked.void


TEXT, OTHER = "甲乙丙丁戊己", "子丑寅卯辰巳"
NONE = (900, 901, 902)


def test_what_is_found_before_is_named_with_its_channels_and_compared():
    before = [
        (TEXT, A ^ 1, NONE, 0),
        (OTHER, 0, (5, 6, 9), 0),
        (TEXT + "庚", 0, (1, 2, 7), 0),
        (TEXT, 1 << 63, (3, 4, 8), 0),
    ]
    found = Found(before, [(TEXT + "辛", A, (5, 2, 7), 0)])
    assert found.of(0) == (
        [
            (0, 1, ("simhash",), True),
            (1, A.bit_count(), ("minhash",), False),
            (2, A.bit_count(), ("minhash", "sentences"), True),
        ],
        3,
        (),
    )
    assert found.asked == [[0, 1, 2]]


@pytest.mark.parametrize("few", [0, 4])
def test_earlier_texts_of_the_batch_are_candidates_once_they_are_kept(monkeypatch, few):
    """Compared all at once where there are few, in turn where there are many."""
    monkeypatch.setattr(candidates, "_FEW", few)
    rows = [(TEXT + c, A, NONE, 0) for c in "一二三"] + [(OTHER, A, NONE, 0)]
    found = Found([], rows)
    assert found.of(1) == ([], 0, ())
    found.candidates.keep(1, 70)
    assert found.of(2) == ([(70, 0, ("simhash", "minhash", "sentences"), True)], 1, ())
    found.candidates.keep(2, 71)
    both = found.of(3)
    assert [(number, agrees) for number, _, _, agrees in both[0]] == [(70, False), (71, False)]
    assert found.candidates.text(71) == TEXT + "三"
    assert found.asked == []


def test_a_twin_is_the_kept_text_or_an_earlier_one_of_the_batch():
    found = Found(
        [(TEXT, A, NONE, 0)], [(TEXT, A, NONE, 0), (OTHER, 0, NONE, 0), (OTHER, 0, NONE, 0)]
    )
    assert [found.candidates.twin(row) for row in range(3)] == [0, -1, -1]
    found.candidates.keep(1, 1)
    assert found.candidates.twin(2) == 1
    assert found.asked == [[0]]  # what has a twin is compared with nothing else


def test_equal_hashes_of_unequal_texts_are_no_twins():
    texts, prints = made((TEXT, A, NONE, 0))
    kept = KeptIndex(IndexSettings())
    kept.add([b"0"], prints)
    one = Candidates(
        kept,
        Check(DecisionSettings()),
        KeptTexts(lambda keys: dict.fromkeys(keys, OTHER), kept.key),
        64,
        texts,
        prints,
    )
    assert one.twin(0) == -1
    assert [c.number for c in one.of(0).compared] == [0]  # a candidate like any other
    assert one.of(0).void == ()


def test_what_is_gone_is_void_and_compared_with_nothing():
    before = [(TEXT, A, NONE, 0), (TEXT + "庚", A, NONE, 0), (OTHER, A ^ 1, NONE, 0)]
    found = Found(before, [(TEXT + "辛", A, NONE, 0)], gone=(0, 2))
    told, total, void = found.of(0)
    assert [number for number, *_ in told] == [1]
    assert (total, void) == (3, (0, 2))


def test_without_its_twin_a_text_is_compared_with_the_others_and_stands_in_for_it():
    before = [(TEXT, A, NONE, 0), (TEXT + "庚", A ^ 1, NONE, 0)]
    copy = (TEXT, A, NONE, 0)
    found = Found(before, [copy, copy], gone=(0,))
    assert found.candidates.twin(0) == -1
    told, total, void = found.of(0)
    assert ([number for number, *_ in told], total, void) == ([1], 2, (0,))
    assert found.asked[0] == [0]
    found.candidates.keep(0, 2)
    assert found.candidates.twin(1) == 2
    assert found.index.equal(made(copy)[1]).tolist() == [2]


def test_of_too_many_those_with_the_most_equal_bits_are_compared_then_the_nearest_then_the_first():
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
    ranked = [12, 11, 10, 2, 3, 1, 0, 4]  # 64 equal bits, then 9, then 5, then none
    for most in range(1, 9):
        found = Found(before, [*here, query], most=most)
        for row, number in enumerate((10, 11, 12)):
            found.candidates.keep(row, number)
        told, total, _ = found.of(3)
        assert {number for number, *_ in told} == set(ranked[:most])
        assert total == 8


def test_with_too_few_equal_bits_nothing_is_a_candidate():
    before = [(TEXT, A, (1, 2, 3), 0), (TEXT + "庚", A, (1, 2, 3), 64)]
    found = Found(before, [("长" * 80, A, (1, 2, 3), 64)], compare="jaccard", similarity=0.8)
    assert [number for number, *_ in found.of(0)[0]] == [1]
    assert found.of(0)[1] == 1
