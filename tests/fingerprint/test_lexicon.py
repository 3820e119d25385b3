"""The dictionary: its trie, and its file in the cache."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dedup_job import _core, fingerprint
from dedup_job.fingerprint import LAST, PLANE, build_lexicon
from dedup_job.native.bytes_column import pack


def hmm(emission, least):
    """Return a hidden Markov model as `jieba.finalseg` has one."""
    start, none = dict.fromkeys("BEMS", -1.0), {state: {} for state in "BEMS"}
    emit = dict.fromkeys("BEMS", emission)
    return SimpleNamespace(start_P=start, trans_P=none, emit_P=emit, MIN_FLOAT=least)


def nodes(lexicon, words):
    return lexicon.find(pack(words).utf8()).tolist()


def lexicon_of(words):
    frequencies = {word: len(words) - i for i, word in enumerate(words)}
    return _core.Lexicon(build_lexicon(frequencies, 10**6, hmm({}, -9.0), {"一": 1.0}, []))


@pytest.mark.parametrize("children", [0, 1, 8, 9, 31, 500, 9000, PLANE - 1])
def test_exactly_the_words_of_the_dictionary_are_found(children):
    """With up to as many children of a node as fill many buckets."""
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
    absent += ["二" + chr(point) for point in {*range(PLANE - 1)}.difference(points)][::7]
    assert {*nodes(lexicon, absent)} == {-1}


def test_nodes_are_numbered_first_characters_first_then_in_the_order_of_the_words():
    lexicon = lexicon_of(["学", "数学", "数字", "学习"])
    assert nodes(lexicon, ["学", "数学", "数字", "学习"]) == [0, 3, 4, 5]
    assert lexicon.nodes == 6


@pytest.mark.parametrize("words", [[""], ["\uffff"], ["\U00010000"]])
def test_empty_words_and_words_beyond_the_basic_plane_are_refused(words):
    one = np.ones(1)
    with pytest.raises(ValueError, match="word 0 is empty"):
        _core.build_lexicon(pack(words).utf8(), one, one, 1.0)


PROGRAM = """
import logging
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, load_lexicon
logging.basicConfig()
stage = Fingerprinter(FingerprintSettings(), load_lexicon(print))
print(int(stage.fingerprint(["光合作用是绿色植物利用光能把二氧化碳和水合成有机物"]).values[0]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "cache" / "dedup"


@pytest.fixture
def builds(monkeypatch):
    """Replace jieba's tables by tables of four words; return a list with an item for each build."""
    words, idf = {"数": 0, "数学": 3, "物": 1, "物理": 2}, {"数学": 1.0, "物理": 2.0}
    tiny = build_lexicon(words, 6, hmm({"学": -1.0}, -3.14e100), idf, ["the"])
    count = []
    monkeypatch.setattr(fingerprint, "_build", lambda: count.append(1) or tiny)
    return count


def load():
    messages = []
    return fingerprint.load_lexicon(messages.append), messages


def same(left, right):
    words = pack(["数", "数学", "物理", "the", "学"]).utf8()
    return left.nodes == right.nodes and left.find(words).tolist() == right.find(words).tolist()


def test_tables_are_built_once_with_a_message(folder, builds, caplog):
    built, (message,) = load()
    assert "once" in message
    cached, messages = load()
    assert same(built, cached)
    assert (messages, len(builds), caplog.messages) == ([], 1, [])
    assert [file.suffix for file in folder.iterdir()] == [".arrays"]  # no partial file is left


def test_a_damaged_file_is_detected_and_replaced(folder, builds, caplog):
    built, _ = load()
    (file,) = folder.glob("*.arrays")
    file.write_bytes(file.read_bytes()[:-1])
    for _ in range(2):
        assert same(load()[0], built)
        assert len(builds) == 2
    assert "damaged" in caplog.text


@pytest.mark.parametrize("blocked", ["cache", "cache/dedup"])
def test_without_a_cache_folder_the_tables_are_built_with_a_warning(
    tmp_path, folder, builds, blocked, caplog
):
    """A file has the folder's name: root may write to any folder."""
    file = tmp_path / blocked
    file.parent.mkdir(exist_ok=True)
    file.touch()
    loaded, _ = load()
    assert loaded.nodes
    assert len(builds) == 1
    (warning,) = (message for message in caplog.messages if "cannot be kept" in message)
    assert str(folder) in warning


@pytest.mark.thorough
def test_two_processes_build_the_tables_at_once(folder):
    """Jieba's real tables, from an empty cache."""
    children = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    outputs = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert len({out.split()[-1] for out, _ in outputs}) == 1
    assert "damaged" not in "".join(err for _, err in outputs)
    assert len(list(folder.glob("*.arrays"))) == 1
    assert not list(folder.glob(".*"))
