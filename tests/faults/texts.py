"""Texts of all kinds for cleaning and fingerprint: a million short ones, and hostile giants."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from dedup_job.demo import make_corpus

_SHARED = Path("shared") / "data" / "edge_strings.jsonl.gz"
_FOLDERS_UP = 6  # where a folder `shared` may lie beside one of the checkout's parents
_MEGABYTE = 1024 * 1024
_MARKED = (
    "<p> </p> <b> </b> <br/> <!-- --> <script> </script> <template> </template> <pre> <code> "
    "</code> <title> </title> <textarea> <xmp> </xmp> <select> <plaintext> <o:p> <![CDATA[ ]]> "
    "<?xml &#x41; <!doctype &lt; &#0; &amp &nbsp; &#1114112; & < > \" ' = a= { } .a{color:red} "
    "/* */ 若 a<b>c 正确"
)
_MARKS = tuple(mark for mark in _MARKED.split(" "))
_ALPHABETS = (
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下",
    "0123456789.,%年月分题（）()",
    "abcdefghijklmnopqrstuvwxyz ABC",
    "あいうえおカキクケコ한국어가나다абвгдاابتไทย",
    "\0\x01\x1b\x7f\x85\xa0\u200b\u200d\u202e\u2028\u3000\ufeff\ufffe\uffff",
    "\ud800\udbff\udc00\udfff\U0001f600\U0010ffff\U00020000𠮷",
    "<>&;/!-=\"'{}a 若",
    "①②ⅣＡＢ１２ﬁéßİ\u0301\u0308",
)


def edge_strings() -> list[str]:
    """Return the nasty strings of a file beside the checkout; none where it is not there."""
    for folder in list(Path(__file__).resolve().parents)[:_FOLDERS_UP]:
        if (file := folder / _SHARED).exists():
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                return [str(json.loads(line)["text"]) for line in lines]
    return []


def from_hypothesis(count: int) -> list[str]:
    """Return so many texts that hypothesis thinks of."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    texts: list[str] = []
    parts = st.lists(st.sampled_from(_MARKS) | st.text(st.characters(), max_size=5), max_size=20)
    some = st.text(st.characters()) | parts.map("".join)
    one_by_one = 50

    @seed(7)
    @settings(
        max_examples=max(count // one_by_one, 1),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.lists(some, min_size=one_by_one, max_size=one_by_one))
    def collect(drawn: list[str]) -> None:
        texts.extend(drawn)

    collect()
    return texts


def seeds(count: int) -> list[str]:
    """Return what the bulk is made of: hypothesis, the nasty strings, and ordinary documents."""
    ordinary = [d["text"] for d in make_corpus(500) if isinstance(d.get("text"), str)]
    return [*from_hypothesis(count), *edge_strings() * 5, *ordinary]


def bulk(seed: int, count: int, some: list[str]) -> Iterator[str]:
    """Yield so many texts, the same for the same seed: the seeds first, then what is made."""
    rng = random.Random(seed)
    noise = np.random.default_rng(seed)
    makers = (_characters, _alphabet, _bytes, _escaped, _markup, _spliced, _spliced, _run)
    for number in range(count):
        yield makers[number % len(makers)](rng, noise, some)


def _length(rng: random.Random) -> int:
    return rng.randrange(3000) if rng.random() < 0.01 else rng.randrange(120)


def _characters(rng: random.Random, noise: np.random.Generator, _: list[str]) -> str:
    points = noise.integers(0, 0x110000, _length(rng), dtype=np.uint32)
    return points.tobytes().decode("utf-32-le", "surrogatepass")


def _alphabet(rng: random.Random, _: np.random.Generator, __: list[str]) -> str:
    return "".join(rng.choices(rng.choice(_ALPHABETS), k=_length(rng)))


def _bytes(rng: random.Random, noise: np.random.Generator, _: list[str]) -> str:
    return noise.bytes(2 * _length(rng)).decode("utf-8", "replace")


def _escaped(rng: random.Random, noise: np.random.Generator, _: list[str]) -> str:
    return noise.bytes(2 * _length(rng)).decode("utf-8", "surrogateescape")


def _markup(rng: random.Random, _: np.random.Generator, some: list[str]) -> str:
    parts = rng.choices(_MARKS, k=rng.randrange(40))
    return "".join(part if rng.random() < 0.8 else rng.choice(some)[:20] for part in parts)


def _spliced(rng: random.Random, _: np.random.Generator, some: list[str]) -> str:
    a, b = rng.choice(some), rng.choice(some)
    return a[: rng.randrange(len(a) + 1)] + rng.choice(_MARKS) + b[rng.randrange(len(b) + 1) :]


def _run(rng: random.Random, _: np.random.Generator, some: list[str]) -> str:
    piece = rng.choice(rng.choice(_ALPHABETS)) if rng.random() < 0.5 else rng.choice(some)[:10]
    return piece * _length(rng)


def _filled(piece: str) -> Callable[[], str]:
    """Return what makes 16 MB, in UTF-8, of a piece."""
    return lambda: piece * (16 * _MEGABYTE // len(piece.encode("utf-8", "surrogatepass")))


def _nested(name: str, depth: int) -> Callable[[], str]:
    return lambda: f"<{name}>" * depth + "题" + f"</{name}>" * depth


def _noise() -> str:
    return np.random.default_rng(1).bytes(16 * _MEGABYTE).decode("utf-8", "replace")


_PIECES = {
    **{piece: piece for piece in ("<", "&", "题", "7", "a", "&lt;", "<p>", "</b", "<!--", "{")},
    **{piece: piece for piece in ("<script>", '<a href="', ".a{color:red}", "1,234.5 ")},
    "lone surrogates": "\ud800",
    "white space": " \n",
    "lines": "题目<br/>",
}
GIANTS: Mapping[str, Callable[[], str]] = {
    "100,000 nested <div>": _nested("div", 100_000),
    "100,000 nested <b>": _nested("b", 100_000),
    "100,000 nested <table><tr><td>": lambda: "<table><tr><td>" * 100_000 + "题",
    **{
        f"16 MB of {name}": _filled(piece)
        for name, piece in _PIECES.items()
    },
    "16 MB, one unclosed comment": lambda: "题<!--" + "题a " * (3 * _MEGABYTE),
    "16 MB, one unclosed script": lambda: "题<script>" + "x=1;" * (4 * _MEGABYTE),
    "16 MB of random bytes": _noise,
}  # fmt: skip
