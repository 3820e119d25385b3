"""Collect the sentences that a user meets, and compile their translations.

    python scripts/make_catalogue.py    updates dedup.po, writes dedup.mo

A sentence is the first argument of `Message(...)` or of an error, the noun of `counted(...)`, a
text of the command line's help, the meaning of a setting, or what pydantic says of a wrong value.
Write the Chinese into `dedup_job/locale/zh/LC_MESSAGES/dedup.po`, then call this again.
"""

import ast
import io
import re
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from pydantic_core._pydantic_core import list_all_errors
from typer import Context
from typer.main import get_command

from dedup_job import _core
from dedup_job.cli import DEFAULT, app, first_paragraph, parts_of_help
from dedup_job.documents import Reason
from dedup_job.judgment import NAMES, PARTS, DifferenceKind
from dedup_job.judgment.features import GUARDS
from dedup_job.messages import DedupError
from dedup_job.runs.run_record import Status
from dedup_job.runs.status import Check, RunState
from dedup_job.settings import Origin, template_of
from scripts import make_docs

ROOT = Path(__file__).parent.parent
CATALOGUE = ROOT / "dedup_job" / "locale" / "zh" / "LC_MESSAGES" / "dedup.po"
COMPILED = CATALOGUE.with_suffix(".mo")
_FORMS = {"counted": "{{number:,}} {}|{{number:,}} {}s"}
ERRORS = ("DedupError", *(one.__name__ for one in DedupError.__subclasses__()), "LeaseLost")
"""Errors whose first argument is a sentence, like that of `Message`."""
_KEYWORDS = ("Message", *ERRORS, "counted")
_WRONG_VALUES = {  # errors of pydantic that the types of our settings and options can lead to
    *("int_type", "int_parsing", "int_parsing_size", "int_from_float"),
    *("float_type", "float_parsing", "finite_number", "bool_type", "bool_parsing"),
    *("string_type", "string_unicode", "enum", "literal_error", "tuple_type", "model_type"),
    *("greater_than", "greater_than_equal", "less_than", "less_than_equal", "invalid_key"),
    *("missing", "datetime_type", "datetime_from_date_parsing"),
}
_DECISIONS = ("kept", "dropped", "duplicate", "skipped", "quarantined")
_OF_TYPER = ("default: {default}", "required", "(dynamic)", "Show this message and exit.")
_FIELD = re.compile(r"\{(\w+)[^{}]*\}")


class Sentences(Catalog):
    """A catalogue with a minimal header: no times, no version of a tool."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:  # type: ignore[override]
        """The header lines that gettext reads, names and values."""
        return [
            ("Content-Type", f"text/plain; charset={self.charset}"),
            ("Plural-Forms", self.plural_forms),
        ]


def sentences() -> Iterator[tuple[str, str]]:
    """Yield each sentence to translate, and its file."""
    yield from sorted_calls()
    for text in make_docs.sentences():
        yield text, "scripts/make_docs.py"
    for one in list_all_errors():
        if one["type"] in _WRONG_VALUES:
            yield template_of(one["type"], one["example_context"] or {}), "pydantic"
    for text in help_texts():
        yield text, "dedup_job/cli"
    for text in words():
        yield text, "scripts/make_catalogue.py"


def sorted_calls() -> Iterator[tuple[str, str]]:
    """Yield the literal sentences in calls of _KEYWORDS and their files, keyword by keyword."""
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in _KEYWORDS}
    files = sorted((ROOT / "dedup_job").rglob("*.py"), key=lambda file: (file.parent, file.name))
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            name = getattr(call.func, "id", "")
            for text in call.args[name == "counted" :][:1] if name in found else ():
                last = text.values[-1] if isinstance(text, ast.BoolOp) else text  # x or "none"
                if isinstance(last, ast.Constant) and last.value:
                    forms = _FORMS.get(name, "{}").split("|")
                    where = str(file.relative_to(ROOT))
                    found[name] += [(form.format(last.value), where) for form in forms]
    return chain.from_iterable(found.values())


def help_texts(command: Any = None) -> Iterator[str]:
    """Yield each paragraph of --help, each option's help, and each default that is a phrase."""
    command = command or get_command(app)
    context = Context(command)
    yield from parts_of_help(command)[1]
    if command.epilog:
        yield command.epilog
    for parameter in command.get_params(context):
        text = " ".join((getattr(parameter, "help", None) or "").split())
        yield DEFAULT.sub("", text)
        yield from (default for default in DEFAULT.findall(text) if " " in default)
    if hasattr(command, "list_commands"):
        yield from (text for _, rows in command.sections(context) for _, text in rows)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            yield first_paragraph(below.help)
            yield from help_texts(below)


def words() -> Iterator[str]:
    """Yield the texts that are arguments of no call: values of enums, names, texts of tables."""
    for values in (Check, DifferenceKind, Origin, Reason, _core.ROUTES, RunState, Status):
        yield from map(str, values)
    yield from (*_DECISIONS, *NAMES.kinds, *NAMES.richer, *PARTS)
    yield from GUARDS.values()
    yield from _OF_TYPER


def updated() -> Catalog:
    """Return the catalogue of the current sentences, with their translations."""
    former = read() if CATALOGUE.exists() else Catalog()
    catalog = Sentences(locale="zh", fuzzy=False)
    for sentence, file in sentences():
        message = former.get(sentence)
        chinese = str(message.string) if message and not message.fuzzy else ""
        catalog.add(sentence, chinese, locations=[(file, 0)])
    return catalog


def read() -> Catalog:
    """Return the catalogue on disk."""
    with CATALOGUE.open("rb") as file:
        return read_po(file, locale="zh")


def problems(catalog: Catalog) -> Iterator[str]:
    """Yield the problems of translations: one is missing, or has other fields in braces."""
    for message in filter(_is_sentence, catalog):
        english, chinese = str(message.id), str(message.string)
        if not chinese:
            yield f"not translated: {english!r}"
        elif {*_FIELD.findall(english)} != {*_FIELD.findall(chinese)}:
            yield f"other fields in braces: {english!r}, {chinese!r}"


def _is_sentence(message: Message) -> bool:
    return bool(str(message.id).strip())


def as_bytes(catalog: Catalog, file: Path) -> bytes:
    """Return the content of a file for the catalogue: compiled for .mo, else as text."""
    stream = io.BytesIO()
    if file.suffix == ".mo":
        write_mo(stream, catalog)
    else:
        write_po(stream, catalog, width=100, include_lineno=False, omit_header=True)
    return stream.getvalue()


def main() -> int:
    """Write the files; print missing and wrong translations, return 1 if there are any."""
    catalog = updated()
    wrong = [*problems(catalog)]
    for file in (CATALOGUE, COMPILED):
        content = as_bytes(catalog, file)
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)
            print(f"{file.relative_to(ROOT)} written")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
