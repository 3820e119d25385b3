"""Messages for the user with their translations, and the errors that carry them.

A `Message` is the English sentence as a `str`, for JSON, stored rows and callers in Python. Output
for a person passes it through `localized`, which looks up its template in the gettext catalogue
`locale/zh/LC_MESSAGES/dedup.mo`, compiled by scripts/make_catalogue.py.
"""

import gettext
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

LANGUAGES = ("en", "zh")
FOLDER = str(Path(__file__).parent / "locale")
_SEPARATORS = {" ": "", ", ": "，", "; ": "；"}  # English to Chinese
_VARIABLES = ("DEDUP_LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # the first one decides


class Message(str):
    """An English sentence with its template and the values of the template's fields."""

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """Format the template with the values, as `str.format`; without values it stays as is."""
        message = super().__new__(cls, template.format(**values) if values else template)
        message.template, message.values = template, values
        return message

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (self.template,), dict(self.values)


def joined(parts: Iterable[str], separator: str = " ") -> Message:
    """Return one message of several; the separator is translated as well."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    template = "{between}".join(f"{{{name}}}" for name in values)
    return Message(template, between=Message(separator), **values)


def counted(number: int, noun: str) -> Message:
    """Return a number with its noun, "1 row" or "2 rows"."""
    return Message(f"{{number:,}} {noun}{'' if number == 1 else 's'}", number=number)


def message_of(error: BaseException) -> str:
    """Return the Message of an error, or its text if it has none."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Message) else str(error)


def localized(text: Any) -> str:
    """Return a message in the language of this process, any other value as `str`."""
    return in_language(text, chosen_language())


def in_language(text: Any, language: str) -> str:
    """Return a message in a language, `en` or `zh`, any other value as `str`."""
    if not isinstance(text, Message) or language == "en":
        return str(text)
    if text in _SEPARATORS:
        return _SEPARATORS[text]
    template = catalogue(language).gettext(text.template) if text.template else ""
    if not text.values:
        return template
    values = {
        name: in_language(value, language) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    return template.format(**values)


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the translations into a language, `en` or `zh`."""
    return gettext.translation("dedup", FOLDER, [language], fallback=True)


@cache
def chosen_language() -> str:
    """Return `asked_language`, but `en` if stdout's encoding has no Chinese characters."""
    try:
        "中".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return "en"
    return asked_language() or "en"


def asked_language() -> str:
    """Return the language of DEDUP_LANG or of the locale, `zh` or `en`; "" if it is another."""
    value = next(filter(None, map(os.environ.get, _VARIABLES)), "").lower()
    return next(filter(value.startswith, LANGUAGES), "")


class DedupError(Exception):
    """Base of all errors that are shown as a message, without a traceback; code: to exit with."""

    code = 1

    def __init__(self, message: str = "", /, **values: object) -> None:
        """Take a Message, or a template and the values of its fields."""
        is_message = isinstance(message, Message) and not values
        super().__init__(message if is_message else Message(message, **values))

    @property
    def message(self) -> Message:
        """The problem, and what the user can do."""
        message: Message = self.args[0]
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error without calling its constructor, whose arguments differ by class."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class UsageError(DedupError):
    """The command line, the settings or the arguments of a call are wrong."""

    code = 2


class ConfigurationError(UsageError):
    """The configuration has problems; the message lists all of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        number = counted(len(problems), "problem")
        head = Message("the configuration has {problems}:", problems=number)
        super().__init__(joined([head, *problems], "\n  - "))


class DatabaseUnreachable(DedupError):
    """The server does not answer; the same command may work later."""

    code = 5


class StateMismatch(DedupError):
    """The target holds the result of other settings, another source or another tool."""

    code = 6


class LeaseLost(StateMismatch):
    """Another run took over the lease, or may have; this run has stopped writing."""


class RunAborted(StateMismatch):
    """A limit of the settings `abort_if` was exceeded; the current batch was not written."""

    def __init__(self, found: str, limit: str, name: str, example: str) -> None:
        values = {"found": found, "limit": limit, "example": example, "name": name}
        values |= {"section": "abort_if", "variable": f"DEDUP_ABORT_IF__{name.upper()}"}
        super().__init__(
            Message(
                "{found}, the limit is {limit}. The run stopped; this batch was not written.\n"
                "  {example}\n"
                "Look at it with --dry-run and at the ledger. If that is right, raise the limit "
                "with {variable} or {name} in section [{section}] of a --config file; the same "
                "command then goes on.",
                **values,
            )
        )
        self.of_a_file = Message(
            "{found}, the limit is {limit}. Nothing was written.\n  {example}\nIf that is right, "
            "raise the limit with {variable} or {name} in section [{section}] of a --config file.",
            **values,
        )


class LeaseHeld(DedupError):
    """Another run holds the lease of this target."""

    code = 11


class Interrupted(DedupError):
    """A signal ended the command; its exit code is 128 + the signal's number."""

    def __init__(self, message: str, signum: int) -> None:
        super().__init__(message)
        self.code = 128 + signum  # as shells report it
