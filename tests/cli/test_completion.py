"""Completion in a shell: the script that `--show-completion` prints, in a real bash."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from dedup_job import cli
from tests.running import environment_for, invoke

DEDUP = f"""#!{sys.executable}
import sys
from dedup_job.__main__ import main
sys.argv[0] = "dedup"
main()
"""


HERE = str(Path(cli.__file__).parents[2])


def program_in(folder: Path) -> Path:
    """Write the command of that name."""
    program = folder / "dedup"
    program.write_text(DEDUP, encoding="utf-8")
    program.chmod(0o755)
    return program


def completed(line: str, folder: Path) -> list[str]:
    """Return what bash offers for the last word of a line."""
    program_in(folder)
    environment = environment_for(None, PYTHONPATH=HERE)
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    ask = (
        'eval "$(dedup --show-completion bash)"; read -ra COMP_WORDS <<< "$1"; '
        '[[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); '
        '_dedup_completion dedup; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    found = subprocess.run(
        ["bash", "--norc", "-c", ask, "bash", line],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stderr == ""
    return found.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("dedup c", ["check", "config"]),
        ("dedup --v", ["--version"]),
        ("dedup run --on-", ["--on-change", "--on-delete"]),
        ("dedup config ", ["show", "validate", "init"]),
        ("dedup run --config q", []),  # bash goes on with the names of files
        ("dedup run --uri mongodb://u:secret@host/ --so", ["--source"]),
        ("dedup nosuch --so", []),
    ],
)
def test_bash_completes_commands_and_options(line: str, offered: list[str], tmp_path: Path) -> None:
    assert completed(line, tmp_path) == offered


def test_no_command_is_loaded_to_complete_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.importlib, "import_module", lambda name: pytest.fail(name))
    asked = {"COMP_WORDS": "dedup ", "COMP_CWORD": "1", "_DEDUP_COMPLETE": "complete_bash"}
    monkeypatch.setattr(sys, "argv", ["dedup"])
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as end:
        cli.app(prog_name="dedup")
    assert end.value.code == 0


def test_the_help_of_a_command_says_nothing_of_completion() -> None:
    assert "--install-completion" in invoke("--help").stdout
    assert "completion" not in invoke("run", "--help").stdout


def test_installing_says_so_without_escape_codes(tmp_path: Path) -> None:
    program, (terminal, slave) = program_in(tmp_path), pty.openpty()
    environment = environment_for(None, HOME=str(tmp_path), PYTHONPATH=HERE)
    words = [str(program), "--install-completion", "bash"]
    subprocess.run(words, env=environment, stdout=slave, stderr=slave, check=True)
    said = os.read(terminal, 1 << 16).decode()
    for handle in (terminal, slave):
        os.close(handle)
    assert said.startswith("bash completion installed in")
    assert "\\x1b" not in said
