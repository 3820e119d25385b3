"""The report on the screen: columns line up, and nothing but text where there is no terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from dedup_job.report.output import Output
from dedup_job.report.terminal import show
from dedup_job.runs.counts import Counts, Histogram
from dedup_job.runs.dial import Dial
from dedup_job.runs.run import About, Checkpoint, Cluster, Run, Scope, Status
from dedup_job.runs.share import Share
from dedup_job.runs.stages import Profile, Stage, Work

COUNTS = Counts(
    kept=1_234_567,
    exact=20_000,
    near=300,
    skipped=42,
    quarantined=1,
    short_kept=9,
    short_duplicate=8,
    reasons={"empty": 40, "missing": 2, "too_large": 1},
    refused={"number": 9999, "similarity": 5},
    similar={"number": 1234, "name": 5},
    cut=1050,
    missing_originals=2,
    candidates=Histogram(total=2_469_734, most=5000, classes={1: 1_200_000, 71: 34_867}),
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


def test_the_heading_names_source_target_and_run():
    assert "db.in -> db.out  (run 3, done)" in shown(report())


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("scanned", ["1,254,910", "100.00%"]),
        ("kept", ["1,234,567", "98.38%"]),
        ("though similar, 0.7 or more", ["1,239", "0.10%"]),
        ("number", ["1,234", "0.10%"]),
        ("person, place or organisation", ["5", "0.00%"]),
        ("duplicate, exact", ["20,000", "1.59%"]),
        ("duplicate, near", ["300", "0.02%"]),
        ("skipped", ["42", "0.00%"]),
        ("empty after cleaning", ["40", "0.00%"]),
        ("field absent or null", ["2", "0.00%"]),
        ("quarantined", ["1", "0.00%"]),
        ("too large", ["1", "0.00%"]),
        ("repeat rate", ["1.62%"]),
        ("valid rate", ["98.38%"]),
    ],
)
def test_each_figure_stands_in_its_line(name, figures):
    assert line(shown(report()), name).split()[-len(figures) :] == figures


@pytest.mark.parametrize("source", ["db.in", "题库.高考题目", "テスト.問題", "mixed.题a库b"])
def test_the_table_does_not_depend_on_the_width_of_the_names(source):
    text = shown(report(source=source))
    assert f"{source} -> db.out" in text
    assert text.splitlines()[2:] == shown(report()).splitlines()[2:]


def test_the_last_line_says_it_all():
    assert shown(report()).splitlines()[-1] == (
        "db.out: run 3 done: 1,254,910 read, 1,234,567 kept, 20,300 dropped (1.62%), "
        "42 skipped, 1 quarantined; 100.0 s, 12,549 docs/s"
    )
    assert shown(report(dry=True)).splitlines()[-1].startswith("dry run: 1,254,910 read")


def test_texts_of_a_few_words_are_explained():
    told = " ".join(shown(report()).split())
    assert "found by their characters alone: 17, of these 8 dropped." in told
    none = replace(COUNTS, short_kept=0, short_duplicate=0)
    assert "a few words" not in shown(report(none))


def test_what_a_dropped_copy_has_more_is_told_with_what_keeps_it():
    richer = report(replace(COUNTS, richer={"image": 2, "sentence": 40}))
    told = " ".join(shown(richer).split())
    assert "by what they have: sentence 40, image 2. `--keep richest` keeps such a copy" in told
    no_rule_weighs_it = report(replace(COUNTS, richer={"sentence": 40}))
    assert "sentence 40." in shown(no_rule_weighs_it)
    assert "richest" not in shown(no_rule_weighs_it)
    about = replace(richer.about, settings={"output": {"keep": ["longest"]}})
    assert "by what they have" not in shown(replace(richer, about=about))


def test_the_next_steps_are_commands_for_this_target():
    text = shown(report(target="题库.a b"))
    for command in ("list --what near --run 3", "list --what refused --run 3", "undo 3"):
        assert f"dedup {command} --target '题库.a b'" in text
    assert "undo" not in shown(report(dry=True))


def test_a_profile_tells_of_candidates():
    assert "candidates per document: mean 2.00, p99 71, max 5,000" in shown(report(), profile=True)
    assert "per document" not in shown(report())
    without = replace(COUNTS, candidates=Histogram.of([0, 0]))
    assert "per document" not in shown(report(without), profile=True)


def test_a_profile_names_the_bottleneck():
    work = dict.fromkeys(Stage, Work()) | {Stage.WRITE: Work(9.0, documents=100)}
    profiled = replace(report(), profile=Profile(work, seconds=10.0, threads=2))
    assert "bottleneck: write (90% busy)" in shown(profiled, profile=True)
    assert "bottleneck" not in shown(profiled)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (report(dry=True), "(dry run, nothing written)"),
        (replace(report(), unindexed=1234), "1,234 index entries were skipped: 128"),
        (report(replace(COUNTS, cut=77)), "77 documents are similar to very many kept ones"),
        (report(replace(COUNTS, missing_originals=78)), "78 candidates were gone: someone"),
        (report(replace(COUNTS, reasons={"not_text": 7})), "field is no text"),
        (
            report(replace(COUNTS, cut_documents=1234, cut_characters=56_789)),
            "cleaning.cut_at: 56,789 characters of 1,234 documents.",
        ),
        (report(known=1234), "decided by earlier runs 1,234"),
        (report(status=Status.STOPPED), "the same command goes on from there"),
    ],
)
def test_what_did_not_happen_is_not_told(run, told):
    assert told in " ".join(shown(run).split())
    assert told not in " ".join(shown(report()).split())


def test_what_the_confidence_means_is_said_where_a_model_decides():
    assert "decision.confidence" not in shown(report())
    about = About("db.in", "db.out", {}, {}, False, Dial(0.95, Share(8, 1592), Share(463, 1123)))
    told = " ".join(shown(replace(report(), about=about)).split())
    assert (
        "decision.confidence 0.95: of 1,000 pairs labelled different that the model had not seen, "
        "5 are joined (95 % interval 3-10); of those labelled the same, 41 % are (38-44 %)."
    ) in told


def test_the_largest_clusters_have_a_line_each_whatever_they_hold():
    clusters = (
        Cluster("[red]a", 1234, "光合作用\x1b[31m[b]是\n绿色植物" + "长" * 90, '"[red]a"'),
        Cluster(7, 1, "", "7"),
    )
    text = shown(replace(report(), clusters=clusters))
    assert line(text, "1,234").split()[:2] == ["1,234", '"[red]a"']
    assert "光合作用\\x1b[31m[b]是\\n绿色植物长" in text
    assert cell_len(line(text, "1,234")) <= 80
    assert line(text, "1   7").split() == ["1", "7"]
    assert "\x1b" not in text
    assert "which begins" not in shown(report())


def test_columns_end_at_the_same_cell():
    text = shown(report(source="题库.题目", known=5))
    counts_end = cell_len(line(text, "documents").removesuffix("share").rstrip())
    shares_end = cell_len(line(text, "documents"))
    for name in ("scanned", "kept", "duplicate, exact", "skipped", "quarantined"):
        count, share = line(text, name).split()[-2:]
        assert cell_len(line(text, name)) == shares_end
        assert cell_len(line(text, name).removesuffix(share).rstrip()) == counts_end
        assert count != share
    assert cell_len(line(text, "repeat rate")) == shares_end
    assert cell_len(line(text, "decided by earlier runs")) == counts_end
    text = shown(report(), profile=True)
    seconds_end = cell_len(line(text, "stage"))
    for name in ("read", "读取", "whole run"):
        assert cell_len(line(text, name)) == seconds_end


def test_there_are_colour_codes_on_a_terminal_alone(monkeypatch):
    assert "\x1b" not in shown(report())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in shown(report())


def test_a_run_without_documents_has_no_shares():
    assert line(shown(report(Counts())), "scanned").split() == ["scanned", "0", "-"]


def test_quarantined_documents_can_be_found_by_what_is_said():
    text = shown(report(target="题库.a.b"))
    assert "dedup list --what quarantined --run 3 --target '题库.a.b'" in text
    without = replace(COUNTS, quarantined=0, reasons={})
    assert "--what quarantined" not in shown(report(without))
    assert "--what quarantined" not in shown(report(dry=True))


@pytest.mark.parametrize("name", ["db.a[1]", "db.[red]a", "db.a[/x]", "db.:smile:", "db.a\\[b]"])
def test_names_are_shown_as_they_are(name):
    """MongoDB allows brackets in names; rich reads them as its own markup."""
    assert f"{name} -> {name}  (run" in shown(report(source=name, target=name))


def test_where_most_documents_have_no_text_the_field_is_asked_about():
    told = " ".join(shown(report(Counts(kept=1, skipped=3, reasons={"missing": 3}))).split())
    assert "75% of the documents. Is --field right?" in told
    assert "--field" not in shown(report(Counts(kept=2, skipped=2, reasons={"missing": 2})))
