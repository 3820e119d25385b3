"""From where the next run reads what changed, as the state document keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

Token = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A resume token of the source, and the query of the runs up to it.

    uuid: of the collection; followed: runs since the last one that compared the ids of all
    documents; run: the one that left it; decided: the number of documents decided by then.
    """

    token: Token
    uuid: bytes
    query: str | None
    followed: int
    run: int = 0
    decided: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as the state holds them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Any) -> Bookmark | None:
        """Read back what `as_dict` wrote; None where it is something else."""
        with suppress(TypeError):
            return cls(**saved)
        return None
