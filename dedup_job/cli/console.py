"""Where a command prints its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 160  # columns of a file or a pipe, which have no edge


def console() -> Console:
    """Return standard output, which takes texts as they are."""
    from rich.console import Console

    plain = Console(highlight=False, markup=False, emoji=False)
    if plain.is_terminal:
        return plain
    return Console(highlight=False, markup=False, emoji=False, width=_WIDTH)
