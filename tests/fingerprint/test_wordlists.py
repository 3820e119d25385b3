"""Word lists that a user gives: every bad line is named, with what was expected there."""

from __future__ import annotations

import pytest
from jieba.analyse.tfidf import KeywordExtractor

from dedup_job.errors import ConfigurationError
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from dedup_job.fingerprint.lexicon_cache import (
    STOP_WORDS,
    check_user_dictionary,
    read_idf,
    read_stop_words,
)

READERS = [read_idf, read_stop_words, check_user_dictionary]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "words.txt"


def problems(reader, file, content):
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigurationError) as e:
        reader(file)
    return str(e.value)


@pytest.mark.parametrize(
    "line",
    ["化学", "化学\t6.25", "化学 x", "化 学 6.25", "化学 0", "化学 -1", "化学 nan", "化学 inf",
     "化学 -inf", "化学 1e999", "化学 1e-999", " 5"],
)  # fmt: skip
def test_a_bad_weight_is_named_with_file_and_line(file, line):
    message = problems(read_idf, file, f"数学 3.5\n\n{line}\n物理 2\n")
    assert f"{file}, line 3: {line!r}, expected a word, a space and a weight above 0" in message
    assert "line 1" not in message
    assert "line 4" not in message


@pytest.mark.parametrize(
    "line",
    ["数学 -5", "数学 5.5", "数学 五", "数 学", "数学  5", "数学\t5", "数学 n 5", "数学 5 N"],
)
def test_a_bad_line_of_a_user_dictionary_is_named(file, line):
    message = problems(check_user_dictionary, file, f"物理\n{line}\n")
    assert f"{file}, line 2: {line!r}, expected a word without spaces, then a frequency" in message


def test_a_stop_word_line_with_two_words_is_named(file):
    message = problems(read_stop_words, file, "the\nof course\n")
    assert f"{file}, line 2: 'of course', expected one word" in message


def test_all_bad_lines_are_reported_in_one_go(file):
    message = problems(read_idf, file, "数学\n物理 2\n化学 0\n")
    assert "line 1:" in message
    assert "line 3:" in message


@pytest.mark.parametrize("reader", [read_idf, read_stop_words, check_user_dictionary])
def test_more_than_ten_bad_lines_are_counted(file, reader):
    message = problems(reader, file, "a b c\n" * 1234)
    assert "line 10:" in message
    assert "line 11:" not in message
    assert "... and 1,224 lines more" in message


def test_a_long_line_is_cut(file):
    assert len(problems(read_idf, file, "数" * 100_000)) < 500


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_not_utf_8_is_named(file, reader):
    message = problems(reader, file, "数学 5\n".encode("gb18030"))
    assert f"{file} is not UTF-8" in message
    assert "byte 0" in message


@pytest.mark.parametrize("reader", READERS)
def test_a_missing_file_and_a_folder_are_named(tmp_path, reader):
    for path, why in ((tmp_path / "none.txt", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(ConfigurationError, match=f"{path} cannot be read: {why}"):
            reader(path)


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_idf_file_without_weights_is_refused(file, content):
    assert f"{file} holds no weights; expected lines such as" in problems(read_idf, file, content)


@pytest.mark.parametrize("setting", ["idf", "stop_words", "user_dictionary"])
def test_the_stage_checks_its_lists_before_it_builds_anything(file, setting):
    file.write_text("数 学 五\n", encoding="utf-8")
    told = []
    with pytest.raises(ConfigurationError, match="line 1"):
        Fingerprinter(FingerprintSettings(**{setting: file}), told.append)
    assert told == []


def test_good_lines_of_every_form_pass(file):
    file.write_bytes("\ufeff云计算 5\r\n李小福 2 nr\r\n\r\n创新办\n凱特琳 nz\n石墨烯 0".encode())
    check_user_dictionary(file)
    file.write_bytes("数学 3.5\r\n\r\n物理 1e-3\n3.14% 2\n".encode())
    assert read_idf(file) == {"数学": 3.5, "物理": 0.001, "3.14%": 2.0}
    file.write_bytes(" the \r\n\n学生".encode())
    assert read_stop_words(file) == ["the", "学生"]
    file.write_bytes(b"")
    assert read_stop_words(file) == []
    check_user_dictionary(file)


@pytest.mark.parametrize(("reader", "content"), [(read_idf, "化学 6"), (read_stop_words, "化学")])
def test_a_byte_order_mark_is_no_part_of_the_first_word(file, reader, content):
    file.write_bytes(f"\ufeff{content}\n".encode())
    assert list(reader(file)) == ["化学"]


@pytest.mark.parametrize(
    "content", ["数学\u3000\n", "数学 5\r物理 5\r", "\u00a0数学\n", "数\x0b学\n"]
)
def test_a_user_dictionary_that_jieba_reads_otherwise_is_refused(file, content):
    """Jieba takes the word with the space, or all lines for one: it would never match."""
    assert "expected" in problems(check_user_dictionary, file, content)


def test_the_stop_words_are_those_of_jieba():
    assert KeywordExtractor.STOP_WORDS == STOP_WORDS
