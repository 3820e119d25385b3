"""The dictionary and the model for unknown words, built from jieba's and kept in a file."""

import functools
import importlib.util
import logging
import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import xxhash

from dedup_job import _core
from dedup_job.files import digest_of
from dedup_job.messages import Message
from dedup_job.native.bytes_column import strings_of
from dedup_job.native.snapshot import Tables, cache_file, kept_arrays

PLANE = 0x10000
LAST = "\ufffe"
"""The last character of words: jieba segments none beyond the basic plane, whose last is none."""
NO_WORD = -math.inf  # in place of a log probability: never the best


class Hmm(NamedTuple):
    """jieba's hidden Markov model (`jieba.finalseg`), log probabilities by state."""

    start: Mapping[str, float]
    transition: Mapping[str, Mapping[str, float]]
    emission: Mapping[str, Mapping[str, float]]
    least: float


def build_lexicon(
    frequencies: Mapping[str, int],
    total: int,
    hmm: Hmm,
    idf: Mapping[str, float],
    stop_words: Collection[str],
) -> Tables:
    """Build the tables of `_core.Lexicon`; `frequencies`, `total`: jieba's FREQ, with prefixes."""
    # stop words and frequent words first: what is used together lies together
    known = sorted(_in_plane(frequencies), key=lambda word: -frequencies[word])
    words = [*dict.fromkeys([*sorted(_in_plane(stop_words)), *known, *_in_plane(idf)])]
    log_total = math.log(total)
    probabilities = [
        math.log(frequency) - log_total if (frequency := frequencies.get(word)) else NO_WORD
        for word in words
    ]
    median = sorted(idf.values())[len(idf) // 2]
    weights = {**idf, **dict.fromkeys(stop_words, _core.STOP_WORD)}
    tables = _core.build_lexicon(
        strings_of([word.encode() for word in words]),
        np.array(probabilities),
        np.array([weights.get(word, median) for word in words]),
        median,
    )
    states, han = _core.HMM_STATES, [*map(chr, range(_core.HAN[0], _core.HAN[1] + 1))]
    emission = [[hmm.emission[state].get(one, hmm.least) for state in states] for one in han]
    transition = [[hmm.transition[a].get(b, hmm.least) for b in states] for a in states]
    return {
        **tables,
        "emission": np.array(emission).reshape(-1),
        "start": np.array([hmm.start[state] for state in states]),
        "transition": np.array(transition).reshape(-1),
        "constants": np.array([math.log(1) - log_total, median]),
    }


def _in_plane(words: Collection[str]) -> list[str]:
    return [word for word in words if word and max(word) <= LAST]


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
    builder = digest_of(Path(__file__))  # in case FORMAT is not raised
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
