"""What the site needs besides mkdocs: it has no page for a file that is not in docs/."""

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
    """Make links to files beside docs/ plain text; join Chinese lines, which need no space.

    A block of code keeps its lines.
    """
    parts = _FENCED.split(_OUTSIDE.sub(r"\1", markdown))  # every second one is a block of code
    return "".join(part if n % 2 else _BROKEN.sub("", part) for n, part in enumerate(parts))


def on_page_content(html: str, **_: Any) -> str:
    r"""In a cell of a table a bar is written `\|`, which stays as it is within code."""
    return _CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)


def on_post_build(config: Any, **_: Any) -> None:
    """Let the address of the site lead to its first page, in each language."""
    for folder in (Path(config["site_dir"]), Path(config["site_dir"], "zh")):
        if folder.is_dir():
            (folder / "index.html").write_text(_FIRST, encoding="utf-8")
