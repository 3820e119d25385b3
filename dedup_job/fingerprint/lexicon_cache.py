"""The dictionary built from jieba's files, and kept between processes."""

from __future__ import annotations

import functools
import importlib.util
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

import xxhash

from dedup_job import _core
from dedup_job.files import digest_of
from dedup_job.fingerprint import lexicon
from dedup_job.fingerprint.lexicon import Hmm, build_lexicon
from dedup_job.messages import Message
from dedup_job.native.array_cache import Tables, cache_file, kept_arrays

_STOP_WORDS = (
    "all an and are as at be by can for from has have if in is it not of on one or that the then "
    "this to we which with you"
)
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Those of jieba.analyse; its import reads two more models and the weights, in a second."""
FORMAT = 8


def load_lexicon(notify: Callable[[str], None]) -> _core.Lexicon:
    """Return the lexicon, from the cache or built (some seconds).

    `notify` takes a message before slow work.
    """

    def build() -> Tables:
        notify(Message("building the dictionary's tables, once (under a minute)"))
        return _build()

    return kept_arrays(cache_file("lexicon", digest_of_lexicon()), _core.Lexicon, build)


def digest_of_lexicon() -> str:
    """Digest all that the lexicon is made of."""
    builder = digest_of(Path(str(lexicon.__file__)))  # in case FORMAT is not raised
    return xxhash.xxh3_128_hexdigest(f"format {FORMAT} {digest_of_jieba()} {builder}".encode())


@functools.cache
def digest_of_jieba() -> str:
    """Digest jieba's data."""
    return " ".join(map(digest_of, jieba_files()))


def jieba_files() -> list[Path]:
    """Return dict.txt, idf.txt and the model, found without the second that importing takes."""
    spec = importlib.util.find_spec("jieba")
    folder = Path((spec and spec.origin) or "").parent
    model = [folder / "finalseg" / f"prob_{name}.py" for name in ("start", "trans", "emit")]
    return [folder / "dict.txt", folder / "analyse" / "idf.txt", *model]


def _build() -> Tables:
    import jieba
    from jieba import finalseg

    jieba.setLogLevel(logging.CRITICAL)
    dictionary, idf, *_ = jieba_files()
    # not initialize(): its cache is a file that anyone may write, in the temporary folder
    frequencies, total = jieba.Tokenizer().gen_pfdict(dictionary.open("rb"))
    hmm = Hmm(finalseg.start_P, finalseg.trans_P, finalseg.emit_P, finalseg.MIN_FLOAT)
    lines = map(str.split, idf.read_text("utf-8").splitlines())
    weights = {word: float(weight) for word, weight in lines}
    return build_lexicon(frequencies, total, hmm, weights, STOP_WORDS)
