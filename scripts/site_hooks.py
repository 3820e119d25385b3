"""What the site needs besides mkdocs: it has no page for a file that is not in docs/."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")
_WIDE = r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”]"
_BROKEN = re.compile(rf"(?<={_WIDE})\n *(?={_WIDE})|(?<=[，。；：、）])\n *(?=[\w`*\[](?!``))")
_FENCED = re.compile(r"^( *```.*?^ *```$)", re.M | re.S)
_SHORT = re.compile(r"<code>([^<\s]{1,34}|-[^<\n]{1,23})</code>")
_CELL = re.compile(r"<td.*?</td>", re.S)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Make links to files beside docs/ plain text; join Chinese lines, which need no space.

    A block of code keeps its lines.
    """
    parts = _FENCED.split(_OUTSIDE.sub(r"\1", markdown))  # every second one is a block of code
    return "".join(part if n % 2 else _BROKEN.sub("", part) for n, part in enumerate(parts))


def on_page_content(html: str, **_: Any) -> str:
    r"""Mark short code, such as the name of an option, that no line should break.

    In a cell of a table a bar is written `\|`, which stays as it is within code.
    """
    html = _CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)
    return _SHORT.sub(r'<code class="whole">\1</code>', html)
