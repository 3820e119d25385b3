"""`dedup file` decides rows as `dedup run` decides documents, and loses none."""

import csv
import errno
import gzip
import io
import json
import os
from pathlib import Path

import pytest

from dedup_job import Files, UsageError, deduplicate_file, load_settings
from dedup_job.commands.run import RunCallbacks
from dedup_job.datafiles import formats
from dedup_job.datafiles.formats import data_file, reading
from dedup_job.demo import make_corpus
from dedup_job.messages import DedupError
from tests.running import dedup, invoke, refusal

SUFFIXES = [".jsonl", ".jsonl.gz", ".ndjson", ".csv", ".tsv", ".csv.gz"]
NAMES = {"decision", "of", "reason", "distance", "similarity", "probability", "found_by", "detail"}
NAMES |= {"differences", "richer"}
ROWS = [
    {"id": "a", "text": "<p>水是生命之源，地球上的生命离不开水。</p>", "n": 1.50},
    {"id": "b", "text": "水是生命之源，地球上的生命离不开水。", "n": 2},
    {"id": "c", "text": "", "n": 3},
    {"id": "d", "text": '含有"引号"，逗号,\n和换行的题目：下列说法正确的是', "n": 4},
]


@pytest.fixture(scope="module")
def rows():
    texts = [row["text"] for row in make_corpus(1200, 7) if isinstance(row.get("text"), str)]
    return [{"id": n, "text": text, "subject": "生物"} for n, text in enumerate(texts)]


def write(file, rows):
    """Write rows as CSV or JSON lines, compressed or not, as the file's name says."""
    text = io.StringIO(newline="")
    if delimiter := _delimiter(file):
        writer = csv.DictWriter(text, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    else:
        text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    content = text.getvalue().encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


def read(file):
    """Return the rows of a file in a format of `write`."""
    content = file.read_bytes()
    text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
    if delimiter := _delimiter(file):
        return [*csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)]
    return [json.loads(line) for line in text.splitlines()]


def _delimiter(file):
    return next((d for suffix, d in {".csv": ",", ".tsv": "\t"}.items() if suffix in file.name), "")


def decide(folder, rows, suffix=".jsonl", **flags):
    """Decide rows, or the bytes of a file; return report, output file and ledger lines."""
    source, out = folder / f"in{suffix}", folder / f"out{suffix}"
    source.write_bytes(rows) if isinstance(rows, bytes) else write(source, rows)
    settings = load_settings(None, {name.replace("__", "."): v for name, v in flags.items()})
    report = deduplicate_file(settings, Files(source, out, folder / "ledger.jsonl"))
    return report, out, read(folder / "ledger.jsonl")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_are_decided_as_a_run_decides_documents(rows, suffix, tmp_path, job):
    made = job(row["text"] for row in rows)
    counts = made.run().counts
    report, out, ledger = decide(tmp_path, rows, suffix)
    assert report.counts == counts
    dropped = {row["row"]: {k: row[k] for k in row if k in NAMES} for row in ledger}
    expected = made.dropped.items()
    assert dropped == {id_: {k: row[k] for k in row if k in NAMES} for id_, row in expected}
    assert [int(row["id"]) + 1 for row in ledger] == [*dropped]
    kept = {int(row["id"]) + 1: row["text"] for row in read(out)}
    assert kept == {id_: document["text"] for id_, document in made.kept.items()}


@pytest.mark.parametrize(
    ("stored", "text"), [("original", "<b>甲烷的</b>分子式是"), ("cleaned", "甲烷的分子式是")]
)
def test_a_kept_line_stays_as_it_is_but_for_a_text_that_is_to_be_cleaned(tmp_path, stored, text):
    before = (
        '{"n": 1.50, "q": {"text" : "<b>甲烷的</b>分子式是"}}\r\n{"q":{"text":"乙烯的结构简式"}}'
    )
    _, out, _ = decide(tmp_path, before.encode(), source__field="q.text", output__text=stored)
    after = before.replace("<b>甲烷的</b>分子式是", text) + "\n"
    assert out.read_bytes().decode() == after


def test_each_row_without_a_text_is_in_the_ledger_with_its_reason(tmp_path):
    rows = [
        '{"text": "甲烷的分子式"}'.encode(), b"",
        b'{"other": 1}', b'{"text": null}', b'{"text": 5}', b'{"text": "<p></p>"}', b"{broken",
        b"[1]", b'{"text": "\xff"}', b'{"text": "\\ud800"}', b"[" * 100_000,
    ]  # fmt: skip
    report, out, ledger = decide(tmp_path, b"\n".join(rows))
    reasons = {row["row"]: (row["decision"], row["reason"]) for row in ledger}
    skipped, quarantined = "skipped", ("quarantined", "undecodable")
    assert reasons == {
        3: (skipped, "missing"), 4: (skipped, "missing"), 5: (skipped, "not_text"),
        6: (skipped, "empty"), **dict.fromkeys(range(7, 12), quarantined),
    }  # fmt: skip
    assert report.counts.scanned == len(rows) - 1
    assert len(read(out)) == 1


def test_a_csv_keeps_bytes_that_are_no_text(tmp_path):
    head = b"\xef\xbb\xbfid,text,x\r\n1,\xe7\x94\xb2\xe7\x83\xb7,\xff\r\n"
    report, out, _ = decide(tmp_path, head + b"2,\xff,\r\n\r\n3\r\n", ".csv")
    assert out.read_bytes() == head
    assert (report.counts.quarantined, report.counts.reasons["missing"]) == (1, 1)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("in.jsonl", "in.jsonl"), "are one file"),
        (("in.jsonl", "out.jsonl", "out.jsonl"), "are one file"),
        (("in.jsonl", "out.csv"), r"End the second name in \.jsonl"),
        (("in.jsonl", "out.jsonl", "l.csv"), "JSON lines"),
        (("in.txt", "out.txt"), "names no format"),
        (("in.parquet", "out.parquet"), "names no format"),
    ],
)
def test_names_that_do_not_fit_together_are_refused(names, message, tmp_path):
    write(tmp_path / "in.jsonl", ROWS)
    with pytest.raises(UsageError, match=message):
        deduplicate_file(load_settings(), Files(*(tmp_path / name for name in names)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.csv", b"id,question\n1,a\n", "--field"),
        ("in.csv", b"text,text\n1,a\n", "more than one column"),
        ("in.csv", b"", "has no column"),
        ("in.csv", b'id,text\n1,"open\n2,b\n', "is not CSV at line 3"),
        ("in.tsv", b'id\ttext\n1\t"A" grade\n', "is not CSV at line 2"),
        ("in.jsonl.gz", b"\x1f\x8b and more", "damaged"),
        ("in.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 9999)[:-20], "damaged"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    out = tmp_path / f"out{''.join(Path(name).suffixes)}"
    with pytest.raises(UsageError, match=message):
        deduplicate_file(load_settings(), Files(tmp_path / name, out))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_stop_leaves_the_former_file_and_no_other(rows, tmp_path):
    source, out = write(tmp_path / "in.csv", rows), tmp_path / "out.csv"
    out.write_text("former", encoding="utf-8")
    out.chmod(0o600)
    files = Files(source, out, tmp_path / "l.jsonl")
    deduplicate_file(load_settings(), files, RunCallbacks(stop=lambda: True))
    assert out.read_text(encoding="utf-8") == "former"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]
    deduplicate_file(load_settings(), files)
    assert len(read(out)) > 100
    assert out.stat().st_mode & 0o777 == 0o600  # the former permissions


def test_the_same_file_makes_the_same_bytes(rows, tmp_path):
    for suffix in (".jsonl.gz", ".csv"):
        source = write(tmp_path / f"in{suffix}", rows)
        outs = [tmp_path / f"{n}{suffix}" for n in range(2)]
        for threads, out in enumerate(outs, 1):
            settings = load_settings(None, {"run.threads": threads})
            deduplicate_file(settings, Files(source, out))
        assert outs[0].read_bytes() == outs[1].read_bytes()


def test_the_command_writes_a_report_and_quarantined_rows_have_an_exit_code(tmp_path):
    source, out = write(tmp_path / "in.jsonl", ROWS), tmp_path / "out.jsonl"
    invoke("file", str(source), str(out), "--report", str(tmp_path / "r.json"))
    assert [row["id"] for row in read(out)] == ["a", "d"]
    assert json.loads((tmp_path / "r.json").read_bytes())["counts"]["duplicate"]["exact"] == 1
    source.write_text('{"text": "甲烷"}\nnone\n', encoding="utf-8")
    result = dedup("file", str(source), str(out), "--overwrite")
    assert result.returncode == 3
    assert "1 row could not be processed; add --ledger" in result.stdout


def test_any_text_in_a_csv_is_the_same_behind_it(tmp_path):
    fields = ["a\rb", "a\nb", "a\r\nb", "\r", '"', "a,b", "\t", " a ", ""]
    rows = [{"text": f"题目{n}" * n, "x": x} for n, x in enumerate(fields, 1)]
    for suffix in (".csv", ".tsv"):
        assert read(decide(tmp_path, rows, suffix)[1]) == rows
        (tmp_path / "ledger.jsonl").unlink()


@pytest.mark.parametrize("same", ["in.jsonl", "out.jsonl", "l.jsonl"])
def test_a_report_replaces_no_other_file(same, tmp_path):
    write(tmp_path / "in.jsonl", ROWS)
    before = (tmp_path / "in.jsonl").read_bytes()
    names = [str(tmp_path / name) for name in ("in.jsonl", "out.jsonl", "l.jsonl", same)]
    refused = refusal("file", *names[:2], "--ledger", names[2], "--report", names[3])
    assert isinstance(refused, UsageError)
    assert "are one file" in str(refused)
    assert (tmp_path / "in.jsonl").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_text_that_a_run_would_not_clean_is_not_cleaned(tmp_path):
    rows = [{"text": "<p></p>" * 200 + "甲烷"}, {"text": "甲烷"}]
    _, out, ledger = decide(tmp_path, rows, source__max_chars=100)
    assert [(row["row"], row["reason"]) for row in ledger] == [(1, "too_large")]
    assert read(out) == rows[1:]


def test_a_pipe_is_not_replaced(tmp_path):
    source = write(tmp_path / "in.jsonl", ROWS)
    os.mkfifo(tmp_path / "out.jsonl")
    with pytest.raises(UsageError, match="no regular file"):
        deduplicate_file(load_settings(), Files(source, tmp_path / "out.jsonl"))


def test_if_the_ledger_cannot_be_written_neither_file_appears(tmp_path, monkeypatch):
    source = write(tmp_path / "in.jsonl", ROWS)
    synced = os.fsync

    def full(handle):
        if ".dedup-" in str(Path(f"/proc/self/fd/{handle}").readlink()) and len(calls) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        calls.append(handle)
        synced(handle)

    calls = []
    monkeypatch.setattr(os, "fsync", full)
    files = Files(source, tmp_path / "out.jsonl", tmp_path / "l.jsonl")
    message = r"l\.jsonl: No space left on device\. Nothing was written"
    with pytest.raises(DedupError, match=message):
        deduplicate_file(load_settings(), files)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_large_rows_come_in_small_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_PAGE_BYTES", 80_000)
    rows = [{"text": f"{n}" + "题" * 3000, "x": ""} for n in range(60)]
    for suffix in (".csv", ".jsonl"):
        source = write(tmp_path / f"in{suffix}", rows)
        with reading(data_file(source), "text") as reader:
            pages = [len(page.numbers) for page in reader.pages()]
        assert sum(pages) == 60
        assert max(pages) < 60
