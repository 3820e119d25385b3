"""The fields of a document that hold its text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dedup_job.documents import Reason, Skipped
from dedup_job.messages import Message
from dedup_job.native.bytes_column import BREAK

Path = Sequence[str]
"""The names that lead to a field, through objects."""
OWN_ID = "_id"
"""The name of what is no text in an object: libraries give one to every object in an array."""
_NUMBERS = (int, float)
_DEEPEST = 64  # levels of a value in which text is looked for


class TextFields(NamedTuple):
    """One field or several, in the order in which their texts are compared."""

    paths: Sequence[Path]

    @classmethod
    def of(cls, written: str) -> "TextFields":
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

    def content(self, document: Mapping[str, Any]) -> str | Skipped:
        """Return the text of a decoded document, with a break between parts, or why it has none."""
        parts = self.parts(document)
        return parts if isinstance(parts, Skipped) else BREAK.join(parts)

    def parts(self, document: Mapping[str, Any]) -> Sequence[str] | Skipped:
        """Return the parts of the text of a decoded document, or why it has none.

        Of an array or an object, such as choices, these are the texts and the numbers in it, in
        the order in which they stand. Numbers alone are no text.
        """
        if len(self.paths) == 1 and type(text := _at(document, self.paths[0])) is str:
            return (text,)  # nearly always so
        parts, there, worded = list[str](), False, False
        for number, value in self.values(document):
            there = True
            leaves = [*_leaves(value)] if type(value) in (str, list, dict) else [None]
            worded |= not leaves or any(type(leaf) is str for leaf in leaves)
            if None in leaves:
                detail = Message(
                    "the field {field!r} holds something that is no text",
                    field=self.dotted[number],
                )
                return Skipped(Reason.NOT_TEXT, detail if self.several else "")
            parts += [_written(leaf) for leaf in leaves if leaf is not None]
        if not worded:
            return Skipped(Reason.NOT_TEXT if there else Reason.MISSING)
        return parts

    def have_parts(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the text of a decoded document may have parts."""
        return self.several or any(type(value) is not str for _, value in self.values(document))

    def alone(
        self, document: Mapping[str, Any], texts: Iterator[str], at: "TextFields"
    ) -> dict[str, Any]:
        """Return a document of these fields only, named as `at` says, with other texts."""
        new: dict[str, Any] = {}
        for number, value in self.values(document):
            *outer, last = at.paths[number]
            within = new
            for name in outer:
                within = within.setdefault(name, {})
            within[last] = with_texts(value, texts)
        return new

    def values(self, document: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each field that is there and not null, and its value."""
        values = (_at(document, path) for path in self.paths)
        return ((number, value) for number, value in enumerate(values) if value is not None)


def _at(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_texts(value: Any, texts: Iterator[str]) -> Any:
    """Return a value of a field with other texts, one for each part that it has."""
    if type(value) is list:
        return [with_texts(part, texts) for part in value]
    if type(value) is dict:
        return {k: part if k == OWN_ID else with_texts(part, texts) for k, part in value.items()}
    if _is_part(value):
        text = next(texts)
        return text if type(value) is str else value
    return value


def _is_part(value: Any) -> bool:
    return type(value) is str or (isinstance(value, _NUMBERS) and type(value) is not bool)


def _leaves(value: Any, deepest: int = _DEEPEST) -> Iterator[str | float | None]:
    """Yield the parts of the text in a value; None for what is neither text, number nor truth."""
    if type(value) in (list, dict) and deepest:
        for name, part in value.items() if type(value) is dict else enumerate(value):
            if name != OWN_ID:
                yield from _leaves(part, deepest - 1)
    elif _is_part(value):
        yield value
    elif value is not None and type(value) is not bool:
        yield None


def _written(part: str | float) -> str:
    """Return a part as text: 3.0 is 3, since a shell of MongoDB writes each number so."""
    whole = isinstance(part, float) and part.is_integer()
    return str(int(part) if whole else part)


def values_in(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and the value of each field, through objects."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from values_in(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def text_fields(documents: Sequence[Mapping[str, Any]]) -> Message:
    """Say in which fields documents hold text, and in what share of them."""
    texts = Counter(path for decoded in documents for path, _ in texts_in(decoded))
    if not texts:
        return Message("They have no text field at all.")
    shares = (f"{name} ({count / len(documents):.0%})" for name, count in texts.most_common(12))
    return Message("Fields with text: {shares}.", shares=", ".join(shares))


def texts_in(decoded: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and the text of each field that holds one, or an array with some."""
    for name, value in values_in(decoded):
        if isinstance(value, str) and name != OWN_ID:
            yield name, value
        elif isinstance(value, list):
            parts = [*_leaves(value)]
            if None not in parts and (texts := [part for part in parts if isinstance(part, str)]):
                yield name, "".join(texts)
