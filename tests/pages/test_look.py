"""A page in a real browser: its language, marks where colours are gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("websockets")

from dedup_job.pages.render import report_page
from dedup_job.runs.survey import Drawn
from tests.pages.test_report_page import survey_with
from tests.review import devtools

pytestmark = devtools.MARKS
SHOWN = "document.querySelector('h2').innerText"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[devtools.Browser]:
    with devtools.browser(devtools.PROGRAM or "", tmp_path_factory.mktemp("profile")) as found:
        yield found


def show(tab: devtools.Tab, file: Path, page: str, prefers: str = "en-US") -> None:
    """Open a page in a browser that prefers a language."""
    agent = {"userAgent": tab.evaluate("navigator.userAgent"), "acceptLanguage": prefers}
    tab.call("Emulation.setUserAgentOverride", **agent)
    file.write_text(page, encoding="utf-8")
    tab.call("Page.navigate", url=file.as_uri())
    tab.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")


@pytest.mark.parametrize(
    ("asked", "prefers", "shown"),
    [
        ("", "zh-CN", "抽样核对"),
        ("", "de-DE", "Pairs to look at"),
        ("en", "zh-CN", "Pairs to look at"),
        ("zh", "en-US", "抽样核对"),
    ],
)
def test_the_language_is_the_one_asked_for_else_the_browsers(
    chromium: devtools.Browser, tmp_path: Path, asked: str, prefers: str, shown: str
) -> None:
    tab = chromium.tab()
    show(tab, tmp_path / "page.html", report_page(survey_with("text"), asked), prefers)
    assert tab.evaluate(SHOWN) == shown
    assert tab.evaluate("document.documentElement.lang") == (
        "zh-Hans" if shown == "抽样核对" else "en"
    )


@pytest.mark.parametrize(
    "without",
    [
        {"media": "print"},
        {"features": [{"name": "forced-colors", "value": "active"}]},
    ],
    ids=["print", "forced-colors"],
)
def test_without_colours_brackets_mark_what_differs(
    chromium: devtools.Browser, tmp_path: Path, without: dict[str, object]
) -> None:
    pair = replace(survey_with("t").near.extreme[0], other="甲正确乙", text="甲错误乙丙")
    tab = chromium.tab()
    show(
        tab, tmp_path / "p.html", report_page(replace(survey_with("t"), near=Drawn(extreme=[pair])))
    )
    marks = (
        "['del', 'ins'].map(name => ['::before', '::after'].map(part => "
        "getComputedStyle(document.querySelector(`${name}:not(:empty)`), part).content))"
    )
    assert tab.evaluate(marks) == [["none", "none"], ["none", "none"]]
    tab.call("Emulation.setEmulatedMedia", **without)
    assert tab.evaluate(marks) == [['"[-"', '"-]"'], ['"{+"', '"+}"']]
    assert tab.evaluate(
        "getComputedStyle(document.querySelector('del:empty'), '::before').content"
    ) in (
        "none",
        "normal",
    )
