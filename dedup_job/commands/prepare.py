"""Compile native code and the dictionary's tables ahead of the first run.

    python -m dedup_job.commands.prepare            all of it
    python -m dedup_job.commands.prepare cleaning   a part: `cleaning`, `deciding`, `the-rest`

For images and packages: the code lies in NUMBA_CACHE_DIR or beside the package, and serves every
user who can read it, once `chmod -R a+rX` lets them; the tables lie in XDG_CACHE_HOME. Also for
the tests: else each of their processes would compile for itself. A part takes a core for a minute
or two.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from bson import encode

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Fingerprints
from dedup_job.commands.in_memory import deduplicate
from dedup_job.decision import GreedyDeduplicator
from dedup_job.index import IndexSettings, KeptIndex, snapshot
from dedup_job.index.bands import BandIndex
from dedup_job.mongo.bson.scan import find_fields, pack_path
from dedup_job.settings import load_settings, preset_names

_GROWING = 200_000  # so many documents make an index grow
_OTHERS = {  # settings that take native code of their own
    "index.candidate_generators": ["simhash", "minhash", "sentences"],
    "decision.judge": "similarity",
}
_TEXTS = ["下列关于光合作用的叙述，正确的是哪一项？", "下列关于呼吸作用的叙述，错误的是哪一项？"]


def cleaning() -> None:
    """Compile what makes text of HTML, and fingerprints of text."""
    settings = load_settings()
    Cleaner(settings.cleaning)
    settings.models().fingerprinter.fingerprint(_TEXTS)


def deciding() -> None:
    """Compile what judges pairs first, which takes longest; then all that a run decides with."""
    settings = load_settings()
    models = settings.models()
    models.any_judge.differences(*_TEXTS)
    GreedyDeduplicator.compile(settings.index, settings.decision, models)


def the_rest() -> None:
    """Compile what the other parts leave: reading, a growing index, other settings."""
    find_fields(
        np.frombuffer(encode({"0": {"_id": 1, "text": ""}}), np.uint8), *pack_path(["text"])
    )
    settings = load_settings()
    Cleaner(settings.cleaning).clean("<p>&lt;p&gt;</p>")
    BandIndex(1).extend(np.arange(_GROWING, dtype=np.uint32).reshape(-1, 1))
    presets = (load_settings(name) for name in preset_names())
    for chosen in (settings, *presets, load_settings(None, _OTHERS)):
        list(deduplicate([*_TEXTS, *_TEXTS, f"{_TEXTS[0]}。{_TEXTS[1]}"], chosen))
    fingerprinter = settings.models().fingerprinter
    _seal_an_index(settings.index, fingerprinter.fingerprint(_TEXTS))


def _seal_an_index(settings: IndexSettings, texts: Fingerprints) -> None:
    """Compile what packs an index, and what looks up in one that is packed."""
    kept = KeptIndex(settings)
    kept.add([b""] * len(texts), texts)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "index")
        snapshot.write(file, *kept.sealed())
        saved = snapshot.read(file)
        kept.load(saved.facts, saved.parts)
        kept.equal(texts)
        kept.look_up(texts, np.zeros(len(texts), dtype=np.int64))
        snapshot.write(file, *kept.sealed())


_PARTS = {"cleaning": cleaning, "deciding": deciding, "the-rest": the_rest}

if __name__ == "__main__":
    for name in sys.argv[1:] or _PARTS:
        _PARTS[name]()
