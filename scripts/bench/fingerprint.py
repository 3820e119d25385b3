"""Is the fingerprint jieba's to the last bit, and how fast: one table a section.

    python -m scripts.bench.fingerprint [--data FOLDER] [--parity] [--speed] [--threads] [--sizes]
                                        [--sketches] [--start] [--cppjieba --simhash CLONE]

All sections unless some are chosen. The texts are the field `text` of the `.jsonl.gz` files in the
folder; for the parity `html`, too. All with jieba's weights and its 30 heaviest keywords.
CLONE: of https://github.com/yanyiwu/simhash with its submodules, for --cppjieba.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import jieba
import numpy as np
from jieba.analyse import default_tfidf

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from dedup_job.fingerprint.sketch import sentence_keys, sketch
from dedup_job.native.code_points import pack
from scripts.bench import processes
from scripts.bench.command import DATA, parser_of, run_sections, seconds_of, texts_of
from tests.reference.parity import WOVEN, Differences, compare, jieba_with, write_word_lists
from tests.reference.recipe import PLAIN
from tests.strings import NASTY, generated

BEST_OF = 5
TURNS = 7
GENERATED = 200_000
CHUNK = 5000
LENGTHS = {1: 20_000, 20: 10_000, 60: 10_000, 340: 5_000, 3_000: 1_000, 1_000_000: 3}


def size_of(texts: Iterable[str]) -> int:
    """Return the size in UTF-8 bytes."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def best(work: Callable[[], Any], times: int = BEST_OF) -> float:
    """Return the seconds of the fastest of some runs."""
    return min(seconds_of(work) for _ in range(times))


def parity(arguments: argparse.Namespace) -> int:
    """Print how many texts differ from jieba and from the naive version; return the number."""
    print("texts                       count  tokens  keywords  fingerprints  (that differ)")
    bad = 0
    for file in sorted(arguments.data.glob("*.jsonl.gz")):
        bad += _compared(file.name.removesuffix(".jsonl.gz"), texts_of(file, "text", "html"))
    bad += _compared("nasty", NASTY)
    bad += _compared("generated", generated(GENERATED, seed=42))
    with tempfile.TemporaryDirectory() as folder:
        lists = write_word_lists(Path(folder))
        Fingerprinter(FingerprintSettings(**lists))  # before jieba learns the same words
        real = (
            t
            for file in sorted(arguments.data.glob("*.jsonl.gz"))
            for t in texts_of(file, "text", "html")[::4]
        )
        texts = [*real, *NASTY, *generated(GENERATED // 10, seed=43, more=WOVEN)]
        bad += _compared("sample, own word lists", texts, lists)
    return bad


def _compared(name: str, texts: Iterable[str], lists: dict[str, Path] | None = None) -> int:
    total = Differences()
    with jieba_with(**(lists or {})) as extractor:
        stream = iter(texts)
        while chunk := list(itertools.islice(stream, CHUNK)):
            part = compare(chunk, extractor, with_features=False, **(lists or {}))
            total.texts += part.texts
            for field in ("tokens", "keywords", "fingerprints"):
                getattr(total, field).extend(getattr(part, field))
    print(
        f"{name:23} {total.texts:9,} {len(total.tokens):7,} {len(total.keywords):9,} "
        f"{len(total.fingerprints):13,}",
        flush=True,
    )
    for text in {*total.tokens, *total.keywords, *total.fingerprints}:
        print(f"    differs: {text[:100]!a}")
    return len(total.tokens) + len(total.keywords) + len(total.fingerprints)


def speed(arguments: argparse.Namespace) -> None:
    """Print documents and megabytes a second on one thread beside jieba.

    The two take turns of about the same length, so that what else the machine does meets both.
    """
    print("file           texts      MB    docs/s     MB/s  jieba docs/s  jieba MB/s  times")
    stage = Fingerprinter(FingerprintSettings(**PLAIN))
    for name in ("exam_dev", "articles_dev"):
        texts = texts_of(arguments.data / f"{name}.jsonl.gz")
        sample = texts[:: max(1, len(texts) // 1900)]
        megabytes, of_sample = size_of(texts) / 1e6, size_of(sample) / 1e6
        stage.fingerprint(texts)
        ours, jiebas = [], []
        for _ in range(TURNS):
            jiebas.append(seconds_of(lambda sample=sample: [_keywords(text) for text in sample]))
            passes, began = 0, time.perf_counter()
            while time.perf_counter() - began < jiebas[-1]:
                stage.fingerprint(texts)
                passes += 1
            ours.append((time.perf_counter() - began) / passes)
        times = [megabytes / of_sample * b / a for a, b in zip(ours, jiebas, strict=True)]
        we, they = statistics.median(ours), statistics.median(jiebas)
        print(
            f"{name:13} {len(texts):6,} {megabytes:7.2f} {len(texts) / we:9,.0f} "
            f"{megabytes / we:8.1f} {len(sample) / they:13,.0f} {of_sample / they:11.2f} "
            f"{statistics.median(times):6.1f} ({min(times):.1f}-{max(times):.1f})"
        )


def _keywords(text: str) -> list[tuple[str, float]]:
    return default_tfidf.extract_tags(text, topK=30, withWeight=True)


def cppjieba(arguments: argparse.Namespace) -> None:
    """Print documents a second of processor time, one thread, beside cppjieba + simhash in C++.

    Its dictionary and its IDF are jieba's, as ours are; its stop words are its own.
    """
    if arguments.simhash is None:
        print("needs --simhash CLONE")
        return
    stage = Fingerprinter(FingerprintSettings(**PLAIN))
    theirs, words = arguments.simhash / "submodules/cppjieba", Path(jieba.__file__).parent
    headers = (arguments.simhash, theirs, theirs / "deps/limonp")
    compiler = [os.environ.get("CXX", "c++"), "-std=c++17", *arguments.flags.split(), "-w"]
    corpora = {
        "exam_dev": texts_of(arguments.data / "exam_dev.jsonl.gz"),
        "articles, 1 KB": _pieces(arguments.data, 1000),
    }
    print(*compiler)
    print("texts           count  docs/s  cppjieba docs/s  times", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "cppjieba"
        source = Path(__file__).with_name("cppjieba.cpp")
        subprocess.run(
            [*compiler, *(f"-I{h / 'include'}" for h in headers), source, "-o", program], check=True
        )
        dictionaries = (
            words / "dict.txt",
            theirs / "dict/hmm_model.utf8",
            words / "analyse/idf.txt",
            theirs / "dict/stop_words.utf8",
        )
        for _, (name, texts) in itertools.product(range(3), corpora.items()):
            encoded = [text.encode("utf-8", "replace") for text in texts]
            told = subprocess.run(
                [program, *dictionaries, "2"],
                input=b"".join(struct.pack("=I", len(e)) + e for e in encoded),
                stdout=subprocess.PIPE,
                check=True,
            )
            they = float(told.stdout.split()[0])
            stage.fingerprint(texts)
            began = time.thread_time()
            for _ in range(BEST_OF * 2):
                stage.fingerprint(texts)
            we = (time.thread_time() - began) / (BEST_OF * 2)
            print(
                f"{name:14} {len(texts):6,} {len(texts) / we:7,.0f} {len(texts) / they:16,.0f} "
                f"{they / we:6.1f}",
                flush=True,
            )


def threads(arguments: argparse.Namespace) -> None:
    """Print how two threads scale, and how a hash that needs no lock does on the same cores."""
    stage = Fingerprinter(FingerprintSettings(**PLAIN))
    texts = texts_of(arguments.data / "exam_dev.jsonl.gz") * 8
    articles = texts_of(arguments.data / "articles_dev.jsonl.gz") * 8
    work: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
        "sha-256": (sha256, [bytes(10_000_000)] * 24),
        "exam_dev": (stage.fingerprint, [texts[i : i + 1000] for i in range(0, len(texts), 1000)]),
        "articles_dev": (
            stage.fingerprint,
            [articles[i : i + 100] for i in range(0, len(articles), 100)],
        ),
    }
    times: dict[tuple[str, int], float] = {}
    for _ in range(BEST_OF):  # taken in turns, so that a slow moment hits all
        for name, (function, batches) in work.items():
            for count in (1, 2):
                with ThreadPoolExecutor(count) as pool:
                    seconds = seconds_of(lambda f=function, b=batches, p=pool: list(p.map(f, b)))
                times[name, count] = min(seconds, times.get((name, count), np.inf))
    print("work          1 thread s  2 threads s  scaling  of sha-256")
    plain = times["sha-256", 1] / times["sha-256", 2]
    for name in work:
        scaling = times[name, 1] / times[name, 2]
        print(
            f"{name:13} {times[name, 1]:10.3f} {times[name, 2]:12.3f} {scaling:8.2f} "
            f"{scaling / plain:16.2f}"
        )


def sizes(arguments: argparse.Namespace) -> None:
    """Print microseconds per KB of texts of several sizes, cut from the same text."""
    stage = Fingerprinter(FingerprintSettings(**PLAIN))
    print("size     texts  us/KB  (1 KB = 1,000 bytes)")
    rates = []
    for name, size in (("100 B", 100), ("1 KB", 1000), ("10 KB", 10_000), ("1 MB", 1_000_000)):
        texts = _pieces(arguments.data, size)
        rates.append(best(lambda t=texts: stage.fingerprint(t)) * 1e6 / (size_of(texts) / 1000))
        print(f"{name:6} {len(texts):7,} {rates[-1]:6.1f}")
    print(f"greatest / least: {max(rates) / min(rates):.2f}")


def _pieces(data: Path, size: int) -> list[str]:
    """Return the articles cut into texts of about so many bytes."""
    whole = "\n".join(texts_of(data / "articles_dev.jsonl.gz"))
    length = round(size * len(whole) / size_of([whole]))
    return [whole[i : i + length] for i in range(0, len(whole) - length + 1, length)] or [whole]


def sketches(_: argparse.Namespace) -> None:
    """Print what sketches of random texts of several lengths cost, microseconds a text."""
    print("characters    texts      sketch  sentences")
    for length, number in LENGTHS.items():
        packed = pack([_random_text(length) for _ in range(number)])
        times = []
        for function in (sketch, sentence_keys):
            function(packed)  # compiled
            times.append(best(lambda f=function, p=packed: f(p)) * 1e6 / number)
        print(f"{length:10,} {number:8,} {times[0]:11.2f} {times[1]:10.2f}")


def _random_text(length: int) -> str:
    """Return random Han characters with a full stop in thirty."""
    characters = random.choices(range(0x4E00, 0x9FA6), k=length)
    return "".join("。" if i % 30 == 29 else chr(c) for i, c in enumerate(characters))


STARTED = """
import psutil
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
before = psutil.Process().memory_info().rss
stage = Fingerprinter(FingerprintSettings())
stage.fingerprint(["文本"])
after = psutil.Process().memory_info().rss
print((after - before) / 1e6, sum(a.nbytes for a in stage.lexicon) / 1e6)
"""


def start(_: argparse.Namespace) -> None:
    """Print the seconds of a first start and of later ones, and the memory they take."""
    with tempfile.TemporaryDirectory() as folder:
        empty = {"HOME": folder, "XDG_CACHE_HOME": folder}
        runs = [
            processes.run([sys.executable, "-c", STARTED], {**os.environ, **empty})
            for _ in range(6)
        ]
    print("start                    seconds")
    print(f"the very first           {runs[0].seconds:7.2f}")
    print(f"warm, median of 5        {statistics.median(r.seconds for r in runs[1:]):7.2f}")
    resident, arrays = map(float, runs[-1].printed.split())
    print(f"memory: {resident:.0f} MB resident, tables of {arrays:.0f} MB")


def main() -> int:
    """Run the sections chosen; return 1 where a text differs from jieba."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--simhash", type=Path, metavar="CLONE")
    parser.add_argument("--flags", default="-O3", help="that the compiler of --cppjieba takes")
    jieba.setLogLevel(60)
    return run_sections(parser, parity, speed, threads, sizes, sketches, start, cppjieba)


if __name__ == "__main__":
    sys.exit(main())
