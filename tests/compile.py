"""Compile native code before the tests: `python -m tests.compile cleaning|deciding`.

Each part takes a core for a minute or two; else each process of the tests would compile for itself.
"""

from __future__ import annotations

import sys

from dedup_job.cleaning import Cleaner
from dedup_job.settings import load

TEXTS = ["下列关于光合作用的叙述，正确的是哪一项？", "下列关于呼吸作用的叙述，错误的是哪一项？"]


def cleaning() -> None:
    """Compile what makes text of HTML, and fingerprints of text."""
    settings = load({}).settings
    Cleaner(settings.cleaning)
    settings.equipment().fingerprinter.fingerprint(TEXTS)


def deciding() -> None:
    """Compile what judges pairs first, which takes longest; then all that a run needs."""
    load({}).settings.equipment().any_judge.differences(*TEXTS)
    import tests.warm  # noqa: F401  # compiles while it is imported


if __name__ == "__main__":
    {"cleaning": cleaning, "deciding": deciding}[sys.argv[1]]()
