"""The copy button of a report in a real browser: what it copies runs nothing but the command."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("websockets")

from dedup_job.mongo.bson.extended_json import unmistakable
from dedup_job.pages.render import report_page
from tests.cli.test_printed_commands import HOSTILE, run_in_shell
from tests.mongo.bson.test_extended_json import key_of
from tests.pages.test_report_page import survey_with
from tests.review import devtools

pytestmark = devtools.MARKS
BUTTONS = "document.querySelectorAll('[data-copy]')"


@pytest.mark.parametrize("clipboard", [True, False], ids=["clipboard", "selection"])
def test_what_is_copied_runs_nothing_in_a_shell(tmp_path: Path, clipboard: bool) -> None:
    name = HOSTILE[0]
    page, folder = tmp_path / "page.html", tmp_path / "folder"
    folder.mkdir()
    survey = survey_with("text", name, written=unmistakable(key_of(name)))
    page.write_text(report_page(survey), encoding="utf-8")
    with devtools.browser(devtools.PROGRAM, tmp_path / "profile") as chromium:
        tab = chromium.tab()
        tab.call(
            "Browser.grantPermissions",
            permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
        )
        tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
        tab.call("Page.navigate", url=page.as_uri())
        tab.wait_for(f"document.readyState === 'complete' && {BUTTONS}.length")
        if not clipboard:  # as in a browser that refuses it to files
            tab.evaluate("navigator.clipboard.writeText = () => Promise.reject(); 0")
        tab.evaluate(
            "for (const folded of document.querySelectorAll('details')) folded.open = true"
        )
        copied = []
        for at in range(tab.evaluate(f"{BUTTONS}.length")):
            if not tab.evaluate(f"{BUTTONS}[{at}].checkVisibility()"):
                continue  # of the other language
            tab.evaluate(f"{BUTTONS}[{at}].id = 'b{at}'")
            tab.click(f"#b{at}")
            tab.wait_for(f"{BUTTONS}[{at}].textContent.includes('✓')")
            copied.append(tab.evaluate("navigator.clipboard.readText()"))
    words = [run_in_shell(line, folder) for line in copied]
    assert {word[0] for word in words} == {"restore", "list", "inspect", "check", "undo"}
    for word in words:
        assert word[1 + word.index("--target")] == name
