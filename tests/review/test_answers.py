"""What the page stores and shows."""

import html
import json
import re
import threading

import pytest

from dedup_job.demo import make_corpus
from dedup_job.mongo.id_keys import unmistakable
from dedup_job.printing import command_line
from dedup_job.runs.survey import Proportion
from tests.proving import command
from tests.review.conftest import served
from tests.running import run_here


def shown_key(text):
    return re.search(r'data-pair="(\w+)"', text)[1]


def answer(page, label, key=None):
    key = key or page.review.next_unanswered()
    status, text, headers = page.ask("/answer", {"pair": key, "label": label})
    assert status == 200, text
    return key, text, headers


def first(page, decision):
    """Return the key of the first pair that was decided so."""
    pairs = page.review._pairs.items()
    return next(key for key, pair in pairs if pair.decision == decision)


def test_an_answer_is_stored_at_once_and_the_next_pair_is_shown(page, reviewed):
    key, text, headers = answer(page, "same")
    (row,) = reviewed["target.labels"].find()
    ledger = reviewed["target.ledger"].find_one({"_id": row["_id"]["id"]})
    assert row["_id"] == {"of": ledger["of"], "id": ledger["_id"], "name": "anna"}
    assert (row["label"], row["decision"], row["reason"]) == ("same", "duplicate", "near")
    assert row["similarity"] == ledger["similarity"]
    assert shown_key(text) == page.review.next_unanswered() != key
    assert headers["HX-Replace-Url"] == f"/?at={shown_key(text)}"
    assert "Answer before" in text
    assert "agrees" in text


def test_an_answer_can_be_changed_by_going_back(page, reviewed):
    key, text, _ = answer(page, "same")
    assert shown_key(page.ask(f"/back?pair={shown_key(text)}")[1]) == key
    _, text, _ = answer(page, "unsure", key)
    assert [row["label"] for row in reviewed["target.labels"].find()] == ["unsure"]
    assert page.review.progress().unsure == 1


def test_a_reload_stays_and_a_second_tab_begins_at_the_first_open_pair(page):
    keys = [answer(page, "same")[0] for _ in range(3)]
    assert shown_key(page.ask("/content")[1]) == page.review.next_unanswered()
    assert shown_key(page.ask(f"/content?at={keys[1]}")[1]) == keys[1]
    assert shown_key(page.ask("/content?at=of-another-review")[1]) == page.review.next_unanswered()


def test_the_same_command_goes_on_where_it_ended_and_another_name_begins(page, reviewed):
    key, _, _ = answer(page, "same")
    with served(reviewed) as again:
        assert again.review.progress().answered == 1
        assert again.review.next_unanswered() == page.review.next_unanswered() != key
    with served(reviewed, name="bob") as other:
        assert other.review.progress().answered == 0
        answer(other, "different", key)
    assert reviewed["target.labels"].count_documents({}) == 2


def test_precision_and_recall_are_those_of_the_answers(page):
    for decision, label in [("duplicate", "same"), ("kept", "same"), ("duplicate", "different")]:
        pairs, labels = page.review._pairs.items(), page.review._labels
        key = next(k for k, pair in pairs if pair.decision == decision and k not in labels)
        _, text, _ = answer(page, label, key)
    progress = page.review.progress()
    assert progress.precision == progress.recall == Proportion(1, 2)
    assert "95 %: 9.5% to 90.5%" in text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"pair": "x", "label": "same"}, "of another review"),
        ({"pair": "x", "label": "maybe"}, "expected same, different, unsure"),
        ({}, "expected same, different, unsure"),
    ],
)
def test_what_is_no_answer_is_refused_in_words(page, reviewed, form, words):
    status, text, headers = page.ask("/answer", form)
    assert status == 409
    assert words in text
    assert headers["HX-Retarget"] == "#message"
    assert reviewed["target.labels"].count_documents({}) == 0


def test_what_is_not_there_is_not_found(page):
    assert page.ask("/nothing")[0] == 404
    assert page.ask("/static/render.py")[0] == 404
    assert page.ask("/static/..%2Frender.py")[0] == 404


def test_a_dropped_document_has_the_command_that_puts_it_back(page):
    key = first(page, "duplicate")
    text = page.ask(f"/content?at={key}")[1]
    (line,) = re.findall(r'data-copy="(dedup restore .*?)"', text)
    id_ = unmistakable(page.review.pair(key).document.key)
    assert html.unescape(line) == command_line("restore", "--target", page.review.target, id_)
    kept = page.ask(f"/content?at={first(page, 'kept')}")[1]
    assert "dedup restore" not in kept


def test_hostile_texts_are_shown_as_texts(database):
    nasty = "<script>alert(1)</script>{{ 79*83 }}</p>\u202e\x1b[31m" + "水分子由氢和氧组成。" * 20
    database.source.insert_many(
        [{"_id": 1, "text": nasty}, {"_id": "<b>'\"", "text": nasty + "！"}]
    )
    run_here(database, cleaning__html="never")
    if not database["target.ledger"].count_documents({"reason": "near"}):
        pytest.skip("the judge found them equal")
    with served(database, name="<i>eve</i>") as page:
        text = page.ask("/content")[1]
        assert "<script>alert" not in text
        assert "<i>eve" not in text
        assert "<b>'" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "6557" not in re.sub(r"data-pair.*?>|value=.*?>|pair=\w+", "", text)


def test_answers_of_two_tabs_at_once_are_all_stored(page, reviewed):
    keys = [*page.review._pairs][:10]
    tabs = [threading.Thread(target=answer, args=(page, "same", key)) for key in keys]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert reviewed["target.labels"].count_documents({}) == 10
    assert page.review.progress().answered == 10


def test_texts_that_are_gone_are_said_to_be_gone_and_the_pair_can_still_be_labelled(database):
    database.source.insert_many(make_corpus(200, seed=3))
    run_here(database)
    database.source.drop()
    with served(database) as page:
        key = first(page, "duplicate")
        assert "The text is gone" in page.ask(f"/content?at={key}")[1]
        answer(page, "unsure", key)
        (line,) = map(json.loads, command(database, "review", "--export", "-").splitlines())
        assert line["b"] is None
        assert line["a"]
        for name in ("target", "target.ledger"):
            database[name].delete_many({})
        assert "The text is gone" in page.ask(f"/content?at={key}")[1]
        for path in (f"/back?pair={key}", "/next"):
            assert page.ask(path)[0] == 200
        answer(page, "different", key)
