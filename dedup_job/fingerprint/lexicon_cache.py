"""The dictionary built from jieba's files and the user's, and kept between processes."""

from __future__ import annotations

import functools
import importlib.util
import logging
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import xxhash
from numpy.typing import NDArray

from dedup_job.errors import ConfigurationError
from dedup_job.files import digest_of, read_text
from dedup_job.fingerprint.lexicon import NODE, Hmm, Lexicon, build_lexicon
from dedup_job.fingerprint.settings import FingerprintSettings, TokenHash
from dedup_job.messages import Message
from dedup_job.native.array_cache import cache_file, read_arrays, write_arrays
from dedup_job.native.growable_array import on_large_pages
from dedup_job.native.hashing import POLYNOMIAL, XXH64

T = TypeVar("T")
_SHOWN = 10
_ASCII_SPACE = " \t\r\x0b\x0c"
_USER_WORD = re.compile(r"\S+( [0-9]+)?( [a-z]+)?")


def read_idf(path: Path) -> dict[str, float]:
    """Read an IDF file, `word weight` on each line; ConfigurationError lists the bad lines."""

    def entry(line: str) -> tuple[str, float] | None:
        word, _, figure = line.strip().partition(" ")
        with suppress(ValueError):
            weight = float(figure)
            if word and math.isfinite(weight) and weight > 0:
                return word, weight
        return None

    lines = read_text(path).splitlines()
    weights = dict(_values(path, lines, entry, Message("a word, a space and a weight above 0")))
    if not weights:
        raise ConfigurationError(
            [Message("{file} holds no weights; expected lines such as: 化学 6.25", file=path)]
        )
    return weights


def read_stop_words(path: Path) -> list[str]:
    """Read a word from each line; ConfigurationError lists lines with more than a word."""

    def word(line: str) -> str | None:
        return line.strip() if len(line.split()) == 1 else None

    return _values(path, read_text(path).splitlines(), word, Message("one word"))


def check_user_dictionary(path: Path) -> None:
    """Check a dictionary in jieba's format; ConfigurationError lists the bad lines."""
    lines = read_text(path).split("\n")  # lines as jieba sees them
    expected = Message("a word without spaces, then a frequency and a tag, if any")
    _values(
        path,
        lines,
        lambda line: _USER_WORD.fullmatch(line.strip(_ASCII_SPACE)),
        expected,
        _ASCII_SPACE,
    )


def _values(
    path: Path,
    lines: Sequence[str],
    value_of: Callable[[str], T | None],
    expected: str,
    space: str | None = None,
) -> list[T]:
    """Return what the lines say that hold more than space; ConfigurationError lists bad ones."""
    said = [(n, line, value_of(line)) for n, line in enumerate(lines, 1) if line.strip(space)]
    _raise_if(
        [
            Message(
                "{file}, line {line}: {text!r}, expected {expected}",
                file=path,
                line=number,
                text=line[:60],
                expected=expected,
            )
            for number, line, value in said
            if value is None
        ]
    )
    return [value for _, _, value in said if value is not None]


def _raise_if(problems: Sequence[str]) -> None:
    if len(problems) > _SHOWN:
        more = Message("... and {number:,} lines more", number=len(problems) - _SHOWN)
        problems = [*problems[:_SHOWN], more]
    if problems:
        raise ConfigurationError(problems)


STOP_WORDS: Final = frozenset(
    [
        "all",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "for",
        "from",
        "has",
        "have",
        "if",
        "in",
        "is",
        "it",
        "not",
        "of",
        "on",
        "one",
        "or",
        "that",
        "the",
        "then",
        "this",
        "to",
        "we",
        "which",
        "with",
        "you",
    ]
)
"""Those of jieba.analyse; its import reads two more models and the weights, in a second."""
FORMAT = 5
_BUILDERS = ("fingerprint/lexicon.py", "fingerprint/trie.py")
_NAME_TAGS = ("nr", "ns", "nt", "nz", "t")
HASH_KINDS = {TokenHash.XXH64: XXH64, TokenHash.POLYNOMIAL: POLYNOMIAL}


def load_lexicon(settings: FingerprintSettings, notify: Callable[[str], None]) -> Lexicon:
    """Return the lexicon for these settings, from the cache or built (some seconds).

    `notify` takes a message before slow work. Raises ConfigurationError for a bad word list.
    """
    file = cache_file("lexicon", _digest(settings))
    lexicon = read_arrays(file, _checked)
    if lexicon is None:  # a list that is in the cache was good when it got there
        _raise_if(list_problems(settings))
        notify(Message("building the dictionary's tables, once (under a minute)"))
        lexicon = _build(settings)
        write_arrays(file, lexicon)
    return lexicon


def list_problems(settings: FingerprintSettings) -> list[str]:
    """Return what is wrong with the word lists that settings name, each under its setting."""
    problems: list[str] = []
    for name, check in (
        ("user_dictionary", check_user_dictionary),
        ("stop_words", read_stop_words),
        ("idf", read_idf),
    ):
        if (path := getattr(settings, name)) is not None:
            try:
                check(path)
            except ConfigurationError as e:
                where = f"fingerprint.{name}"
                problems += [
                    Message("{where}: {problem}", where=where, problem=one) for one in e.problems
                ]
    return problems


def _digest(settings: FingerprintSettings) -> str:
    """Digest everything that the tables are made from."""
    digest = xxhash.xxh3_128(f"format {FORMAT} {settings.hash}".encode())
    own = (Path(__file__).parents[1] / name for name in _BUILDERS)  # in case FORMAT is not raised
    lists = (settings.user_dictionary, settings.stop_words, settings.idf)
    digest.update(digest_of_jieba().encode())
    for path in (*own, *lists):
        digest.update(b"\0none" if path is None else digest_of(path).encode())
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


def _checked(arrays: list[NDArray[Any]]) -> Lexicon:
    """Return the lexicon of a file; ValueError or TypeError where it is none."""
    lexicon = Lexicon(*arrays)
    lexicon = lexicon._replace(nodes=lexicon.nodes.view(NODE))  # aligned, as when built
    lexicon.compiled()  # which looks at what it is led to
    return lexicon._replace(
        entries=on_large_pages(lexicon.entries),
        nodes=on_large_pages(lexicon.nodes),
    )


def _build(settings: FingerprintSettings) -> Lexicon:
    import jieba
    from jieba import finalseg

    jieba.setLogLevel(logging.CRITICAL)
    tokenizer = jieba.Tokenizer()
    # not initialize(): its cache is a file that anyone may write, in the temporary folder
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    former = set(finalseg.Force_Split_Words)  # it is global
    finalseg.Force_Split_Words.clear()
    try:
        if settings.user_dictionary is not None:
            tokenizer.load_userdict(str(settings.user_dictionary))
        split = set(finalseg.Force_Split_Words)
    finally:
        finalseg.Force_Split_Words.clear()
        finalseg.Force_Split_Words.update(former)
    stop_words = set(STOP_WORDS)
    if settings.stop_words is not None:
        stop_words.update(read_stop_words(settings.stop_words))
    hmm = Hmm(finalseg.start_P, finalseg.trans_P, finalseg.emit_P, finalseg.MIN_FLOAT)
    idf = read_idf(settings.idf or jieba_files()[1])
    tags = {**_tags(jieba_files()[0]), **tokenizer.user_word_tag_tab}
    names = [word for word, tag in tags.items() if tag.startswith(_NAME_TAGS)]
    kind = HASH_KINDS[settings.hash]
    return build_lexicon(tokenizer.FREQ, tokenizer.total, hmm, idf, stop_words, split, names, kind)


def _tags(dictionary: Path) -> dict[str, str]:
    """Return the part of speech of each of jieba's words."""
    lines = dictionary.read_text("utf-8").splitlines()
    return {word: tag for word, _, tag in map(str.split, lines)}
