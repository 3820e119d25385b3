"""Escaping of output: no character that is printed, logged or written as JSON is a command.

Texts, ids, names and messages of servers may hold any character: sequences that move the cursor,
marks that reverse a line, line separators, and private characters, which each font shows otherwise.
"""

import json
import re
import shlex
import unicodedata
from typing import Any, TextIO, cast

_OBJECT_ID = re.compile("[0-9a-f]{24}")
_SUSPECT = re.compile(  # outside the ranges that most texts are in, which are printable
    r"[^\n\t\x20-\x7e\xa1-\xac\xae-\u0377\u2010-\u2027\u3000-\u303f\u4e00-\u9fef\uff01-\uffbe]"
)


def escaped(text: str) -> str:
    r"""Return a text with `\x1b` for an escape character, and so on; line feeds and tabs stay."""
    return text if text.isprintable() else _SUSPECT.sub(_as_escape, text)


def brief(text: str, most: int) -> str:
    """Return a text, of a longer one its first `most` characters and an ellipsis."""
    return text if len(text) <= most else f"{text[:most]}..."


def on_one_line(text: str) -> str:
    """Return an escaped text with line feeds escaped, too: it cannot forge a line of the log."""
    return escaped(text).replace("\n", "\\n")


def command_line(*words: object) -> str:
    """Return a `dedup` command with these arguments, quoted for a shell."""
    return " ".join(["dedup", *map(for_shell, words)])


def for_shell(word: object) -> str:
    """Return a word quoted for a shell, with control characters escaped."""
    return shlex.quote(on_one_line(f"{word}").replace("\t", "\\t"))


def as_json(value: Any) -> str:
    """Return indented JSON, not limited to ASCII, with a final line feed."""
    return escaped_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def listed(value: Any) -> str:
    """Return a setting's value for a table: a list with commas, "-" for None or an empty list."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


def id_as_json(shown: str) -> Any:
    """Return the JSON value of an `_id` in the form of `mongo/id_keys.shown`."""
    if _OBJECT_ID.fullmatch(shown):
        return {"$oid": shown}
    try:
        return json.loads(shown)
    except ValueError:  # a huge one is cut off
        return shown


def escaped_json(text: str) -> str:
    """Return JSON of the same value with terminal commands as Unicode escapes."""
    return _SUSPECT.sub(_as_json_escape, text)


class _EscapingStream:
    # a writer of control sequences, such as a progress bar, writes to `plain` of it instead

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # click would write to it if the encoding is ASCII
            raise AttributeError(name)
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        self.stream.write(escaped(text))
        return len(text)


def escaping(stream: TextIO) -> TextIO:
    """Return a stream that escapes text and writes it to this one."""
    return cast("TextIO", _EscapingStream(plain(stream)))


def plain(stream: TextIO) -> TextIO:
    """Return the stream below an escaping one; any other is returned unchanged."""
    return stream.stream if isinstance(stream, _EscapingStream) else stream


def _as_escape(match: re.Match[str]) -> str:
    if _is_visible(character := match[0]):
        return character
    return character.encode("unicode_escape").decode("ascii")


def _as_json_escape(match: re.Match[str]) -> str:
    if _is_visible(character := match[0]):
        return character
    units = character.encode("utf-16-be", "surrogatepass")  # json.dumps leaves U+007F as it is
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def _is_visible(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"
