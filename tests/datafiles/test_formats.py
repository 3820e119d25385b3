"""Encodings and formats: kept bytes stay, also around a new text; other files are refused."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job import Files, UsageError, deduplicate_file, load_settings
from dedup_job.datafiles.formats import with_text
from tests.datafiles.test_file import decide
from tests.running import refusal

BOM = b"\xef\xbb\xbf"
GOOD = ["水的化学式是什么？", "铁的化学式是什么？", "光合作用的场所是什么？"]
LINES = "".join(f'{{"text": "{text}"}}\n' for text in GOOD)


def files_in(folder, suffix, content):
    source = folder / f"in{suffix}"
    source.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    return Files(source, folder / f"out{suffix}")


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".csv", "text,id\n水,1\n"),
        (".csv", '"text","id"\r\n"水","1"\r\n'),
        (".csv", "id,text\n1,<b>水</b>\n2,水\n"),
        (".tsv.gz", '"text"\tid\n水\t1\n'),
        (".jsonl", '{"text": "<b>水</b>"}\n{"text": "水"}\n'),
        (".jsonl", '{"other": "first line dropped"}\n{"text": "水"}\n'),
        (".jsonl", '\n{"text": "水"}'),
        (".jsonl.gz", '{"text": "水"}\n'),
    ],
)
@pytest.mark.parametrize("mark", [BOM, b""])
def test_a_byte_order_mark_is_copied(suffix, content, mark, tmp_path):
    files = files_in(tmp_path, suffix, mark + content.encode())
    deduplicate_file(load_settings(), files)
    out = files.out.read_bytes()
    out = gzip.decompress(out) if suffix.endswith(".gz") else out
    assert out.count(BOM) == len(mark) // 3
    assert out.startswith(mark)
    assert "水".encode() in out


PRETTY = json.dumps([{"text": text} for text in GOOD], ensure_ascii=False, indent=2)
ROWS = [{"text": text} for text in GOOD]


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".jsonl", BOM + PRETTY.encode(), "a JSON array"),
        (".jsonl", b"\n  " + json.dumps(ROWS).encode(), "a JSON array"),
        (".jsonl.gz", f"[\n{LINES.strip()}\n]\n".replace("}\n{", "},\n{").encode(), "a JSON array"),
        (".jsonl", json.dumps(ROWS[0], indent=1).encode(), "on a line of its own"),
        (".jsonl", json.dumps({"data": ROWS}).encode(), r"has the field .text.*data"),
        (".jsonl", LINES.encode("gbk"), "Save it as UTF-8"),
        (".jsonl", LINES.encode("utf-16"), "Save it as UTF-8"),
        (".jsonl.gz", LINES.encode("big5", "ignore"), "Save it as UTF-8"),
        (".csv", "\n".join(["id,text", *(f"1,{t}" for t in GOOD)]).encode("gb18030"), "as UTF-8"),
        (".csv", "\n".join(["text", *GOOD]).encode("utf-16"), "is not UTF-8"),
        (".tsv", "\n".join(["id\ttext", *(f"1\t{t}" for t in GOOD)]).encode("gbk"), "as UTF-8"),
        (".csv", b"text\n", "of 0 rows"),
        (".jsonl", b"", "of 0 rows"),
        (".jsonl", b'{"text": ""}\n{"text": null}\n', "could be kept"),
        (".jsonl", b'{"question": "a"}\n' * 9, "question"),
    ],
)
def test_a_file_of_which_nothing_would_be_kept_replaces_nothing(suffix, content, message, tmp_path):
    files = files_in(tmp_path, suffix, content)
    files.out.write_bytes(b"the result of yesterday")
    refused = refusal("file", str(files.source), str(files.out), "--overwrite")
    assert isinstance(refused, UsageError)
    with pytest.raises(UsageError, match=message):
        deduplicate_file(load_settings(), files)
    assert files.out.read_bytes() == b"the result of yesterday"
    assert len([*tmp_path.iterdir()]) == 2


def test_a_large_file_in_another_encoding_is_refused(tmp_path):
    rows = "".join(f"第{n}题\n" for n in range(3000))
    files = files_in(tmp_path, ".csv", b"text\n" + rows.encode("gbk"))
    with pytest.raises(UsageError, match=r"3,000 of 3,000 rows.*is not UTF-8"):
        deduplicate_file(load_settings(), files)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_an_empty_file_makes_an_empty_one(suffix, tmp_path):
    files = files_in(tmp_path, suffix, b"text\r\n" if suffix == ".csv" else b"")
    deduplicate_file(load_settings(), files)
    assert files.out.read_bytes() == files.source.read_bytes()


def test_the_ledger_names_the_ids_of_rows(tmp_path):
    rows = [
        '{"_id": {"$oid": "0123456789abcdef01234567"}, "text": "甲烷"}', '{"text": "甲烷"}',
        '{"id": "b\\ud800", "text": "甲烷"}', '{"id": 7, "_id": "c", "text": ""}', "{",
    ]  # fmt: skip
    _, _, (first, second, third, fourth) = decide(tmp_path, "\n".join(rows).encode())
    assert (first["row"], first["of_id"]) == (2, {"$oid": "0123456789abcdef01234567"})
    assert "id" not in first
    assert (second["id"], second["of"]) == ("b\ud800", 1)
    assert (third["_id"], third["reason"]) == ("c", "empty")
    assert fourth.keys().isdisjoint({"id", "_id", "of_id"})


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def replaced(value, path, text):
    if not path:
        return text
    return value | {path[0]: replaced(value[path[0]], path[1:], text)}


@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.lists(TEXTS, min_size=1, max_size=3), TEXTS,
       TEXTS, st.booleans(), st.sampled_from([None, 1]))  # fmt: skip
def test_a_text_is_replaced_in_a_json_line_as_in_the_python_value(
    rest, path, old, new, ascii_only, indent
):
    inner = old
    for name in reversed(path):
        inner = {"before": 1.50, name: inner, **({} if name == "z" else {"z": [1e400, "}"]})}
    line = json.dumps(rest | inner, ensure_ascii=ascii_only, indent=indent)
    assert json.loads(with_text(line, path, new)) == replaced(json.loads(line), path, new)


@pytest.mark.parametrize(
    "line",
    [
        '{"n": 1.50, "big": 12345678901234567890123, "x":"\\u4e2d" ,"text" :  "a" , "e":1E5}\r\n',
        '{"text": "a", "text": "a"}',  # of a repeated name the last one counts
    ],
)
def test_all_other_characters_of_a_json_line_stay(line):
    assert with_text(line, ["text"], "中") == '"中"'.join(line.rsplit('"a"', 1))


def test_a_missing_path_is_refused():
    for line in ("{}", '{"a": 1}', "[1]"):
        with pytest.raises(ValueError, match="no "):
            with_text(line, ["text"], "c")
