"""Synthetic documents, 100,000 within seconds; document i is always the same.

A stock holds texts cut into fragments. A document follows one text with most fragments replaced by
others of the stock: no two are similar, but thousands share a part, as in real collections. Every
fifth is a duplicate of an earlier one: half of them equal, half with a changed character. News are
eight sentences of real articles each; every fifth is the document before it with another
punctuation mark, like a page that is crawled twice.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

import numpy as np
from bson import ObjectId
from numpy.typing import NDArray
from pymongo import MongoClient

from dedup_job import demo as phrases
from scripts.bench.command import records_of

KINDS = ("chinese", "exam", "html", "news")
DUPLICATES = 5  # one document of five
NEAR = 5000  # fragments of real texts are exchanged for some of this many around: like for like
OWN = {"chinese": 0.0, "exam": 0.25, "html": 0.25, "news": 0.0}  # share of fragments that stay
SENTENCES = 200_000  # of the stock that is made here
CHUNK = 5000  # documents made and inserted at once
_CHUNKS_AHEAD = 8
_CLAUSE = re.compile(r"[^，。；？！,.;?!\n]{0,80}[，。；？！,.;?!\n]*")
_MARKUP = re.compile(
    r"(<!--.*?-->|<script\b.*?</script>|<style\b.*?</style>"
    r"|</?[A-Za-z!](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>|&#?\w+;)",
    re.DOTALL | re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^。！？\n]{15,90}[。！？]")
_OF_NEWS = 8  # sentences
_MARKS = {"，": "；", "；": "，", "、": "，"}
_SUBJECTS = tuple(name for name in phrases.SENTENCES if name != "英语")


@dataclass(frozen=True, slots=True)
class Stock:
    """Texts cut into fragments.

    fragments: all m fragments of n texts; starts: int64 (n + 1,), the first fragment of each text;
    loose: int64, indices of fragments that may be exchanged, each for one of the `near` loose ones
    around it; rank: int64 (m,), the index of a fragment in `loose`, -1 if it is fixed.
    """

    fragments: list[str]
    starts: NDArray[np.int64]
    loose: NDArray[np.int64]
    rank: NDArray[np.int64]
    near: int

    @classmethod
    def of(cls, texts: Iterable[Sequence[tuple[str, bool]]], near: int = 2**40) -> Self:
        """Return a stock; texts: fragments, each with whether it may be exchanged."""
        cut = [text for text in texts if text]
        flat = [fragment for text in cut for fragment in text]
        is_loose = np.array([loose for _, loose in flat], dtype=np.bool_)
        loose = np.flatnonzero(is_loose)
        return cls(
            [fragment for fragment, _ in flat],
            np.concatenate(([0], np.cumsum([len(text) for text in cut]))),
            loose,
            np.where(is_loose, np.cumsum(is_loose) - 1, -1),
            min(near, len(loose)),
        )


def stock(kind: str, file: Path | None = None, size: int = 1000, seed: int = 1) -> Stock:
    """Return the stock of a kind: real texts of a `.jsonl.gz` file, or texts made here.

    size: bytes of a text that is made here, about, without its markup.
    """
    if kind == "news" and file is not None:
        whole = (_MARKUP.sub("", text) for text in _texts(file, "html", "text"))
        found = [(sentence, True) for text in whole for sentence in _SENTENCE.findall(text)]
        return Stock.of(found[i : i + _OF_NEWS] for i in range(0, len(found), _OF_NEWS))
    if file is not None:
        cut = markup_and_clauses if kind == "html" else clauses
        field = "html" if kind == "html" else "text"
        return Stock.of((cut(text) for text in _texts(file, field)), NEAR)
    if kind in ("exam", "news"):
        raise ValueError(f"{kind}: texts of a file are needed")
    made = sentences(SENTENCES, size, random.Random(seed))
    if kind == "chinese":
        return Stock.of([(sentence, True) for sentence in text] for text in made)
    rng = random.Random(seed)
    paragraphs = (
        ("".join(text[: len(text) // 2]), "".join(text[len(text) // 2 :])) for text in made
    )
    return Stock.of(markup_and_clauses(phrases.as_html(rng, pair)) for pair in paragraphs)


def sentences(count: int, size: int, rng: random.Random) -> Iterator[list[str]]:
    """Yield texts of about `size` bytes as lists of sentences, `count` sentences in all."""
    while count > 0:
        subject = rng.choice(_SUBJECTS)
        fill = phrases.filler(rng, phrases.CLAIMS[subject])
        templates = phrases.SENTENCES[subject]
        text: list[str] = []
        rest = size
        while rest > 0:
            text.append(fill(rng.choice(templates)))
            rest -= len(text[-1].encode())
            if -rest > size // 20:
                break
        count -= len(text)
        yield text


def clauses(text: str) -> list[tuple[str, bool]]:
    """Return the clauses of a text, each with whether it may be exchanged: if it has a word."""
    return [(c, any(map(str.isalnum, c))) for c in _CLAUSE.findall(text) if c]


def markup_and_clauses(html: str) -> list[tuple[str, bool]]:
    """Return the fragments of HTML: markup, which may not be exchanged, and clauses."""
    fragments: list[tuple[str, bool]] = []
    for number, part in enumerate(_MARKUP.split(html)):
        fragments += [(part, False)] if number % 2 else clauses(part)
    return fragments


def _texts(file: Path, *fields: str) -> list[str]:
    """Return the text of each record of a file, in the first of the fields that it has."""
    found = (next((r[f] for f in fields if f in r), None) for r in records_of(file))
    return [text for text in found if isinstance(text, str)]


@dataclass(frozen=True, slots=True)
class SyntheticCorpus:
    """A sequence of documents made from a stock.

    own: the share of fragments that are kept; news: duplicates differ in a punctuation mark.
    """

    stock: Stock
    own: float = 0.0
    seed: int = 1
    news: bool = False

    @classmethod
    def of(cls, kind: str, file: Path | None = None, seed: int = 1) -> Self:
        """Return the corpus of a kind, of real texts if there is a file."""
        return cls(stock(kind, file), OWN[kind], seed, kind == "news")

    def texts(self, first: int, count: int) -> list[str]:
        """Return the texts of `count` documents from number `first` on."""
        numbers = np.arange(first, first + count, dtype=np.uint64)
        origins = self.origins(numbers)
        indices, ends = self._fragments_of(origins)
        fragments = [self.stock.fragments[i] for i in indices.tolist()]
        changed = origins != numbers
        if not self.news:
            changed &= _mixed(numbers, self.seed, 1) % 2 == 1
        starts = ends - np.diff(ends, prepend=0)
        for i in np.flatnonzero(changed).tolist():
            self._change(int(numbers[i]), fragments, indices, starts[i], ends[i])
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return ["".join(fragments[start:end]) for start, end in bounds]

    def origins(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the number of each document's original, its own number if it is no duplicate."""
        n = np.uint64(DUPLICATES)
        if self.news:
            return np.where(numbers % n == n - np.uint64(1), numbers - np.uint64(1), numbers)
        group = _mixed(numbers, self.seed, 2) % np.maximum(numbers // n, 1)
        earlier = group * n + 1 + _mixed(numbers, self.seed, 3) % (n - np.uint64(1))
        return np.where((numbers % n == 0) & (numbers > 0), earlier, numbers)

    def documents(self, first: int, count: int) -> list[dict[str, Any]]:
        """Return `count` documents from number `first` on; ids have the order of the numbers."""
        return [
            {
                "_id": ObjectId(number.to_bytes(12, "big")),
                "text": text,
                "subject": _SUBJECTS[number % len(_SUBJECTS)],
                "year": 2000 + number % 24,
            }
            for number, text in enumerate(self.texts(first, count), first)
        ]

    def _fragments_of(
        self, origins: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the fragments of n documents, one after the other, and where each ends, (n,)."""
        stock = self.stock
        texts = (_mixed(origins, self.seed, 4) % (len(stock.starts) - 1)).astype(np.int64)
        lengths = stock.starts[texts + 1] - stock.starts[texts]
        ends = np.cumsum(lengths)
        place = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        fragments = np.repeat(stock.starts[texts], lengths) + place
        named = np.repeat(origins << np.uint64(20), lengths) + place.astype(np.uint64)
        random_bits = _mixed(named, self.seed, 5)
        away = ((random_bits >> np.uint64(16)) % stock.near).astype(np.int64)
        rank = stock.rank[fragments]
        exchanged = stock.loose[(rank + away - stock.near // 2) % len(stock.loose)]
        stays = (rank < 0) | (random_bits % 2**16 < self.own * 2**16)
        return np.where(stays, fragments, exchanged), ends

    def _change(
        self, number: int, fragments: list[str], indices: NDArray[np.int64], start: int, end: int
    ) -> None:
        """Change a character of a document in a fragment that is no markup; of news a mark."""
        rng = random.Random(number)
        if self.news:
            marks = [
                (at, place)
                for at in range(start, end)
                for place, letter in enumerate(fragments[at])
                if letter in _MARKS
            ]
            for at, place in rng.sample(marks, min(len(marks), 1)):
                fragment = fragments[at]
                fragments[at] = fragment[:place] + _MARKS[fragment[place]] + fragment[place + 1 :]
            return
        loose = start + np.flatnonzero(self.stock.rank[indices[start:end]] >= 0)
        if len(loose):
            at = int(rng.choice(loose))
            fragment = fragments[at]
            cut = rng.randrange(len(fragment))
            fragments[at] = (
                fragment[:cut] + chr(rng.randrange(0x4E00, 0x9FA5)) + fragment[cut + 1 :]
            )


def _mixed(numbers: NDArray[np.uint64], seed: int, salt: int) -> NDArray[np.uint64]:
    """Return a random number for each number (splitmix64)."""
    x = numbers + np.uint64((seed * 64 + salt) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def fill(
    uri: str, name: str, corpus: SyntheticCorpus, numbers: range, *, processes: int = 1
) -> None:
    """Insert the documents of a range of numbers into `database.collection`, by n processes."""
    starts = range(numbers.start, numbers.stop, CHUNK)
    chunks = [(first, min(CHUNK, numbers.stop - first)) for first in starts]
    if processes == 1:
        _begin(uri, name, corpus)
        for chunk in chunks:
            _insert(chunk)
        _inserters.pop()[0].close()
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin, (uri, name, corpus)) as pool:
        for first in range(0, len(chunks), _CHUNKS_AHEAD * processes):
            list(pool.map(_insert, chunks[first : first + _CHUNKS_AHEAD * processes]))


_inserters: list[tuple[MongoClient[dict[str, Any]], str, SyntheticCorpus]] = []  # of this process


def _begin(uri: str, name: str, corpus: SyntheticCorpus) -> None:
    _inserters.append((MongoClient(uri, w=1, journal=False), name, corpus))


def _insert(chunk: tuple[int, int]) -> None:
    client, name, corpus = _inserters[-1]
    database, _, collection = name.partition(".")
    client[database][collection].insert_many(corpus.documents(*chunk), ordered=False)
