"""The notebook runs from its first cell to its last, and shows what it holds."""

from __future__ import annotations

from scripts import make_notebook


def test_the_cells_give_what_the_notebook_holds() -> None:
    stored = make_notebook.read()
    assert make_notebook.ran(stored) == stored, "run scripts/make_notebook.py"


def test_a_pair_and_the_whole_are_there_to_be_seen() -> None:
    outputs = [o for cell in make_notebook.read()["cells"] for o in cell.get("outputs", ())]
    shown = ["".join(o["data"]["text/html"]) for o in outputs if "text/html" in o.get("data", {})]
    assert ["repeat rate" in html for html in shown] == [True, False]
    assert all("</del>" in html or "</ins>" in html for html in shown)
    assert not any("<script" in html for html in shown)
