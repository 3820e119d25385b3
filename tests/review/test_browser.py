"""The page in a real browser: thirty answers by keyboard, and all else that a person does there."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("websockets")

from tests.review import devtools
from tests.review.conftest import served

PROGRAM = devtools.found()
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium on this machine"),
]
KEY = "document.querySelector('[data-pair]')?.dataset.pair"
MESSAGE = "document.querySelector('#message').textContent"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with devtools.browser(PROGRAM, tmp_path_factory.mktemp("profile")) as found:
        yield found


def press_and_wait(tab, key):
    """Press a key; return the pair that it was meant for, once another one is shown."""
    before = tab.evaluate(KEY)
    tab.press(key)
    tab.wait_for(f"({KEY}) !== {json.dumps(before)}")
    return before


def test_thirty_answers_by_keyboard_then_reload_back_restore_export_import_and_a_second_tab(
    page, reviewed, chromium, tmp_path
):
    labels = reviewed["target.labels"]
    tab = chromium.tab()
    tab.open(page.ticket.address)
    assert tab.evaluate("location.href") == f"{page.origin}/"  # the token is not left in sight
    keys = [press_and_wait(tab, "1sd23u"[i % 6]) for i in range(30)]
    assert len({*keys}) == 30
    said = [row["label"] for row in labels.find(sort=[("when", 1)])]
    assert said == [
        ["same", "same", "different", "different", "unsure", "unsure"][i % 6] for i in range(30)
    ]

    shown = tab.evaluate(KEY)
    tab.reload()
    assert tab.evaluate(KEY) == shown
    assert tab.evaluate("document.querySelector('progress').value") == 30

    press_and_wait(tab, "b")
    assert tab.evaluate(KEY) == keys[-1]
    assert tab.evaluate("document.querySelector('[aria-pressed=true]').value") == "unsure"
    press_and_wait(tab, "1")
    assert labels.find_one(sort=[("when", -1)])["label"] == "same"
    assert tab.evaluate(KEY) == shown

    wrong = [*labels.find({"label": "different", "decision": "duplicate"})]
    assert wrong
    tab.click(".wrong > button")
    tab.wait_for(f"({MESSAGE}).includes('back in')")
    assert tab.evaluate("document.querySelectorAll('.wrong input[type=checkbox]').length") == 0
    ids = [row["_id"]["id"] for row in wrong]
    assert reviewed.target.count_documents({"_id": {"$in": ids}}) == len(ids)
    assert tab.evaluate(KEY) == shown

    text = tab.evaluate("fetch('/export').then((answer) => answer.text())")
    assert len(text.splitlines()) == 30
    file = tmp_path / "labels.jsonl"
    file.write_text(text.replace('"name": "anna"', '"name": "bob"'), encoding="utf-8")
    tab.choose_file("#import", file)
    tab.wait_for(f"({MESSAGE}).includes('30 answers are new')")
    assert labels.count_documents({"_id.name": "bob"}) == 30

    second = chromium.tab()
    second.open(f"{page.origin}/")  # the browser's cookie lets it in
    assert second.evaluate(KEY) == shown
    press_and_wait(second, "u")
    press_and_wait(tab, "1")  # the first tab goes on with the same pair
    assert tab.evaluate(KEY) == second.evaluate(KEY)
    assert labels.count_documents({"_id.name": "anna"}) == 31
    assert labels.find_one({"_id.name": "anna"}, sort=[("when", -1)])["label"] == "same"
    assert [*tab.complaints, *second.complaints] == []


def test_language_and_theme_are_switched_and_stay_at_the_next_answer(page, chromium):
    tab = chromium.tab()
    tab.open(page.ticket.address)
    tab.click("#language")
    tab.click("#theme")
    theme = tab.evaluate("document.documentElement.dataset.theme")
    press_and_wait(tab, "s")
    tab.reload()
    assert tab.evaluate("document.documentElement.lang") == "zh-Hans"
    assert tab.evaluate("document.documentElement.dataset.theme") == theme
    assert "相同" in tab.evaluate("document.querySelector('.answers').innerText")


def test_a_page_whose_server_ended_says_so(reviewed, chromium):
    with served(reviewed) as page:
        tab = chromium.tab()
        tab.open(page.ticket.address)
        assert tab.evaluate("document.querySelector('#lost').hidden") is True
    tab.press("s")
    tab.wait_for("!document.querySelector('#lost').hidden")


def test_another_site_cannot_read_the_page_or_answer_in_its_name(page, reviewed, chromium):
    tab = chromium.tab()
    tab.open(page.ticket.address)
    form = f"pair={tab.evaluate(KEY)}&opinion=same"
    with served(reviewed, name="mallory") as other:  # the same machine, another origin
        foreign = chromium.tab()
        foreign.open(other.ticket.address)
        script = (
            f"fetch('{page.origin}/answer', {{method: 'POST', mode: 'no-cors', "
            f"credentials: 'include', body: new URLSearchParams('{form}')}})"
            ".then(() => 'sent', (error) => 'refused')"
        )
        foreign.call("Page.setBypassCSP", enabled=True)
        foreign.reload()
        foreign.evaluate(script)
    assert reviewed["target.labels"].count_documents({}) == 0
