"""Sentences for the user: written in English, shown in his language.

A `Message` is the English sentence, so logs in JSON, stored rows and callers in Python take it as
it is. What prints for a person passes it through `localized`, which looks its template up in the
catalogue `locale/zh/LC_MESSAGES/dedup.mo` (gettext; scripts/make_catalogue.py makes it).
"""

import gettext
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self

LANGUAGES = ("en", "zh")
FOLDER = str(Path(__file__).parent / "locale")
_DOMAIN = "dedup"
_BETWEEN = {" ": "", ", ": "，", "; ": "；"}  # of parts that are joined, in Chinese
_VARIABLES = ("DEDUP_LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # the first one decides


class Message(str):
    """A sentence in English that knows its template and its values, if there are any."""

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """Return the sentence; values: for the names in braces, as `str.format` takes them."""
        message = super().__new__(cls, template.format(**values) if values else template)
        message.template, message.values = template, values
        return message

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        return (self.template,), dict(self.values)


def joined(parts: Iterable[str], separator: str = " ") -> Message:
    """Return messages as one."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    template = "{between}".join(f"{{{name}}}" for name in values)
    return Message(template, between=Message(separator), **values)


def counted(number: int, what: str) -> Message:
    """Return how many of something there are, "1 row" or "2 rows"."""
    return Message(f"{{number:,}} {what}{'' if number == 1 else 's'}", number=number)


def said_by(error: BaseException) -> str:
    """Return an error's Message, or its text."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Message) else str(error)


def localized(text: Any) -> str:
    """Return a message in the language of this process, anything else as `str` has it."""
    return in_language(text, chosen_language())


def in_language(text: Any, language: str) -> str:
    """Return a message in a language, anything else as `str` has it; language: `en` or `zh`."""
    if not isinstance(text, Message) or language == "en":
        return str(text)
    if text in _BETWEEN:
        return _BETWEEN[text]
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
    """Return the translations into a language."""
    return gettext.translation(_DOMAIN, FOLDER, [language], fallback=True)


@cache
def chosen_language() -> str:
    """Return the language that was asked for; `en` where the output cannot hold its characters."""
    try:
        "中".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return "en"
    return asked_language() or "en"


def asked_language() -> str:
    """Return `zh` or `en` where DEDUP_LANG, or else the locale, begins so; else ""."""
    asked = next(filter(None, map(os.environ.get, _VARIABLES)), "").lower()
    return next(filter(asked.startswith, LANGUAGES), "")
