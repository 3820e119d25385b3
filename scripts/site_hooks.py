"""Hooks of mkdocs: links to files outside docs/, Chinese lines, bars in tables, the first page."""

import re
from pathlib import Path
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")
_WIDE = r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”]"
_BROKEN = re.compile(rf"(?<={_WIDE})\n *(?={_WIDE})|(?<=[，。；：、）])\n *(?=[\w`*\[](?!``))")
_FENCED = re.compile(r"^( *```.*?^ *```$)", re.M | re.S)
_CELL = re.compile(r"<td.*?</td>", re.S)
_FIRST = '<meta http-equiv="refresh" content="0; url=first-run.html">'


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page with links to files outside docs/ as text, and Chinese lines joined.

    Blocks of code keep their lines.
    """
    parts = _FENCED.split(_OUTSIDE.sub(r"\1", markdown))  # every second one is a block of code
    return "".join(part if n % 2 else _BROKEN.sub("", part) for n, part in enumerate(parts))


def on_page_content(html: str, **_: Any) -> str:
    r"""Return a page with `\|` in cells of tables as a bar, also within code."""
    return _CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)


def on_post_build(config: Any, **_: Any) -> None:
    """Redirect the address of the site to its first page, in each language."""
    for folder in (Path(config["site_dir"]), Path(config["site_dir"], "zh")):
        if folder.is_dir():
            (folder / "index.html").write_text(_FIRST, encoding="utf-8")
