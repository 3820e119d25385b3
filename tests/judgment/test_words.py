"""The word lists of the trade, and a user's own file of them."""

from __future__ import annotations

import pytest

from dedup_job.errors import ConfigurationError
from dedup_job.fingerprint import FingerprintSettings
from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.judgment import Judge
from dedup_job.judgment.words import Words


def refused(tmp_path, content: bytes) -> list[str]:
    file = tmp_path / "words.txt"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        Words.load(file)
    return str(caught.value).splitlines()


def test_without_a_file_there_are_no_words():
    assert Words.load(None) == Words((), ())


def test_a_file_without_sections_holds_synonyms(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("# ours\n电车 有轨电车\n\nTram Streetcar # in small letters\n", "utf-8")
    assert Words.load(file).synonyms == (("电车", "有轨电车"), ("tram", "streetcar"))


def test_a_file_may_hold_function_words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("\ufeff[function words]\n嘛 哦\n[Synonyms]\n电车 有轨电车\n", "utf-8")
    words = Words.load(file)
    assert words.function_words == ("嘛", "哦")
    assert words.synonyms == (("电车", "有轨电车"),)


def test_all_bad_lines_are_named_at_once(tmp_path):
    lines = refused(tmp_path, "一个词\n[units]\n米 m\n[synonyms]\n好 好\n长 ".encode() + b"x" * 17)
    problems = "\n".join(lines)
    assert "line 1: '一个词', expected two words" in problems
    assert "line 2: '[units]', expected [synonyms] or [function words]" in problems
    assert "line 3" not in problems
    assert "line 5" in problems
    assert "line 6" in problems
    assert "at most 16 characters" in problems


def test_of_many_bad_lines_ten_are_shown(tmp_path):
    problems = "\n".join(refused(tmp_path, "词\n".encode() * 1000))
    assert "line 10:" in problems
    assert "line 11:" not in problems
    assert "990 lines more" in problems


def test_a_file_that_is_no_text_is_refused(tmp_path):
    assert "not UTF-8" in "".join(refused(tmp_path, b"\xff\xfe\x00"))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Words.load(tmp_path / "none.txt")


ASKED = "下列关于{}的结构和用途的几种说法当中正确的是哪一种？请说明理由"


def differences(words, one, other):
    judge = Judge(load_lexicon(FingerprintSettings(), print), 0.95, words=words)
    return {str(found.kind) for found in judge.differences(one, other)}


@pytest.mark.parametrize(
    ("written", "one", "other"),
    [
        ("电车 火车", ASKED.format("电车"), ASKED.format("火车")),
        ("水泵 说法 抽水机", ASKED.replace("说法", "水泵"), ASKED.replace("说法", "叙述")),
        ("[function words]\n用途", ASKED, ASKED.replace("用途", "")),
        ("[synonyms]\ntram streetcar", "Where does a tram stop?", "Where does a streetcar stop?"),
    ],
)
def test_a_users_words_make_a_difference_one_of_notation(tmp_path, written, one, other):
    file = tmp_path / "words.txt"
    file.write_text(written, "utf-8")
    assert differences(None, one, other) & {"replaced", "inserted"}
    assert differences(file, one, other) <= {"notation", "layout"}
