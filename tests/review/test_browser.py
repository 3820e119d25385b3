"""The page in a real browser: thirty answers by keyboard, and all else that a person does there."""

import json

import pytest

pytest.importorskip("websockets")

from tests.review import devtools
from tests.review.conftest import served
from tests.running import run_here

pytestmark = devtools.MARKS
KEY = "document.querySelector('[data-pair]')?.dataset.pair"
READY = f"({KEY}) && document.querySelector('main').ariaBusy === 'false'"  # keys are taken
CLOSED = "document.querySelector('#closed')?.checkVisibility()"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with devtools.browser(devtools.PROGRAM, tmp_path_factory.mktemp("profile")) as found:
        yield found


def open_page(tab, address):
    tab.open(address)
    tab.wait_for(READY)


def reload(tab):
    tab.reload()
    tab.wait_for(READY)


def press_and_wait(tab, key):
    """Press a key; return the pair that it was meant for, once another one is shown."""
    before = tab.evaluate(KEY)
    tab.press(key)
    tab.wait_for(f"{READY} && ({KEY}) !== {json.dumps(before)}")
    return before


def test_thirty_answers_by_keyboard_then_reload_back_and_a_second_tab(page, reviewed, chromium):
    labels = reviewed["target.labels"]
    tab = chromium.tab()
    open_page(tab, page.ticket.address)
    assert tab.evaluate("location.href") == f"{page.origin}/"  # the token is not left in sight
    keys = [press_and_wait(tab, "1sd23u"[i % 6]) for i in range(30)]
    assert len({*keys}) == 30
    answers = [row["label"] for row in labels.find(sort=[("when", 1)])]
    assert answers == [
        ["same", "same", "different", "different", "unsure", "unsure"][i % 6] for i in range(30)
    ]

    shown = tab.evaluate(KEY)
    reload(tab)
    assert tab.evaluate(KEY) == shown
    assert tab.evaluate("document.querySelector('progress').value") == 30

    press_and_wait(tab, "b")
    assert tab.evaluate(KEY) == keys[-1]
    assert tab.evaluate("document.querySelector('[aria-pressed=true]').value") == "unsure"
    press_and_wait(tab, "1")
    assert labels.find_one(sort=[("when", -1)])["label"] == "same"
    assert tab.evaluate(KEY) == shown

    second = chromium.tab()
    open_page(second, page.ticket.address)
    assert second.evaluate(KEY) == shown
    press_and_wait(second, "u")
    press_and_wait(tab, "1")  # the first tab goes on with the same pair
    assert tab.evaluate(KEY) == second.evaluate(KEY)
    assert labels.count_documents({"_id.name": "anna"}) == 31
    assert labels.find_one({"_id.name": "anna"}, sort=[("when", -1)])["label"] == "same"
    assert [*tab.complaints, *second.complaints] == []


def test_language_and_theme_are_switched_and_stay_at_the_next_answer(page, chromium):
    tab = chromium.tab()
    open_page(tab, page.ticket.address)
    tab.click("#language")
    tab.click("#theme")
    theme = tab.evaluate("document.documentElement.dataset.theme")
    press_and_wait(tab, "s")
    reload(tab)
    assert tab.evaluate("document.documentElement.lang") == "zh-Hans"
    assert tab.evaluate("document.documentElement.dataset.theme") == theme
    assert "相同" in tab.evaluate("document.querySelector('.answers').innerText")


def test_a_long_pair_begins_at_what_differs(database, chromium):
    lines = [f"第{n}条 本条例第{n * 7}款的规定适用于第{n * 3}类情形。" for n in range(150)]
    ends = ("完。", "完毕。")
    texts = [{"_id": n, "text": "\n".join([*lines, end])} for n, end in enumerate(ends)]
    database.source.insert_many(texts)
    run_here(database)
    with served(database) as page:
        tab = chromium.tab()
        open_page(tab, page.ticket.address)
        tops = "[...document.querySelectorAll('.text')].map(text => text.scrollTop)"
        assert tab.wait_for(f"{tops}.every(Boolean) && {tops}.length") == 2


def test_a_page_whose_server_ended_says_so(reviewed, chromium):
    with served(reviewed) as page:
        tab = chromium.tab()
        open_page(tab, page.ticket.address)
        assert tab.evaluate("document.querySelector('#lost').hidden") is True
    tab.press("s")
    tab.wait_for("!document.querySelector('#lost').hidden")


def test_a_tab_without_the_token_says_what_to_open_and_then_opens_it(page, chromium):
    tab = chromium.tab()
    tab.open(f"{page.origin}/")
    tab.wait_for(CLOSED)
    assert "Open the address" in tab.evaluate("document.querySelector('#closed').innerText")
    tab.call("Page.navigate", url=f"{page.origin}/#token=wrong")
    tab.wait_for("performance.getEntriesByType('navigation')[0].type === 'reload'")
    tab.wait_for(CLOSED)
    assert tab.evaluate(KEY) is None
    tab.call("Page.navigate", url=page.ticket.address)  # of the same page: nothing is loaded
    tab.wait_for(KEY)
    assert tab.evaluate("document.querySelector('#closed').hidden") is True
    assert tab.evaluate("location.href") == f"{page.origin}/"
    assert page.review.target in tab.evaluate("document.title")
