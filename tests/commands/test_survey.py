"""What a page says of a target, read from a real server."""

from collections import Counter
from dataclasses import replace

import pytest

from dedup_job.commands.look import survey_target
from dedup_job.commands.run import Request, RunCallbacks, SurveyCollector, run_job
from dedup_job.decision import CONFIDENCE
from dedup_job.demo import make_corpus
from dedup_job.runs.survey import Stratum
from dedup_job.settings import load
from tests.running import run_here, settings_of, uri_of


@pytest.fixture
def filled(database):
    database.source.insert_many(make_corpus(800, seed=5))
    run_here(database)
    return database


def survey(database):
    return survey_target(settings_of(database), f"{database.name}.target")


def test_strata_and_groups_hold_what_they_say_and_a_lost_source_is_said(filled):
    found = survey(filled)
    assert found.counts.scanned == 800
    assert sum(found.near.bins) == found.counts.near
    assert sum(found.refused.bins) == found.counts.refused["unlikely"]
    by_stratum = {layer.stratum: layer.pairs for layer in found.layers}
    least = [one.pair.probability or 0 for one in by_stratum[Stratum.LEAST_SIMILAR]]
    assert least == sorted(least)
    rows = filled["target.ledger"].find({"reason": "near"})
    assert least[0] == min(row["probability"] for row in rows)
    assert least[0] >= found.threshold == CONFIDENCE
    most = by_stratum[Stratum.MOST_SIMILAR]
    likely = [one.pair.probability or 0 for one in most]
    assert likely == sorted(likely, reverse=True)
    assert {one.reason for one in most} == {"unlikely"}
    assert likely[0] < found.threshold
    for layer in found.layers:
        for one in layer.pairs:
            if layer.stratum is Stratum.CLASS:
                assert layer.name in [each.kind for each in one.pair.differences]
            if layer.stratum is Stratum.KEPT_APART:
                assert (one.decision, one.reason) == ("kept", layer.name)
            if one.of:
                assert one.text is not None
                assert one.other is not None
    named = {layer.name for layer in found.layers if layer.stratum is Stratum.WITHOUT_TEXT}
    assert named == set(found.counts.reasons)
    rows = filled["target.ledger"].find({"decision": "duplicate"})
    most = sorted(Counter(row["of"] for row in rows).values(), reverse=True)
    groups = found.groups
    assert [group.kept.duplicates for group in groups] == most[: len(groups)]
    assert all(1 <= len(group.members) <= group.kept.duplicates for group in groups)
    filled.source.delete_many({})
    report = survey(filled)
    assert report.source_gone
    (least, *_) = (layer for layer in report.layers if layer.stratum is Stratum.LEAST_SIMILAR)
    assert all(one.text is None and one.other for one in least.pairs)


@pytest.mark.parametrize(
    "flags",
    [
        {"output.keep": ["longest"], "run.batch_documents": 100},
        {"source.against": ["other"]},
    ],
    ids=["keep", "against"],
)
def test_the_figures_are_those_of_the_collections_and_of_a_dry_run(database, flags):
    made = make_corpus(800, seed=5)
    database.source.insert_many(made[50:])
    database.other.insert_many([row for row in made[:100] if isinstance(row.get("text"), str)])
    settings = load({"connection.uri": uri_of(database), "connection.db": database.name, **flags})
    collector = SurveyCollector()
    request = Request("source", "target", dry_run=True)
    run_job(settings.settings, request, RunCallbacks(collector=collector))
    run_job(settings.settings, replace(request, dry_run=False), RunCallbacks())
    dry, found = collector.survey, survey_target(settings.settings, "target")
    kept, ledger = [*database.target.find()], [*database["target.ledger"].find()]
    counts = {
        "kept": len(kept),
        **Counter(row["reason"] for row in ledger if row["decision"] == "duplicate"),
        **Counter(row["decision"] for row in ledger if row["decision"] != "duplicate"),
        "refused": Counter(row["dedup"].get("refused", {}).get("class") for row in kept),
        "against": Counter(row["against"] for row in ledger if "against" in row),
        "replaced": sum("kept_by" in row for row in ledger),
        "reasons": Counter(row["reason"] for row in ledger if row["decision"] != "duplicate"),
    }
    del counts["refused"][None]
    for figures in (found.counts, dry.counts):
        assert {name: getattr(figures, name) for name in counts} == counts
    assert (dry.near.bins, dry.refused.bins) == (found.near.bins, found.refused.bins)
    assert found.counts.against or found.counts.replaced
    groups = [group.kept for group in found.groups]
    assert groups
    for kept in groups:
        assert database.target.count_documents({"_id": int(kept.id)}) == 1
    for one in (*dry.near.extreme, *dry.refused.extreme):
        assert one.text
        assert one.other


def test_a_dry_run_shows_long_texts_whole(database):
    lines = [f"第{n}条 本条例第{n * 7}款的规定适用于第{n * 3}类情形。" for n in range(400)]
    texts = ["\n".join([*lines, end]) for end in ("完。", "完毕。")]
    database.source.insert_many([{"_id": n, "text": text} for n, text in enumerate(texts)])
    settings = load({"connection.uri": uri_of(database), "connection.db": database.name}).settings
    collector = SurveyCollector()
    run_job(settings, Request("source", "t", dry_run=True), RunCallbacks(collector=collector))
    (layer,) = collector.survey.first
    assert [(one.other, one.text) for one in layer.pairs] == [tuple(texts)]


def test_where_similarity_decides_it_is_what_the_threshold_stands_for(database):
    database.source.insert_many(make_corpus(800, seed=5))
    run_here(database, decision__judge="similarity", decision__similarity=0.97)
    found = survey(database)
    assert (found.threshold, found.judged) == (0.97, False)
    assert sum(found.refused.bins) == sum(found.counts.refused.values()) > 0
    (least, *_) = found.near.extreme
    assert least.pair.probability is None
    assert least.pair.measure == least.pair.similarity
