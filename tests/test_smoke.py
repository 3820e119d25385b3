"""`scripts/bounds` runs this on the oldest and the newest packages: each is at work here."""

import sys
from subprocess import run

import pytest

from dedup_job import __version__
from dedup_job.demo import make_corpus
from tests.running import assert_each_source_id_is_in_one_place, dedup, uri_of

DECIDED = (0, 3)  # 3: some documents are quarantined
NAMES = ("--source", "source", "--target", "target")


def plain(*arguments):
    """Run `dedup` as a user does, from its first import; return exit code and what was said."""
    ended = run([sys.executable, "-m", "dedup_job", *arguments], capture_output=True, check=False)
    return ended.returncode, (ended.stdout + ended.stderr).decode()


def test_the_version_and_the_options_are_printed_where_they_are_asked_for():
    assert plain("--version") == (0, f"dedup {__version__}\n")
    code, told = plain("run", "--help")
    assert (code, "--dry-run" in told) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("run --source d.a", "dedup run --source d.a --target d.a_unique"),
        ("run --source d.a --target d.b --limit many", "many"),
        ("run --source d.a --target d.b --limit 0", "--limit"),
        ("run --source d.a --target d.b --sorce x", "no such option"),
        ("rum", "perhaps you meant run"),
        ("check", "is missing"),
        ("config validate none.toml", "cannot be read"),
    ],
)
def test_a_bad_argument_ends_with_2_and_never_with_0(arguments, said):
    code, told = plain(*arguments.split())
    assert (code, said in told) == (2, True), told


def test_a_run_and_what_looks_at_its_target(database, tmp_path):
    database.source.insert_many(make_corpus(300, seed=1))
    uri, page, metrics = uri_of(database), tmp_path / "page.html", tmp_path / "metrics.prom"

    def good(*arguments, code=(0,)):
        ended = dedup(*arguments, "--db", database.name, uri=uri)
        assert ended.returncode in code, ended.stderr
        return ended.stdout

    good("run", *NAMES, "--yes", "--dry-run", "--html", str(page), code=DECIDED)
    assert "<html" in page.read_text(encoding="utf-8")
    assert database.target.count_documents({}) == 0
    assert "kept" in good("run", *NAMES, "--yes", "--metrics-file", str(metrics), code=DECIDED)
    assert "dedup_" in metrics.read_text(encoding="utf-8")
    assert_each_source_id_is_in_one_place(database)
    assert database["target.ledger"].count_documents({}) > 50
    good("check", *NAMES)
    listed = good("list", "--what", "dropped", "--target", "target", "--format", "jsonl")
    assert "similarity" in listed
    good("report", "--target", "target", "--html", str(page))
    good("status", "--target", "target")
    good("undo", "1", "--target", "target", "--yes")
    assert database.target.count_documents({}) == 0
