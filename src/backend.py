"""The build backend: scikit-build-core, with a compiler from a package where the machine has none.

A compiler that knows C++20 is taken from CXX or from the path. Where there is none, `ziglang`
(clang, some 100 MB) is downloaded for the build and serves as one.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build

_NEEDED = "GCC 11, clang 14 or later"
_PROGRAM = "#include <bit>\n#include <span>\nint main() { return std::popcount(0u); }\n"
_ZIG = "ziglang>=0.13"


def _compiles(compiler: str) -> bool:
    """Return whether a command compiles C++20 with its standard library."""
    with tempfile.TemporaryDirectory() as folder:
        # an object is written: zig knows no -fsyntax-only
        made = ["-std=c++20", "-c", "-x", "c++", "-", "-o", str(Path(folder, "object"))]
        command = [*compiler.split(), *made]
        try:
            done = subprocess.run(command, input=_PROGRAM, text=True, capture_output=True)
        except OSError:
            return False
        return done.returncode == 0


def _find_compiler() -> str | None:
    """Return the machine's compiler, None without one; exit where CXX names one that is none."""
    named = os.environ.get("CXX")
    if named and not _compiles(named):
        raise SystemExit(
            f"CXX is {named!r}, which compiles no C++20: {_NEEDED} is needed. Without CXX, and "
            "without such a compiler on the path, the build takes one from the package ziglang."
        )
    return named or next((name for name in ("c++", "g++", "clang++") if _compiles(name)), None)


@contextlib.contextmanager
def _compiler() -> Iterator[None]:
    """Make a compiler known to CMake for the block."""
    if found := _find_compiler():
        os.environ["CXX"] = found
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        # baseline: the core runs on every processor of its kind
        for tool in ("c++ -mcpu=baseline", "ar", "ranlib"):
            script = Path(folder, tool.split()[0])
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {tool} "$@"\n')
            script.chmod(0o700)
        os.environ["CXX"] = str(Path(folder, "c++"))
        tools = f"-DCMAKE_AR={folder}/ar -DCMAKE_RANLIB={folder}/ranlib"
        os.environ["CMAKE_ARGS"] = f"{os.environ.get('CMAKE_ARGS', '')} {tools}"
        yield


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return the packages that a build needs here."""
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise SystemExit(
            f"This machine lacks Python.h of Python {sysconfig.get_python_version()} (Debian, "
            "Ubuntu: sudo apt install python3-dev)."
        )
    requires = _build.get_requires_for_build_wheel(config_settings)
    return requires if _find_compiler() else [*requires, _ZIG]


# pyproject.toml has no overrides by the state of a build.
get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(folder: str, config_settings: Any = None, metadata: str | None = None) -> str:
    """Build a wheel; return its name."""
    with _compiler():
        return _build.build_wheel(folder, config_settings, metadata)


def build_editable(folder: str, config_settings: Any = None, metadata: str | None = None) -> str:
    """Build what an editable installation consists of; return its name."""
    with _compiler():
        return _build.build_editable(folder, config_settings, metadata)


# Without a build: pip reads it before it downloads the packages.
prepare_metadata_for_build_wheel = _build.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = _build.prepare_metadata_for_build_editable
get_requires_for_build_sdist = _build.get_requires_for_build_sdist
build_sdist = _build.build_sdist
