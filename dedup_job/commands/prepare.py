"""Compile the judge and make the dictionary's tables ahead of the first run.

    python -m dedup_job.commands.prepare

For images and packages: the code lies in NUMBA_CACHE_DIR or beside the package, and serves every
user who can read it, once `chmod -R a+rX` lets them; the tables lie in XDG_CACHE_HOME. Also for
the tests: else each of their processes would compile for itself. It takes a minute or two.
"""

from __future__ import annotations

from dedup_job.commands.in_memory import deduplicate
from dedup_job.settings import load_settings

_TEXTS = ["下列关于光合作用的叙述，正确的是哪一项？", "下列关于呼吸作用的叙述，错误的是哪一项？"]


def prepare() -> None:
    """Decide some texts by the judge and by similarity, and name their differences."""
    texts = [*_TEXTS, *_TEXTS, f"{_TEXTS[0]}。{_TEXTS[1]}"]
    for chosen in ({}, {"decision.judge": "similarity"}):
        list(deduplicate(texts, load_settings(None, chosen)))
    load_settings().models().any_judge.differences(*_TEXTS)


if __name__ == "__main__":
    prepare()
