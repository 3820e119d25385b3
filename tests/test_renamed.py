"""An old name is refused with exit code 2 and one sentence that says what to use instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedup_job import load_settings
from dedup_job.errors import ConfigurationError
from dedup_job.renamed import COMMANDS, OPTIONS, SETTINGS
from dedup_job.settings import load
from tests.running import refusal

RUN = ("run", "--source", "d.a", "--target", "d.b")


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        *(((old, "x"), new) for old, new in COMMANDS.items()),
        *(((*RUN, old, "1"), new) for old, new in OPTIONS.items()),
    ],
)
def test_an_old_command_or_option_is_refused_with_what_to_use(
    words: tuple[str, ...], instead: str
) -> None:
    error = refusal(*words)
    assert (error.code, str(error)) == (2, instead)


@pytest.mark.parametrize("name", SETTINGS)
def test_an_old_setting_is_refused_with_what_to_use_wherever_it_stands(
    name: str, tmp_path: Path
) -> None:
    file = tmp_path / "old.toml"
    file.write_text(f"{name} = 1\n", encoding="utf-8")
    variable = f"DEDUP_{name.upper().replace('.', '__')}"
    for error, where in (
        (refusal(*RUN, "--config", str(file)), str(file)),
        (refusal(*RUN, **{variable: "1"}), "environment"),
    ):
        assert isinstance(error, ConfigurationError)
        assert (error.code, [*error.problems]) == (2, [f"{where}: {SETTINGS[name]}"])
    with pytest.raises(ConfigurationError) as refused:
        load_settings(values={name: 1})
    assert [*refused.value.problems] == [f"call: {SETTINGS[name]}"]


def test_no_name_that_is_in_use_counts_as_old() -> None:
    assert not SETTINGS.keys() & {name for name, *_ in load().rows()}
