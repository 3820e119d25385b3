"""The report of a run on the terminal."""

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from dedup_job.report.output import Output
from dedup_job.report.terminal import details, show
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import About, Checkpoint, Profile, Run, Scope, Stage, Status

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


def report(counts=COUNTS, *, source="db.in", target="db.out", dry=False, **more):
    values = {"status": Status.DONE, "finished": None, "known": 0, **more}
    return Run(
        about=About(source, target, {"decision": {"similarity": 0.7}}, {}, dry_run=dry),
        checkpoint=Checkpoint(3, Scope(), datetime(2026, 1, 1, tzinfo=UTC), counts, seconds=100.0),
        stages={"read": 1234.5},
        **values,
    )


def shown(run, *, profile=False):
    stream = io.StringIO()
    show(run, Output(stream, width=80), profile=profile)
    return stream.getvalue()


def on_one_line(run):
    return " ".join(shown(run).split())


def test_a_report_has_the_figures_the_gravest_warning_and_the_next_commands():
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


def test_the_longest_report_has_15_lines():
    counts = replace(COUNTS, against={"question_bank.archive": 7}, replaced=5, missing_originals=0)
    longest = report(
        counts,
        source="question_bank.questions_of_2026",
        target="question_bank.unique",
        known=9_000_000,
        refreshed={"changed": 3, "deleted": 2},
        changed={"changed": 1, "deleted": 1},
    )
    assert len(shown(longest).splitlines()) <= 15


def test_the_details_break_down_the_figures():
    richer = replace(COUNTS, richer={"image": 2, "sentence": 40}, cut_documents=3, cut_characters=9)
    found = {str(name): str(text) for name, text in details(report(richer, unindexed=1234))}
    assert found["duplicates"] == "exact 20,000, near 300"
    assert found["skipped"] == "empty after cleaning 40, field absent or null 2"
    assert found["quarantined"] == "too large 1"
    assert found["kept apart"] == (
        "1,239 with a similarity of 0.7 or more: number 1,234, person, place or organisation 5"
    )
    assert "sentence 40, image 2; `--keep richest`" in found["richer"]
    assert found["cut off"].startswith("9 characters of 3 documents")
    assert found["candidates"].startswith("1,050 documents have very many (up to 5,000)")
    assert found["index"].startswith("1,234 entries were skipped")
    assert [str(name) for name, _ in details(report(Counts(kept=1)))] == ["duplicates"]
    by_rule = report(richer)
    by_rule = replace(by_rule, about=replace(by_rule.about, settings={"output": {"keep": ["x"]}}))
    assert "richer" not in dict(details(by_rule))


def test_a_profile_has_the_share_of_time_that_each_stage_is_busy():
    stages = dict.fromkeys(Stage, 0.0) | {Stage.WRITE: 9.0}
    text = shown(report(profile=Profile(stages, 10.0, 2, documents=1000)), profile=True)
    (line,) = (line for line in text.splitlines() if line.startswith("write"))
    assert line.split() == ["write", "9.00", "1", "90%", "9,000.0"]
    (whole,) = (line for line in text.splitlines() if line.startswith("whole run"))
    assert whole.split() == ["whole", "run", "100.00"]
    assert "busy" not in shown(report())


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (report(dry=True), "(dry run, nothing written)"),
        (
            report(replace(COUNTS, missing_originals=0), changed={"deleted": 3}),
            "has changed or deleted 3 documents",
        ),
        (report(refreshed={"changed": 4}), "the source changed: 4 decided anew, 0 removed."),
        (report(replace(COUNTS, against={"db.x": 6})), "Duplicates of others: db.x 6."),
        (report(replace(COUNTS, replaced=8)), "Better copies kept: 8."),
        (report(known=1234), "Decided before: 1,234."),
        (report(status=Status.STOPPED), "(run 3, stopped)"),
        (
            report(Counts(kept=1, skipped=3, reasons={"missing": 3}, missing_originals=2)),
            "75% of the documents. Is --field right?",
        ),
        (
            report(Counts(kept=1, skipped=3, reasons={"not_text": 3}, missing_originals=2)),
            "WARNING: 75% of the documents",
        ),
    ],
)
def test_an_event_is_reported_only_if_it_happened_and_of_the_warnings_only_the_gravest(run, text):
    assert text in on_one_line(run)
    assert text not in on_one_line(report())
    warnings = ("WARNING", "Is --field right?", "candidates were gone", "Out of date")
    assert sum(warning in on_one_line(run) for warning in warnings) <= 1


def test_only_a_terminal_gets_colour_codes(monkeypatch):
    assert "\x1b" not in shown(report())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in shown(report())


@pytest.mark.parametrize("name", ["db.a[1]", "db.[red]a", "db.a[/x]", "db.:smile:", "db.a\\[b]"])
def test_markup_of_rich_in_a_name_is_shown_unchanged(name):
    assert f"{name} -> {name}  (run" in shown(report(source=name, target=name))
