"""The fields of a document that hold its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dedup_job.documents import Reason, Skipped
from dedup_job.messages import Message
from dedup_job.native.parts import BREAK

Path = Sequence[str]
"""The names that lead to a field, through objects."""


class TextFields(NamedTuple):
    """One field or several, in the order in which their texts are compared."""

    paths: Sequence[Path]

    @classmethod
    def of(cls, written: str) -> TextFields:
        """Return the fields that are written so: `text`, `a.b`, `title,body`."""
        return cls([name.split(".") for name in written.split(",")])

    @property
    def several(self) -> bool:
        """Tell whether there is more than one."""
        return len(self.paths) > 1

    @property
    def dotted(self) -> list[str]:
        """The fields as they are written."""
        return [".".join(path) for path in self.paths]

    @property
    def one(self) -> Path:
        """The only field; nothing where there are several, which `content` looks for."""
        return () if self.several else self.paths[0]

    def content(self, document: Mapping[str, Any]) -> str | Skipped:
        """Return the text of a decoded document, with a break between parts, or why it has none."""
        if len(self.paths) == 1 and type(text := _at(document, self.paths[0])) is str:
            return text  # nearly always so
        texts, there = list[str](), False
        for number, value in self._values(document):
            parts = value if type(value) is list else [value]
            if any(type(part) is not str for part in parts):  # JavaScript is a subclass, no text
                detail = Message(
                    "the field {field!r} holds neither text nor an array of texts",
                    field=self.dotted[number],
                )
                return Skipped(Reason.NOT_TEXT, detail if self.several else "")
            texts, there = texts + parts, True
        return BREAK.join(texts) if there else Skipped(Reason.MISSING)

    def have_parts(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the text of a decoded document may have parts."""
        return self.several or any(type(value) is list for _, value in self._values(document))

    def alone(
        self, document: Mapping[str, Any], texts: Iterator[str], at: TextFields
    ) -> dict[str, Any]:
        """Return a document of these fields only, with other texts in place of its own.

        at: the fields of the new document.
        """
        new: dict[str, Any] = {}
        for number, value in self._values(document):
            *outer, last = at.paths[number]
            within = new
            for name in outer:
                within = within.setdefault(name, {})
            within[last] = [next(texts) for _ in value] if type(value) is list else next(texts)
        return new

    def _values(self, document: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each field that is there and not null, and its value."""
        values = (_at(document, path) for path in self.paths)
        return ((number, value) for number, value in enumerate(values) if value is not None)


def _at(value: Any, path: Path) -> Any:
    """Return what a path leads to in a decoded document, None where it leads nowhere."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
