"""Fill the generated parts of the pages: commands, options, settings, guards.

    python scripts/make_docs.py

A generated part lies between `<!-- begin options: dedup run -->` and `<!-- end -->`. Its values
come from the command line, the settings and the guards themselves. On a Chinese page (`*.zh.md`)
each sentence is looked up in the catalogue of the command line. The examples of the
guards are in `guard_examples.toml`.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ByteSize
from pydantic.fields import FieldInfo
from typer import Context
from typer.main import get_command

from dedup_job.cli import DEFAULT, app, first_paragraph
from dedup_job.judgment.features import GUARDS
from dedup_job.messages import catalogue
from dedup_job.report.pairs import display_name
from dedup_job.settings import Settings, load

ROOT = Path(__file__).parent.parent
GUARD_EXAMPLES = tomllib.loads((ROOT / "scripts/guard_examples.toml").read_text("utf-8"))
"""By guard and language, two texts that it keeps apart."""
_PART = re.compile(r"(<!-- begin (\w+)(?:: (.*?))? -->\n).*?(<!-- end -->)", re.S)
SHARED = ("target", "uri", "uri_file", "db", "field", "config", "overwrite")  # of `dedup run`
_LONG = 60  # characters; a longer default is named in the description

Translate = Callable[[str], str]


def pages() -> list[Path]:
    """Return the pages that a user reads."""
    return sorted([ROOT / "README.md", ROOT / "README.zh-CN.md", *(ROOT / "docs").glob("*.md")])


def filled(page: Path) -> str:
    """Return the text of a page with its generated parts up to date."""
    translate = chinese if page.name.endswith((".zh.md", ".zh-CN.md")) else str
    return _PART.sub(
        lambda found: f"{found[1]}\n{_MAKERS[found[2]](found[3] or '', translate)}\n\n{found[4]}",
        page.read_text(encoding="utf-8"),
    )


def stale() -> list[Path]:
    """Return the pages whose generated parts are out of date."""
    return [page for page in pages() if filled(page) != page.read_text(encoding="utf-8")]


def chinese(sentence: str) -> str:
    """Return the Chinese translation of a sentence, itself if there is none."""
    return catalogue("zh").gettext(sentence) if sentence else ""


def commands(command: Any = None, path: str = "dedup") -> Iterator[tuple[str, Any]]:
    """Yield the path, such as "dedup config show", and the click object of each command."""
    command = command or get_command(app)
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = Context(command)
    for name in command.list_commands(context):
        yield from commands(command.get_command(context, name), f"{path} {name}")


def sentences() -> Iterator[str]:
    """Yield the sentences of the generated parts that are not in the help of the commands."""
    yield from (str(field.description) for _, field in fields())
    yield from _WORDS


def fields() -> Iterator[tuple[str, FieldInfo]]:
    """Yield the dotted name and the field of each setting."""
    for section, part in Settings.model_fields.items():
        assert isinstance(part.annotation, type)
        assert issubclass(part.annotation, BaseModel)
        for name, field in part.annotation.model_fields.items():
            yield f"{section}.{name}", field


def _summary(command: Any) -> str:
    return first_paragraph(command.help)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]], translate: Translate) -> str:
    lines = [[translate(head) for head in heads], ["---"] * len(heads), *map(list, rows)]
    return "\n".join(("| " + " | ".join(line) + " |").replace("|  |", "| |") for line in lines)


def _all_commands(_: str, translate: Translate) -> str:
    rows: list[tuple[str, ...]] = [
        (f"[`{path}`](#{path.replace(' ', '-')})", translate(_summary(command)))
        for path, command in commands()
    ]
    return _table(("Command", "Meaning"), rows, translate)


def _options(path: str, translate: Translate) -> str:
    rows: list[tuple[str, ...]] = []
    for parameter in dict(commands())[path].params:
        if path == "dedup run" or parameter.name not in SHARED:
            meaning, default = _meaning(parameter)
            rows.append((_names(parameter), _cell(translate(meaning)), translate(default)))
    return _table(("Option", "Meaning", "Default"), rows, translate)


def _names(parameter: Any) -> str:
    metavar = parameter.metavar or ("URI" if parameter.name == "uri" else "")
    if parameter.param_type_name == "argument":
        return f"`{metavar.strip('[]')}`"
    metavar = metavar or "/".join(_names_of(parameter))
    *short, long = sorted(parameter.opts, key=len)
    return ", ".join([*(f"`{name}`" for name in short), f"`{f'{long} {metavar}'.strip()}`"])


def _names_of(parameter: Any) -> list[str]:
    # typer has the choices of an option in one of two attributes
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return [str(name) for name in kind]
    return [str(name) for name in getattr(getattr(parameter, "type", None), "choices", ())]


def _meaning(parameter: Any) -> tuple[str, str]:
    text = " ".join((getattr(parameter, "help", None) or "").split())
    named = DEFAULT.search(text)
    text = DEFAULT.sub("", text)
    if named:
        first, _, rest = named[1].partition("; ")
        return text, f"`{first}`" if rest else _code(first)
    if parameter.required:
        return text, "required"
    value = parameter.default
    if value in (None, False) or callable(value):
        return text, ""
    return text, _code(f"{value:g}" if isinstance(value, float) else str(value))


def _code(value: str) -> str:
    return f"`{value}`" if re.fullmatch(r"\S+", value) and not value.isalpha() else value


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _settings(section: str, _: Translate) -> str:
    defaults, stamp = dict(_values()), _stamp()
    rows: list[tuple[str, ...]] = []
    for name, field in fields():
        if name.startswith(f"{section}."):
            star = " *" if name in stamp else ""
            default = f"`{defaults[name]}`" if defaults[name] else ""
            shown = default if len(default) <= _LONG else "all"
            meaning = _cell(str(field.description)) + _choices(field)
            rows.append((f"`{name}`{star}", _kind(field) + _range(field), shown, meaning))
    return _table(("Setting", "Type", "Default", "Meaning"), rows, str)


def _values() -> Iterator[tuple[str, str]]:
    for name, field in fields():
        match field.default:
            case None:
                yield name, ""
            case bool() as value:
                yield name, str(value).lower()
            case float() as value:
                yield name, f"{value:.10g}"
            case tuple() as values:
                yield name, ", ".join(map(str, values))
            case value:
                yield name, str(value)


def _stamp() -> set[str]:
    stamp = load(flags={"output.keep": ("longest",)}).settings.stamp()
    del stamp["rules"]
    return {f"{part}.{name}" for part, values in stamp.items() for name in values}


def _plain(field: FieldInfo) -> Any:
    kind = field.annotation
    if isinstance(kind, UnionType):
        (kind,) = (each for each in get_args(kind) if each is not type(None))
    return kind


def _kind(field: FieldInfo) -> str:
    kind = _plain(field)
    if get_origin(kind) is tuple:
        return "list of names" if get_args(kind)[0] is not str else "list of texts"
    if get_origin(kind) is Literal:
        return " / ".join(f"`{name}`" for name in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return " / ".join(f"`{name}`" for name in kind)
    return _KINDS[kind]


def _range(field: FieldInfo) -> str:
    ends: dict[str, Any] = {}
    for rule in field.metadata:
        for end in ("gt", "ge", "lt", "le"):
            if (value := getattr(rule, end, None)) is not None:
                ends[end] = f"{value:.10g}" if isinstance(value, float) else str(value)
    least = ends.get("ge") or (f"> {ends['gt']}" if "gt" in ends else "")
    most = ends.get("le", "")
    if least and most:
        return f", {least} … {most}" if "gt" not in ends else f", {least}, ≤ {most}"
    return f", ≥ {least}" if least and "ge" in ends else f", {least}" if least else ""


def _choices(field: FieldInfo) -> str:
    kind = _plain(field)
    if get_origin(kind) is not tuple or len(", ".join(map(str, field.default))) <= _LONG:
        return ""
    return ": " + ", ".join(f"`{name}`" for name in field.default)


def _guards(_: str, translate: Translate) -> str:
    rows: list[tuple[str, ...]] = []
    for guard, why in GUARDS.items():
        pair = GUARD_EXAMPLES[guard]["zh" if translate is chinese else "en"]
        examples = "<br>".join(f"`{_cell(' '.join(text.split()))}`" for text in pair)
        read = translate(str(display_name(guard)))
        rows.append((read, f"`{guard}`", _cell(translate(why)), examples))
    heads = ("You read", "Name", "Two such texts", "An example")
    return _table(heads, rows, translate)


_KINDS = {
    str: "string",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "path",
    ByteSize: "size",
}
_WORDS = (
    *("Command", "Option", "Meaning", "Default", "required", "proposed", "thrown away"),
    "20 in a table or at random, else all",
    *("You read", "Name", "Two such texts", "An example"),
)
_MAKERS: dict[str, Callable[[str, Translate], str]] = {
    "commands": _all_commands,
    "options": _options,
    "settings": _settings,
    "guards": _guards,
}


if __name__ == "__main__":
    for page in stale():
        page.write_text(filled(page), encoding="utf-8")
        print(f"{page.relative_to(ROOT)} written")
