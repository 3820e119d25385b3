"""The lexicon on disk: built once, kept in the user's cache folder.

The only file access of the numeric part. A file is named by a digest of all that it was made from,
written aside and renamed, so two processes may build it at once. A checksum stands before its
content, and the arrays are checked, since native code trusts them; a damaged file is built anew.
"""

from __future__ import annotations

import importlib.util
import io
import logging
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import xxhash
from platformdirs import user_cache_path

from dedup_job.files import digest_of, open_regular, replacing
from dedup_job.fingerprint.lexicon import NODE, Hmm, Lexicon, build_lexicon, check_lexicon
from dedup_job.fingerprint.settings import FingerprintSettings, TokenHash
from dedup_job.fingerprint.wordlists import check_user_dictionary, read_idf, read_stop_words
from dedup_job.native.hashing import POLYNOMIAL, XXH64
from dedup_job.native.jit import sources_digest

FORMAT = 4
_BUILDERS = ("fingerprint/lexicon.py", "fingerprint/trie.py", "native/hashing.py")
log = logging.getLogger("dedup")
_DIGEST_BYTES = 16
_MALFORMED = (  # what numpy and zipfile raise
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    MemoryError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
_NAME_TAGS = ("nr", "ns", "nt", "nz", "t")
HASH_KINDS = {TokenHash.XXH64: XXH64, TokenHash.POLYNOMIAL: POLYNOMIAL}


def load_lexicon(settings: FingerprintSettings, notify: Callable[[str], None]) -> Lexicon:
    """Return the lexicon for these settings, from the cache or built (some seconds).

    `notify` is told before something takes long. Raises ConfigurationError for a bad word list.
    """
    file = user_cache_path("dedup") / f"lexicon-{_digest(settings)}.npz"
    lexicon = _read(file)
    if lexicon is None:  # a list that is in the cache was good when it got there
        _check_lists(settings)
        notify("building the dictionary's tables, once (under a minute)")
        lexicon = _build(settings)
        _write(file, lexicon)
    return lexicon


def _check_lists(settings: FingerprintSettings) -> None:
    for path, check in (
        (settings.user_dictionary, check_user_dictionary),
        (settings.stop_words, read_stop_words),
        (settings.idf, read_idf),
    ):
        if path is not None:
            check(path)


def is_compiled() -> bool:
    """Tell whether this native code was compiled here before, as far as we know."""
    with suppress(OSError):  # a home that may not even be looked at
        return _compiled_mark().exists()
    return False


def mark_compiled() -> None:
    """Remember that the native code is compiled."""
    mark = _compiled_mark()
    with suppress(OSError):  # all it costs is a line on the screen
        if not mark.exists():
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def _compiled_mark() -> Path:
    return user_cache_path("dedup") / f"compiled-{sources_digest()}"


def _digest(settings: FingerprintSettings) -> str:
    """Digest everything that the tables are made from."""
    digest = xxhash.xxh3_128(f"format {FORMAT} {settings.hash}".encode())
    own = (Path(__file__).parents[1] / name for name in _BUILDERS)  # lest FORMAT is forgotten
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
        with open_regular(file) as stream:
            raw = stream.read()
        digest, data = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
        if xxhash.xxh3_128_digest(data) != digest:
            raise ValueError("its checksum is another")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            lexicon = Lexicon(**{name: archive[name] for name in Lexicon._fields})
        check_lexicon(lexicon)
        lexicon = lexicon._replace(nodes=lexicon.nodes.view(NODE))  # aligned, as when built
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as e:
        why = e.strerror or "it cannot be read"
    except _MALFORMED as e:
        why = str(e)
    else:
        return lexicon
    log.warning("%s is damaged and will be built anew: %s", file, why)
    return None


def _write(file: Path, lexicon: Lexicon) -> None:
    stream = io.BytesIO()
    np.savez(stream, **lexicon._asdict())
    data = stream.getvalue()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as whole:
            whole.write(xxhash.xxh3_128_digest(data) + data)
    except OSError as e:
        log.warning(
            "the dictionary's tables cannot be kept in %s (%s): every start builds them anew",
            file.parent,
            e.strerror,
        )
