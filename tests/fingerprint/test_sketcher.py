"""What is sketched is the form that is handed in, and texts of one form share a key."""

from __future__ import annotations

import numpy as np

from dedup_job.documents import Channel
from dedup_job.fingerprint import Sketcher, TextColumn, pack
from dedup_job.fingerprint.sketch import BANDS, KEY_BITS

TEXTS = ["甲乙丙丁戊己庚辛", "甲乙丙丁戊己庚辛", "子丑寅卯辰巳午未", "一"]
BOTH = (Channel.MINHASH, Channel.SENTENCES)


def reversed_form(texts: TextColumn) -> tuple[TextColumn, None]:
    """Return the texts of the batch in the reverse order, so that it is seen to be used."""
    return texts.take(np.arange(len(texts))[::-1]), None


def test_with_a_form_there_is_a_column_of_its_own_whatever_the_channels() -> None:
    for channels in ((), (Channel.SIMHASH,), BOTH):
        sketcher = Sketcher((*channels, Channel.FORM), lambda texts: (texts, None))
        made = sketcher.sketch(pack(TEXTS))
        assert made is not None
        assert sketcher.channels[-1] is Channel.FORM
        assert sketcher.channels.count(Channel.FORM) == 1
        assert made.keys.shape == (4, len(sketcher.channels))
        keys = made.keys[:, -1].tolist()
        assert keys[0] == keys[1]
        assert len(set(keys)) == 3
        assert max(keys) < 2**KEY_BITS


def test_the_minima_are_those_of_the_form_and_the_sentences_those_of_the_text() -> None:
    plain, other = (
        Sketcher(BOTH).sketch(pack(TEXTS)),
        Sketcher((*BOTH, Channel.FORM), reversed_form),
    )
    formed = other.sketch(pack(TEXTS))
    assert plain is not None
    assert formed is not None
    assert np.array_equal(formed.keys[:, :BANDS], plain.keys[::-1, :BANDS])
    assert np.array_equal(formed.bits, plain.bits[::-1])
    assert np.array_equal(formed.keys[:, -2], plain.keys[:, -1])


def test_without_a_form_and_channels_nothing_is_sketched() -> None:
    assert Sketcher(()).sketch(pack(TEXTS)) is None
    assert Channel.FORM not in Sketcher(BOTH).channels
