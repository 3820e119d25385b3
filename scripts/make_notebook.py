"""Runs docs/notebook.ipynb and writes what its cells give: `python scripts/make_notebook.py`."""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def read() -> dict[str, Any]:
    """Return the notebook."""
    return dict(json.loads(NOTEBOOK.read_text(encoding="utf-8")))


def ran(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook as it is after all of its cells ran, the first one first."""
    names: dict[str, Any] = {}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = [*_outputs("".join(cell["source"]), names, number)]
            cell = {**cell, "execution_count": number, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(code: str, names: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Run a cell; yield what it prints, and the value of its last line, as a notebook keeps it."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, NOTEBOOK.name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
    if text := printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": _lines(text)}
    if value is not None:
        html = getattr(value, "_repr_html_", None)
        data = ({"text/html": _lines(html())} if html else {}) | {"text/plain": _lines(repr(value))}
        yield {
            "data": data,
            "execution_count": number,
            "metadata": {},
            "output_type": "execute_result",
        }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    """Write the notebook."""
    text = json.dumps(ran(read()), ensure_ascii=False, indent=1)
    NOTEBOOK.write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
