"""The settings of a run, loaded from flags, environment, file and defaults, in this order.

Each stage defines its own section.
"""

import difflib
import json
import logging
import os
import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast, get_origin

from pydantic import BaseModel, ByteSize, Field, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails, PydanticKnownError

from dedup_job.cleaning import CleaningSettings
from dedup_job.decision import AbortSettings, DecisionSettings, Models
from dedup_job.files import digest_of, limited_text
from dedup_job.fingerprint import FingerprintSettings
from dedup_job.index import IndexSettings
from dedup_job.judgment.features import RULES
from dedup_job.messages import ConfigurationError, Message, UsageError, message_of
from dedup_job.mongo import has_password, names_server, redacted
from dedup_job.mongo.checks import CONTENT
from dedup_job.mongo.connection import ConnectionSettings
from dedup_job.mongo.database_settings import (
    DocumentForm,
    LedgerSettings,
    OutputSettings,
    SourceSettings,
)
from dedup_job.printing import listed
from dedup_job.text_fields import TextFields

log = logging.getLogger("dedup")
_PREFIX, _DELIMITER = "DEDUP_", "__"
_URI = "DEDUP_URI"
_MAX_BYTES = 1 << 20  # of a settings file
_PACKAGE = Path(__file__).parent
_PRESETS = (_PACKAGE / "configs", _PACKAGE.parent / "configs")  # of a wheel, of a checkout
_OTHER_VARIABLES = (_URI, "DEDUP_TRACEBACK", "DEDUP_VENV", "DEDUP_LANG")


class RunSettings(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    """Settings of speed, memory and retries; none affects a decision."""

    threads: int | None = Field(
        default=None,
        ge=1,
        le=256,
        description="threads that clean, fingerprint and compare; default: the CPU count, less "
        "some for a local database",
    )
    batch_documents: int = Field(
        default=5000,
        ge=1,
        le=100_000,
        description="most documents in one transaction, which also ends at 16 MiB of them",
    )
    max_rate: float | None = Field(
        default=None,
        gt=0,
        le=1e9,
        description="most documents read per second, and in a batch",
    )
    max_memory: ByteSize | None = Field(
        default=None,
        gt=0,
        description="memory that a run may take, such as 8GB, at least 600MB; beyond this, the "
        "index spills to disk. Unset: what the machine or container has",
    )
    retry_for: float = Field(
        default=600.0,
        ge=0,
        le=1e6,
        description="seconds to keep retrying when the database stops answering; 0: never",
    )
    undo_days: float | None = Field(
        default=None,
        gt=0,
        le=1e5,
        description="days after which a run cannot be undone: of what it took out of target and "
        "ledger, T.runs then holds no texts any more, from the end of a later run on. Unset: never",
    )

    @property
    def page_documents(self) -> int:
        """The most documents in a transaction: `batch_documents`, or one second of `max_rate`."""
        return max(min(self.batch_documents, int(self.max_rate or self.batch_documents)), 1)


class Settings(BaseModel, frozen=True, extra="forbid"):
    """All settings of a run, by section."""

    connection: ConnectionSettings = ConnectionSettings()
    source: SourceSettings = SourceSettings()
    cleaning: CleaningSettings = CleaningSettings()
    fingerprint: FingerprintSettings = FingerprintSettings()
    index: IndexSettings = IndexSettings()
    decision: DecisionSettings = DecisionSettings()
    abort_if: AbortSettings = AbortSettings()
    output: OutputSettings = OutputSettings()
    ledger: LedgerSettings = LedgerSettings()
    run: RunSettings = RunSettings()
    _is_explicit: bool = PrivateAttr(default=True)

    @property
    def is_explicit(self) -> bool:
        """Whether the caller gave settings; otherwise those of a target's last run apply."""
        return self._is_explicit

    def stamp(self) -> dict[str, Any]:
        """Return the settings that all runs of a target share; another value is refused."""
        values = self.recorded()
        del values["run"], values["abort_if"], values["ledger"]
        for name in ("query", "against", "max_chars", "full_scan_every", "on_change", "on_delete"):
            del values["source"][name]
        del values["index"]["folder"]
        if self.decision.model is not None:  # the content of the file, not its name
            try:
                values["decision"]["model"] = f"{CONTENT}{digest_of(self.decision.model)}"
            except ConfigurationError as e:
                problems = [located("decision.model", problem) for problem in e.problems]
                raise ConfigurationError(problems) from None
        if not self.output.keep:
            del values["output"]["keep"]
        if not self.decision.judges:
            del values["decision"]["confidence"], values["decision"]["model"]
        return {**values, "rules": RULES}

    def models(self, notify: Callable[[str], None] = lambda _: None) -> Models:
        """Return the models, each loaded on its first use; notify: called with progress lines."""
        return Models(self.fingerprint, self.index, self.decision, notify)

    def recorded(self) -> dict[str, Any]:
        """Return the settings stored in the row of a run: all but the connection."""
        return self.model_dump(mode="json", exclude={"connection"})


class Origin(StrEnum):
    """The source of a setting's value, the strongest last."""

    DEFAULT = Message("default")
    FILE = Message("file")
    ENVIRONMENT = Message("environment")
    FLAG = Message("flag")
    CALL = Message("call")  # of the Python API, in place of flags


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and the origin of each value that is not a default, by dotted name."""

    settings: Settings
    origins: Mapping[str, Origin]

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield (dotted name, value, origin, description); passwords are hidden."""
        for section, part in self.settings:
            for name, field in type(part).model_fields.items():
                dotted = f"{section}.{name}"
                value = getattr(part, name)
                shown = redacted(value) if dotted == "connection.uri" else listed(value)
                origin = self.origins.get(dotted, Origin.DEFAULT)
                yield dotted, shown, str(origin), field.description or ""


def load(
    flags: Mapping[str, Any] | None = None,
    file: Path | None = None,
    strongest: Origin = Origin.FLAG,
) -> Loaded:
    """Return the settings and their origins; ConfigurationError lists all problems.

    flags: values by dotted name or None; file: TOML or a preset; strongest: origin of flags.
    """
    variables, unknown = _from_environment()
    flags = {name: value for name, value in (flags or {}).items() if value is not None}
    layers = [(Origin.FILE, _from_file(file))]
    for origin, values in ((Origin.ENVIRONMENT, variables), (strongest, flags)):
        _check_passwords(values, Message(str(origin)))
        for name, value in values.items():
            section, _, key = name.partition(".")
            layers.append((origin, {section: {key: value} if key else value}))
    sections: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for origin, values in layers:
        for section, part in values.items():
            former = sections.setdefault(section, {})
            if not isinstance(part, Mapping):  # no section; the validation refuses it
                sections[section], origins[section] = part, origin
            elif isinstance(former, dict):
                if "uri" in part and origins.get(f"{section}.uri_file", origin) is not origin:
                    del former["uri_file"], origins[f"{section}.uri_file"]  # of a weaker origin
                sections[section] = {**former, **part}
                origins |= dict.fromkeys((f"{section}.{name}" for name in part), origin)
    try:
        settings = Settings.model_validate(sections)
    except ValidationError as e:
        problems = [_problem(error, origins, file) for error in e.errors()]
        raise ConfigurationError([*unknown, *problems]) from None
    if problems := [*unknown, *_impossible(settings)]:
        raise ConfigurationError(problems)
    settings._is_explicit = file is not None or any(
        name.partition(".")[0] not in ("connection", "run") for name in flags
    )
    return Loaded(settings, origins)


def load_settings(
    config: str | Path | None = None, values: Mapping[str, Any] | None = None
) -> Settings:
    """Return settings for the Python API, loaded as by the command line.

    config: a file in TOML or the name of a preset; values: by dotted name, such as
    `{"connection.uri": uri, "source.field": "body"}`, stronger than the environment's DEDUP_
    variables, which are stronger than the file. ConfigurationError lists every problem at once.
    """
    return load(values, None if config is None else Path(config), Origin.CALL).settings


def expect_settings(settings: object) -> Settings:
    """Return the settings of a caller of the API; UsageError if they are not a `Settings`."""
    if isinstance(settings, Settings):
        return settings
    raise UsageError(
        "settings are {kind}; dedup_job.load_settings() makes them.", kind=type(settings).__name__
    )


def _impossible(settings: Settings) -> Iterator[str]:
    for section, part in settings:
        for name, value in part:
            if isinstance(value, Path) and "\0" in str(value):  # every system call refuses it
                wrong = Message("a path holds no NUL, not {path}", path=short(str(value)))
                yield located(f"{section}.{name}", wrong)
    is_classic = settings.output.document is DocumentForm.CLASSIC
    if is_classic and TextFields.of(settings.source.field).several:
        yield Message(
            "output.document: classic holds one text, and source.field names several: {fields}. "
            "Name one with --field, or choose whole or text",
            fields=short(settings.source.field),
        )


def _from_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    import tomllib  # here: many runs have no file

    presets = preset_files()
    preset = presets.get(str(file))
    if preset and file.is_file():
        log.info(
            Message(
                "settings: the file {file} in this folder, not the preset of that name", file=file
            )
        )
        preset = None
    try:
        values = tomllib.loads(limited_text(preset or file, _MAX_BYTES))
        _check_passwords(values, str(file))
    except UsageError as e:
        problem = e.message
        if len(file.parts) == 1 and isinstance(e.__cause__, OSError):
            names = ", ".join(sorted(presets))
            problem = Message("{problem} (presets: {names})", problem=problem, names=names)
        raise ConfigurationError([problem]) from e
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        wrong = Message("{file} is not valid TOML: {why}", file=file, why=str(e))
        raise ConfigurationError([wrong]) from e
    return values


def preset_files() -> dict[str, Path]:
    """Return the files of the presets that ship with the package, by name."""
    return {file.stem: file for folder in reversed(_PRESETS) for file in folder.glob("*.toml")}


def _from_environment() -> tuple[dict[str, Any], list[str]]:
    values: dict[str, Any] = {}
    problems, origin = list[str](), Message(str(Origin.ENVIRONMENT))
    for variable, value in sorted(os.environ.items()):
        if not variable.upper().startswith(_PREFIX) or variable in _OTHER_VARIABLES:
            continue
        name = variable[len(_PREFIX) :].lower().replace(_DELIMITER, ".", 1)
        section, _, key = name.partition(".")
        if section not in Settings.model_fields:
            problems.append(located(origin, _unknown_variable(variable, name)))
            continue
        try:
            field = _part(section).model_fields.get(key)
            is_list = field is not None and get_origin(field.annotation) is tuple
            values[name] = json.loads(value) if is_list else value
        except (ValueError, RecursionError):
            wrong = Message(
                "{name} is not JSON; a list is written as JSON, e.g. {example}",
                name=name,
                example="""'["收录："]'""",
            )
            problems.append(located(origin, wrong))
    if _URI in os.environ:  # an empty one is refused later
        values["connection.uri"] = os.environ[_URI]
    return values, problems


def _unknown_variable(variable: str, name: str) -> Message:
    near = [_PREFIX + key.upper().replace(".", _DELIMITER) for key in _keys_like(name)]
    if variable.upper() in _OTHER_VARIABLES:
        near = [variable.upper()]
    if not near:
        return Message("unknown variable {name}", name=variable)
    return Message(
        "unknown variable {name} (perhaps you meant {near})", name=variable, near=near[0]
    )


def _problem(error: ErrorDetails, origins: Mapping[str, Origin], file: Path | None) -> str:
    location = ".".join(map(str, error["loc"]))
    origin = origins.get(".".join(map(str, error["loc"][:2])), Origin.FILE)
    if origin is Origin.FLAG:
        return _of_value(f"--{location.rpartition('.')[2].replace('_', '-')}", error)
    where = f"{file}" if origin is Origin.FILE and file else Message(str(origin))
    return located(where, _of_value(location, error))


def _of_value(name: str, error: ErrorDetails) -> Message:
    if error["type"] == "extra_forbidden":
        return _unknown_key(name)
    value = short(error["input"])
    if error["type"].startswith("byte_size"):
        return Message("{name} {given} is not a size; write 8GB", name=name, given=value)
    why = validation_message(error)
    if not name.startswith("connection"):
        why = Message("{why}, not {given}", why=why, given=value)
    return located(name, why)


def _unknown_key(location: str) -> Message:
    near = difflib.get_close_matches(location, list(_keys()), n=1, cutoff=0.6)
    near = near or _keys_like(location)
    if not near:
        return Message("unknown key {name}", name=location)
    return Message("unknown key {name} (perhaps you meant {near})", name=location, near=near[0])


def _keys_like(location: str) -> list[str]:
    """Return the keys with the same last part: the wrong section is a common slip."""
    name = location.rpartition(".")[2]
    return [key for key in _keys() if key.rpartition(".")[2] == name]


def _keys() -> Iterator[str]:
    for section in Settings.model_fields:
        yield section
        yield from (f"{section}.{name}" for name in _part(section).model_fields)


def _part(section: str) -> type[BaseModel]:
    return cast("type[BaseModel]", Settings.model_fields[section].annotation)


_OWN_TEMPLATES = {  # in place of templates of pydantic that name a class of Python
    "path_type": Message("expected a path"),
    "too_long": Message("expected at most {max_length} values, not {actual_length}"),
}


def _check_passwords(values: Mapping[str, Any], where: str) -> None:
    problems = [
        located(
            where,
            Message(
                "{name} holds a password, or what may be one: a connection string belongs in "
                "DEDUP_URI or in a file (--uri-file)",
                name=name,
            ),
        )
        for name, text in _named_strings(values)
        if name != "connection.uri" and has_password(text)
        if names_server(text) or name.startswith("connection.")
    ]
    if problems:
        raise ConfigurationError(problems)


def located(where: str, problem: str) -> Message:
    """Return a problem after the name of its file, origin or setting."""
    return Message("{where}: {problem}", where=where, problem=problem)


def validation_message(error: ErrorDetails) -> str:
    """Return the message of a validation error: of our own validator, or that of pydantic."""
    values = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in error.get("ctx", {}).items()
    }
    if isinstance(own := values.get("error"), ValueError):
        return message_of(own)
    names, or_, last = str(values.get("expected", "")).rpartition(" or ")
    if or_:
        values["expected"] = Message("{names} or {last}", names=names, last=last)
    return Message(template_of(error["type"], values), **values)


def template_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return the template of a pydantic error type; values: its context, by name."""
    if kind in _OWN_TEMPLATES:
        return _OWN_TEMPLATES[kind].template
    known = PydanticKnownError(kind, {**values} or None)  # type: ignore[arg-type]
    return f"{known.message_template[:1].lower()}{known.message_template[1:]}"


def _named_strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield "a key", key
            shown = "***" if has_password(key) else key
            yield from _named_strings(part, f"{name}.{shown}".removeprefix("."))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _named_strings(part, name)
    elif isinstance(value, str | Path):
        yield name, str(value)


def short(value: Any) -> str:
    """Return the repr of a value, abbreviated to about 80 characters."""
    abbreviated = reprlib.Repr()
    abbreviated.maxstring = abbreviated.maxother = 80
    return abbreviated.repr(value)
