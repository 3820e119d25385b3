"""The trie finds the words that it was built of, and the beginnings of these, and no others."""

import numpy as np
import pytest

from dedup_job import _core
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from dedup_job.fingerprint.lexicon import NODE
from dedup_job.fingerprint.trie import LAST, PLANE, build_trie
from dedup_job.native.code_points import pack


def lexicon_of(words) -> tuple[_core.Lexicon, list[int]]:
    """Return a lexicon of some words, and their nodes."""
    trie, nodes, count = build_trie(words, np.full(len(words), -1.0))
    other = {"nodes": np.zeros(count, NODE), "names": np.zeros(count, np.bool_)}
    known = Fingerprinter(FingerprintSettings()).lexicon
    return known._replace(**trie._asdict(), **other).compiled(), nodes.tolist()


@pytest.mark.parametrize("children", [0, 1, 8, 9, 31, 500, 9000, PLANE - 1])
def test_what_it_was_built_of_is_found_and_nothing_else(children):
    """Children lie in buckets of eight, as many as it takes."""
    points = range(PLANE - 1 - children, PLANE - 1)
    words = ["一", *("二" + chr(point) for point in points), "三四五", "三四" + LAST]
    lexicon, nodes = lexicon_of(words)
    assert lexicon.find(*pack(words)).tolist() == nodes
    assert len({*nodes}) == len(words)
    begun = lexicon.find(*pack(["二", "三", "三四"])).tolist()
    assert (begun[0] >= 0) == (children > 0)
    assert min(begun[1:]) >= 0
    assert not {*begun} & {*nodes}
    absent = [
        "四",
        "一一",
        "三五",
        "三四五五",
        "二\uffff",
        "三\uffff",
        "三四\uffff",
        "\uffff",
        "二一二",
    ]
    absent += ["二" + chr(point) for point in range(PLANE - 1) if point not in points][::7]
    assert set(lexicon.find(*pack(absent)).tolist()) == {-1}


def test_nodes_are_numbered_first_characters_first_then_in_the_order_of_the_words():
    _, nodes, count = build_trie(["学", "数学", "数字", "学习"], np.zeros(4))
    assert (nodes.tolist(), count) == ([0, 2, 3, 4], 5)
