"""The dictionary built from jieba's files, and kept between processes."""

from __future__ import annotations

import functools
import importlib.util
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import xxhash
from numpy.typing import NDArray

from dedup_job.files import digest_of
from dedup_job.fingerprint.lexicon import NODE, Hmm, Lexicon, build_lexicon
from dedup_job.messages import Message
from dedup_job.native.array_cache import Tables, cache_file, kept_arrays

_STOP_WORDS = (
    "all an and are as at be by can for from has have if in is it not of on one or that the then "
    "this to we which with you"
)
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Those of jieba.analyse; its import reads two more models and the weights, in a second."""
FORMAT = 8
_BUILDERS = ("fingerprint/lexicon.py", "fingerprint/trie.py")
_NAME_TAGS = ("nr", "ns", "nt", "nz", "t")


def load_lexicon(notify: Callable[[str], None]) -> Lexicon:
    """Return the lexicon, from the cache or built (some seconds).

    `notify` takes a message before slow work.
    """

    def build() -> dict[str, NDArray[Any]]:
        notify(Message("building the dictionary's tables, once (under a minute)"))
        return _build()._asdict()

    return kept_arrays(cache_file("lexicon", _digest()), _checked, build)


def _digest() -> str:
    digest = xxhash.xxh3_128(f"format {FORMAT}".encode())
    digest.update(digest_of_jieba().encode())
    for name in _BUILDERS:  # in case FORMAT is not raised
        digest.update(digest_of(Path(__file__).parents[1] / name).encode())
    return digest.hexdigest()


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


def _checked(tables: Tables) -> Lexicon:
    lexicon = Lexicon(**tables)
    lexicon = lexicon._replace(nodes=lexicon.nodes.view(NODE))  # aligned, as when built
    lexicon.compiled()  # which looks at what it is led to
    return lexicon


def _build() -> Lexicon:
    import jieba
    from jieba import finalseg

    jieba.setLogLevel(logging.CRITICAL)
    dictionary, idf, *_ = jieba_files()
    # not initialize(): its cache is a file that anyone may write, in the temporary folder
    frequencies, total = jieba.Tokenizer().gen_pfdict(dictionary.open("rb"))
    hmm = Hmm(finalseg.start_P, finalseg.trans_P, finalseg.emit_P, finalseg.MIN_FLOAT)
    weights = {word: float(weight) for word, weight in _columns(idf)}
    tags = {word: tag for word, _, tag in _columns(dictionary)}
    names = [word for word, tag in tags.items() if tag.startswith(_NAME_TAGS)]
    return build_lexicon(frequencies, total, hmm, weights, STOP_WORDS, names)


def _columns(file: Path) -> Iterator[list[str]]:
    return map(str.split, file.read_text("utf-8").splitlines())
