"""What is printed, logged or written as JSON: no character of it commands a terminal.

Texts, ids, names and messages of servers come from outside and may hold anything: sequences that
move the cursor, marks that turn the direction of a line, separators that pass for its end,
characters for private use, to which each font gives a look of its own.
"""

import json
import re
import shlex
import unicodedata
from typing import Any, TextIO, cast

_OBJECT_ID = re.compile("[0-9a-f]{24}")
_SUSPECT = re.compile(  # all else is printable, and most of what is printed
    r"[^\n\t\x20-\x7e\xa1-\xac\xae-\u0377\u2010-\u2027\u3000-\u303f\u4e00-\u9fef\uff01-\uffbe]"
)


def escaped(text: str) -> str:
    r"""Return a text with `\x1b` for an escape, `\ue000` for what is private, and so on.

    Line feeds and tabs stay.
    """
    return text if text.isprintable() else _SUSPECT.sub(_as_escape, text)


def brief(text: str, most: int) -> str:
    """Return a text, of one with more characters how it begins."""
    return text if len(text) <= most else f"{text[:most]}..."


def on_one_line(text: str) -> str:
    """Return an escaped text without line feeds, for a message that others must not lengthen."""
    return escaped(text).replace("\n", "\\n")


def command_line(*words: object) -> str:
    """Return a command of dedup with these words, for a person to paste into a shell."""
    return " ".join(["dedup", *map(for_shell, words)])


def for_shell(word: object) -> str:
    """Return a word that a shell expands nothing in; control characters are escaped."""
    return shlex.quote(on_one_line(f"{word}").replace("\t", "\\t"))


def as_json(value: Any) -> str:
    """Return indented JSON in which letters of all scripts stay readable; ends with a line feed."""
    return escaped_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def listed(value: Any) -> str:
    """Return a value of a setting as a table shows it."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


def id_as_json(shown: str) -> Any:
    """Return an `_id` as it is shown, see `mongo/id_keys.py`, as its value in JSON."""
    if _OBJECT_ID.fullmatch(shown):
        return {"$oid": shown}
    try:
        return json.loads(shown)
    except ValueError:  # of a huge one, how it begins
        return shown


def escaped_json(text: str) -> str:
    """Return JSON without what commands a terminal; it stands for the same value."""
    return _SUSPECT.sub(_as_json_escape, text)


class _EscapingStream:
    """A text stream that escapes text written to it; all else is the stream's own.

    Who writes sequences of his own, as a progress bar does, takes `plain` of it and escapes.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # click would write to it where the encoding is ASCII
            raise AttributeError(name)
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        self.stream.write(escaped(text))
        return len(text)


def escaping(stream: TextIO) -> TextIO:
    """Return a stream that escapes and then writes to this one."""
    return cast("TextIO", _EscapingStream(plain(stream)))


def plain(stream: TextIO) -> TextIO:
    """Return the stream that an escaping one writes to, any other as it is."""
    return stream.stream if isinstance(stream, _EscapingStream) else stream


def _as_escape(found: re.Match[str]) -> str:
    character = found[0]
    return character if _is_seen(character) else character.encode("unicode_escape").decode("ascii")


def _is_seen(character: str) -> bool:
    """Tell whether it is a sign or a space: no control, format, private use, nor unassigned."""
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _as_json_escape(found: re.Match[str]) -> str:
    character = found[0]
    if _is_seen(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")  # json.dumps leaves U+007F as it is
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
