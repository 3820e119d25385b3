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
"""A field that is no text: libraries give one to every object in an array."""
_DEEPEST = 64  # levels of a value that may hold text


class TextFields(NamedTuple):
    """One field or several, in the order in which their texts are compared."""

    paths: Sequence[Path]

    @classmethod
    def of(cls, written: str) -> "TextFields":
        """Return the fields of a setting such as `text`, `a.b` or `title,body`."""
        return cls([name.split(".") for name in written.split(",")])

    @property
    def several(self) -> bool:
        """Whether there is more than one field."""
        return len(self.paths) > 1

    @property
    def dotted(self) -> list[str]:
        """The names of the fields, with dots."""
        return [".".join(path) for path in self.paths]

    def content(self, document: Mapping[str, Any]) -> str | Skipped:
        """Return the text of a decoded document, with breaks between its parts, or a `Skipped`."""
        parts = self.parts(document)
        return parts if isinstance(parts, Skipped) else BREAK.join(parts)

    def parts(self, document: Mapping[str, Any]) -> Sequence[str] | Skipped:
        """Return the parts of the text of a decoded document, or the reason why it has none.

        The parts of an array or an object, such as choices, are its texts and numbers in their
        order. Numbers alone are no text.
        """
        if len(self.paths) == 1 and type(text := _at(document, self.paths[0])) is str:
            return (text,)  # nearly always so
        parts, reason, worded = list[str](), Reason.MISSING, False
        for number, value in self.values(document):
            reason = Reason.NOT_TEXT
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
            return Skipped(reason)
        return parts

    def have_parts(self, document: Mapping[str, Any]) -> bool:
        """Return whether the text of a decoded document may have parts."""
        return self.several or any(type(value) is not str for _, value in self.values(document))

    def text_document(
        self, document: Mapping[str, Any], texts: Iterator[str], at: "TextFields"
    ) -> dict[str, Any]:
        """Return a document of these fields only, under the names `at`, with `texts` as parts."""
        new: dict[str, Any] = {}
        for number, value in self.values(document):
            *outer, last = at.paths[number]
            within = new
            for name in outer:
                within = within.setdefault(name, {})
            within[last] = with_texts(value, texts)
        return new

    def values(self, document: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
        """Yield number and value of each field that is neither missing nor null."""
        values = (_at(document, path) for path in self.paths)
        return ((number, value) for number, value in enumerate(values) if value is not None)


def _at(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_texts(value: Any, texts: Iterator[str]) -> Any:
    """Return a field's value with its texts replaced; texts: one for each part, numbers, too."""
    if type(value) is list:
        return [with_texts(part, texts) for part in value]
    if type(value) is dict:
        return {k: part if k == OWN_ID else with_texts(part, texts) for k, part in value.items()}
    if _is_part(value):
        text = next(texts)
        return text if type(value) is str else value
    return value


def _is_part(value: Any) -> bool:
    return type(value) is str or (isinstance(value, int | float) and type(value) is not bool)


def _leaves(value: Any, deepest: int = _DEEPEST) -> Iterator[str | float | None]:
    """Yield the texts and numbers in a value; None for any other type but booleans and null."""
    if type(value) in (list, dict) and deepest:
        for name, part in value.items() if type(value) is dict else enumerate(value):
            if name != OWN_ID:
                yield from _leaves(part, deepest - 1)
    elif _is_part(value):
        yield value
    elif value is not None and type(value) is not bool:
        yield None


def _written(part: str | float) -> str:
    """Return a part as text: 3.0 as 3, since a shell of MongoDB stores each number as a double."""
    return str(int(part) if isinstance(part, float) and part.is_integer() else part)


def values_in(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and the value of each field, through objects."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from values_in(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def text_field_summary(documents: Sequence[Mapping[str, Any]]) -> Message:
    """Return a sentence on the fields with text, and their share of the documents."""
    texts = Counter(path for decoded in documents for path, _ in texts_in(decoded))
    if not texts:
        return Message("They have no text field at all.")
    shares = (f"{name} ({count / len(documents):.0%})" for name, count in texts.most_common(12))
    return Message("Fields with text: {shares}.", shares=", ".join(shares))


def texts_in(decoded: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and the text of each field of text, or of an array with texts."""
    for name, value in values_in(decoded):
        if isinstance(value, str) and name != OWN_ID:
            yield name, value
        elif isinstance(value, list):
            parts = [*_leaves(value)]
            if None not in parts and (texts := [part for part in parts if isinstance(part, str)]):
                yield name, "".join(texts)
