"""The tasks of docs/operations.md do what exit codes ask for; Airflow and Prefect are stubs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.docs.documentation import DOCS, flags, options_in_help, section

CODES = {0: "done", 1: "retried", 2: "failed", 3: "done", 5: "retried", 6: "failed"}
CODES |= {11: "retried", 130: "retried", 143: "retried"}


class AirflowFailException(Exception):
    """As that of Airflow: fails the task, whatever retries are left."""


def example(heading: str) -> str:
    """Return the code of a section."""
    [code] = re.findall(
        r"^```python\n(.*?)^```$", section(DOCS / "operations.md", heading), re.M | re.S
    )
    return str(code)


def given(options: dict[str, Any]) -> Callable[..., Any]:
    """Return a decorator that remembers its options and leaves a function as it is."""

    def decorator(function: Any = None, **named: Any) -> Any:
        options.update(named)
        return function or (lambda inner: inner)

    return decorator


def airflow(code: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> str:
    sdk, exceptions = ModuleType("airflow.sdk"), ModuleType("airflow.sdk.exceptions")
    options: dict[str, Any] = {}
    sdk.dag = sdk.task = given(options)  # type: ignore[attr-defined]
    exceptions.AirflowFailException = AirflowFailException  # type: ignore[attr-defined]
    for module in (ModuleType("airflow"), sdk, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    try:
        exec(code, names)
    except AirflowFailException:
        return "failed"
    except RuntimeError:
        return "retried" if options["retries"] else "failed"
    return "done"


def prefect(code: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("prefect")
    options: dict[str, Any] = {}
    module.flow = module.task = given(options)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "prefect", module)
    exec(code, names)
    try:
        names["dedup"]()
    except subprocess.CalledProcessError as error:
        again = options["retry_condition_fn"](None, None, failed_with(error))
        return "retried" if options["retries"] and again else "failed"
    return "done"


def failed_with(error: Exception) -> Any:
    """Return the state of a task as Prefect gives it to the condition."""
    return SimpleNamespace(result=lambda **_: error)


@pytest.mark.parametrize(("exit_code", "outcome"), CODES.items())
@pytest.mark.parametrize(("heading", "play"), [("Airflow", airflow), ("Prefect", prefect)])
def test_a_task_ends_as_the_exit_code_asks_for(
    heading: str, play: Any, exit_code: int, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        subprocess, "run", lambda command: subprocess.CompletedProcess(command, exit_code)
    )
    assert play(example(heading), {"__name__": "schedule"}, monkeypatch) == outcome


@pytest.mark.parametrize("heading", ["Airflow", "Prefect"])
def test_the_command_has_options_that_exist(heading: str) -> None:
    named = flags(example(heading))
    assert {"--source", "--target"} <= named
    assert named <= options_in_help(("run",))


def test_every_exit_code_of_a_run_is_tried() -> None:
    table = section(DOCS / "commands.md", "Exit codes")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.M)}
    assert listed - {129} == set(CODES)
