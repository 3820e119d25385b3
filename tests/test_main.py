"""A new process of `dedup`, from its first import on."""

import signal
import subprocess
import sys

import pytest

from dedup_job import __version__

_WHILE_IMPORTING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "dedup_job.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""
_BEFORE_TYPER = """
from dedup_job import cli
def interrupted(**_):
    raise KeyboardInterrupt
cli.app = interrupted
"""


def test_the_version_is_printed_by_a_new_process():
    ended = subprocess.run([sys.executable, "-m", "dedup_job", "--version"], capture_output=True)
    assert (ended.returncode, ended.stdout) == (0, f"dedup {__version__}\n".encode())


@pytest.mark.parametrize(
    ("first", "code"), [(_WHILE_IMPORTING, -signal.SIGINT), (_BEFORE_TYPER, 130)]
)
def test_ctrl_c_in_the_first_moments_ends_without_a_traceback(first, code):
    program = f"{first}\nfrom dedup_job.__main__ import main\nmain()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ended.returncode == code
    assert ended.stderr == b""
