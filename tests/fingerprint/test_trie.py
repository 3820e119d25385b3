"""The trie finds the words that it was built of, and the beginnings of these, and no others."""

import numpy as np
import pytest

from dedup_job import _core
from dedup_job.fingerprint.lexicon import LAST, PLANE, Hmm, build_lexicon
from dedup_job.native.code_points import pack

NOTHING = {state: {} for state in "BEMS"}
HMM = Hmm(dict.fromkeys("BEMS", -1.0), NOTHING, NOTHING, -9.0)


def nodes(lexicon, words):
    return lexicon.find(pack(words).utf8()).tolist()


def lexicon_of(words):
    """Return a lexicon of some words."""
    frequencies = {word: len(words) - i for i, word in enumerate(words)}
    return _core.Lexicon(build_lexicon(frequencies, 10**6, HMM, {"一": 1.0}, []))


@pytest.mark.parametrize("children", [0, 1, 8, 9, 31, 500, 9000, PLANE - 1])
def test_what_it_was_built_of_is_found_and_nothing_else(children):
    """Children lie in buckets of eight, as many as it takes."""
    points = range(PLANE - 1 - children, PLANE - 1)
    surrogates = range(0xD800, 0xE000)
    points = [point for point in points if point not in surrogates]
    words = ["一", *("二" + chr(point) for point in points), "三四五", "三四" + LAST]
    lexicon = lexicon_of(words)
    found = nodes(lexicon, words)
    assert min(found) >= 0
    assert len({*found}) == len(words)
    begun = nodes(lexicon, ["二", "三", "三四"])
    assert (begun[0] >= 0) == (children > 0)
    assert min(begun[1:]) >= 0
    assert not {*begun} & {*found}
    absent = ["四", "一一", "三五", "三四五五", "二一二", "", "二\U00010000", "\uffff"]
    absent += ["二\uffff", "三\uffff", "三四\uffff"]
    absent += ["二" + chr(point) for point in range(PLANE - 1) if point not in {*points}][::7]
    assert {*nodes(lexicon, absent)} == {-1}


def test_nodes_are_numbered_first_characters_first_then_in_the_order_of_the_words():
    lexicon = lexicon_of(["学", "数学", "数字", "学习"])
    assert nodes(lexicon, ["学", "数学", "数字", "学习"]) == [0, 3, 4, 5]
    assert len(lexicon) == 6


@pytest.mark.parametrize("words", [[""], ["\uffff"], ["\U00010000"]])
def test_words_that_no_trie_holds_are_refused(words):
    one = np.ones(1)
    with pytest.raises(ValueError, match="word 0 is empty"):
        _core.build_lexicon(pack(words).utf8(), one, one, 1.0)
