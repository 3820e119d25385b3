"""The report on the screen: columns line up, and nothing but text where there is no terminal."""

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from dedup_job.report.output import Output
from dedup_job.report.terminal import details, show
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import About, Checkpoint, Profile, Run, Scope, Stage, Status, Work

COUNTS = Counts(
    kept=1_234_567,
    exact=20_000,
    near=300,
    skipped=42,
    quarantined=1,
    reasons={"empty": 40, "missing": 2, "too_large": 1},
    refused={"number": 9999, "similarity": 5},
    similar={"number": 1234, "name": 5},
    cut=1050,
    missing_originals=2,
    most_candidates=5000,
)


@pytest.fixture(autouse=True)
def _no_wish_for_colour(monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def report(
    counts=COUNTS, *, source="db.in", target="db.out", status=Status.DONE, dry=False, known=0
):
    return Run(
        about=About(source, target, {"decision": {"similarity": 0.7}}, {}, dry_run=dry),
        status=status,
        checkpoint=Checkpoint(3, Scope(), datetime(2026, 1, 1, tzinfo=UTC), counts, seconds=100.0),
        finished=None,
        known=known,
        stages={"read": 1234.5, "读取": 2.0},
    )


def shown(it, *, profile=False):
    stream = io.StringIO()
    show(it, Output(stream, width=80), profile=profile)
    return stream.getvalue()


def line(text, start):
    """Return the only line that begins like this."""
    (found,) = [line for line in text.splitlines() if line.lstrip().startswith(start)]
    return found.rstrip()


def test_a_report_is_printed_so():
    assert shown(report(source="题库.题目", target="题库.a b")).splitlines() == [
        "题库.题目 -> 题库.a b  (run 3, done)",
        "scanned            1,254,910   100.00%",
        "kept               1,234,567    98.38%",
        "duplicate, exact      20,000     1.59%",
        "duplicate, near          300     0.02%",
        "skipped                   42     0.00%",
        "quarantined                1     0.00%",
        "repeat rate 1.62%, valid rate 98.38%; 100.0 s, 12,549 docs/s",
        "2 candidates were gone: someone removes documents from the target. What",
        "duplicates them is kept.",
        "most doubtful  dedup list --what near --run 3 --target '题库.a b'",
        "quarantined    dedup list --what quarantined --run 3 --target '题库.a b'",
        "undo           dedup undo 3 --target '题库.a b'",
    ]
    assert "dedup " not in shown(report(dry=True))
    assert "--what quarantined" not in shown(report(replace(COUNTS, quarantined=0, reasons={})))


def test_the_fullest_report_has_15_lines():
    about = About("question_bank.questions_of_2026", "question_bank.unique", {}, {}, dry_run=False)
    counts = replace(COUNTS, against={"question_bank.archive": 7}, replaced=5, missing_originals=0)
    full = replace(
        report(counts, known=9_000_000),
        about=about,
        refreshed={"changed": 3, "deleted": 2},
        changed={"changed": 1, "deleted": 1},
    )
    lines = shown(full).splitlines()
    assert len(lines) <= 15


def test_the_details_say_what_the_figures_are_made_of():
    richer = replace(COUNTS, richer={"image": 2, "sentence": 40}, cut_documents=3, cut_characters=9)
    told = {str(name): str(text) for name, text in details(replace(report(richer), unindexed=1234))}
    assert told["duplicates"] == "exact 20,000, near 300"
    assert told["skipped"] == "empty after cleaning 40, field absent or null 2"
    assert told["quarantined"] == "too large 1"
    assert told["kept apart"] == (
        "1,239 with a similarity of 0.7 or more: number 1,234, person, place or organisation 5"
    )
    assert "sentence 40, image 2; `--keep richest`" in told["richer"]
    assert told["cut off"].startswith("9 characters of 3 documents")
    assert told["candidates"].startswith("1,050 documents have very many (up to 5,000)")
    assert told["index"].startswith("1,234 entries were skipped")
    assert [str(name) for name, _ in details(report(Counts(kept=1)))] == ["duplicates"]
    keeps = replace(
        richer_report := report(richer),
        about=replace(richer_report.about, settings={"output": {"keep": ["longest"]}}),
    )
    assert "richer" not in dict(details(keeps))


def test_a_profile_says_how_busy_each_stage_was():
    work = dict.fromkeys(Stage, Work()) | {Stage.WRITE: Work(9.0, documents=100)}
    profiled = replace(report(), profile=Profile(work, seconds=10.0, threads=2))
    assert line(shown(profiled, profile=True), "write").split()[:3] == ["write", "1", "90%"]
    assert "busy" not in shown(profiled)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (report(dry=True), "(dry run, nothing written)"),
        (
            replace(report(replace(COUNTS, missing_originals=0)), changed={"deleted": 3}),
            "has changed or deleted 3 documents",
        ),
        (
            replace(report(), refreshed={"changed": 4}),
            "the source changed: 4 decided anew, 0 removed.",
        ),
        (report(replace(COUNTS, against={"db.x": 6})), "Duplicates of others: db.x 6."),
        (report(replace(COUNTS, replaced=8)), "Better copies kept: 8."),
        (report(known=1234), "Decided before: 1,234."),
        (report(status=Status.STOPPED), "(run 3, stopped)"),
    ],
)
def test_what_did_not_happen_is_not_told(run, told):
    assert told in " ".join(shown(run).split())
    assert told not in " ".join(shown(report()).split())


def test_of_several_warnings_the_gravest_is_printed():
    counts = Counts(kept=1, skipped=3, reasons={"not_text": 3}, missing_originals=2)
    told = " ".join(shown(report(counts)).split())
    assert "WARNING: 75% of the documents" in told
    assert "Is --field right?" not in told
    assert "candidates were gone" not in told
    assert "2 candidates were gone: someone" in " ".join(shown(report()).split())


def test_columns_end_at_the_same_cell():
    text = shown(report(), profile=True)
    seconds_end = cell_len(line(text, "stage"))
    for name in ("读取", "whole run"):
        assert cell_len(line(text, name)) == seconds_end


def test_there_are_colour_codes_on_a_terminal_alone(monkeypatch):
    assert "\x1b" not in shown(report())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in shown(report())


@pytest.mark.parametrize("name", ["db.a[1]", "db.[red]a", "db.a[/x]", "db.:smile:", "db.a\\[b]"])
def test_names_are_shown_as_they_are(name):
    """MongoDB allows brackets in names; rich reads them as its own markup."""
    assert f"{name} -> {name}  (run" in shown(report(source=name, target=name))


def test_where_most_documents_have_no_text_the_field_is_asked_about():
    told = " ".join(shown(report(Counts(kept=1, skipped=3, reasons={"missing": 3}))).split())
    assert "75% of the documents. Is --field right?" in told
    assert "--field" not in shown(report(Counts(kept=2, skipped=2, reasons={"missing": 2})))
