"""Compile native code and the dictionary's tables ahead of the first run.

    python -m dedup_job.commands.prepare            all of it
    python -m dedup_job.commands.prepare cleaning   a part, `cleaning` or `deciding`

For images and packages: the code lies in NUMBA_CACHE_DIR or beside the package, and serves every
user who can read it; the tables lie in XDG_CACHE_HOME. For the tests, too, whose processes would
each compile for themselves. A part takes a core for a minute or two.
"""

from __future__ import annotations

import sys

from dedup_job.cleaning import Cleaner
from dedup_job.decision import FirstWins
from dedup_job.settings import load_settings

_TEXTS = ["下列关于光合作用的叙述，正确的是哪一项？", "下列关于呼吸作用的叙述，错误的是哪一项？"]


def cleaning() -> None:
    """Compile what makes text of HTML, and fingerprints of text."""
    settings = load_settings()
    Cleaner(settings.cleaning)
    settings.equipment().fingerprinter.fingerprint(_TEXTS)


def deciding() -> None:
    """Compile what judges pairs first, which takes longest; then all that a run decides with."""
    settings = load_settings()
    equipment = settings.equipment()
    equipment.any_judge.differences(*_TEXTS)
    FirstWins.compile(settings.index, settings.decision, equipment)


_PARTS = {"cleaning": cleaning, "deciding": deciding}

if __name__ == "__main__":
    for name in sys.argv[1:] or _PARTS:
        _PARTS[name]()
