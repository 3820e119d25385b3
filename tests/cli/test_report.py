"""`dedup report`."""

import re

from dedup_job.demo import make_corpus
from dedup_job.messages import DedupError
from tests.running import invoke, refusal, run_here, uri_of


def test_a_page_is_written_and_its_size_is_said(database, tmp_path):
    database.source.insert_many(make_corpus(300, seed=5))
    run_here(database)
    file = tmp_path / "report.html"
    target = ["--target", f"{database.name}.target", "--html", str(file)]
    done = invoke("report", *target, DEDUP_URI=uri_of(database), DEDUP_LANG="zh")
    assert done.exit_code == 0
    assert f"{file}：0." in done.stdout
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert 'data-language="zh"' in page
    assert file.stat().st_size < 3_000_000


def test_a_run_and_a_dry_run_write_the_same_figures_and_pairs(database, tmp_path):
    database.source.insert_many(make_corpus(400, seed=5))
    files = [tmp_path / "dry.html", tmp_path / "run.html"]
    of = ["--source", f"{database.name}.source", "--target", f"{database.name}.target"]
    for file, more in zip(files, (["--dry-run"], ["--yes"]), strict=True):
        done = invoke("run", *of, *more, "--html", str(file), DEDUP_URI=uri_of(database))
        assert done.exit_code in (0, 3), done.output
    dry, run = (file.read_text(encoding="utf-8") for file in files)
    assert "Dry run: nothing was written" in dry
    for figure in (r"<dd>([^<]*)</dd>", r'"similarities": \{[^}]*\}'):
        assert re.findall(figure, dry) == re.findall(figure, run)
    assert "dedup restore" not in dry.split('id="further"')[0]


def test_a_page_that_fails_in_the_end_leaves_the_run_and_its_metrics_done(
    database, tmp_path, monkeypatch
):
    def full(*_):
        raise DedupError("the page r.html cannot be written: No space left on device.")

    monkeypatch.setattr("dedup_job.cli.listing.write_page", full)
    database.source.insert_many(make_corpus(100, seed=5))
    of = ["--source", f"{database.name}.source", "--target", f"{database.name}.target", "--yes"]
    files = ["--html", str(tmp_path / "r.html"), "--metrics-file", str(tmp_path / "m.prom")]
    wrong = refusal("run", *of, *files, DEDUP_URI=uri_of(database))
    assert str(wrong).startswith("the run is done, but the page r.html cannot be written")
    name = f'{{target="{database.name}.target"}}'
    assert f"dedup_last_success_timestamp_seconds{name} " in (tmp_path / "m.prom").read_text()
