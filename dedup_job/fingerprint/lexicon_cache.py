"""The dictionary built from jieba's files and the user's, and kept between processes."""

from __future__ import annotations

import importlib.util
import io
import logging
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import xxhash
from numpy.lib.format import read_array, write_array
from platformdirs import user_cache_path

from dedup_job.errors import ConfigurationError
from dedup_job.files import digest_of, make_private, open_regular, read_text, replacing
from dedup_job.fingerprint.lexicon import NODE, Hmm, Lexicon, build_lexicon
from dedup_job.fingerprint.settings import FingerprintSettings, TokenHash
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
    weights = dict(_values(path, lines, entry, "a word, a space and a weight above 0"))
    if not weights:
        raise ConfigurationError([f"{path} holds no weights; expected lines such as: 化学 6.25"])
    return weights


def read_stop_words(path: Path) -> list[str]:
    """Read a word from each line; ConfigurationError lists lines with more than a word."""

    def word(line: str) -> str | None:
        return line.strip() if len(line.split()) == 1 else None

    return _values(path, read_text(path).splitlines(), word, "one word")


def check_user_dictionary(path: Path) -> None:
    """Check a dictionary in jieba's format; ConfigurationError lists the bad lines."""
    lines = read_text(path).split("\n")  # lines as jieba sees them
    expected = "a word without spaces, then a frequency and a tag, if any"
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
            f"{path}, line {number}: {line[:60]!r}, expected {expected}"
            for number, line, value in said
            if value is None
        ]
    )
    return [value for _, _, value in said if value is not None]


def _raise_if(problems: list[str]) -> None:
    if len(problems) > _SHOWN:
        problems = [*problems[:_SHOWN], f"... and {len(problems) - _SHOWN:,} lines more"]
    if problems:
        raise ConfigurationError(problems)


FORMAT = 5
_BUILDERS = ("fingerprint/lexicon.py", "fingerprint/trie.py")
log = logging.getLogger("dedup")
_DIGEST_BYTES = 16
_MALFORMED = (ValueError, KeyError, TypeError, EOFError, MemoryError, RuntimeError)  # of numpy
_NAME_TAGS = ("nr", "ns", "nt", "nz", "t")
HASH_KINDS = {TokenHash.XXH64: XXH64, TokenHash.POLYNOMIAL: POLYNOMIAL}


def load_lexicon(settings: FingerprintSettings, notify: Callable[[str], None]) -> Lexicon:
    """Return the lexicon for these settings, from the cache or built (some seconds).

    `notify` takes a message before slow work. Raises ConfigurationError for a bad word list.
    """
    file = user_cache_path("dedup") / f"lexicon-{_digest(settings)}.tables"
    lexicon = _read(file)
    if lexicon is None:  # a list that is in the cache was good when it got there
        _raise_if(list_problems(settings))
        notify("building the dictionary's tables, once (under a minute)")
        lexicon = _build(settings)
        _write(file, lexicon)
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
                problems += [f"fingerprint.{name}: {problem}" for problem in e.problems]
    return problems


def _digest(settings: FingerprintSettings) -> str:
    """Digest everything that the tables are made from."""
    digest = xxhash.xxh3_128(f"format {FORMAT} {settings.hash}".encode())
    own = (Path(__file__).parents[1] / name for name in _BUILDERS)  # in case FORMAT is not raised
    lists = (settings.user_dictionary, settings.stop_words, settings.idf)
    for path in (*_jieba_files(), *own, *lists):
        digest.update(b"\0none" if path is None else digest_of(path).encode())
    return digest.hexdigest()


def _jieba_files() -> list[Path]:
    """Return jieba's data, found without the second that importing it takes."""
    spec = importlib.util.find_spec("jieba")
    folder = Path((spec and spec.origin) or "").parent
    model = [folder / "finalseg" / f"prob_{name}.py" for name in ("start", "trans", "emit")]
    return [folder / "dict.txt", folder / "analyse" / "idf.txt", *model]


def _build(settings: FingerprintSettings) -> Lexicon:
    import jieba
    from jieba import finalseg
    from jieba.analyse.tfidf import KeywordExtractor

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
    stop_words = set(KeywordExtractor.STOP_WORDS)
    if settings.stop_words is not None:
        stop_words.update(read_stop_words(settings.stop_words))
    hmm = Hmm(finalseg.start_P, finalseg.trans_P, finalseg.emit_P, finalseg.MIN_FLOAT)
    idf = read_idf(settings.idf or _jieba_files()[1])
    tags = {**_tags(_jieba_files()[0]), **tokenizer.user_word_tag_tab}
    names = [word for word, tag in tags.items() if tag.startswith(_NAME_TAGS)]
    kind = HASH_KINDS[settings.hash]
    return build_lexicon(tokenizer.FREQ, tokenizer.total, hmm, idf, stop_words, split, names, kind)


def _tags(dictionary: Path) -> dict[str, str]:
    """Return the part of speech of each of jieba's words."""
    lines = dictionary.read_text("utf-8").splitlines()
    return {word: tag for word, _, tag in map(str.split, lines)}


def _read(file: Path) -> Lexicon | None:
    """Return the lexicon in the file, None if it is not there or not as it was written."""
    try:
        with open_regular(file) as opened:
            raw = opened.read()
        digest, data = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
        if xxhash.xxh3_128_digest(data) != digest:
            raise ValueError("its checksum is another")
        stream = io.BytesIO(data)  # one after the other: numpy's archive closes itself in a
        # finalizer, where the exception of a signal is lost but for a traceback on the screen
        lexicon = Lexicon(*(read_array(stream, allow_pickle=False) for _ in Lexicon._fields))
        lexicon = lexicon._replace(nodes=lexicon.nodes.view(NODE))  # aligned, as when built
        lexicon.compiled()  # which looks at what it is led to
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as e:
        why = e.strerror or "it cannot be read"
    except _MALFORMED as e:
        why = str(e)
    else:
        return lexicon._replace(
            edges=on_large_pages(lexicon.edges),
            probabilities=on_large_pages(lexicon.probabilities),
            nodes=on_large_pages(lexicon.nodes),
        )
    log.warning("%s is damaged and will be built anew: %s", file, why)
    return None


def _write(file: Path, lexicon: Lexicon) -> None:
    stream = io.BytesIO()
    for array in lexicon:
        write_array(stream, array, allow_pickle=False)
    data = stream.getvalue()
    try:
        make_private(file.parent)
        with replacing(file) as whole:
            whole.write(xxhash.xxh3_128_digest(data) + data)
    except OSError as e:
        log.warning(
            "the dictionary's tables cannot be kept in %s (%s): every start builds them anew",
            file.parent,
            e.strerror,
        )
